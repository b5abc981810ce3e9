"""`identify_worm`: friction that grows with the load of the gear, from runs of different loads.

    τ - rigid torque = Σ_e s_e (columns of its law · coefficients + b_e |load_e| shape_e)

Linear in the coefficients and in b. The load of an element is the torque that its motor's gear
transmits, by the robot's file with the tool of each run; runs with and without a tool separate a
from b |load|. Samples at which an element hardly moves are left out: friction is undefined there.

Ref: [Waiboer 2007, sections 4.4.4, 5.4.1]

Friction that grows with the load of its gear, and its report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.friction.load import LOCKS, Load
from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.identification.fitting.estimate import ParameterEstimate, RowNoise, even_blocks, fit
from armtwin.identification.friction_curves.result import group_rows
from armtwin.identification.rigid_body.data.clean_log import clean_log
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.joints import in_order_of, joint_torque
from armtwin.logs.log import Log, as_logs
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Flags, Floats, Names
from armtwin.notebook.charts import Bars
from armtwin.notebook.numbers import NEWTON_METRES, PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Report, Section, Table, Text, list_columns
from armtwin.report.result import Result
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.dynamics.friction_columns import friction_columns
from armtwin.robot.dynamics.load_friction import beyond_gears, load_column
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement

SOURCE = "identified: from runs of different loads"


@dataclass(frozen=True)
class WormParameter:
    """A coefficient of a friction element, with and without load in the fit.

    Attributes:
        element: Name of the element.
        name: Name of the coefficient; "load.share" for b.
        prior: Its value in the robot file.
        value: Its value by the fit.
        std: Its standard deviation.
        half_width: Half width of its 95 % interval.
        plain: Its value by a fit without load; nan of b itself.
    """

    element: str
    name: str
    prior: float
    value: float
    std: float
    half_width: float
    plain: float


@dataclass(frozen=True, eq=False, repr=False)
class WormIdentification(Result):
    """Friction of worm gears from runs of different loads.

    Attributes:
        prior: The robot before.
        table: The coefficients.
        missed: Residual rms of the torque of each joint, (joints,) [N m].
        residual_rms_plain: Residual rms of the fit without load, (joints,) [N m].
        joints: Names of these joints.
    """

    prior: Robot
    table: tuple[WormParameter, ...]
    missed: Floats
    residual_rms_plain: Floats
    joints: Names

    @cached_property
    def robot(self) -> Robot:
        """The robot with these coefficients and shares."""
        values: dict[tuple[str, str], float] = {}
        for row in self.table:
            values[row.element, row.name] = max(row.value, 0.0)
        active = self.prior.description.active_friction()
        elements = []
        for element in self.prior.description.friction:
            elements.append(_set_parameters(element, values) if element in active else element)
        description = replace(self.prior.description, friction=tuple(elements))
        return self.prior.with_description(description)

    def sections(self) -> Report:
        """The coefficients, and the torque error with and without load."""
        return Report(
            title=f"{self.prior.name}: load-dependent friction",
            subtitle="runs of different loads; bodies as the robot file has them",
            sections=(Section("", _numbers(self)), Section("Torque error", _torque_error(self))),
            verdict=(_verdict(self),),
        )


def _set_parameters(
    element: FrictionElement, values: dict[tuple[str, str], float]
) -> FrictionElement:
    """The element with its fitted parameters, if it has any."""
    changes: Any = {}
    for name, _ in element.law.coefficients:
        if (element.name, name) in values:
            changes[name] = values[element.name, name]
    if not changes:
        return element
    share = values.get((element.name, "load.share"))
    load = element.load if share is None else Load(share)
    source: str | dict[str, str] = SOURCE
    if isinstance(element.source, dict) and element.source:
        keys = changes if load is None else (*changes, "load")
        source = element.source | dict.fromkeys(keys, SOURCE)
    return replace(element, law=replace(element.law, **changes), load=load, source=source)


def _verdict(result: WormIdentification) -> Text:
    parts = []
    for row in result.table:
        if row.name == "load.share":
            locks = ", self-locking at rest" if row.value >= LOCKS else ""
            parts.append(f"{row.element} {Number().with_width(row.value, row.half_width)}{locks}")
    return Text(f"Friction per load (95 %): {'; '.join(parts)}.")


def _numbers(result: WormIdentification) -> Blocks:
    columns = list_columns(
        element="element",
        name="parameter",
        prior=("file", PLAIN),
        value=("identified", PLAIN),
        half_width=("± 95 %", Number(digits=2)),
        plain=("without load", PLAIN),
    )
    yield Table(columns, [asdict(row) for row in result.table], "numbers")
    yield Text(
        "Without load: a fit of the same rows without load dependence, whose level includes part "
        "of the load-dependent friction.",
        "soft",
    )


def _torque_error(result: WormIdentification) -> Blocks:
    joints, rms, plain = result.joints, result.missed, result.residual_rms_plain
    yield Table.of(
        "missed",
        joint=(joints, "joint"),
        missed_nm=(rms, "with load", NEWTON_METRES),
        missed_without_nm=(plain, "without", NEWTON_METRES),
    )
    cases = ("with load", "without load")
    yield Bars("Torque error", Axis("rms", "N m"), joints, rms, plain, cases=cases)


CUTOFF = 10.0  # [Hz]
BLOCKS = 10  # of a run that count as independent of each other
UNIDENTIFIABLE = 1e10  # condition number from which coefficients show in combination only
TURNING = 1.5  # periods of the cut-off about a reversal in which the filter smooths friction


@dataclass(frozen=True, eq=False)
class _Run:
    """A run of a robot with its tool: motion, torque, and torque of the bodies alone.

    `around` is the number of samples left out on either side of a reversal.
    """

    robot: Robot
    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    rigid: Floats
    around: int


Placed = tuple[FrictionElement, Row]


def identify_worm(
    robot: Robot,
    logs: Log | Sequence[Log],
    tools: Sequence[str | None],
    elements: Sequence[str],
    *,
    cutoff: float = CUTOFF,
) -> WormIdentification:
    """Friction coefficients and shares of the load of worm gears.

    Bodies are taken as the robot file has them: identify them first.

    Args:
        robot: The robot.
        logs: Runs with q and a torque, of at least two different loads.
        tools: Tool of the robot file that was mounted in each run, None for none.
        elements: Names of the friction elements whose level may follow the load.
        cutoff: Cut-off frequency of motion and torque; friction changes sign at once with the
            speed, so that it is above what the motion alone would need [Hz].
    """
    logs = as_logs(logs, "identify_worm")
    if len(tools) != len(logs):
        raise ArmtwinError(f"worm: {len(logs)} logs must have as many tools, got {len(tools)}")
    placed = robot.assembly.friction
    names = [element.name for element, _ in placed]
    for name in elements:
        if name not in names:
            raise ArmtwinError(f"friction '{name}' is not known. {did_you_mean(name, names)}")
    group = _sharing(placed, elements)
    joints = np.flatnonzero(sum(np.abs(row.weights) for _, row in group) > 0)
    runs = []
    for log, tool in zip(logs, tools, strict=True):
        runs.append(_run(robot.with_tool(tool), log, cutoff))
    plain, loaded, target, used = _equations(robot, runs, group, elements, joints)
    blocks = even_blocks([len(run.v) for run in runs], BLOCKS)[used]
    noise = RowNoise(blocks, independent=None)
    first = _fit(plain[used], target[used], noise)
    found = _fit(np.concatenate([plain, loaded], axis=2)[used], target[used], noise)
    rows: list[tuple[str, str, float]] = []
    for element, _ in group:
        rows += [(element.name, *pair) for pair in coefficients(element.law).items()]
    without = [*first.values.tolist(), *[float("nan")] * len(elements)]
    for name in elements:
        element = placed[names.index(name)][0]
        rows.append((name, "load.share", 0.0 if element.load is None else element.load.share))
    numbers = zip(found.values, found.std, found.half_width, without, strict=True)
    table = []
    for row, values in zip(rows, numbers, strict=True):
        table.append(WormParameter(*row, *map(float, values)))
    shown = tuple(robot.joint_names[j] for j in joints)
    return WormIdentification(robot, tuple(table), found.sigma, first.sigma, shown)


def _sharing(placed: Sequence[Placed], elements: Sequence[str]) -> list[Placed]:
    """Elements that share joints with the given ones, in the robot's order."""
    numbered = list(zip(placed, group_rows([row for _, row in placed]), strict=True))
    wanted = {number for (element, _), number in numbered if element.name in elements}
    return [pair for pair, number in numbered if number in wanted]


