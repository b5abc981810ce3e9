"""Mass matrix and bias of the arm at one instant, from bodies or a linear model along a path."""

from __future__ import annotations

from typing import Any, NamedTuple

from armtwin.maths.compiled import compiled, inlined
from armtwin.mechanics.arm import place
from armtwin.mechanics.mass import composite
from armtwin.mechanics.newton_euler import accelerate, body_wrench, gather
from armtwin.mechanics.rotors import add_spin_mass, spin


@inlined
def of_bodies(
    size: Any,
    every: Any,
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
    u: Any,
    v: Any,
    M: Any,
    bias: Any,
) -> None:
    """Write the lower triangle of M(u) with the rotors, and h(u, v) = C v + g.

    The fields of an Arm, inertia of the rotors, scratch arrays, zeros, then the state. There is no
    branch in it: an array that is last used inside one is counted in and out in every tick, which
    costs more than the physics.
    """
    n = len(size)
    place(size, slides, turn, offset, u, R, P)
    accelerate(size, parent, slides, axis, gravity, R, P, v, none, w, al, ac)
    for i in range(n):
        body_wrench(inertia, i, w, al, ac, f, t)
    for i in range(len(every)):
        bias[i] = 0.0
    gather(size, parent, slides, axis, R, P, f, t, bias)
    composite(size, parent, slides, axis, inertia, R, P, Ic, L)
    for i in range(n):
        for j in range(i + 1):
            M[i, j] = L[i, j] + rotors[i, j]
    for i in range(n, len(every)):
        for j in range(i + 1):
            M[i, j] = rotors[i, j]


@compiled
def add_spin(
    parent: Any,
    slides: Any,
    axis: Any,
    rotors: Any,
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
    """Add the gyroscopic coupling of the rotors to what `of_bodies` wrote.

    It takes the motion that it left in w and al.
    """
    for i in range(f.shape[0]):
        for k in range(3):
            f[i, k], t[i, k] = 0.0, 0.0
    spin(rotors.body, rotors.axis, rotors.row, v, none, w, al, t, bias)
    gather(parent, parent, slides, axis, R, P, f, t, bias)
    add_spin_mass(parent, slides, axis, R, rotors.body, rotors.axis, rotors.row, M)


class LinearArm(NamedTuple):
    """Linear time-varying equations about a nominal motion, on equally spaced times.

        M₀ (a - a₀) + D₀ (v - v₀) + K₀ (q - q₀) = T - T₀

    Attributes:
        step: Time between the points [s].
        curves: Cubics in time of q₀, v₀, a₀, T₀, (4, intervals, 4, N), coefficients of 1, x, x²,
            x³.
        M: Mass matrices at the points, (points, N, N).
        D: Damping matrices, transposed: the second index is the speed's.
        K: Stiffness matrices, balancers included, transposed.
    """

    step: float
    curves: Any
    M: Any
    D: Any
    K: Any


@compiled
def of_linear(
    every: Any,
    step: float,
    curves: Any,
    M0: Any,
    D0: Any,
    K0: Any,
    time: float,
    q: Any,
    v: Any,
    M: Any,
    bias: Any,
) -> None:
    """Write mass matrix and bias of a LinearArm at a time, matrices linear between points."""
    n = len(every)
    x = time / step
    k = min(max(int(x), 0), M0.shape[0] - 2)
    x = min(max(x - k, 0.0), 1.0)
    for i in range(n):
        bias[i] = _cubic(curves, 3, k, i, x)
    for j in range(n):
        off = q[j] - _cubic(curves, 0, k, j, x)
        faster = v[j] - _cubic(curves, 1, k, j, x)
        nominal = _cubic(curves, 2, k, j, x)
        for i in range(n):
            mass = (1 - x) * M0[k, j, i] + x * M0[k + 1, j, i]
            D = (1 - x) * D0[k, j, i] + x * D0[k + 1, j, i]
            K = (1 - x) * K0[k, j, i] + x * K0[k + 1, j, i]
            M[j, i] = mass
            bias[i] += D * faster + K * off - mass * nominal


@inlined
def _cubic(curves: Any, what: int, k: int, i: int, x: float) -> float:
    """A curve at the share x of interval k, c0 + x (c1 + x (c2 + x c3))."""
    inner = curves[what, k, 2, i] + x * curves[what, k, 3, i]
    return curves[what, k, 0, i] + x * (curves[what, k, 1, i] + x * inner)
