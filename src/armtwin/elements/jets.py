"""Numbers with their change along two directions: (f, f_u, f_w, f_uw), as rows of a table.

A product of jets is the product rule, so that a formula written with them gives its second
derivative along u and w without anyone deriving it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.maths.compiled import inlined

Jet = tuple[Any, Any, Any, Any]


@inlined
def jet(table: Any, i: int) -> Jet:
    """Row i of a table of jets."""
    return table[i, 0], table[i, 1], table[i, 2], table[i, 3]


@inlined
def put_jet(table: Any, i: int, a: Jet) -> None:
    """Store a jet in row i."""
    table[i, 0] = a[0]
    table[i, 1] = a[1]
    table[i, 2] = a[2]
    table[i, 3] = a[3]


@inlined
def times(a: Jet, b: Jet) -> Jet:
    """Product of two jets."""
    return (
        a[0] * b[0],
        a[0] * b[1] + a[1] * b[0],
        a[0] * b[2] + a[2] * b[0],
        a[0] * b[3] + a[3] * b[0] + a[1] * b[2] + a[2] * b[1],
    )


@inlined
def chained(f: Any, slope: Any, curvature: Any, a: Jet) -> Jet:
    """A function of a jet, from its value, slope and curvature there."""
    return f, slope * a[1], slope * a[2], slope * a[3] + curvature * a[1] * a[2]


@inlined
def inner(a: Any, i: int, j: int, factor: float, found: Any, row: int) -> None:
    """Store the dot product of two vector jets of a table (..., 4, 3), times a factor."""
    f, u, w, both = 0.0 * a[0, 0, 0], 0.0 * a[0, 0, 0], 0.0 * a[0, 0, 0], 0.0 * a[0, 0, 0]
    for k in range(3):
        f += a[i, 0, k] * a[j, 0, k]
        u += a[i, 0, k] * a[j, 1, k] + a[i, 1, k] * a[j, 0, k]
        w += a[i, 0, k] * a[j, 2, k] + a[i, 2, k] * a[j, 0, k]
        both += a[i, 0, k] * a[j, 3, k] + a[i, 3, k] * a[j, 0, k]
        both += a[i, 1, k] * a[j, 2, k] + a[i, 2, k] * a[j, 1, k]
    put_jet(found, row, (factor * f, factor * u, factor * w, factor * both))


@inlined
def chord_jet(x: Any, u: Any, w: Any, p: int, q: int, d: Any) -> Jet:
    """Store d = x_q - x_p with its changes in three rows of d; return the jet of its length."""
    square, along_u, along_w, both = 0.0 * x[p], 0.0 * x[p], 0.0 * x[p], 0.0 * x[p]
    for i in range(3):
        d[0, i] = x[q + i] - x[p + i]
        d[1, i] = u[q + i] - u[p + i]
        d[2, i] = w[q + i] - w[p + i]
        square += d[0, i] * d[0, i]
        along_u += d[0, i] * d[1, i]
        along_w += d[0, i] * d[2, i]
        both += d[1, i] * d[2, i]
    length = np.sqrt(square)
    along_u /= length
    along_w /= length
    return length, along_u, along_w, (both - along_u * along_w) / length


@inlined
def angle_of(b: Any, a: Any) -> Any:
    """atan2(b, a), through which a complex step passes.

    What a step adds to the real angle is linear, (a δb - b δa)/(a² + b²).
    """
    real_a, real_b = a.real, b.real
    step = (real_a * (b - real_b) - real_b * (a - real_a)) / (real_a * real_a + real_b * real_b)
    return np.arctan2(real_b, real_a) + step
