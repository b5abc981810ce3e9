"""Elements of one mode: the lambda element of a triad and the truss between two points.

    lambda:  e = l·l - 1          truss:  e = |d| - l0,  d = x_q - x_p

A truss held at zero is a rod; with a large elongation it is a slider truss: a spring, a strut, a
cylinder. Its stress is positive when it pulls its pins together. Its pins must not meet.

Ref: [Waiboer 2007, B.1-B.7]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.elements.jets import difference, length_jet
from armtwin.elements.rotations import four, put_four, put_three
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import dot


@inlined
def measure_triad(x: Any, at: int, row: int, e: Any, D: Any) -> None:
    """Deformation of a lambda element and its slope in its own 4 coordinates."""
    a, b, c, d = four(x, at)
    e[row] = a * a + b * b + c * c + d * d - 1.0
    put_four(D, row, 0, 2.0, (a, b, c, d))


@inlined
def curve_triad(u: Any, w: Any, at: int, row: int, curved: Any) -> None:
    """Second derivative of a lambda element along u and w."""
    a, b, c, d = four(u, at)
    s, t, y, z = four(w, at)
    curved[row] = 2.0 * (a * s + b * t + c * y + d * z)


@inlined
def measure_truss(x: Any, p: int, q: int, length: float, row: int, e: Any, D: Any) -> None:
    """Elongation of a truss and its slope in its 6 coordinates, (-u, u)."""
    d = difference(x, p, q)
    now = np.sqrt(dot(d, d))
    e[row] = now - length
    put_three(D, row, 0, -1.0 / now, d)
    put_three(D, row, 3, 1.0 / now, d)


@inlined
def curve_truss(x: Any, u: Any, w: Any, p: int, q: int, row: int, curved: Any) -> None:
    """Second derivative of a truss's elongation along u and w."""
    change = length_jet(difference(x, p, q), difference(u, p, q), difference(w, p, q))
    curved[row] = change[3]
