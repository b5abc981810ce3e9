"""Three-vectors as tuples in kernels: no arrays are made, the compiler keeps them in registers."""

from __future__ import annotations

from typing import Any

from armtwin.maths.batch import Numbers
from armtwin.maths.compiled import inlined

Vector = tuple[Any, Any, Any]


@inlined
def vector(table: Numbers, i: int) -> Vector:
    """Row i of an (n, 3) table."""
    return table[i, 0], table[i, 1], table[i, 2]


@inlined
def put(table: Numbers, i: int, x: Vector) -> None:
    """Store a vector in row i of an (n, 3) table."""
    table[i, 0] = x[0]
    table[i, 1] = x[1]
    table[i, 2] = x[2]


@inlined
def add(x: Vector, y: Vector) -> Vector:
    """x + y."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2]


@inlined
def scale_vector(s: complex, x: Vector) -> Vector:
    """s x."""
    return s * x[0], s * x[1], s * x[2]


@inlined
def dot(x: Vector, y: Vector) -> Any:
    """x · y, without conjugation, so that complex steps pass through."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@inlined
def cross(x: Vector, y: Vector) -> Vector:
    """x × y."""
    return (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])


@inlined
def rotate(R: Numbers, i: int, x: Vector) -> Vector:
    """R_i x for a stack of matrices (n, 3, 3): from frame i to its parent."""
    return (
        dot((R[i, 0, 0], R[i, 0, 1], R[i, 0, 2]), x),
        dot((R[i, 1, 0], R[i, 1, 1], R[i, 1, 2]), x),
        dot((R[i, 2, 0], R[i, 2, 1], R[i, 2, 2]), x),
    )


@inlined
def rotate_back(R: Numbers, i: int, x: Vector) -> Vector:
    """R_iᵀ x for a stack of matrices (n, 3, 3): from the parent to frame i."""
    return (
        dot((R[i, 0, 0], R[i, 1, 0], R[i, 2, 0]), x),
        dot((R[i, 0, 1], R[i, 1, 1], R[i, 2, 1]), x),
        dot((R[i, 0, 2], R[i, 1, 2], R[i, 2, 2]), x),
    )


@inlined
def inertia_times(J: tuple[Any, ...], x: Vector) -> Vector:
    """J x for a symmetric matrix given as (xx, yy, zz, xy, xz, yz)."""
    xx, yy, zz, xy, xz, yz = J
    return (dot((xx, xy, xz), x), dot((xy, yy, yz), x), dot((xz, yz, zz), x))
