"""The verdict: within tolerance, or the spans of the seam that are not."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from armtwin.jobs.groups import Tolerance, Window
from armtwin.jobs.job import Job
from armtwin.logs.recording import Event, find_stop
from armtwin.maths.batch import Flags, Floats, Pair, Record, runs_of
from armtwin.notebook import cards
from armtwin.prediction.path_error import PathError

Direction = Literal["lateral", "vertical", "orientation"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
PEAKS: dict[Direction, str] = {  # fields of a segment
    "lateral": "lateral_peak_m",
    "vertical": "vertical_peak_m",
    "orientation": "orientation_rad",
}


@dataclass(frozen=True)
class Span:
    """A span of the seam on which the path error is out of tolerance.

    Attributes:
        from_m: Arc length where it begins [m].
        to_m: Arc length where it ends [m].
        peak_m: Largest error there, with its sign [m; rad for orientation].
        peak_at_m: Arc length of that [m].
        direction: Which error it is.
    """

    from_m: float
    to_m: float
    peak_m: float
    peak_at_m: float
    direction: Direction


@dataclass(frozen=True)
class SlowSpan:
    """A span of the seam on which the tool speed is outside the process window.

    Attributes:
        from_m: Arc length where it begins [m].
        to_m: Arc length where it ends [m].
        segment: Name of the segment.
        speed_m_s: The speed that is furthest from the commanded one there [m/s].
    """

    from_m: float
    to_m: float
    segment: str
    speed_m_s: float


@dataclass(frozen=True)
class SegmentError:
    """Errors of one stretch of the seam; NaN where it has no sample of the kind.

    Attributes:
        name: Name of the stretch.
        from_m: Arc length where it begins [m].
        to_m: Arc length where it ends [m].
        lateral_peak_m: Largest lateral error with the process on [m].
        vertical_peak_m: Largest vertical error with the process on [m].
        lateral_off_m: Largest lateral error with it off, in run-in and run-out [m].
        vertical_off_m: Largest vertical error with it off [m].
        lag_m: Largest lag with the process on [m].
        speed_m_s: Lowest and highest tool speed with the process on [m/s].
        orientation_rad: Largest error of orientation with the process on [rad].
        out_of_tolerance_m: Length of the seam that is out of tolerance [m].
    """

    name: str
    from_m: float
    to_m: float
    lateral_peak_m: float
    vertical_peak_m: float
    lateral_off_m: float
    vertical_off_m: float
    lag_m: float
    speed_m_s: Pair
    orientation_rad: float
    out_of_tolerance_m: float


@dataclass(frozen=True)
class Verdict:
    """Whether the seam holds.

    Attributes:
        within: Whether the whole seam was run, in tolerance and in its process windows.
        tolerance: What was allowed.
        spans: Where it was exceeded, in order of place.
        outside_window: Where the tool speed was outside a process window.
        segments: Errors of each stretch of the seam.
        stopped: The event that ended the run early, if one did.
        stopped_at_m: Where on the seam that was [m].
    """

    within: bool
    tolerance: Tolerance
    spans: tuple[Span, ...]
    outside_window: tuple[SlowSpan, ...]
    segments: tuple[SegmentError, ...]
    stopped: Event | None = None
    stopped_at_m: float | None = None

    def __repr__(self) -> str:
        return cards.line("Verdict", self.summary)

    @property
    def summary(self) -> str:
        """The outcome in a few words, as "holds, 93.1 % of tolerance"."""
        outcome = "holds" if self.within else "does not hold"
        if self.stopped is not None:
            return f"{outcome}, stops at {1e3 * (self.stopped_at_m or 0.0):.0f} mm"
        if self.outside_window:
            return f"{outcome}, tool speed outside its process window"
        if not any(np.isfinite(segment.lateral_peak_m) for segment in self.segments):
            return f"{outcome}, nothing of it was run"
        return f"{outcome}, {100 * self.worst_ratio:.1f} % of tolerance"

    @property
    def out_of_tolerance_m(self) -> float:
        """Length of the seam that is out of tolerance [m]."""
        return sum(x.out_of_tolerance_m for x in self.segments)

    @cached_property
    def peaks(self) -> dict[Direction, float]:
        """Largest error in each direction that is judged, with the process on [m; rad]."""
        found: dict[Direction, float] = {}
        for direction in DIRECTIONS:
            values = [getattr(segment, PEAKS[direction]) for segment in self.segments]
            known = [value for value in values if np.isfinite(value)]
            if known and getattr(self.tolerance, direction) is not None:
                found[direction] = max(known)
        return found

    @property
    def worst(self) -> Direction:
        """The direction that uses most of its tolerance."""
        return max(self.ratios, key=self.ratios.__getitem__)

    @property
    def ratios(self) -> dict[Direction, float]:
        """Largest error over its tolerance in each direction that is judged."""
        return {name: peak / getattr(self.tolerance, name) for name, peak in self.peaks.items()}

    @property
    def record(self) -> Record:
        """What became of the seam as plain values."""
        stopped = None
        if self.stopped is not None:
            stopped = {**self.stopped.record, "at_m": self.stopped_at_m}
        limits = {"lateral": self.tolerance.lateral, "vertical": self.tolerance.vertical}
        return {
            "within": self.within,
            "tolerance_m": limits,
            "tolerance_orientation_rad": self.tolerance.orientation,
            "stopped": stopped,
        }

    @property
    def worst_ratio(self) -> float:
        """Largest error over its tolerance with the process on.

        Inf where the run does not count.
        """
        if self.stopped is not None or self.outside_window:
            return float("inf")
        return max(self.ratios.values(), default=float("nan"))


def verdict_on(job: Job, error: PathError, events: tuple[Event, ...] = ()) -> Verdict:
    """Judge a path error by a job's tolerance, where its process is on."""
    tolerance = job.description.tolerance
    on = process_is_on(job, error.s)
    spans: list[Span] = []
    for direction in DIRECTIONS:
        limit = getattr(tolerance, direction)
        if limit is not None:
            spans += _spans(error.place, getattr(error, direction), limit, on, direction)
    spans.sort(key=lambda span: (span.from_m, span.direction))
    outside = tuple(_outside(job, error, on))
    ended = find_stop(events)
    return Verdict(
        within=not spans and not outside and ended is None,
        tolerance=tolerance,
        spans=tuple(spans),
        outside_window=outside,
        segments=tuple(_segments(job, error, on, spans)),
        stopped=ended,
        stopped_at_m=None if ended is None else float(error.place[-1]),
    )


