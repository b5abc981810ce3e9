"""Mass matrix and bias of the arm at one instant, from bodies or a linear model along a path."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.choice import larger, smaller, whole
from armtwin.maths.compiled import inlined
from armtwin.maths.traced_fields import Series
from armtwin.mechanics.arm import Arm, place
from armtwin.mechanics.mass import composite
from armtwin.mechanics.newton_euler import accelerate, body_wrench, gather
from armtwin.mechanics.rotors import Rotors, add_spin_mass, spin


class Bodies(NamedTuple):
    """What is computed of each body on the way to the equations.

    Attributes:
        R: Rotation in the parent's frame, (n, 3, 3).
        P: Position there, (n, 3).
        w: Angular velocity, (n, 3).
        al: Angular acceleration, (n, 3).
        ac: Acceleration of the frame's origin, (n, 3).
        f: Force, (n, 3).
        t: Torque, (n, 3).
        Ic: Inertia of it and all that it carries, (n, 10).
        L: Mass matrix of the bodies, (n, n).
    """

    R: Any
    P: Any
    w: Any
    al: Any
    ac: Any
    f: Any
    t: Any
    Ic: Any
    L: Any


def make_bodies(n: int, kind: Any = np.float64) -> Bodies:
    """Room for n bodies, of numbers or of symbols."""
    vectors = [np.zeros((n, 3), dtype=kind) for _ in range(6)]
    matrices = [np.zeros(shape, dtype=kind) for shape in ((n, 10), (n, n))]
    return Bodies(np.zeros((n, 3, 3), dtype=kind), *vectors, *matrices)


@inlined
def of_bodies(
    size: Any,
    arm: Arm,
    rotors: Floats,
    bodies: Bodies,
    none: Floats,
    u: Floats,
    v: Floats,
    M: Floats,
    bias: Floats,
) -> None:
    """Write the lower triangle of M(u) with the rotors, and h(u, v) = C v + g.

    len(size) is the number of bodies; rotors is their inertia along the coordinates, (N, N), and
    none are zeros, (N,).
    """
    n = len(size)
    parent, slides, turn, offset, axis, inertia, gravity = arm
    R, P, w, al, ac, f, t, Ic, L = bodies
    place(size, slides, turn, offset, u, R, P)
    accelerate(size, parent, slides, axis, gravity, R, P, v, none, w, al, ac)
    for i in range(n):
        body_wrench(inertia, i, w, al, ac, f, t)
    for i in range(len(bias)):
        bias[i] = 0.0
    gather(size, parent, slides, axis, R, P, f, t, bias)
    composite(size, parent, slides, axis, inertia, R, P, Ic, L)
    for i in range(n):
        for j in range(i + 1):
            M[i, j] = L[i, j] + rotors[i, j]
    for i in range(n, len(bias)):
        for j in range(i + 1):
            M[i, j] = rotors[i, j]


def add_spin(arm: Arm, rotors: Rotors, bodies: Bodies, v: Floats, M: Floats, bias: Floats) -> None:
    """Add the gyroscopic coupling of the rotors to what `of_bodies` wrote.

    It takes the motion that it left in w and al.
    """
    R, P, w, al, _, f, t, _, _ = bodies
    for i in range(len(f)):
        for k in range(3):
            f[i, k], t[i, k] = 0.0, 0.0
    still = np.zeros(len(v))
    spin(rotors.body, rotors.axis, rotors.row, v, still, w, al, t, bias)
    gather(arm.parent, arm.parent, arm.slides, arm.axis, R, P, f, t, bias)
    add_spin_mass(arm.parent, arm.slides, arm.axis, R, rotors.body, rotors.axis, rotors.row, M)


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
