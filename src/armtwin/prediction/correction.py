"""Corrected set-points of a job, and what they show of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.jobs.groups import Tolerance
from armtwin.maths.batch import Floats, Record, TwoArrays
from armtwin.motion.shifted_motion import ProgramPoints
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import NONE, PERCENT, Number
from armtwin.notebook.sampling import thin_out
from armtwin.prediction.band.band import Band
from armtwin.prediction.band.measured import MeasuredFirst
from armtwin.prediction.causes import explain, find_worst
from armtwin.prediction.path_error import PathError, path_error_of
from armtwin.prediction.predict import Prediction, run_command
from armtwin.prediction.sections.causes import state_cause, state_place
from armtwin.prediction.sections.headline import chart_along_seam, number_of, verdict_text
from armtwin.prediction.sections.interval import interval_bars, interval_verdict
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

MICROMETRES = Number(1e6, "µm", digits=3)
PROBABILITY = Number(1.0, "", places=2)
TIMES = Number(1.0, "", places=2)
SAMPLES = 800  # of a curve
LONGEST_TRIAL = 30.0  # of a motion [s] that is corrected unasked: its runs are in memory together
MOST_GROWTH = 1.2  # of the nominal peaks, from set-points to the points of a program


@dataclass(frozen=True)
class Size:
    """How large a path error is with the process on [m].

    Attributes:
        rms: Root mean square of lateral and vertical error together.
        lateral: Largest lateral error.
        vertical: Largest vertical error.
    """

    rms: float
    lateral: float
    vertical: float


@dataclass(frozen=True, eq=False)
class Corrected:
    """A corrected command and what the twin makes of it.

    Attributes:
        prediction: The job run with the command: a prediction as any other.
        size: How large its path error is in the nominal run.
        band: Its 90 % interval; None where only the nominal twin was run.
    """

    prediction: Prediction
    size: Size
    band: Band | None = None

    @property
    def shift(self) -> Floats:
        """Lateral and vertical shift of the commanded tool point at the set-points, (m, 2) [m]."""
        shift = self.prediction.shift
        return np.zeros((len(self.motion.q), 2)) if shift is None else shift

    @property
    def motion(self) -> Trajectory:
        """Set-points of the joints."""
        return self.prediction.motion.trajectory

    @property
    def holds(self) -> bool:
        """Whether the seam holds with it; by the nominal run where nothing else was run."""
        if self.band is None:
            return self.prediction.verdict.within
        return self.band.outcome == "holds"

    def growth(self, other: Corrected) -> float:
        """Largest ratio of its nominal peaks to those of another command."""
        lateral = self.size.lateral / max(other.size.lateral, 1e-12)
        return max(lateral, self.size.vertical / max(other.size.vertical, 1e-12))


@dataclass(frozen=True, eq=False)
class WrittenProgram:
    """A corrected program and what the twin makes of it.

    Attributes:
        text: Its text, to be encoded as the original.
        points: How many points its corrected moves have.
        size: Its error beside the seam of the original, as it was read again and run.
        prediction: The run.
    """

    text: str
    points: int
    size: Size
    prediction: Prediction

    @property
    def peaks(self) -> str:
        """Its largest errors, in words."""
        lateral = MICROMETRES.text(self.size.lateral)
        return f"{lateral} lateral, {MICROMETRES.with_unit(self.size.vertical)} vertical"

    def is_within(self, tolerance: Tolerance) -> bool:
        """Whether its peaks are within a tolerance."""
        return self.size.lateral <= tolerance.lateral and self.size.vertical <= tolerance.vertical


@dataclass(frozen=True, eq=False, repr=False)
class Correction(Result):
    """Corrected set-points of a job, with the predicted error before and after.

    Attributes:
        prediction: The job as it is commanded without.
        before: Size of its error.
        deflected: Size after the deflection was taken out; None where the twin is rigid and exact.
        rounds: Sizes after each round of learning that helped.
        best: The corrected set-points.
        points: The command that a spline through the program's points makes of them.
        by_lines: Size where straight lines join the points; None where that cannot be run.
        program: The points of the program, in the base frame.
        band: The 90 % interval as programmed, by the same variants as those of `best` and
            `points`; None where only the nominal twin was run.
        measured_first: What program points would reach after measurements, each beside those
            before it.
        written: The corrected robot program, where the job is from one.
        measured: Sizes of the errors of the logged runs that it is learned from; `before` is that
            of the first, and the size of `best` what the next run should show.
    """

    prediction: Prediction
    before: Size
    deflected: Size | None
    rounds: tuple[Size, ...]
    best: Corrected
    points: Corrected
    by_lines: Size | None
    program: ProgramPoints
    band: Band | None = None
    measured_first: tuple[MeasuredFirst, ...] = ()
    written: WrittenProgram | None = None
    measured: tuple[Size, ...] = ()

    @property
    def decisive(self) -> Corrected:
        """Set-points or program points, whichever is less likely to hold."""
        both = (self.best, self.points)
        if self.best.band is None:
            return max(both, key=lambda x: x.prediction.verdict.worst_ratio)
        return min(both, key=lambda x: 0.0 if x.band is None else x.band.probability)

    @property
    def holds(self) -> bool:
        """Whether the seam holds by set-points and by program points."""
        written = self.written
        fits = written is None or written.is_within(self.prediction.job.description.tolerance)
        return self.best.holds and self.points.holds and fits

    def share_worse(self, command: Corrected) -> float | None:
        """Share of the variants with a larger error than as programmed; None without variants."""
        if self.band is None or command.band is None:
            return None
        larger = command.band.worst_of_each > self.band.worst_of_each
        fails = command.band.ensemble.failed & ~self.band.ensemble.failed
        return float((larger | fails).mean())

    @property
    def program_in_workpiece(self) -> TwoArrays:
        """Points (k, 3) [m] and orientations (k, 3, 3) of the program in the workpiece's frame."""
        X = self.prediction.job.description.workpiece.matrix()
        p = (self.program.p - X[:3, 3]) @ X[:3, :3]
        return p, np.asarray(X[:3, :3].T @ self.program.R)

    @property
    def helps(self) -> bool:
        """Whether it makes the error smaller on the nominal twin."""
        return self.best.size.rms < self.before.rms

    @property
    def gain(self) -> str:
        """What it gains, as a sentence: on the same variants where they were run."""
        return _nominal_gain(self) if self.band is None else _gain(self, self.band)

    @property
    def table(self) -> list[Record]:
        """A record for each command: probability to hold, its interval, sizes of its error."""
        plain = Corrected(self.prediction, self.before, self.band)
        records = [_record("as programmed", plain)]
        if self.written is not None:
            written = Corrected(self.written.prediction, self.written.size)
            records.append(_record("written program", written))
        for name, command in self._commands:
            record = _record(name, command)
            records.append({**record, "worse": self.share_worse(command)})
        return records

    @property
    def _commands(self) -> tuple[tuple[str, Corrected], ...]:
        return ("corrected set-points", self.best), ("corrected program points", self.points)

    def sections(self) -> show.Report:
        """The probability and the error before and after, and the shift along the seam."""
        p = self.prediction
        joints = p.job.description.model.words
        return show.Report(
            title=f"{p.job.description.title or p.job.name}: corrected",
            subtitle=f"{p.job.name}: {p.robot.description.title or p.robot.name}, {joints}",
            sections=(
                show.Section("", _sentences(self), role="answer"),
                show.Section("", _blocks(self)),
                show.Section("Before and after", self.charts(), page_only=True, role="picture"),
            ),
            verdict=tuple(_verdict(self)),
        )

    def charts(self) -> show.Blocks:
        """The error before and after, its interval, and the shift of the commanded tool point."""
        yield from _charts(self)

    def on(self, robot: Robot) -> tuple[PathError, PathError]:
        """Path errors of another robot without and with the correction, the same servo commands.

        Args:
            robot: A robot without the job's tool and overrides, as `predict` takes it.
        """
        p = self.prediction
        real = p.job.robot(robot)
        found = []
        for motion in (p.motion.trajectory, self.best.motion):
            run = run_command(p, real, motion)
            found.append(path_error_of(p.job.seam, run.trace_time, run.built, run.bodies))
        return found[0], found[1]


