"""Mass matrix and bias of the arm at one instant, from the bodies or from a linear model along a path."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.compiled import compiled, inlined
from armtwin.mechanics.arm import place
from armtwin.mechanics.mass import composite, spin_mass
from armtwin.mechanics.newton_euler import accelerate, body_wrench, gather, spin


@inlined
def of_bodies(
    size: Any,
    parent: Any,
    slides: Any,
    turn: Any,
    offset: Any,
    axis: Any,
    inertia: Any,
    gravity: Any,
    rotors: Any,
    R: Any,
    P: Any,
    w: Any,
    al: Any,
    ac: Any,
    f: Any,
    t: Any,
    Ic: Any,
    L: Any,
    none: Any,
    q: Any,
    v: Any,
    M: Any,
    bias: Any,
) -> None:
    """Write the lower triangle of M(q) with the rotors, and h(q, v) = C v + g.

    The fields of an Arm, scratch arrays, zeros, then the state. There is no branch in it: an array that is last
    used inside one is counted in and out in every tick, which costs more than the physics.
    """
    n = len(size)
    place(size, slides, turn, offset, q, R, P)
    accelerate(size, parent, slides, axis, gravity, R, P, v, none, w, al, ac)
    for i in range(n):
        body_wrench(inertia, i, w, al, ac, f, t)
        bias[i] = 0.0
    gather(size, parent, slides, axis, R, P, f, t, bias)
    composite(size, parent, slides, axis, inertia, R, P, Ic, L)
    for i in range(n):
        for j in range(i + 1):
            M[i, j] = L[i, j] + rotors[i, j]


@compiled
def add_spin(
    parent: Any,
    slides: Any,
    axis: Any,
    spin_body: Any,
    spin_axis: Any,
    spin_row: Any,
    R: Any,
    P: Any,
    w: Any,
    al: Any,
    f: Any,
    t: Any,
    none: Any,
    v: Any,
    M: Any,
    bias: Any,
) -> None:
    """Add the gyroscopic coupling of the rotors to what `of_bodies` wrote, from the motion it left in w and al."""
    S = np.zeros_like(M)
    f[:], t[:] = 0.0, 0.0
    spin(parent, spin_body, spin_axis, spin_row, v, none, w, al, t, bias)
    gather(parent, parent, slides, axis, R, P, f, t, bias)
    spin_mass(parent, parent, slides, axis, R, spin_body, spin_axis, spin_row, S)
    for i in range(M.shape[0]):
        for j in range(i + 1):
            M[i, j] += S[i, j]


class LinearArm(NamedTuple):
    """Linear time-varying equations about a nominal motion, on equally spaced times.

        M₀ (a - a₀) + D₀ (v - v₀) + K₀ (q - q₀) = T - T₀

    Attributes:
        step: Time between the points [s].
        curves: Cubics in time of q₀, v₀, a₀, T₀, (4, intervals, 4, n), coefficients of 1, x, x², x³.
        M: Mass matrices at the points, (points, n, n).
        D: Damping matrices.
        K: Stiffness matrices, balancers included.
    """

    step: float
    curves: Any
    M: Any
    D: Any
    K: Any


@compiled
def of_linear(
    size: Any, step: float, curves: Any, M0: Any, D0: Any, K0: Any, time: float, q: Any, v: Any, M: Any, bias: Any
) -> None:
    """Write the mass matrix and the bias of a LinearArm at a time, matrices linear between points."""
    n = len(size)
    x = time / step
    k = min(max(int(x), 0), M0.shape[0] - 2)
    x = min(max(x - k, 0.0), 1.0)
    for i in range(n):
        bias[i] = _cubic(curves, 3, k, i, x)
        for j in range(n):
            M[i, j] = (1 - x) * M0[k, i, j] + x * M0[k + 1, i, j]
    for i in range(n):
        for j in range(n):
            D = (1 - x) * D0[k, i, j] + x * D0[k + 1, i, j]
            K = (1 - x) * K0[k, i, j] + x * K0[k + 1, i, j]
            bias[i] += D * (v[j] - _cubic(curves, 1, k, j, x)) + K * (q[j] - _cubic(curves, 0, k, j, x))
            bias[i] -= M[i, j] * _cubic(curves, 2, k, j, x)


@inlined
def _cubic(curves: Any, what: int, k: int, i: int, x: float) -> float:
    inner = curves[what, k, 2, i] + x * curves[what, k, 3, i]
    return curves[what, k, 0, i] + x * (curves[what, k, 1, i] + x * inner)
