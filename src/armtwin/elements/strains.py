"""Strains of a beam that bends far, from its six small deformations.

Angles in place of sines, so that a uniformly bent beam is measured exactly:

    (e3, e5) f(s_p),  (e4, e6) f(s_q),  e2 f(e2/l0),      f(s) = asin(s)/s
    s_p² = (e3² + e5²)/l0²,   s_q² = (e4² + e6²)/l0²,   then e3..e6 times 1 + (e2/l0)²/12

Then the terms of second order:

    ē1 = e1 + (2 e3² + e3 e4 + 2 e4² + 2 e5² + e5 e6 + 2 e6²)/(30 l0)     shortening by bending
    ē2 = e2 + (e4 e5 - e3 e6)/l0                                           twist when bent twice
    ē3 = e3 + e2 (e5 + e6)/(6 l0)      ē4 = e4 - e2 (e5 + e6)/(6 l0)
    ē5 = e5 - e2 (e3 + e4)/(6 l0)      ē6 = e6 + e2 (e3 + e4)/(6 l0)

Ref: [Meijaard 1996], [Jonker-Meijaard 2013]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.elements.beam import Six
from armtwin.elements.jets import Jet, angle_of, chained, plus, share, times
from armtwin.maths.choice import choose
from armtwin.maths.compiled import inlined


def _series(terms: int) -> tuple[float, ...]:
    """Coefficients of asin(s)/s = Σ c_k s^2k."""
    found = [1.0]
    for k in range(terms - 1):
        found.append(found[k] * (2 * k + 1) ** 2 / ((2 * k + 2) * (2 * k + 3)))
    return tuple(found)


TERMS = 17
SERIES = np.array(_series(TERMS))
SERIES_BELOW = 0.1  # there the closed form of the curvature loses digits to cancellation

Ratio = tuple[Any, Any, Any]


@inlined
def _angle_over_sine(S: Any) -> Ratio:
    """asin(s)/s over the square S = s² of a sine, its slope and its curvature."""
    f, slope, curvature = 0.0 * S, 0.0 * S, 0.0 * S
    for k in range(TERMS - 1, -1, -1):
        curvature = curvature * S + 2.0 * slope
        slope = slope * S + f
        f = f * S + SERIES[k]
    near = S.real < SERIES_BELOW
    far = choose(near, 0.0 * S + SERIES_BELOW, S)  # the closed form divides by it
    s, c = np.sqrt(far), np.sqrt(1.0 - far)
    closed = angle_of(s, c) / s
    closed_slope = (1.0 / c - closed) / (2.0 * far)
    closed_curvature = (0.5 / (c * c * c) - 3.0 * closed_slope) / (2.0 * far)
    return (
        choose(near, f, closed),
        choose(near, slope, closed_slope),
        choose(near, curvature, closed_curvature),
    )


@inlined
def ratios(length: float, e2: Any, at_p: Any, at_q: Any) -> tuple[Ratio, Ratio, Ratio]:
    """Angle over sine of the twist and of both ends, from e2, (e3, e5) and (e4, e6)."""
    area = 1.0 / (length * length)
    e3, e5 = at_p
    e4, e6 = at_q
    twist = _angle_over_sine(area * e2 * e2)
    bend_p = _angle_over_sine(area * (e3 * e3 + e5 * e5))
    bend_q = _angle_over_sine(area * (e4 * e4 + e6 * e6))
    return twist, bend_p, bend_q


@inlined
def _end_factor(area: float, ratio: Ratio, z: Jet, y: Jet, spread: Jet) -> Jet:
    """What the two bendings of one end are multiplied by."""
    square = plus(times(z, z), times(y, y))
    return times(chained(ratio, share(area, square)), spread)


@inlined
def better(length: float, e: Six, angles: tuple[Ratio, Ratio, Ratio]) -> Six:
    """The better strains of six small deformations."""
    e1, e2, e3, e4, e5, e6 = e
    area = 1.0 / (length * length)
    twist = times(e2, chained(angles[0], share(area, times(e2, e2))))
    grown = share(area / 12.0, times(twist, twist))
    spread = (1.0 + grown[0], grown[1], grown[2], grown[3])
    at_p = _end_factor(area, angles[1], e3, e5, spread)
    at_q = _end_factor(area, angles[2], e4, e6, spread)
    return _second_order(
        length, (e1, twist, times(e3, at_p), times(e4, at_q), times(e5, at_p), times(e6, at_q))
    )


@inlined
def _second_order(length: float, e: Six) -> Six:
    """The six with their terms of second order."""
    e1, e2, e3, e4, e5, e6 = e
    in_z = plus(times(e3, e3), times(e4, e4))
    in_y = plus(times(e5, e5), times(e6, e6))
    squares = plus(in_z, in_y)
    mixed = plus(times(e3, e4), times(e5, e6))
    shortening = share(1.0 / (30.0 * length), plus(share(2.0, squares), mixed))
    turning = plus(times(e4, e5), share(-1.0, times(e3, e6)))
    sixth = 1.0 / (6.0 * length)
    by_y = share(sixth, times(e2, plus(e5, e6)))
    by_z = share(sixth, times(e2, plus(e3, e4)))
    return (
        plus(e1, shortening),
        plus(e2, share(1.0 / length, turning)),
        plus(e3, by_y),
        plus(e4, share(-1.0, by_y)),
        plus(e5, share(-1.0, by_z)),
        plus(e6, by_z),
    )


@inlined
def better_slopes(length: float, row: int, e: Any, D: Any) -> None:
    """Replace six deformations and their slopes (rows, 14) by those of the better strains."""
    e1, e2, e3 = 1.0 * e[row], 1.0 * e[row + 1], 1.0 * e[row + 2]
    e4, e5, e6 = 1.0 * e[row + 3], 1.0 * e[row + 4], 1.0 * e[row + 5]
    angles = ratios(length, e2, (e3, e5), (e4, e6))
    none = 0.0 * e1
    for i in range(7):  # two columns of the slopes at a time
        j, k = 2 * i, 2 * i + 1
        found = better(
            length,
            (
                (e1, D[row, j], D[row, k], none),
                (e2, D[row + 1, j], D[row + 1, k], none),
                (e3, D[row + 2, j], D[row + 2, k], none),
                (e4, D[row + 3, j], D[row + 3, k], none),
                (e5, D[row + 4, j], D[row + 4, k], none),
                (e6, D[row + 5, j], D[row + 5, k], none),
            ),
            angles,
        )
        for m in range(6):
            e[row + m] = found[m][0]
            D[row + m, j] = found[m][1]
            D[row + m, k] = found[m][2]
