"""A completed robot: what was lacking, the rules that filled it, measurements to replace them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.digests import digest_of, file_name
from armtwin.files.versions import versions
from armtwin.identification.completion import rules
from armtwin.identification.completion.rules import AssumedNumber
from armtwin.identification.completion.sizes import sizes
from armtwin.logs.log import Log, as_logs
from armtwin.maths.batch import Names
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.report.result import Result
from armtwin.robot.defaults.joint_sizes import some_postures
from armtwin.robot.robot import Robot
from armtwin.robot.schema.provenance import missing


def complete(
    robot: Robot, logs: Log | Sequence[Log] = (), *, bandwidth: float | None = None
) -> Completion:
    """Fill what a prediction lacks in a robot file by named rules, each number marked as assumed.

    Nothing that the file gives is changed. Rotor inertias and friction come from the joints'
    largest torques and speeds; current limits from torque limits, from logs, or from the torque
    that weight, friction and full speed need; pre-sliding stiffness from break-away at 1e-4 rad; a
    servo from a bandwidth and the inertia that motors feel.

    Args:
        robot: An imported or identified robot, its tool and payload mounted.
        logs: Logs of it, for postures, speeds and largest torques.
        bandwidth: Natural frequency of the position loop of a servo by rule [Hz]; by default it
            follows from the reach.
    """
    read = as_logs(logs, "complete", least=0)
    if not isinstance(robot, Robot):
        raise ArmtwinError("complete needs a Robot and Logs: at.complete(at.Robot.load(name))")
    if bandwidth is not None and not 0 < bandwidth < np.inf:
        raise ArmtwinError(f"bandwidth must be greater than 0 Hz, got {bandwidth}")
    lacking = missing(robot.description, seam=True)
    _refuse_following_joints(robot, lacking)
    done, motors = rules.with_motors(robot)
    _refuse_weightless(done)
    done, friction = rules.with_friction(done)
    found, table = sizes(done, read), [*motors, *friction]
    for rule in (rules.with_torque_constants, rules.with_current_limits, rules.with_presliding):
        done, rows = rule(done, found)
        table += rows
    done, servo = rules.with_servo(done, found, bandwidth)
    still = missing(done.description, seam=True)
    return Completion(robot, done, tuple(lacking), (*table, *servo), tuple(still), read)


def _refuse_following_joints(robot: Robot, lacking: Sequence[str]) -> None:
    """Refuse joints that follow others, which no rule can help."""
    for phrase in lacking:
        if phrase.startswith("joint.mimic"):
            origin = robot.origin or f"robot '{robot.name}'"
            raise FileError(origin, [f"cannot be completed: {phrase}"])


def _refuse_weightless(robot: Robot) -> None:
    """Refuse a robot whose joints move nothing: rules measure by weight and inertia."""
    postures = some_postures(robot)
    M = robot.mass_matrix(postures).mean(axis=0)
    if np.linalg.eigvalsh(M)[0] > 0:
        return
    j = int(np.diag(M).argmin())
    moved = f"{robot.joint_names[j]} moves {M[j, j]:.3g} kg m²"
    raise ArmtwinError(
        f"robot '{robot.name}': bodies and rotors must have inertia to be completed, but {moved}; "
        "give masses and inertias of the links, or torque limits of the joints"
    )


@dataclass(frozen=True, eq=False, repr=False)
class Completion(Result):
    """A robot with what a prediction lacked.

    Attributes:
        given: The robot as it was.
        robot: The robot that can be predicted.
        lacking: What the given one lacked, as phrases.
        table: The numbers that rules gave.
        still: What no rule gives, as phrases.
        logs: The logs that limits and postures come from.
    """

    given: Robot
    robot: Robot
    lacking: Names
    table: tuple[AssumedNumber, ...]
    still: Names
    logs: tuple[Log, ...]

    def sections(self) -> show.Report:
        """The assumed numbers, and the measurements that would replace them."""
        robot = self.given.description
        logs = [file_name(log.origin, "a log") for log in self.logs]
        measured_by = f"by {', '.join(logs)}" if logs else "by its file alone"
        return show.Report(
            title=f"Completion of {robot.name}",
            subtitle=f"{robot.title or robot.name}: {measured_by}",
            sections=(
                show.Section("What was lacking", _list_assumed(self)),
                show.Section("What would replace the rules", _replacements(self)),
                show.Section("", _data(self)),
            ),
            verdict=(_verdict(self), *(show.Text(x, "bad") for x in self.given.cautions)),
        )


def _verdict(result: Completion) -> show.Text:
    """Whether the completed robot can be predicted."""
    if result.still:
        return show.Text("The robot cannot be predicted: no rule gives all that it lacks.", "bad")
    if not result.table:
        return show.Text("Nothing was lacking: the robot can be predicted as it is.", "good")
    count = len(result.table)
    is_assumed = result.robot.description.servo != result.given.description.servo
    servo = "; its servo is assumed" if is_assumed else ""
    return show.Text(f"The robot can be predicted: rules gave {count} numbers{servo}.")


def _list_assumed(result: Completion) -> show.Blocks:
    """One row for each kind of number and each rule that filled it."""
    groups: dict[tuple[str, str], list[AssumedNumber]] = {}
    for row in result.table:
        groups.setdefault((row.kind, row.rule), []).append(row)
    records = []
    for (kind, rule), rows in groups.items():
        records.append({"number": f"{kind} {_range(rows)}", "rule": rule})
    yield show.Table(show.list_columns(number="assumed", rule="by rule"), records)
    for phrase in result.still:
        yield show.Text(f"No rule gives {phrase}.", "bad")
    yield show.Data({"lacking": list(result.lacking), "still_lacking": list(result.still)})
    columns = show.list_columns(key="number", value=("value", PLAIN), unit="unit", rule="rule")
    everything = f"All {len(result.table)} numbers"
    yield show.Table(columns, [vars(row) for row in result.table], "filled", folded=everything)


def _range(rows: list[AssumedNumber]) -> str:
    """Smallest and largest number with the unit."""
    values = [row.value for row in rows]
    unit = "" if rows[0].unit == "1" else f" {rows[0].unit}"
    ends = dict.fromkeys(map(Number().text, (min(values), max(values))))
    return f"{' to '.join(ends)}{unit}"


def _replacements(result: Completion) -> show.Blocks:
    """What measuring would replace, by what is measured."""
    kinds: dict[str, dict[str, None]] = {}
    for row in result.table:
        kinds.setdefault(row.instead, {})[row.kind] = None
    replaced = map(", ".join, kinds.values())
    yield show.Table.of(instead=(kinds, "measure"), replaced=(replaced, "in place of"))


def _data(result: Completion) -> show.Blocks:
    """What only result.json shows."""
    mounted = result.given.description.mounted
    yield show.Data({"robot": result.given.name, "tool": mounted.tool, "payload": mounted.payload})
    logs = []
    for log in result.logs:
        digest = digest_of(log.origin)
        logs.append({"file": log.origin, "samples": len(log.time), "sha256": digest})
    yield show.Data(
        {
            "logs": logs,
            "provenance.inputs_sha256": {"robot file": digest_of(result.given.origin)},
            "provenance.versions": versions(),
        }
    )