def _run(robot: Robot, log: Log, cutoff: float) -> _Run:
    ordered = in_order_of(log, robot.joint_names)
    tau, _ = joint_torque(robot, ordered)
    cleaned = clean_log(ordered, cutoff, Recipe(), tau)
    clean = cleaned.clean
    rigid = robot.inverse_dynamics(clean.q, clean.v, clean.a)
    around = round(TURNING / cutoff * cleaned.how.rate)
    return _Run(robot, clean.q, clean.v, clean.a, clean.tau, rigid, around)


def _equations(
    robot: Robot,
    runs: Sequence[_Run],
    group: Sequence[Placed],
    elements: Sequence[str],
    joints: NDArray[np.intp],
) -> tuple[Floats, Floats, Floats, Flags]:
    """Columns of the laws, columns of the loads, friction torques, and samples to use."""
    parts = []
    for run in runs:
        columns, sliding = [], np.ones(len(run.v), dtype=bool)
        on_links = beyond_gears(robot.assembly, run.rigid, run.v, run.a)
        for found, (_, row) in zip(friction_columns(group, run.v, run.q), group, strict=True):
            sliding &= _slides(run.v @ row.weights, run.around)
            columns.append(found.columns[:, None] * found.row[:, joints, None])
        of_loads = []
        for name in elements:
            element, row = next(pair for pair in group if pair[0].name == name)
            column = load_column(
                run.robot.assembly, on_links, row, element.law, run.v @ row.weights
            )
            of_loads.append(column[:, None] * row.weights[joints])
        of_laws, friction = np.concatenate(columns, axis=2), (run.tau - run.rigid)[:, joints]
        parts.append((of_laws, np.stack(of_loads, axis=2), friction, sliding))
    plain, loaded, target, used = map(np.concatenate, zip(*parts, strict=True))
    return plain, loaded, target, used


def _slides(w: Floats, around: int) -> Flags:
    """Samples at which an element moves in one direction, away from reversals, (m,)."""
    moving = np.abs(w) > SLOW_SHARE * np.abs(w).max()
    for k in np.flatnonzero(np.sign(w[1:]) != np.sign(w[:-1])):
        moving[max(k - around, 0) : k + around + 2] = False
    return moving


def _fit(columns: Floats, target: Floats, noise: RowNoise) -> ParameterEstimate:
    """Coefficients of all elements."""
    if not columns.any(axis=(0, 1)).all():
        raise ArmtwinError("worm: a friction element never moves in these runs")
    found = fit(columns, target, noise)
    if found.condition > UNIDENTIFIABLE:
        raise ArmtwinError(
            "worm: the coefficients are identifiable only in combination; log runs of different "
            "loads and with joints that move on their own"
        )
    return found
