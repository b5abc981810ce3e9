"""Three-vectors as tuples in kernels, every product and every sum rounded on its own.

What numpy would make of whole arrays, operation by operation, to the last bit. What `vectors` has
is the same here, but for its multiply-adds, which are never fused.
"""

from armtwin.maths import vectors
from armtwin.maths.compiled import exactly, unfused
from armtwin.maths.vectors import Vector

plus, times = unfused(vectors.add), unfused(vectors.scale_vector)
dot, cross = unfused(vectors.dot), unfused(vectors.cross)


@exactly
def minus(x: Vector, y: Vector) -> Vector:
    """x - y."""
    return x[0] - y[0], x[1] - y[1], x[2] - y[2]


@exactly
def over(x: Vector, s: float) -> Vector:
    """x / s."""
    return x[0] / s, x[1] / s, x[2] / s