def _record(name: str, command: Corrected) -> Record:
    band = command.band
    low, _, high = (None, None, None) if band is None else band.ratio
    return {
        "command": name,
        "probability": None if band is None else band.probability,
        "ratio_p5": low,
        "ratio_p95": high,
        "worse": None,
        **_sizes(command.size),
    }


def _sizes(size: Size) -> Record:
    return {"rms_m": size.rms, "lateral_peak_m": size.lateral, "vertical_peak_m": size.vertical}


def _verdict(result: Correction) -> Iterator[show.Text]:
    """The headline of the less likely command, what the correction gains, and on the twin itself.

    A correction fits the twin that it was learned on: what the variants say comes first.
    """
    decisive = result.decisive
    if result.measured:
        runs = ", ".join(MICROMETRES.text(max(x.lateral, x.vertical)) for x in result.measured)
        peak = MICROMETRES.with_unit(max(result.best.size.lateral, result.best.size.vertical))
        yield show.Text(
            f"Largest error of the logged runs: {runs} µm. The next run should show {peak}."
        )
    if decisive.band is None:
        yield verdict_text(decisive.prediction)
    else:
        headline, *reasons = interval_verdict(decisive.band)
        yield headline
        yield from reasons
        if result.measured_first:
            yield show.Text(measuring_in_words(result.measured_first))
    if result.written is not None:
        x = result.written
        growth = Corrected(x.prediction, x.size).growth(result.best)
        is_within = x.is_within(result.prediction.job.description.tolerance)
        yield show.Text(
            f"The written program, read again and run on the twin: {x.peaks} beside the "
            f"original seam, {TIMES.text(growth)} times the set-points' peaks, {x.points} points; "
            "moves were parted into more moves, all else is kept.",
            "good" if is_within else "bad",
        )
    before, after = result.before.rms, result.best.size.rms
    reduction = 1 - after / before if before > 0 else 0.0
    yield show.Text(
        f"On the nominal twin the path error falls by {PERCENT.with_unit(reduction)}, from "
        f"{MICROMETRES.with_unit(before)} to {MICROMETRES.with_unit(after)} (root mean square, "
        "lateral and vertical)."
    )


