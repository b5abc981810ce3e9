"""Three-vectors as tuples in kernels, every product and every sum rounded on its own.

What numpy would make of whole arrays, operation by operation, to the last bit.
"""

from __future__ import annotations

from typing import Any

from armtwin.maths.compiled import exactly
from armtwin.maths.vectors import Vector


@exactly
def minus(x: Vector, y: Vector) -> Vector:
    """x - y."""
    return x[0] - y[0], x[1] - y[1], x[2] - y[2]


@exactly
def plus(x: Vector, y: Vector) -> Vector:
    """x + y."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2]


@exactly
def times(s: float, x: Vector) -> Vector:
    """s x."""
    return s * x[0], s * x[1], s * x[2]


@exactly
def over(x: Vector, s: float) -> Vector:
    """x / s."""
    return x[0] / s, x[1] / s, x[2] / s


@exactly
def dot(x: Vector, y: Vector) -> Any:
    """x · y."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@exactly
def cross(x: Vector, y: Vector) -> Vector:
    """x × y."""
    return (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])
