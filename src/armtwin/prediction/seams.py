"""A program of several seams: a verdict on each, its cycle time, and what its corners cost.

A piece of length L that is run at speed V would take L / V. What it takes longer is lost at its
ends, in proportion to how much slower than V the tool is there, or in the zone that it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.maths.batch import Record
from armtwin.motion.look_ahead import LookAhead
from armtwin.motion.path import Stretch
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import MICROMETRES, MILLIMETRES, PERCENT, SECONDS, Number
from armtwin.prediction.band.band import Band
from armtwin.prediction.band.distribution import Distribution
from armtwin.prediction.predict import Prediction, predict_all
from armtwin.prediction.verdict import SegmentError, process_is_on
from armtwin.report.result import Result
from armtwin.simulation.options import Method

LEAVING = 1e-12  # beyond a stop [m], when the tool has waited
AFTER = 0.05  # length after a corner in which its dynamic error shows [m]
SHOWN = 40  # rows of a table in a report
FINE_MILLIMETRES = Number(1e3, "mm", places=2)
SPEED = Number(1e3, "mm/s", places=1)
ANGLE = Number(180 / np.pi, "°", places=1)


@dataclass(frozen=True)
class Cycle:
    """Times of a program.

    Attributes:
        time_s: From its first motion to its last [s].
        wait_s: Of it at rest by waits [s].
        lost_at_stops_s: Of it lost by slowing down to exact stops and speeding up again [s].
        lost_at_corners_s: Of it lost by zones and other limits that are passed slower [s].
    """

    time_s: float
    wait_s: float
    lost_at_stops_s: float
    lost_at_corners_s: float


@dataclass(frozen=True)
class SeamVerdict:
    """Whether one seam of a program holds.

    Attributes:
        name: Names of its first and last segment.
        lines: Lines of the source, as "12-18"; "" for none.
        from_m: Arc length where it begins [m].
        to_m: Arc length where it ends [m].
        within: Whether it is in tolerance in the nominal run.
        lateral_peak_m: Largest lateral error [m].
        vertical_peak_m: Largest vertical error [m].
        out_of_tolerance_m: Length that is out of tolerance [m].
        probability: How likely it holds; None for the nominal run alone.
    """

    name: str
    lines: str
    from_m: float
    to_m: float
    within: bool
    lateral_peak_m: float
    vertical_peak_m: float
    out_of_tolerance_m: float
    probability: float | None


@dataclass(frozen=True)
class CornerCost:
    """What a corner costs.

    Attributes:
        name: Segment that ends there.
        line: Its line in the source; 0 for none.
        at_m: Arc length [m].
        passed: "zone", "stop", or why a zone became a stop.
        turn_rad: Angle by which the path turns [rad].
        zone_m: Distance within which the path leaves the corner [m].
        speed_m_s: Lowest speed in it [m/s].
        deviation_m: How far the commanded path stays from the programmed corner [m].
        error_m: Largest path error in it and shortly after it, where it is judged [m].
    """

    name: str
    line: int
    at_m: float
    passed: str
    turn_rad: float
    zone_m: float
    speed_m_s: float
    deviation_m: float
    error_m: float


def judge_seams(p: Prediction, band: Band | None = None) -> tuple[SeamVerdict, ...]:
    """A verdict on each seam of a program: stretches with the process on."""
    return tuple(_judge(p, band, start, stop) for start, stop in p.job.process_on())


def _judge(p: Prediction, band: Band | None, start: float, stop: float) -> SeamVerdict:
    own = [x for x in p.verdict.segments if x.from_m < stop and x.to_m > start]
    spans = [x for x in p.verdict.spans if x.from_m < stop and x.to_m > start]
    slow = [x for x in p.verdict.outside_window if x.from_m < stop and x.to_m > start]
    ended = p.verdict.stopped_at_m
    return SeamVerdict(
        name=own[0].name if len(own) == 1 else f"{own[0].name} to {own[-1].name}",
        lines=_lines(p.job, start, stop),
        from_m=start,
        to_m=stop,
        within=not spans and not slow and (ended is None or ended >= stop),
        lateral_peak_m=_largest(own, "lateral_peak_m"),
        vertical_peak_m=_largest(own, "vertical_peak_m"),
        out_of_tolerance_m=sum(x.out_of_tolerance_m for x in own),
        probability=None if band is None else _probability(band, start, stop),
    )


def _largest(segments: Sequence[SegmentError], key: str) -> float:
    values = np.array([getattr(x, key) for x in segments])
    return float(np.nanmax(values)) if np.isfinite(values).any() else float("nan")


def _lines(job: Job, start: float, stop: float) -> str:
    """Lines of the source between two places."""
    found = []
    for x in job.seam.path.stretches:
        if x.start < stop and x.stop > start:
            found.append(job.description.segment[x.move].line)
    known = [line for line in found if line]
    if not known:
        return ""
    return str(known[0]) if min(known) == max(known) else f"{min(known)}-{max(known)}"


def _probability(band: Band, start: float, stop: float) -> float:
    """How likely a part of the seam holds."""
    found = band.ensemble
    here = (found.place >= start) & (found.place <= stop)
    run = found.finished
    if not here.any() or not run.any():
        return 0.0
    peaks = found.errors[run][:, :, here].max(axis=2)
    kept = (Distribution(peaks).ratios(band.tolerances) <= 1).mean()
    failed = (found.failed_on[:, 0] <= stop) & (found.failed_on[:, 1] >= start)
    return float(kept * (1 - failed.mean()))


def cycle_of(job: Job) -> Cycle:
    """The times of a job that is a program."""
    seam, d = job.seam, job.description
    assert seam.route is not None
    speeds = []
    for x in d.segment:
        is_free = x.fastest or x.ptp is not None or x.joints is not None
        speeds.append(np.nan if is_free else x.speed or d.speed)
    assert isinstance(seam.profile, LookAhead)
    pieces, profile = seam.route.pieces, seam.profile
    middle = (pieces.bounds[1:] + pieces.bounds[:-1]) / 2
    starts = np.array([x.start for x in seam.path.stretches])
    which = np.searchsorted(starts, middle, side="right") - 1
    owners = np.array([x.move for x in seam.path.stretches])[which]
    asked = np.array(speeds)[owners]  # on each piece, NaN for none
    arrives = profile.time_at(pieces.bounds[1:])
    leaves = profile.time_at(pieces.bounds[:-1] + LEAVING)
    _, v, _ = profile.at(profile.time_at(pieces.bounds))
    lost = np.maximum(np.nan_to_num(arrives - leaves - pieces.length / asked), 0.0)
    slower = np.maximum(np.nan_to_num(asked[:, None] - np.stack([v[:-1], v[1:]], axis=1)), 0.0)
    rests = np.concatenate([[True], pieces.stops])
    is_stop = np.stack([rests[:-1], rests[1:]], axis=1)
    share = (slower * is_stop).sum(axis=1) / np.maximum(slower.sum(axis=1), 1e-12)
    at_stops = float((lost * np.where(pieces.is_zone, 0.0, share)).sum())
    return Cycle(
        time_s=profile.duration,
        wait_s=float(profile.parts.wait.sum()),
        lost_at_stops_s=at_stops,
        lost_at_corners_s=float(lost.sum()) - at_stops,
    )


def corner_costs(p: Prediction) -> tuple[CornerCost, ...]:
    """What each corner of a program costs: speed, deviation by its zone, error after it."""
    seam, error = p.job.seam, p.path_error
    assert seam.route is not None
    assert isinstance(seam.profile, LookAhead)
    on = process_is_on(p.job, error.s)
    size = np.where(on, np.hypot(error.lateral, error.vertical), np.nan)
    corners = seam.route.corners
    places = np.array([x.at_m for x in corners])
    time = seam.profile.time_at(places)
    _, speed, _ = seam.profile.at(time)
    starts = np.array([x.start for x in seam.path.stretches])
    found = []
    for k, x in enumerate(corners):
        after = places[k + 1] if k + 1 < len(places) else seam.length
        first, last = np.searchsorted(error.s, (x.at_m - x.zone, min(after, x.at_m + AFTER)))
        judged = size[first : max(last, first + 1)]
        stretch = seam.path.stretches[int(np.searchsorted(starts, x.at_m - x.zone)) - 1]
        segment = p.job.description.segment[stretch.move]
        passed = "zone" if x.zone > 0 else "stop"
        if not x.zone and x.asked > 0:
            passed = "stop (turns back)" if x.turn > 2 else "stop (no zone possible)"
        found.append(
            CornerCost(
                name=stretch.name.removesuffix(" corner"),
                line=segment.line,
                at_m=x.at_m,
                passed=passed,
                turn_rad=x.turn,
                zone_m=x.zone,
                speed_m_s=float(speed[k]) if x.zone > 0 else 0.0,
                deviation_m=x.deviation,
                error_m=float(np.nanmax(judged)) if np.isfinite(judged).any() else float("nan"),
            )
        )
    return tuple(found)


def state_seams(p: Prediction) -> str:
    """How many seams of a program hold, and its cycle time; "" of another job."""
    if not p.job.is_program:
        return ""
    seams, cycle = judge_seams(p), cycle_of(p.job)
    held = sum(x.within for x in seams)
    return (
        f"{held} of {len(seams)} seams are within tolerance in the nominal run; cycle time "
        f"{SECONDS.with_unit(cycle.time_s)}."
    )


def program_blocks(p: Prediction, band: Band | None) -> show.Blocks:
    """Seams with their verdicts, cycle time and corners of a program; nothing of another job."""
    if not p.job.is_program:
        return
    seams, cycle = judge_seams(p, band), cycle_of(p.job)
    yield show.Facts(tuple(_times(cycle)))
    columns = show.list_columns(
        name="seam",
        lines="lines",
        from_m=("from", MILLIMETRES),
        to_m=("to", MILLIMETRES),
        lateral_peak_m=("lateral", MICROMETRES),
        vertical_peak_m=("vertical", MICROMETRES),
        out_of_tolerance_m=("out", MILLIMETRES),
        probability=("holds", PERCENT),
    )
    bad = frozenset(k for k, x in enumerate(seams) if not x.within)
    yield show.Table(columns, [asdict(x) for x in seams], "seams", bad=bad, most=SHOWN)
    yield show.Text(
        "Zones are assumed to round a corner within their distance, at most half of the moves "
        "beside it; controllers differ. A job from the log of a dry run (armtwin job --from-log) "
        "has the controller's own."
    )
    corners = show.list_columns(
        name="corner after",
        line="line",
        at_m=("at", MILLIMETRES),
        passed="passed by",
        turn_rad=("turn", ANGLE),
        zone_m=("zone", FINE_MILLIMETRES),
        speed_m_s=("speed", SPEED),
        deviation_m=("off the corner", MICROMETRES),
        error_m=("error after it", MICROMETRES),
    )
    yield show.Table(corners, [asdict(x) for x in corner_costs(p)], "corners", most=SHOWN)
    yield show.Data({"cycle": asdict(cycle)})


def _times(cycle: Cycle) -> Sequence[tuple[str, str]]:
    """The cycle time and what of it is lost."""
    lost = []
    for name, time in (("stops", cycle.lost_at_stops_s), ("corners", cycle.lost_at_corners_s)):
        share = PERCENT.with_unit(time / cycle.time_s)
        lost.append(f"{SECONDS.with_unit(time)} ({share}) at {name}")
    waits = f", {SECONDS.with_unit(cycle.wait_s)} of waits" if cycle.wait_s else ""
    return (("cycle time", f"{SECONDS.with_unit(cycle.time_s)}{waits}"), ("lost", ", ".join(lost)))


@dataclass(frozen=True, eq=False, repr=False)
class ZoneSweep(Result):
    """A program with other zones: cycle time against error.

    Attributes:
        job: The job.
        zones: Distances of the zones [m].
        runs: Its prediction with each; None where it cannot be run.
    """

    job: Job
    zones: tuple[float, ...]
    runs: tuple[Prediction | None, ...]

    @property
    def _segments(self) -> Sequence[Stretch]:
        """Stretches of the segments themselves, in order."""
        return [x for x in self.job.seam.path.stretches if not x.corner]

    @property
    def records(self) -> list[Record]:
        """A row for each zone."""
        found = []
        for zone, p in zip(self.zones, self.runs, strict=True):
            record: Record = {"zone_m": zone, "time_s": None, "deviation_m": None, "error_m": None}
            record |= {"worst_ratio": None, "within": False}
            if p is not None:
                swept = {x.name for x in self._segments if _has_zone(p.job, x.move)}
                costs = [x for x in corner_costs(p) if x.name in swept]
                record |= {
                    "time_s": cycle_of(p.job).time_s,
                    "deviation_m": max((x.deviation_m for x in costs), default=0.0),
                    "error_m": max((x.error_m for x in costs), default=0.0),
                    "worst_ratio": p.verdict.worst_ratio,
                    "within": p.verdict.within,
                }
            found.append(record)
        return found

    def sections(self) -> show.Report:
        """Cycle time and errors over the zone."""
        columns = show.list_columns(
            zone_m=("zone", FINE_MILLIMETRES),
            time_s=("cycle time", SECONDS),
            deviation_m=("off the corner", MICROMETRES),
            error_m=("error at corners", MICROMETRES),
            worst_ratio=("of tolerance", PERCENT),
        )
        records = self.records
        bad = frozenset(k for k, record in enumerate(records) if not record["within"])
        possible = [record for record in records if record["within"]]
        if possible:
            best = min(possible, key=lambda record: record["time_s"])
            zone, time = FINE_MILLIMETRES.with_unit(best["zone_m"]), best["time_s"]
            verdict = show.Text(f"Fastest within tolerance: zone {zone}, {time:.3f} s.", "good")
        else:
            verdict = show.Text(
                "No zone keeps the path error within tolerance (nominal runs).", "bad"
            )
        table = show.Table(columns, records, "zones", bad=bad)
        note = show.Text(
            "The path error is beside the rounded path; what the zone cuts off comes on top."
        )
        section = show.Section("", (table, note))
        return show.Report("Zones: cycle time against error", self.job.name, (section,), (verdict,))


def sweep_zone(job: Job, zones: Sequence[float], *, method: Method = "nonlinear") -> ZoneSweep:
    """Predict a program with other zones at the corners of its seams.

    Args:
        job: A job by look-ahead with zones or stops between judged segments.
        zones: Distances [m]; 0 for exact stops.
        method: As of `predict`.
    """
    if not job.is_program:
        raise ArmtwinError(
            f"job '{job.name}' has no zones: they need time_law.kind = \"look_ahead\""
        )
    segments = job.description.segment
    if not any(_has_zone(job, i) for i in range(len(segments))):
        raise ArmtwinError(
            f"job '{job.name}' has no corner between two judged lin or circ segments"
        )
    jobs = []
    for zone in zones:
        changed = []
        for i, x in enumerate(segments):
            changed.append(replace(x, zone=zone or None) if _has_zone(job, i) else x)
        jobs.append(Job(replace(job.description, segment=tuple(changed)), job.origin))
    return ZoneSweep(job, tuple(zones), tuple(predict_all(jobs, method=method)))


def _has_zone(job: Job, i: int) -> bool:
    """Whether a zone may be at the end of segment i."""
    segments = job.description.segment
    if i + 1 >= len(segments) or segments[i].wait:
        return False
    pair = segments[i : i + 2]
    return all(x.process and (x.lin is not None or x.circ is not None) for x in pair)