def _nominal_gain(result: Correction) -> str:
    """The largest error before and after on the nominal twin."""
    after = result.decisive.prediction
    direction = result.prediction.verdict.worst
    number = number_of(direction)
    peaks = [number.with_unit(x.verdict.peaks[direction]) for x in (result.prediction, after)]
    return (
        f"Correct the points on the twin (`armtwin correct {result.prediction.job.argument}`): "
        f"nominally {peaks[0]} {direction} become {peaks[1]}."
    )


def _gain(result: Correction, uncorrected: Band) -> str:
    """Probabilities before and after on the same variants, and how many of them get worse."""
    before = uncorrected.probability
    odds, worse, spoilt = [], [], []
    for name, command in result._commands:
        assert command.band is not None
        odds.append(PROBABILITY.text(command.band.probability))
        worse.append(PERCENT.text(result.share_worse(command)))
        if command.band.probability < before:
            spoilt.append(name)
    sentence = (
        f"Correct the points on the twin: P goes from {PROBABILITY.text(before)} to {odds[0]} by "
        f"set-points and to {odds[1]} by program points, on the same {len(uncorrected.ensemble)} "
        f"variants; {worse[0]} and {worse[1]} % of the variants get worse."
    )
    if spoilt:
        names = " and the ".join(spoilt)
        return f"{sentence} Do not use the {names}: as programmed it is more likely to hold."
    return sentence


def measuring_in_words(steps: Sequence[MeasuredFirst]) -> str:
    """What measurements before a correction would reach, as a sentence."""
    parts = []
    for step in steps:
        way = step.ways[-1]
        beside = " too" if len(step.ways) > 1 else ""
        odds = PROBABILITY.text(step.probability)
        parts.append(f"{way[0].lower()}{way[1:]}{beside}: {odds}")
    return f"Measured before it is corrected, P rises: {'; '.join(parts)}."


def _between(record: Record) -> str:
    """The 90 % interval of the largest error over its tolerance."""
    if record["ratio_p5"] is None:
        return NONE
    return PERCENT.between((record["ratio_p5"], record["ratio_p95"]))


def _sentences(result: Correction) -> show.Blocks:
    """Where and why the error is largest as programmed, and what to change."""
    p = result.prediction
    worst = find_worst(explain(p))
    place = state_place(p, worst)
    yield show.Facts(
        (
            ("Where", f"As programmed, {place[:1].lower()}{place[1:]}"),
            ("Why", state_cause(worst)),
            ("What to change", result.gain),
        )
    )


