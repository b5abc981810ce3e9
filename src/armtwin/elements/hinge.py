"""Hinge between two triads: twist about its axis and two small bendings.

With r = conj(l_p) ∘ l_q, the rotation from p to q in the axes of p, and r1, r2, r3 its components
along the constant directions n_x' (the axis), n_y', n_z' of the reference state:

    e1 = 2 atan2(r1, r0)         twist, known up to 4π: l_q and -l_q are the same rotation
    e2 = 2 (r0 r2 - r1 r3)       small rotation about n_y'
    e3 = 2 (r1 r2 + r0 r3)       small rotation about n_z'

r is bilinear in both triads, r = l_p' H l_q. The hinge is singular where the axes of both sides
are opposite (r0 = r1 = 0).

Ref: [Waiboer 2007, B.8-B.14], [Geradin-Robert-Buchet 1986]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.elements.jets import Jet, angle_of, jet, times
from armtwin.maths.compiled import inlined

TURNS_ALIKE = 4 * np.pi  # twists that differ by it cannot be told apart


@inlined
def measure_hinge(
    x: Any, p: int, q: int, h: int, H: Any, row: int, e: Any, D: Any, r: Any, slope: Any
) -> None:
    """Three deformations of a hinge and their slopes in its 8 coordinates.

    Args:
        x: Coordinates of all nodes.
        p: Where triad p starts.
        q: Where triad q starts.
        h: The hinge.
        H: Coefficients of the relative rotation of every hinge, (h, 4, 4, 4).
        row: First of the three rows.
        e: Deformations, of which three are written.
        D: Slopes, (rows, 14), of which three rows are written.
        r: Room, (4,).
        slope: Room, (4, 8).
    """
    for i in range(4):
        total = 0.0 * x[p]
        for j in range(4):
            with_p, with_q = 0.0 * x[p], 0.0 * x[p]
            for k in range(4):
                with_p += H[h, i, j, k] * x[q + k]
                with_q += H[h, i, k, j] * x[p + k]
            slope[i, j] = with_p
            slope[i, 4 + j] = with_q
            total += with_p * x[p + j]
        r[i] = total
    e[row] = 2.0 * angle_of(r[1], r[0])
    e[row + 1] = 2.0 * (r[0] * r[2] - r[1] * r[3])
    e[row + 2] = 2.0 * (r[1] * r[2] + r[0] * r[3])
    turn = 2.0 / (r[0] * r[0] + r[1] * r[1])
    for i in range(8):
        d0, d1, d2, d3 = slope[0, i], slope[1, i], slope[2, i], slope[3, i]
        D[row, i] = turn * (r[0] * d1 - r[1] * d0)
        D[row + 1, i] = 2.0 * (r[0] * d2 + r[2] * d0 - r[1] * d3 - r[3] * d1)
        D[row + 2, i] = 2.0 * (r[1] * d2 + r[2] * d1 + r[0] * d3 + r[3] * d0)


@inlined
def curve_hinge(
    x: Any, u: Any, w: Any, p: int, q: int, h: int, H: Any, row: int, c: Any, r: Any
) -> None:
    """Second derivatives of a hinge's deformations along u and w; r (6, 4) is room for jets."""
    for i in range(4):
        f, by_u, by_w, both = 0.0 * x[p], 0.0 * x[p], 0.0 * x[p], 0.0 * x[p]
        for j in range(4):
            for k in range(4):
                t = H[h, i, j, k]
                f += t * x[p + j] * x[q + k]
                by_u += t * (u[p + j] * x[q + k] + x[p + j] * u[q + k])
                by_w += t * (w[p + j] * x[q + k] + x[p + j] * w[q + k])
                both += t * (u[p + j] * w[q + k] + w[p + j] * u[q + k])
        r[i, 0], r[i, 1], r[i, 2], r[i, 3] = f, by_u, by_w, both
    r0, r1, r2, r3 = jet(r, 0), jet(r, 1), jet(r, 2), jet(r, 3)
    c[row] = 2.0 * _turn(r1, r0)
    c[row + 1] = 2.0 * (times(r0, r2)[3] - times(r1, r3)[3])
    c[row + 2] = 2.0 * (times(r1, r2)[3] + times(r0, r3)[3])


@inlined
def _turn(b: Jet, a: Jet) -> Any:
    """Second derivative of atan2(b, a): of its slope (a b_u - b a_u)/(a² + b²) along w."""
    square = a[0] * a[0] + b[0] * b[0]
    growth = 2.0 * (a[0] * a[2] + b[0] * b[2])
    top = a[0] * b[1] - b[0] * a[1]
    change = a[2] * b[1] + a[0] * b[3] - b[2] * a[1] - b[0] * a[3]
    return (change - top * growth / square) / square
