"""Torque over position on even positions: smoothing, slopes, flat intervals, straight lines.

Ref: [Soder-Hoorn 2015, section 4.3]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.identification.resampling import runs_of
from armtwin.maths.batch import Flags, Floats, Pair

FLAT = 0.5  # share of the overall slope below which a curve is flat: half way to none
WINDOWS = (0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12)  # of a curve's positions
CALM = 0.1  # share of the overall slope that the noise may have: a fifth of the threshold
INSIDE = 0.1  # share of the positions at each end in which no gap is looked for
BEYOND = 0.1  # share of the spring's torque that must lie on either side of zero


@dataclass(frozen=True, eq=False)
class ClampingCurve:
    """Torque over evenly spaced positions.

    Attributes:
        q: Positions, (m,) [rad].
        tau: Torques, (m,) [N m].
    """

    q: Floats
    tau: Floats

    @property
    def step(self) -> float:
        """Distance of the positions [rad]."""
        return float(self.q[1] - self.q[0])

    @property
    def slope(self) -> float:
        """Slope of the straight line through all of it [N m/rad]."""
        return line(self.q, self.tau)[0]

    def part(self, start: int, stop: int) -> ClampingCurve:
        """Its positions `start` up to `stop`."""
        return ClampingCurve(self.q[start:stop], self.tau[start:stop])

    def slopes(self) -> Floats:
        """Slope at each position, (m,) [N m/rad]."""
        return self._smooth_slopes()[0]

    @property
    def resolution(self) -> float:
        """Width of the window of its slopes, which hides what is narrower [rad]."""
        return self.step * self._smooth_slopes()[1]

    def _smooth_slopes(self) -> tuple[Floats, int]:
        """Slope at each position, (m,) [N m/rad], and the positions of its window.

        It is that of the straight line through a window around the position, which averages as it
        differentiates; the shortest window that keeps the noise of the slopes small is taken.
        """
        slopes, window = np.full(len(self.q), self.slope), len(self.q)
        for share in WINDOWS:
            half = max(2, round(share * len(self.q) / 2))
            if 2 * half >= len(self.q):
                break
            slopes, window = _line_slopes(self.tau, half) / self.step, 2 * half + 1
            noise = 1.4826 * float(np.median(np.abs(slopes - np.median(slopes))))
            if noise < CALM * abs(self.slope):
                break
        return slopes, window


def _line_slopes(y: Floats, half: int) -> Floats:
    """Slope per sample of the line through each sample and `half` neighbours on either side.

    Σ j y(i + j) / Σ j²,  j = -half .. half        at the ends that of the first whole window
    """
    j = np.arange(-half, half + 1, dtype=np.float64)
    inner = np.correlate(y, j, mode="valid") / float(j @ j)
    return np.pad(inner, half, mode="edge")


def moving_average(x: Floats, window: int) -> Floats:
    """Mean over an odd window around each sample; near the ends over the samples there are.

    The window shrinks evenly at both sides there, so that a straight line stays one.
    """
    half = window // 2
    count = len(x)
    sums = np.concatenate([[0.0], np.cumsum(x)])
    at = np.arange(count)
    reach = np.minimum(half, np.minimum(at, count - 1 - at))
    return (sums[at + reach + 1] - sums[at - reach]) / (2 * reach + 1)


def line(x: Floats, y: Floats) -> Pair:
    """Slope and value at x = 0 of the straight line through points, by least squares.

    NaN where there is no point.
    """
    if not len(x):
        return np.nan, np.nan
    centre = float(x.mean())
    away = x - centre
    spread = float(away @ away)
    if spread == 0:
        return 0.0, float(y.mean())
    slope = float(away @ y) / spread
    return slope, float(y.mean()) - slope * centre


def flat_interval(curve: ClampingCurve) -> tuple[int, int] | None:
    """The longest interval whose slope is below a share of the overall one; None if there is none.

    It is widened by a position on either side until the slope of its line is not negative.
    """
    flat = curve.slopes() < FLAT * curve.slope
    ends = round(INSIDE * len(flat))
    flat[:ends] = False
    flat[len(flat) - ends :] = False
    start, stop = max(runs_of(flat), key=lambda run: run[1] - run[0], default=(0, 0))
    if stop - start < 2:
        return None
    while curve.part(start, stop).slope < 0 and (start > 0 or stop < len(curve.q)):
        start, stop = max(start - 1, 0), min(stop + 1, len(curve.q))
    return start, stop


def passes_zero(spring: Floats) -> bool:
    """Whether a spring's torque lies well on both sides of zero, where the backlash is."""
    low, high = float(spring.min()), float(spring.max())
    margin = BEYOND * (high - low)
    return low < -margin and high > margin


def without_outliers(x: Floats, y: Floats, factor: float) -> Flags:
    """Points at most `factor` standard deviations from their straight line."""
    slope, start = line(x, y)
    away = y - (start + slope * x)
    deviation = away.std()
    return np.abs(away) <= factor * deviation + 1e-300
