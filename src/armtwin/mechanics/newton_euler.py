"""Inverse dynamics by the recursive Newton-Euler algorithm, in body frames.

    f = m a + α × h + ω × (ω × h),   t = J α + ω × J ω + h × a      with h = m s, a without gravity
    τ = axis · (t or f), summed from the tips to the base

The kernels take real or complex states: a complex step gives exact derivatives of the same
equations.

Ref: [Luh-Walker-Paul 1980], [Featherstone 2008]
"""

from __future__ import annotations

from collections.abc import Sized

import numpy as np

from armtwin.maths.batch import Floats, Integers, Numbers
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import (
    add,
    cross,
    dot,
    inertia_times,
    put,
    rotate,
    rotate_back,
    scale_vector,
    vector,
)
from armtwin.mechanics.arm import Arm, place
from armtwin.mechanics.rotors import Rotors, spin


@inlined
def accelerate(
    size: Sized,
    parent: Integers,
    slides: Integers,
    axis: Floats,
    gravity: Floats,
    R: Numbers,
    P: Numbers,
    v: Numbers,
    a: Numbers,
    w: Numbers,
    al: Numbers,
    ac: Numbers,
) -> None:
    """Angular velocity w, angular acceleration al, acceleration less gravity ac, in body frames."""
    for i in range(len(size)):
        k = parent[i]
        z = vector(axis, i)
        if k < 0:
            zero = 0.0 * v[i]
            wp = (zero, zero, zero)
            alp = wp
            acp = (zero - gravity[0], zero - gravity[1], zero - gravity[2])
        else:
            p = vector(P, i)
            wp, alp, acp = vector(w, k), vector(al, k), vector(ac, k)
            acp = add(acp, add(cross(alp, p), cross(wp, cross(wp, p))))
            wp, alp = rotate_back(R, i, wp), rotate_back(R, i, alp)
        acp = rotate_back(R, i, acp)
        rate = scale_vector(v[i], z)
        if slides[i] == 1:
            put(w, i, wp)
            put(al, i, alp)
            put(ac, i, add(acp, add(scale_vector(a[i], z), scale_vector(2.0, cross(wp, rate)))))
        else:
            put(w, i, add(wp, rate))
            put(al, i, add(alp, add(scale_vector(a[i], z), cross(wp, rate))))
            put(ac, i, acp)


@inlined
def body_wrench(
    inertia: Floats, i: int, w: Numbers, al: Numbers, ac: Numbers, f: Numbers, t: Numbers
) -> None:
    """Force and torque about the frame's origin that body i needs for its motion."""
    om, alpha, acc = vector(w, i), vector(al, i), vector(ac, i)
    h = (inertia[i, 1], inertia[i, 2], inertia[i, 3])
    J = (
        inertia[i, 4],
        inertia[i, 5],
        inertia[i, 6],
        inertia[i, 7],
        inertia[i, 8],
        inertia[i, 9],
    )
    force = add(scale_vector(inertia[i, 0], acc), add(cross(alpha, h), cross(om, cross(om, h))))
    torque = add(inertia_times(J, alpha), add(cross(om, inertia_times(J, om)), cross(h, acc)))
    put(f, i, force)
    put(t, i, torque)


@inlined
def gather(
    size: Sized,
    parent: Integers,
    slides: Integers,
    axis: Floats,
    R: Numbers,
    P: Numbers,
    f: Numbers,
    t: Numbers,
    tau: Numbers,
) -> None:
    """Add the joint torques that balance the wrenches of all bodies; f and t become sums."""
    for i in range(len(size) - 1, -1, -1):
        force, torque = vector(f, i), vector(t, i)
        tau[i] += dot(vector(axis, i), force if slides[i] == 1 else torque)
        k = parent[i]
        if k >= 0:
            force = rotate(R, i, force)
            torque = add(rotate(R, i, torque), cross(vector(P, i), force))
            put(f, k, add(vector(f, k), force))
            put(t, k, add(vector(t, k), torque))


@compiled
def inverse_dynamics(
    arm: Arm,
    rotors: Rotors,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    tau: Numbers,
    start: int,
    stop: int,
) -> None:
    """Torques of rows start..stop, τ = M a + C v + g with the rotors in M; (m, N) tables.

    The first coordinates are the joints of the bodies; what follows moves rotors only.
    """
    parent, slides, turn, offset, axis = arm.parent, arm.slides, arm.turn, arm.offset, arm.axis
    inertia, gravity, rotor_inertia = arm.inertia, arm.gravity, rotors.inertia
    n, every = parent.shape[0], q.shape[1]
    R = np.empty((n, 3, 3), q.dtype)
    P, f, t = np.empty((n, 3), q.dtype), np.empty((n, 3), q.dtype), np.empty((n, 3), q.dtype)
    w, al, ac = np.empty((n, 3), q.dtype), np.empty((n, 3), q.dtype), np.empty((n, 3), q.dtype)
    for row in range(start, stop):
        place(parent, slides, turn, offset, q[row], R, P)
        accelerate(parent, parent, slides, axis, gravity, R, P, v[row], a[row], w, al, ac)
        for i in range(n):
            body_wrench(inertia, i, w, al, ac, f, t)
        for i in range(every):
            total = 0.0 * a[row, 0]
            for j in range(every):
                total += rotor_inertia[i, j] * a[row, j]
            tau[row, i] = total
        spin(rotors.body, rotors.axis, rotors.row, v[row], a[row], w, al, t, tau[row])
        gather(parent, parent, slides, axis, R, P, f, t, tau[row])