def _blocks(result: Correction) -> show.Blocks:
    sizes = show.list_columns(
        rms_m=("nominal rms", MICROMETRES),
        lateral_peak_m=("lateral peak", MICROMETRES),
        vertical_peak_m=("vertical peak", MICROMETRES),
    )
    columns = show.list_columns(
        command="command",
        probability=("P holds", PROBABILITY),
        ratio_p95=("90 % interval, % of tolerance", _between),
        worse=("get worse", PERCENT),
    )
    if result.band is None:
        columns = columns[:1]
    yield show.Table(columns + sizes, result.table, "commands")
    rounds = []
    if result.deflected is not None:
        rounds.append({"after": "deflection taken out", **_sizes(result.deflected)})
    for k, size in enumerate(result.rounds, 1):
        rounds.append({"after": f"round {k}", **_sizes(size)})
    after = show.list_columns(after="after")
    yield show.Table(
        after + sizes, rounds, "rounds", folded="Rounds of learning on the nominal twin"
    )
    largest = float(np.abs(result.best.shift).max())
    yield show.Text(
        f"The commanded tool point is shifted by at most {MICROMETRES.with_unit(largest)}. "
        f"{_spacing(result)}"
    )
    yield show.Text(_joining(result))
    yield show.Text(
        "setpoints.csv holds the joint set-points at the controller's rate, for the workpiece "
        "where the job has it; points.csv the tool's poses in the workpiece's frame, angles A, B, "
        "C.",
        "soft",
    )
    spacings = result.program.spacings
    decisive = result.decisive.band
    yield show.Data(
        {
            "job": result.prediction.job.name,
            "robot": result.prediction.robot.name,
            "largest_shift_m": largest,
            "points": len(result.program),
            "spacing_m": [float(spacings.min()), float(spacings.max())],
            "by_lines_peak_m": _lines_peaks(result),
            "outcome": None if decisive is None else decisive.outcome,
            "holds": result.holds,
            "measured_first": [step.record for step in result.measured_first],
        }
    )


def _lines_peaks(result: Correction) -> Record | None:
    size = result.by_lines
    return None if size is None else {"lateral": size.lateral, "vertical": size.vertical}


def _spacing(result: Correction) -> str:
    """How many points, how far apart, and whether they do as well as the set-points."""
    spacings = 1e3 * result.program.spacings
    apart = f"{spacings.min():.3g} to {spacings.max():.3g} mm"
    if np.ptp(spacings) < 1e-3:
        apart = f"{spacings.mean():.3g} mm"
    growth = result.points.growth(result.best)
    sentence = (
        f"The program has {len(result.program)} points, {apart} apart; its nominal peaks are at "
        f"most {TIMES.text(growth)} times those of the set-points."
    )
    if growth > MOST_GROWTH:
        return f"{sentence} Points nearer than that would follow the correction better."
    return sentence


def _joining(result: Correction) -> str:
    """How the controller is assumed to join the points, and what another way would make."""
    assumed = (
        "Assumed: the controller runs a smooth curve through the points (a cubic spline) at the "
        "programmed speed"
    )
    if result.by_lines is None:
        return f"{assumed}; straight lines between them cannot be run at this speed."
    lateral = MICROMETRES.text(result.by_lines.lateral)
    vertical = MICROMETRES.with_unit(result.by_lines.vertical)
    return (
        f"{assumed}. With straight lines between them the nominal peaks are {lateral} lateral and "
        f"{vertical} vertical; a controller that rounds points off or brakes at them is not "
        "simulated."
    )


def _charts(result: Correction) -> show.Blocks:
    p = result.prediction
    tolerance = p.job.description.tolerance
    charts = []
    for name, allowed in (("lateral", tolerance.lateral), ("vertical", tolerance.vertical)):
        layers: list[show.Layer] = [_curve("as programmed", p.path_error, name)]
        for command, x in result._commands:
            layers.append(_curve(command, x.prediction.path_error, name))
        layers += [show.Rule(1e6 * allowed, "tolerance"), show.Rule(-1e6 * allowed)]
        charts.append(chart_along_seam(f"{name} error", "µm", layers))
    yield show.Multiples(tuple(charts), columns=2, shared="x", title="Nominal error")
    if result.band is not None:
        bands = {"as programmed": result.band}
        bands |= {name: x.band for name, x in result._commands if x.band is not None}
        caption = "The same variants without and with the correction; dashed: the tolerance."
        yield interval_bars(bands, caption)
    s = p.motion.command.s
    shifts = []
    for name, values in zip(("lateral", "vertical"), result.best.shift.T, strict=True):
        shifts.append(show.Curve(name, 1e3 * thin_out(s, SAMPLES), 1e6 * thin_out(values, SAMPLES)))
    yield show.Chart(
        "Shift of the commanded tool point",
        show.Axis("along the seam", "mm"),
        show.Axis("shift", "µm"),
        tuple(shifts),
    )


def _curve(name: str, error: PathError, direction: str) -> show.Curve:
    thin = thin_out(np.flatnonzero(error.speed_ref > 0), SAMPLES)
    values = getattr(error, direction)
    return show.Curve(name, 1e3 * error.s[thin], 1e6 * values[thin])
