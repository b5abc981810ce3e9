"""How well rows tell the numbers of friction laws: deviations, and intervals by likelihood.

    (S(θ) - S_least) / s² = t²        S(θ) the least sum of squares with the number held at θ

The deviations come from the slopes at the least sum. An interval goes as far as S(θ) stays within
t² s² of it: the slopes give a first end, one or two fits with the number held there tell how the
valley bends, and a parabola d(ζ) of the distance over the root ζ of the rise places the end.
Valleys that the rows do not refute all count.

Ref: [Bates-Watts 1988, section 6.1]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.identification.friction_curves.torque_rows import TorqueRows
from armtwin.identification.friction_curves.valleys import Pin, Valley, refined, solved
from armtwin.maths.batch import Flags, Floats

HELD = 0.95  # probability that an interval holds the number
LEAST = 1e-12  # of the largest coefficient below which one is at its bound
STRAIGHT = 1e-3  # relative width up to which slopes alone are taken
STRONG = 0.1  # relative difference from the rise that is sought which asks for a second fit
UNTOLD = 4.0  # logarithm from which on an interval says nothing, and slopes will do
WIDEST = 3.0  # times by which an end may lie farther than its slopes say


def deviations(rows: TorqueRows, x: Floats, variance: float) -> Floats:
    """Standard deviations of coefficients and shapes, (p,); nan for one at its bound."""
    coefficients = solved(rows, x).coefficients
    free = free_numbers(rows, x, coefficients)
    found = np.full(len(free), np.nan)
    found[free] = _from_slopes(_slopes(rows, x, coefficients)[:, free], variance)
    return found


def intervals(
    rows: TorqueRows, valleys: list[Valley], variance: float, freedom: int
) -> tuple[Floats, Floats]:
    """Ends of the intervals of coefficients and shapes, (p,) each; nan for one at its bound.

    Args:
        rows: The rows.
        valleys: All that were found, the least first.
        variance: Of the noise, by the residuals.
        freedom: Rows less numbers.
    """
    from scipy.stats import t

    reach = float(t.ppf(0.5 + 0.5 * HELD, freedom))
    lows, highs = [], []
    for valley in valleys:
        room = reach**2 - (valley.left - valleys[0].left) / variance
        if room < 0:
            break
        values = np.concatenate([solved(rows, valley.x).coefficients, np.exp(valley.x)])
        spread = deviations(rows, valley.x, variance) / np.maximum(values, 1e-300)
        if valley is not valleys[0]:
            spread = np.nan_to_num(spread)
        ends = []
        for place, value in enumerate(values.tolist()):
            profile = _Profile(rows, valley, Pin(place, value), variance)
            ends.append(_ends(profile, float(spread[place]), float(np.sqrt(room))))
        low, high = np.array(ends).T
        lows.append(low)
        highs.append(high)
    return np.min(lows, axis=0), np.max(highs, axis=0)


@dataclass(frozen=True, eq=False)
class _Profile:
    """The least sum of squares of a valley over one number that is held.

    Attributes:
        rows: The rows.
        valley: The valley.
        number: The number at the foot of the valley.
        variance: Of the noise.
    """

    rows: TorqueRows
    valley: Valley
    number: Pin
    variance: float

    def risen(self, change: float) -> tuple[float, float]:
        """Root ζ of the rise at a change of the number's logarithm, and that change's size.

        The change is less where a shape number would leave its limits.
        """
        inside = self._inside(change)
        held = Pin(self.number.place, self.number.value * float(np.exp(inside)))
        rise = (refined(self.rows, self.valley.x, held).left - self.valley.left) / self.variance
        return float(np.sqrt(max(rise, 0.0))), abs(inside)

    def _inside(self, change: float) -> float:
        shape = self.number.place - self.rows.coefficients
        if shape < 0:
            return change
        low, high = self.rows.limits
        here = np.log(self.number.value)
        return float(np.clip(here + change, low[shape] + 1e-6, high[shape] - 1e-6) - here)


def _ends(profile: _Profile, spread: float, reach: float) -> tuple[float, float]:
    """Where a valley has risen by reach² times the variance, below and above a number.

    Args:
        profile: The valley over the number.
        spread: Relative deviation of the number by the slopes.
        reach: Root ζ of the rise that is sought.
    """
    value, width = profile.number.value, reach * spread
    if not STRAIGHT < width < UNTOLD:
        with np.errstate(over="ignore"):
            return value * float(np.exp(-width)), value * float(np.exp(width))
    below, above = _end(profile, -1.0, spread, reach), _end(profile, 1.0, spread, reach)
    return value * float(np.exp(-below)), value * float(np.exp(above))


def _end(profile: _Profile, side: float, spread: float, reach: float) -> float:
    """Change of a number's logarithm at which the root of the rise is at reach, on one side."""
    width = reach * spread
    first = profile.risen(side * width)
    end = _on_parabola(spread, first, reach, width)
    if abs(first[0] - reach) <= STRONG * reach:
        return end
    second = profile.risen(side * end)
    if abs(second[0] - first[0]) <= STRONG * reach:
        return end
    return _on_parabola(_slope_at_zero(first, second), second, reach, width)


def _slope_at_zero(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Slope at 0 of the parabola through 0 and two points (ζ, d)."""
    (z, d), (z2, d2) = first, second
    if not z > 0 or not z2 > 0:
        return 0.0
    return (d / z * z2 - d2 / z2 * z) / (z2 - z)


def _on_parabola(slope: float, point: tuple[float, float], reach: float, width: float) -> float:
    """Distance at ζ = reach on d = slope ζ + bend ζ² through a point (ζ, d), of width's order."""
    root, distance = point
    if not root > 0:
        return WIDEST * width
    bend = (distance - slope * root) / root**2
    end = slope * reach + bend * reach**2
    return float(np.clip(end, width / WIDEST, WIDEST * width))


def _slopes(rows: TorqueRows, x: Floats, coefficients: Floats) -> Floats:
    """Slopes of the torques over the noise with coefficients and shapes, (k, p)."""
    A = rows.over_noise(rows.columns(x))
    return np.concatenate([A, rows.bends(x, coefficients) / np.exp(x)], axis=1)


def free_numbers(rows: TorqueRows, x: Floats, coefficients: Floats) -> Flags:
    """Numbers that are not at a bound, (p,); a shape of a coefficient that is zero is not free."""
    low, high = rows.limits
    linear = coefficients > LEAST * max(float(coefficients.max(initial=0.0)), 1e-300)
    inside = (x > low + 1e-4) & (x < high - 1e-4)
    J = _slopes(rows, x, coefficients)
    felt = np.linalg.norm(J[:, len(coefficients) :], axis=0) > 0
    return np.concatenate([linear, inside & felt])


def _from_slopes(J: Floats, variance: float) -> Floats:
    """Standard deviations from slopes, by singular values; large where a direction is not told."""
    size = np.linalg.norm(J, axis=0)
    size[size == 0] = 1.0
    _, values, Vt = np.linalg.svd(J / size, full_matrices=False)
    least = 1e-12 * values[0]
    parts = (Vt.T / np.maximum(values, least)) ** 2
    return np.asarray(np.sqrt(variance * parts.sum(axis=1)) / size)
