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

from armtwin.elements.jets import Jet, angle_of, chained, jet, put_jet, times
from armtwin.maths.compiled import inlined


def _series(terms: int) -> tuple[float, ...]:
    """Coefficients of asin(s)/s = Σ c_k s^2k."""
    found = [1.0]
    for k in range(terms - 1):
        found.append(found[k] * (2 * k + 1) ** 2 / ((2 * k + 2) * (2 * k + 3)))
    return tuple(found)


TERMS = 17
SERIES = _series(TERMS)
SERIES_BELOW = 0.1  # there the closed form of the curvature loses digits to cancellation


@inlined
def angle_over_sine(square: Jet) -> Jet:
    """asin(s)/s of the square s² of a sine."""
    S = square[0]
    if S.real < SERIES_BELOW:
        f, slope, curvature = 0.0 * S, 0.0 * S, 0.0 * S
        for k in range(TERMS - 1, -1, -1):
            curvature = curvature * S + 2.0 * slope
            slope = slope * S + f
            f = f * S + SERIES[k]
    else:
        s, c = np.sqrt(S), np.sqrt(1.0 - S)
        f = angle_of(s, c) / s
        slope = (1.0 / c - f) / (2.0 * S)
        curvature = (0.5 / (c * c * c) - 3.0 * slope) / (2.0 * S)
    return chained(f, slope, curvature, square)


# Terms of second order: ē[i] += weight e[j] e[k] / l0.
_PLACES = np.array(
    [
        *((0, 2, 2), (0, 2, 3), (0, 3, 3), (0, 4, 4), (0, 4, 5), (0, 5, 5)),
        *((1, 3, 4), (1, 2, 5)),
        *((2, 1, 4), (2, 1, 5), (3, 1, 4), (3, 1, 5)),
        *((4, 1, 2), (4, 1, 3), (5, 1, 2), (5, 1, 3)),
    ]
)
_WEIGHTS = np.array([2, 1, 2, 2, 1, 2, 30, -30, 5, 5, -5, -5, -5, -5, 5, 5]) / 30


@inlined
def better(length: float, jets: Any, more: Any) -> None:
    """Replace the six small deformations, jets (6, 4), by the better strains; more is room."""
    area = 1.0 / (length * length)
    twist = jet(jets, 1)
    square = times(twist, twist)
    scaled = (area * square[0], area * square[1], area * square[2], area * square[3])
    twist = times(twist, angle_over_sine(scaled))
    put_jet(jets, 1, twist)
    square = times(twist, twist)
    share = area / 12.0
    spread = (
        1.0 + share * square[0],
        share * square[1],
        share * square[2],
        share * square[3],
    )
    for end in range(2):
        in_z, in_y = jet(jets, 2 + end), jet(jets, 4 + end)
        z, y = times(in_z, in_z), times(in_y, in_y)
        sine = (
            area * (z[0] + y[0]),
            area * (z[1] + y[1]),
            area * (z[2] + y[2]),
            area * (z[3] + y[3]),
        )
        factor = times(angle_over_sine(sine), spread)
        put_jet(jets, 2 + end, times(in_z, factor))
        put_jet(jets, 4 + end, times(in_y, factor))
    for i in range(6):
        for k in range(4):
            more[i, k] = 0.0
    for m in range(len(_WEIGHTS)):
        i, weight = _PLACES[m, 0], _WEIGHTS[m] / length
        product = times(jet(jets, _PLACES[m, 1]), jet(jets, _PLACES[m, 2]))
        for k in range(4):
            more[i, k] += weight * product[k]
    for i in range(6):
        for k in range(4):
            jets[i, k] += more[i, k]


@inlined
def better_slopes(
    length: float, row: int, e: Any, D: Any, jets: Any, more: Any, small: Any, T: Any
) -> None:
    """Replace six deformations and their slopes (rows, 14) by those of the better strains.

    jets and more (6, 4), small (6, 14) and T (6, 6) are room.
    """
    for i in range(6):
        for j in range(14):
            small[i, j] = D[row + i, j]
    for pair in range(3):  # two columns of the derivative at a time
        for i in range(6):
            jets[i, 0] = e[row + i]
            jets[i, 1] = 1.0 if i == 2 * pair else 0.0
            jets[i, 2] = 1.0 if i == 2 * pair + 1 else 0.0
            jets[i, 3] = 0.0
        better(length, jets, more)
        for i in range(6):
            T[i, 2 * pair] = jets[i, 1]
            T[i, 2 * pair + 1] = jets[i, 2]
    for i in range(6):
        e[row + i] = jets[i, 0]
        for j in range(14):
            total = 0.0 * e[row]
            for k in range(6):
                total += T[i, k] * small[k, j]
            D[row + i, j] = total
