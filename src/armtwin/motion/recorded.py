"""A motion as a controller ran it: the logged reference of the joints with its own time law.

The joints follow a cubic spline through the reference. What the tool does with it is the path: a
spline through its places between stops, run by arc length as the reference does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Integers, Names, Pair, ThreeArrays
from armtwin.maths.smoothing import low_pass
from armtwin.motion.curves import Given, Spline
from armtwin.motion.path import Path, Stretch
from armtwin.motion.route import ByPiece

AT_REST = 0.1  # of the largest speed nearby, below which the least speed is a stop
NEARBY = 0.5  # time about a sample in which that is [s]
SLOW = 1e-3  # tool speed that is rest [m/s]
APART = 2e-4  # least distance of points of the path [m]
LEAST_TRAVEL = 1e-3  # of a stretch of its own [m]
STEPS = 4  # of Newton's method to the place on the path
ROUGH = 0.05  # acceleration that rounding of the reference may make [rad/s², m/s²]
WHOLE = 0.1  # of a step of rounding that others may be off a multiple of it
SMOOTH = 8.0  # samples in a period of the fastest that is left of a rounded reference


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference of the joints over time.

    Attributes:
        time: Times of its samples from 0 on, (k,) [s].
        q: Joint positions, (k, n).
    """

    time: Floats
    q: Floats

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.time, _without_rounding(self.time, self.q), bc_type="clamped")

    def at(self, time: Floats) -> ThreeArrays:
        """Positions, speeds, accelerations at times, (m, n) each; at rest outside."""
        t = np.clip(time, 0.0, self.time[-1])
        moving = ((time > 0) & (time < self.time[-1]))[:, None]
        return self._spline(t), self._spline(t, 1) * moving, self._spline(t, 2) * moving


def _without_rounding(time: Floats, q: Floats) -> Floats:
    """A reference without the steps of few digits, where they would be felt as acceleration."""
    step = np.abs(np.diff(q, axis=0))
    rate = (len(time) - 1) / float(time[-1] - time[0])
    digits = np.array([c[c > 0].min(initial=np.inf) for c in step.T])
    grid = np.where(np.isfinite(digits), digits, 0.0)
    # steps of rounding are whole multiples of the least one; those of a smooth motion are not
    counts = step / np.where(grid > 0, grid, 1.0)
    whole = np.abs(counts - np.round(counts)).max(axis=0)
    is_rounded = (grid * rate**2 > ROUGH) & (whole < WHOLE)
    even = np.ptp(np.diff(time)) < 1e-3 / rate
    if not is_rounded.any() or not even:
        return q
    return np.where(is_rounded, low_pass(q, rate, rate / SMOOTH), q)


class RecordedPart(NamedTuple):
    """A stretch of a reference between stops: its samples from and to, both included."""

    first: int
    last: int


def find_parts(time: Floats, p: Floats, cuts: Sequence[float] = ()) -> list[RecordedPart]:
    """Stretches of tool positions (k, 3) between stops, and between given times [s]."""
    from scipy.ndimage import maximum_filter1d

    speed = np.linalg.norm(np.gradient(p, time, axis=0), axis=1)
    width = max(1, int(NEARBY * (len(time) - 1) / float(time[-1] - time[0])))
    largest = maximum_filter1d(speed, 2 * width + 1, mode="nearest")
    slow = speed < np.maximum(AT_REST * largest, SLOW)
    bounds = {0, len(time) - 1}
    edges = np.flatnonzero(np.diff(np.concatenate([[0], slow.astype(int), [0]])))
    for a, b in edges.reshape(-1, 2):
        bounds.add(int(a + speed[a:b].argmin()))
    bounds |= {int(np.argmin(np.abs(time - cut))) for cut in cuts}
    ordered = sorted(bounds)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))])
    parts: list[RecordedPart] = []
    begin = 0
    for end in ordered[1:]:
        if way[end] - way[begin] >= LEAST_TRAVEL:
            parts.append(RecordedPart(begin, end))
            begin = end
    if not parts:
        raise ArmtwinError("the tool does not move in the reference")
    parts[-1] = RecordedPart(parts[-1].first, len(time) - 1)
    return parts


@dataclass(frozen=True, eq=False)
class RecordedProfile:
    """Arc length over time as it was recorded.

    Attributes:
        time: Times from 0 on, (k,) [s].
        s: Arc length there, never decreasing, (k,) [m].
    """

    time: Floats
    s: Floats

    @cached_property
    def _curve(self) -> Any:
        from scipy.interpolate import PchipInterpolator

        return PchipInterpolator(self.time, self.s)

    @property
    def duration(self) -> float:
        """Time of the reference [s]."""
        return float(self.time[-1])

    @property
    def steady(self) -> Pair:
        """When the process may be on [s]: the job says where it is."""
        return 0.0, self.duration

    def at(self, time: Floats) -> ThreeArrays:
        """Arc length, speed, acceleration along the path at times, (m,) each; at rest outside."""
        t = np.clip(time, 0.0, self.duration)
        inside = (time > 0) & (time < self.duration)
        return self._curve(t), self._curve(t, 1) * inside, self._curve(t, 2) * inside

    def ramps(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """No instants beside the set-points."""
        none = np.empty((0, len(x)))
        return none, none, none, none


class RecordedPath(NamedTuple):
    """A path as it was run, its orientations and its time law."""

    path: Path
    orientations: ByPiece
    profile: RecordedProfile


def build_recorded(
    time: Floats, X: Floats, parts: Sequence[RecordedPart], names: Names
) -> RecordedPath:
    """The path of tool poses (k, 4, 4) over times, with a stretch for each part."""
    pieces, rules, stretches = [], [], []
    s = np.empty(len(time))
    done = 0.0
    for k, (part, name) in enumerate(zip(parts, names, strict=True)):
        rows = np.arange(part.first, part.last + 1)
        p = X[rows, :3, 3]
        kept = _thin(p)
        spline = Spline(p[kept])
        s[rows] = done + _places(spline, p, kept)
        pieces.append(spline)
        rules.append(Given(spline.marks, X[rows[kept], :3, :3]))
        stretches.append(Stretch(name, done, done + spline.length, k))
        done += spline.length
    path = Path(tuple(pieces), tuple(stretches), ())
    bounds = np.array([0.0, *(x.stop for x in stretches)])
    s[: parts[0].first] = 0.0
    profile = RecordedProfile(time, np.maximum.accumulate(s))
    return RecordedPath(path, ByPiece(bounds, tuple(rules)), profile)


def _thin(p: Floats) -> Integers:
    """Numbers of points (k, 3) that are apart from each other, first and last included."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))])
    kept = [0]
    for k in np.flatnonzero((way > APART) & (way < way[-1] - APART)):
        if way[k] - way[kept[-1]] >= APART:
            kept.append(int(k))
    return np.array([*kept, len(p) - 1])


def _places(spline: Spline, p: Floats, kept: Integers) -> Floats:
    """Arc lengths of a spline at points (m, 3) of which it goes through some."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))])
    s = np.interp(way, way[kept], spline.marks)
    for _ in range(STEPS):
        jet = spline.at(s)
        s = np.clip(s + np.einsum("ij,ij->i", p - jet.p, jet.t), 0.0, spline.length)
    return np.maximum.accumulate(s)