def process_is_on(job: Job, s: Floats) -> Flags:
    """Whether the process is on, and so the error is judged, at commanded arc lengths."""
    on = np.zeros(len(s), dtype=bool)
    for start, stop in job.process_on():
        on |= (s >= start) & ((s <= stop) if stop >= job.seam.length else (s < stop))
    return on


def _spans(
    place: Floats, values: Floats, limit: float, on: Flags, direction: Direction
) -> Iterator[Span]:
    """Stretches of samples beyond a limit, their ends where the error crosses it."""
    size = np.abs(values)
    for first, after in runs_of(on & (size > limit)):
        ends = [
            _crossing(place, size, limit, on, first, first - 1),
            _crossing(place, size, limit, on, after - 1, after),
        ]
        peak = first + int(size[first:after].argmax())
        yield Span(min(ends), max(ends), float(values[peak]), float(place[peak]), direction)


def _crossing(
    place: Floats, size: Floats, limit: float, on: Flags, inside: int, beyond: int
) -> float:
    """Where the error crosses the limit between a sample inside of a span and its neighbour."""
    if not 0 <= beyond < len(place) or not on[beyond]:
        return float(place[inside])
    share = (size[inside] - limit) / (size[inside] - size[beyond])
    return float(place[inside] + share * (place[beyond] - place[inside]))


def _outside(job: Job, error: PathError, on: Flags) -> Iterator[SlowSpan]:
    """Stretches where the tool speed is outside the process window of its segment."""
    power = job.description.process.power
    for start, stop, name, window in job.windows():
        here = on & (error.s >= start) & (error.s <= stop)
        for first, after in runs_of(here & ~inside_window(window, error.speed, power)):
            worst = first + int(np.abs(error.speed - error.speed_ref)[first:after].argmax())
            places = error.place[first:after]
            yield SlowSpan(
                float(places.min()), float(places.max()), name, float(error.speed[worst])
            )


def inside_window(window: Window, speed: Floats, power: float | None) -> Flags:
    """Whether tool speeds lie in a process window."""
    inside = np.zeros(len(speed), dtype=bool)
    for lowest, highest in window.speeds(power):
        inside |= (speed >= lowest) & (speed <= highest)
    return inside


def _segments(job: Job, error: PathError, on: Flags, spans: list[Span]) -> Iterator[SegmentError]:
    out = _union([(x.from_m, x.to_m) for x in spans])
    for x in job.seam.path.stretches:
        # the commanded arc length never decreases, so that a stretch is a slice of the samples
        # a sample on a border belongs to the next stretch
        last = len(error.s) if x.stop >= job.seam.length else int(np.searchsorted(error.s, x.stop))
        some = slice(int(np.searchsorted(error.s, x.start)), last)
        used = on[some]
        rest = ~used
        lateral, vertical = error.lateral[some], error.vertical[some]
        length = sum((max(0.0, min(b, x.stop) - max(a, x.start)) for a, b in out), 0.0)
        yield SegmentError(
            name=x.name,
            from_m=x.start,
            to_m=x.stop,
            lateral_peak_m=_peak(lateral[used]),
            vertical_peak_m=_peak(vertical[used]),
            lateral_off_m=_peak(lateral[rest]),
            vertical_off_m=_peak(vertical[rest]),
            lag_m=_peak(error.lag[some][used]),
            speed_m_s=_range(error.speed[some][used]),
            orientation_rad=_peak(error.orientation[some][used]),
            out_of_tolerance_m=length,
        )


def _range(values: Floats) -> Pair:
    """Smallest and largest value."""
    if not len(values):
        return float("nan"), float("nan")
    return float(values.min()), float(values.max())


def _peak(values: Floats) -> float:
    return float(np.abs(values).max()) if len(values) else float("nan")


def _union(spans: list[Pair]) -> list[Pair]:
    """Spans joined where they overlap."""
    joined: list[Pair] = []
    for a, b in sorted(spans):
        if joined and a <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(b, joined[-1][1])
        else:
            joined.append((a, b))
    return joined
