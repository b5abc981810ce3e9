"""Beam between two points with two triads: six deformations, all in metres.

With d = x_q - x_p, n_x' along it in the reference state, n_y' and n_z' the section's axes, and
y = R n_y', z = R n_z' at each end:

    e1 = |d| - l0
    e2 = l0/2 (z_p·y_q - y_p·z_q)            l0 times the angle of twist
    e3 = -z_p·c      e4 = z_q·c              bending in x-z, c = d
    e5 = y_p·c       e6 = -y_q·c             bending in x-y

They are zero for every motion of a rigid beam. A beam that bends far is better measured with
c = l0 d/|d| and the strains of `strains.py` on top; both agree to first order.

Coordinates in order: point p (3), triad p (4), point q (3), triad q (4).

Ref: [Waiboer 2007, B.15-B.16]; its torsion is zero for every twist as printed
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.elements.jets import chord_jet, inner, times
from armtwin.maths.compiled import inlined

# The four bendings e3..e6: which of y_p, z_p, y_q, z_q, with which sign, on which triad's columns.
_SIDE = (1, 3, 0, 2)
_SIGN = (-1.0, 1.0, 1.0, -1.0)
_TRIAD = (3, 10, 3, 10)


@inlined
def _sides(x: Any, ends: Any, b: int, forms: Any, side: Any, slope: Any) -> None:
    """Write y_p, z_p, y_q, z_q of beam b, (4, 3), and their slopes with their triads, (4, 3, 4)."""
    for s in range(4):
        at, which = ends[b, 1 + 2 * (s // 2)], s % 2
        for i in range(3):
            total = 0.0 * x[at]
            for j in range(4):
                half = 0.0 * x[at]
                for k in range(4):
                    half += forms[b, which, i, j, k] * x[at + k]
                slope[s, i, j] = 2.0 * half
                total += half * x[at + j]
            side[s, i] = total


@inlined
def _chord(x: Any, p: int, q: int, length: float, far: int, chord: Any) -> Any:
    """Write d, c and the slope of c with d, (5, 3); return the length of d."""
    square = 0.0 * x[p]
    for i in range(3):
        chord[0, i] = x[q + i] - x[p + i]
        square += chord[0, i] * chord[0, i]
    now = np.sqrt(square)
    scale = length / now if far == 1 else 1.0 + 0.0 * now
    for i in range(3):
        chord[1, i] = scale * chord[0, i]
        for j in range(3):
            along = far * scale * chord[0, i] * chord[0, j] / square
            chord[2 + i, j] = (scale if i == j else 0.0 * scale) - along
    return now


@inlined
def measure_beam(
    x: Any,
    ends: Any,
    b: int,
    forms: Any,
    length: float,
    far: int,
    row: int,
    e: Any,
    D: Any,
    side: Any,
    slope: Any,
    chord: Any,
) -> None:
    """Six deformations of a beam and their slopes in its 14 coordinates.

    Args:
        x: Coordinates of all nodes.
        ends: Where point p, triad p, point q and triad q of every beam start, (b, 4).
        b: The beam.
        forms: Coefficients of R n_y' and R n_z' of every beam, (b, 2, 3, 4, 4).
        length: Length in the reference state [m].
        far: 1 for the better strains, 0 for the printed ones.
        row: First of the six rows.
        e: Deformations, of which six are written.
        D: Slopes, (rows, 14), of which six rows are written.
        side: Room, (4, 3).
        slope: Room, (4, 3, 4).
        chord: Room, (5, 3): d, c and the slope of c with d.
    """
    _sides(x, ends, b, forms, side, slope)
    now = _chord(x, ends[b, 0], ends[b, 2], length, far, chord)
    for i in range(6):
        for j in range(14):
            D[row + i, j] = 0.0
    twist = 0.0 * now
    for i in range(3):
        D[row, 7 + i] = chord[0, i] / now
        D[row, i] = -D[row, 7 + i]
        twist += side[1, i] * side[2, i] - side[0, i] * side[3, i]
        for j in range(4):
            with_p = slope[1, i, j] * side[2, i] - slope[0, i, j] * side[3, i]
            with_q = side[1, i] * slope[2, i, j] - side[0, i] * slope[3, i, j]
            D[row + 1, 3 + j] += 0.5 * length * with_p
            D[row + 1, 10 + j] += 0.5 * length * with_q
    e[row] = now - length
    e[row + 1] = 0.5 * length * twist
    for m in range(4):
        s, sign, columns = _SIDE[m], _SIGN[m], _TRIAD[m]
        bend = 0.0 * now
        for i in range(3):
            bend += side[s, i] * chord[1, i]
            for j in range(3):
                D[row + 2 + m, 7 + j] += sign * side[s, i] * chord[2 + i, j]
            for j in range(4):
                D[row + 2 + m, columns + j] += sign * slope[s, i, j] * chord[1, i]
        e[row + 2 + m] = sign * bend
        for j in range(3):
            D[row + 2 + m, j] = -D[row + 2 + m, 7 + j]


@inlined
def beam_jets(
    x: Any,
    u: Any,
    w: Any,
    ends: Any,
    b: int,
    forms: Any,
    length: float,
    far: int,
    side: Any,
    chord: Any,
    jets: Any,
) -> None:
    """Write the six deformations of a beam with their changes along u and w, (6, 4).

    side (5, 4, 3), the four directions and c, and chord (5, 3) are room.
    """
    for s in range(4):
        at, which = ends[b, 1 + 2 * (s // 2)], s % 2
        for i in range(3):
            f, by_u, by_w, both = 0.0 * x[at], 0.0 * x[at], 0.0 * x[at], 0.0 * x[at]
            for j in range(4):
                for k in range(4):
                    t = forms[b, which, i, j, k]
                    f += t * x[at + j] * x[at + k]
                    by_u += 2.0 * t * x[at + j] * u[at + k]
                    by_w += 2.0 * t * x[at + j] * w[at + k]
                    both += 2.0 * t * u[at + j] * w[at + k]
            side[s, 0, i], side[s, 1, i], side[s, 2, i], side[s, 3, i] = f, by_u, by_w, both
    now = chord_jet(x, u, w, ends[b, 0], ends[b, 2], chord)
    first = far * length / now[0] + (1 - far)  # c = first d
    second = -far * length / (now[0] * now[0])
    third = -2.0 * second / now[0]
    scale = (first, second * now[1], second * now[2], second * now[3] + third * now[1] * now[2])
    for i in range(3):
        d = (chord[0, i], chord[1, i], chord[2, i], 0.0 * chord[0, i])
        side[4, 0, i], side[4, 1, i], side[4, 2, i], side[4, 3, i] = times(scale, d)
    half = 0.5 * length
    inner(side, 1, 2, half, jets, 1)
    inner(side, 0, 3, half, jets, 2)
    jets[0, 0] = now[0] - length
    for k in range(4):
        jets[1, k] -= jets[2, k]
        if k > 0:
            jets[0, k] = now[k]
    for m in range(4):
        inner(side, _SIDE[m], 4, _SIGN[m], jets, 2 + m)
