"""Mass matrix and bias of the arm at one instant from a linear model along a path."""

from typing import NamedTuple

from armtwin.maths.batch import Floats
from armtwin.maths.choice import larger, smaller, whole
from armtwin.maths.traced_fields import Series


class LinearArm(NamedTuple):
    """Linear time-varying equations about a nominal motion, on equally spaced times.

        M₀ (a - a₀) + D₀ (v - v₀) + K₀ (q - q₀) = T - T₀

    Attributes:
        step: Time between the points [s].
        curves: Cubics in time of q₀, v₀, a₀, T₀, (intervals, 4, 4, N), coefficients of 1, x, x²,
            x³.
        M: Mass matrices at the points, (points, N, N).
        D: Damping matrices.
        K: Stiffness matrices, balancers included.
    """

    step: float
    curves: Series
    M: Series
    D: Series
    K: Series


def of_linear(path: LinearArm, time: float, q: Floats, v: Floats, M: Floats, bias: Floats) -> None:
    """Write mass matrix and bias of a LinearArm at a time, matrices linear between points."""
    x = time / path.step
    last = path.M.shape[0] - 2
    k = smaller(larger(whole(x), 0), last)
    x = smaller(larger(x - k, 0.0), 1.0)
    n = len(q)
    for i in range(n):
        bias[i] = _cubic(path.curves, k, 3, i, x)
        for j in range(i + 1):
            M[i, j] = _between(path.M, k, i, j, x)
    for j in range(n):
        off = q[j] - _cubic(path.curves, k, 0, j, x)
        faster = v[j] - _cubic(path.curves, k, 1, j, x)
        nominal = _cubic(path.curves, k, 2, j, x)
        for i in range(n):
            held = _between(path.D, k, i, j, x) * faster + _between(path.K, k, i, j, x) * off
            bias[i] += held - M[max(i, j), min(i, j)] * nominal


def _between(matrices: Series, k: int, i: int, j: int, x: float) -> float:
    """An element a share x of the way from point k to the next."""
    return (1 - x) * matrices[k, i, j] + x * matrices[k + 1, i, j]


def _cubic(curves: Series, k: int, what: int, i: int, x: float) -> float:
    """A curve at the share x of interval k, c0 + x (c1 + x (c2 + x c3))."""
    inner = curves[k, what, 2, i] + x * curves[k, what, 3, i]
    return curves[k, what, 0, i] + x * (curves[k, what, 1, i] + x * inner)
