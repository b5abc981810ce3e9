"""How well rows tell the numbers of friction laws: deviations, and intervals by likelihood.

    (S(θ) - S_least) / s² = t²        S(θ) the least sum of squares with the number held at θ

The deviations come from the slopes at the least sum. An interval goes as far as S(θ) stays within
t² s² of it: the slopes give a first end, one or two fits with the number held there tell how the
valley bends, and a parabola d(ζ) of the distance over the root ζ of the rise places the end.
Valleys that the rows do not refute all count.

Ref: [Bates-Watts 1988, section 6.1]
"""

from __future__ import annotations

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
        low, high = values * spread, values * spread
        for place in range(len(values)):
            number = Pin(place, float(values[place]))
            ends = _ends(rows, valley, number, float(spread[place]), (variance, np.sqrt(room)))
            low[place], high[place] = ends
        lows.append(low)
        highs.append(high)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _ends(
    rows: TorqueRows, valley: Valley, number: Pin, spread: float, far: tuple[float, float]
) -> tuple[float, float]:
    """Where a valley has risen by far[1]² times the variance far[0], below and above a number."""
    variance, reach = far
    width = reach * spread
    if not STRAIGHT < width < UNTOLD:
        with np.errstate(over="ignore"):
            return number.value * float(np.exp(-width)), number.value * float(np.exp(width))
    found = []
    for sign in (-1.0, 1.0):

        def risen(distance: float, sign: float = sign) -> tuple[float, float]:
            """A distance within the limits, and the root of the rise there."""
            change = _inside(rows, number, sign * distance)
            held = Pin(number.place, number.value * float(np.exp(change)))
            rise = (refined(rows, valley.x, held).left - valley.left) / variance
            return abs(change), float(np.sqrt(max(rise, 0.0)))

        distance, root = risen(width)
        end = _on_parabola((spread * root, root, distance), reach, width)
        if abs(root - reach) > STRONG * reach:
            farther, higher = risen(end)
            if abs(higher - root) > STRONG * reach:
                slope = _slope_at_zero((root, distance), (higher, farther))
                end = _on_parabola((slope * higher, higher, farther), reach, width)
        found.append(number.value * float(np.exp(sign * end)))
    return found[0], found[1]


def _slope_at_zero(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Slope at 0 of the parabola through 0 and two points (ζ, d)."""
    (z, d), (z2, d2) = first, second
    if not z > 0 or not z2 > 0:
        return 0.0
    return (d / z * z2 - d2 / z2 * z) / (z2 - z)


def _on_parabola(known: tuple[float, float, float], reach: float, width: float) -> float:
    """Distance at a root ζ = reach of d = a ζ + b ζ², from (a ζ₁, ζ₁, d₁)."""
    straight, root, distance = known
    most = WIDEST * width
    if not root > 0:
        return most
    bent = (distance - straight) / root**2
    end = straight / root * reach + bent * reach**2
    return float(np.clip(end, width / WIDEST, most))


def _inside(rows: TorqueRows, number: Pin, change: float) -> float:
    """A change of a number's logarithm that keeps a shape within its limits."""
    shape = number.place - rows.coefficients
    if shape < 0:
        return change
    low, high = rows.limits
    here = np.log(number.value)
    return float(np.clip(here + change, low[shape] + 1e-6, high[shape] - 1e-6) - here)


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
