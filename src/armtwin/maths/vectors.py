"""Three-vectors as tuples in kernels: no arrays are made, the compiler keeps them in registers."""

from typing import Any

from armtwin.maths.batch import Numbers
from armtwin.maths.compiled import inlined

Vector = tuple[Any, Any, Any]
Ten = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]


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
def row_of(R: Numbers, i: int, r: int) -> Vector:
    """Row r of the matrix R_i of a stack (n, 3, 3)."""
    return R[i, r, 0], R[i, r, 1], R[i, r, 2]


@inlined
def column_of(R: Numbers, i: int, c: int) -> Vector:
    """Column c of the matrix R_i of a stack (n, 3, 3)."""
    return R[i, 0, c], R[i, 1, c], R[i, 2, c]


@inlined
def rotate(R: Numbers, i: int, x: Vector) -> Vector:
    """R_i x for a stack of matrices (n, 3, 3): from frame i to its parent."""
    return dot(row_of(R, i, 0), x), dot(row_of(R, i, 1), x), dot(row_of(R, i, 2), x)


@inlined
def rotate_back(R: Numbers, i: int, x: Vector) -> Vector:
    """R_iᵀ x for a stack of matrices (n, 3, 3): from the parent to frame i."""
    return dot(column_of(R, i, 0), x), dot(column_of(R, i, 1), x), dot(column_of(R, i, 2), x)


@inlined
def inertia_times(J: tuple[Any, ...], x: Vector) -> Vector:
    """J x for a symmetric matrix given as (xx, yy, zz, xy, xz, yz)."""
    xx, yy, zz, xy, xz, yz = J
    return (dot((xx, xy, xz), x), dot((xy, yy, yz), x), dot((xz, yz, zz), x))


@inlined
def ten(table: Numbers, i: int) -> Ten:
    """Row i of an (n, 10) table: m, m s (3), J about the origin (xx, yy, zz, xy, xz, yz)."""
    return (
        table[i, 0],
        table[i, 1],
        table[i, 2],
        table[i, 3],
        table[i, 4],
        table[i, 5],
        table[i, 6],
        table[i, 7],
        table[i, 8],
        table[i, 9],
    )


@inlined
def body_wrench(body: Ten, om: Vector, al: Vector, ac: Vector) -> tuple[Vector, Vector]:
    """Force and torque about the origin that a body needs for a motion, in its own axes.

    f = m a + α × h + ω × (ω × h),   t = J α + ω × J ω + h × a      with h = m s
    """
    h, J = body[1:4], body[4:]
    force = add(scale_vector(body[0], ac), add(cross(al, h), cross(om, cross(om, h))))
    torque = add(inertia_times(J, al), add(cross(om, inertia_times(J, om)), cross(h, ac)))
    return force, torque
