"""A logged run over the twin's run on the same reference, and what it shows of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.files.digests import digest_of, file_name
from armtwin.files.versions import versions
from armtwin.logs.log import Log
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Flags, Floats, NamedArrays, Record
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import MILLIDEGREES, PER_HUNDRED, PERCENT, SECONDS, Number
from armtwin.prediction.agreement import NUMBERS, Agreement, agreement_table
from armtwin.prediction.compare_interval import IntervalRow, Offsets
from armtwin.prediction.logged_reference import LoggedReference
from armtwin.prediction.servo_basis import ServoBasis, servo_basis
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.simulation.model import Model
from armtwin.simulation.outcome import Run

PATH = ("lateral", "vertical", "lag")
REVERSAL = 0.1  # time about a change of sign of a speed that counts as a reversal [s]
MOVED = 0.01  # travel of a joint whose error is to be explained [rad, m]
NOTHING = 0.01  # share of the variance of an error below which nothing of it is explained
EXPLAINED = 0.8  # share of the variance of an error from which on it counts as explained
NO_TORQUE = 1e-12  # squares of a torque that is none
TORQUE_ERRORS = {
    "all_percent": ("all", PER_HUNDRED),
    "moving_percent": ("moving", PER_HUNDRED),
    "at_rest_percent": ("at rest", PER_HUNDRED),
    "reversals_percent": ("reversals", PER_HUNDRED),
}
ROUGH = Number(1e3, "mm", digits=2)
MICRORADIANS = Number(1e6, "µrad", places=0)


@dataclass(frozen=True, eq=False, repr=False)
class ReferenceComparison(Result):
    """A logged run over the twin's run on the same reference.

    Attributes:
        robot: The robot as it was simulated.
        model: What was simulated.
        log: The logged run.
        reference: What the machine was asked to do.
        run: The simulated run.
        side: Where the measured positions come from: "q_link", "q" or "q_m".
        torque_source: Channel that the measured torque comes from, or "".
        offset: Measured minus predicted position of each joint that is taken off the measurement,
            (n,) [rad].
        offsets: Where that comes from: the "mean", the "start", or none, as "logged".
        bounds: The 90 % interval of the errors at each time, by name, (2, m).
        intervals: What these hold of the log.
        time: Times of the compared samples from the log's start, (m,) [s].
        channels: Measured and predicted series by name, (2, m) each.
        rows: How well each quantity agrees.
    """

    robot: Robot
    model: Model
    log: Log
    reference: LoggedReference
    run: Run
    side: str
    torque_source: str
    offset: Floats
    offsets: Offsets
    bounds: NamedArrays
    intervals: tuple[IntervalRow, ...]
    time: Floats
    channels: NamedArrays
    rows: tuple[Agreement, ...]

    @property
    def servo(self) -> ServoBasis:
        """What the servo is based on."""
        return servo_basis(self.robot, self.model.servo, float(self.time[-1]))

    @property
    def errors(self) -> tuple[Agreement, ...]:
        """How well the errors of the joints agree."""
        return self.rows[: self.robot.n]

    @property
    def worst(self) -> Agreement | None:
        """The error of a moving joint that is explained least; None where none moves."""
        travel = np.ptp(self.reference.trajectory.q, axis=0)
        moving = []
        for row, joint_travel in zip(self.errors, travel, strict=True):
            if joint_travel > MOVED and np.isfinite(row.variance_explained):
                moving.append(row)
        return min(moving, key=lambda row: row.variance_explained, default=None)

    def row(self, name: str) -> Agreement:
        """How well one quantity agrees."""
        for row in self.rows:
            if row.name == name:
                return row
        known = [row.name for row in self.rows]
        raise ArmtwinError(f"the comparison has no quantity '{name}'. {did_you_mean(name, known)}")

    @property
    def torque_errors(self) -> list[Record]:
        """Error of the torque of each joint over its rms, whole and by motion [%].

        100 √(Σ (τ - τ̂)² / Σ τ²), the sum above over samples in motion, at rest, and within 0.1 s
        of a reversal; squares add up to the whole.
        """
        speed = self.reference.trajectory.at(self.time)[1]
        found = []
        for name, v in zip(self.robot.joint_names, speed.T, strict=True):
            pair = self.channels.get(f"{name} torque")
            if pair is None:
                continue
            gap, power = (pair[0] - pair[1]) ** 2, float((pair[0] ** 2).sum())
            at_rest = np.abs(v) <= SLOW_SHARE * np.abs(v).max()
            turns = ~at_rest & _is_near_reversal(v, at_rest, self.time)
            record: Record = {"name": name}
            kinds = (at_rest | True, ~at_rest & ~turns, at_rest, turns)
            for key, some in zip(TORQUE_ERRORS, kinds, strict=True):
                record[key] = 100 * float(np.sqrt(gap[some].sum() / max(power, NO_TORQUE)))
            found.append(record)
        return found

    def sections(self) -> show.Report:
        """How well the twin explains the run, quantity by quantity and over time."""
        log = file_name(self.log.origin, "a log")
        robot = self.robot.description.title or self.robot.name
        held = str(self.robot.description.mounted)
        equipped = f"{robot} with {held}" if held else robot
        model = self.model
        words = f"{model.joints} joints, friction {model.friction}, servo {model.servo}"
        return show.Report(
            title=f"{self.robot.name} on the reference of {log}",
            subtitle=f"{equipped}, {words}",
            sections=(
                show.Section("", _outcome(self)),
                show.Section("Measured and predicted", _charts(self), page_only=True),
                show.Section("", _data(self)),
            ),
            verdict=(_verdict(self),),
        )


def _is_near_reversal(v: Floats, at_rest: Flags, time: Floats) -> Flags:
    """Whether a joint of speed v (m,) has turned within a time, or will, rests between or not."""
    moving = np.flatnonzero(~at_rest)
    turned = np.diff(np.sign(v[moving])) != 0
    turns = time[np.concatenate([moving[:-1][turned], moving[1:][turned]])]
    if not len(turns):
        return np.zeros(len(v), dtype=bool)
    return np.asarray(np.abs(time[:, None] - turns).min(axis=1) <= REVERSAL)


def _verdict(c: ReferenceComparison) -> show.Text:
    """How well the twin explains a logged run on its own reference."""
    worst = c.worst
    if worst is None:
        return show.Text("No joint moves in this log, so there is nothing to explain.", "bad")
    joint = worst.name.removesuffix(" error")
    share = PERCENT.with_unit(worst.variance_explained)
    explained = f"explains at least {share} of each joint's error ({joint} least)"
    if worst.variance_explained < NOTHING:
        explained = f"explains nothing of the error of {joint}"
    lateral, vertical = c.row("lateral"), c.row("vertical")
    left = float(np.hypot(lateral.rms_difference, vertical.rms_difference))
    whole = float(np.hypot(lateral.rms_measured, vertical.rms_measured))
    servo = f"; {c.servo.summary}" if c.servo.summary else ""
    tone: show.Tone = "good" if worst.variance_explained >= EXPLAINED else "bad"
    return show.Text(
        f"The twin {explained}; residual at the tool {ROUGH.with_unit(left)} rms of "
        f"{ROUGH.with_unit(whole)}{servo}.",
        tone,
    )


def _outcome(c: ReferenceComparison) -> show.Blocks:
    """How well every quantity agrees."""
    torque = f"torque from {c.torque_source}" if c.torque_source else "no torque logged"
    fed = f"logged ({c.reference.source})" if c.reference.source else "by the model"
    yield show.Text(
        f"Positions from {c.side}, {torque}, {len(c.time)} samples; torque fed forward {fed}."
    )
    for event in c.run.log.events:
        yield show.Text(f"At {SECONDS.with_unit(event.time)}: {event.text}", "bad")
    yield agreement_table(c.rows, "twin", "variance_explained")
    yield show.Text(
        "Explained is 1 - var(measured - predicted) / var(measured). Errors are q - q_ref; at the "
        "tool they are beside the path of the reference."
    )
    twists = [row for row in c.rows if row.name.endswith(" twist")]
    if twists:
        residual = ", ".join(MICRORADIANS.text(row.rms_difference) for row in twists)
        yield show.Text(
            f"Twist is q - q_link, the encoders' time offset and each mean taken off; the twin "
            f"leaves {residual} µrad rms of it. The flange moves by the twists of these joints."
        )
    if c.torque_source:
        columns = show.list_columns(name="torque error %", **TORQUE_ERRORS)
        yield show.Table(columns, c.torque_errors, "comparison.torque_errors")
    yield show.Text(_offsets(c))
    if c.intervals:
        yield interval_table(c)


def _offsets(c: ReferenceComparison) -> str:
    """What was taken off the measured positions."""
    if c.offsets == "logged":
        return "Nothing was taken off the measured positions."
    where = "mean differences" if c.offsets == "mean" else "differences at the start"
    offsets = ", ".join(MILLIDEGREES.text(x) for x in c.offset)
    return f"Taken off the measured positions, the joints' {where}: {offsets} mdeg."


def interval_table(c: ReferenceComparison) -> show.Table:
    """The 90 % interval of every error, and the share of the logged samples within it."""
    columns = show.list_columns(
        name="90 % interval",
        rms=("rms", _range_words("rms")),
        peak=("peak", _range_words("peak")),
        covered=("samples within", PERCENT),
        holds_peak=("peak within", lambda record: "yes" if record["holds_peak"] else "no"),
    )
    return show.Table(columns, [asdict(row) for row in c.intervals], "comparison.intervals")


def _range_words(key: str) -> show.Wording:
    """Words of an interval in the unit of its record."""

    def words(record: Record) -> str:
        number = NUMBERS[record["unit"]]
        low, high = record[key]
        return f"{number.text(low)} to {number.text(high)} {number.unit}"

    return words


def _charts(c: ReferenceComparison) -> Iterator[show.Multiples]:
    """Measured over predicted series over time: of the joints, the tool, the torques."""
    tool = c.robot.n + len(PATH)
    yield _multiples(c, c.errors, "Errors of the joints")
    yield _multiples(c, c.rows[c.robot.n : tool], "Errors of the tool")
    torques = [row for row in c.rows[tool:] if row.unit == "N m"]
    deflections = [row for row in c.rows[tool:] if row.unit != "N m"]
    if deflections:
        yield _multiples(c, deflections, "Twist of the gears, and of the flange by it")
    if torques:
        yield _multiples(c, torques, "Torques")


def _multiples(c: ReferenceComparison, rows: Sequence[Agreement], title: str) -> show.Multiples:
    charts = [_chart(c, row) for row in rows]
    caption = "Dashed: logged. Solid: the twin on the same reference; shaded: its 90 % interval."
    return show.Multiples(tuple(charts), columns=3, shared="x", title=title, caption=caption)


def _chart(c: ReferenceComparison, row: Agreement) -> show.Chart:
    number = NUMBERS[row.unit]
    measured, predicted = number.scale * c.channels[row.name]
    low, high = number.scale * c.bounds[row.name] if row.name in c.bounds else (None, None)
    layers = (
        show.Curve("logged", c.time, measured, colour=6, dash="dashed"),
        show.Curve("twin", c.time, predicted, colour=0, dash="solid", low=low, high=high),
    )
    return show.Chart(row.name, show.Axis("time", "s"), show.Axis("", number.unit), layers)


def _data(c: ReferenceComparison) -> show.Blocks:
    """What only result.json shows."""
    mounted = c.robot.description.mounted
    offsets = dict(zip(c.robot.joint_names, c.offset.tolist(), strict=True))
    yield show.Data(
        {
            "robot": c.robot.name,
            "tool": mounted.tool,
            "payload": mounted.payload,
            "model": asdict(c.model),
            "servo": asdict(c.servo),
            "comparison.positions": c.side,
            "comparison.torque": c.torque_source,
            "comparison.feedforward": c.reference.source,
            "comparison.samples": len(c.time),
            "comparison.offsets": c.offsets,
            "comparison.offset_rad": offsets,
            "events": [event.record for event in c.run.log.events],
        }
    )
    files = {"robot file": c.robot.origin, "log": c.log.origin}
    digests = {name: digest_of(path) for name, path in files.items()}
    yield show.Data({"provenance.inputs_sha256": digests, "provenance.versions": versions()})
