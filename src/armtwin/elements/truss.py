"""Elements of one mode: the lambda element of a triad and the truss between two points.

    lambda:  e = l·l - 1          truss:  e = |d| - l0,  d = x_q - x_p

A truss held at zero is a rod; with a large elongation it is a slider truss: a spring, a strut, a
cylinder. Its stress is positive when it pulls its pins together. Its pins must not meet.

Ref: [Waiboer 2007, B.1-B.7]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.elements.jets import chord_jet
from armtwin.maths.compiled import inlined


@inlined
def measure_triad(x: Any, at: int, row: int, e: Any, D: Any) -> None:
    """Deformation of a lambda element and its slope in its own 4 coordinates."""
    total = -1.0 + 0.0 * x[at]
    for i in range(4):
        total += x[at + i] * x[at + i]
        D[row, i] = 2.0 * x[at + i]
    e[row] = total


@inlined
def curve_triad(u: Any, w: Any, at: int, row: int, c: Any) -> None:
    """Second derivative of a lambda element along u and w."""
    total = 0.0 * u[at]
    for i in range(4):
        total += u[at + i] * w[at + i]
    c[row] = 2.0 * total


@inlined
def measure_truss(x: Any, p: int, q: int, length: float, row: int, e: Any, D: Any) -> None:
    """Elongation of a truss and its slope in its 6 coordinates, (-u, u)."""
    square = 0.0 * x[p]
    for i in range(3):
        D[row, 3 + i] = x[q + i] - x[p + i]
        square += D[row, 3 + i] * D[row, 3 + i]
    now = np.sqrt(square)
    e[row] = now - length
    for i in range(3):
        D[row, 3 + i] /= now
        D[row, i] = -D[row, 3 + i]


@inlined
def curve_truss(x: Any, u: Any, w: Any, p: int, q: int, row: int, c: Any, d: Any) -> None:
    """Second derivative of a truss's elongation along u and w; d (3, 3) is room."""
    c[row] = chord_jet(x, u, w, p, q, d)[3]
