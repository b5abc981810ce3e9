"""Inverse dynamics by the recursive Newton-Euler algorithm, in body frames.

    f = m a + α × h + ω × (ω × h),   t = J α + ω × J ω + h × a      with h = m s, a without gravity
    τ = axis · (t or f), summed from the tips to the base

The kernels take real or complex states: a complex step gives exact derivatives of the same
equations.

Ref: [Luh-Walker-Paul 1980], [Featherstone 2008]
"""

from armtwin.maths.batch import Numbers
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import (
    Vector,
    add,
    body_wrench,
    cross,
    dot,
    put,
    rotate,
    rotate_back,
    scale_vector,
    ten,
    vector,
)
from armtwin.mechanics.arm import Arm, Bodies, Frames, make_bodies, place
from armtwin.mechanics.rotors import Rotors, spin


@inlined
def accelerate(arm: Arm, v: Numbers, a: Numbers, bodies: Bodies) -> None:
    """Angular velocity w, angular acceleration al, acceleration less gravity ac, in body frames."""
    R, P, w, al, ac = bodies[:5]
    gravity = arm.gravity
    for i in range(len(arm.parent)):
        k = arm.parent[i]
        z = vector(arm.axis, i)
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
        if arm.slides[i] == 1:
            put(w, i, wp)
            put(al, i, alp)
            put(ac, i, add(acp, add(scale_vector(a[i], z), scale_vector(2.0, cross(wp, rate)))))
        else:
            put(w, i, add(wp, rate))
            put(al, i, add(alp, add(scale_vector(a[i], z), cross(wp, rate))))
            put(ac, i, acp)


@inlined
def balance(arm: Arm, bodies: Bodies) -> None:
    """Force and torque about the frame's origin that each body needs for its motion."""
    for i in range(len(arm.parent)):
        om, al, ac = vector(bodies.w, i), vector(bodies.al, i), vector(bodies.ac, i)
        force, torque = body_wrench(ten(arm.inertia, i), om, al, ac)
        put(bodies.f, i, force)
        put(bodies.t, i, torque)


@inlined
def wrench_to_parent(
    at: Frames | Bodies, i: int, force: Vector, torque: Vector
) -> tuple[Vector, Vector]:
    """A force and a torque about the origin of frame i, both seen from the parent's frame."""
    force = rotate(at.R, i, force)
    return force, add(rotate(at.R, i, torque), cross(vector(at.P, i), force))


@inlined
def gather(arm: Arm, bodies: Bodies, tau: Numbers) -> None:
    """Add the joint torques that balance the wrenches of all bodies; f and t become sums."""
    f, t = bodies.f, bodies.t
    for i in range(len(arm.parent) - 1, -1, -1):
        force, torque = vector(f, i), vector(t, i)
        tau[i] += dot(vector(arm.axis, i), force if arm.slides[i] == 1 else torque)
        k = arm.parent[i]
        if k >= 0:
            force, torque = wrench_to_parent(bodies, i, force, torque)
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
    every = q.shape[1]
    bodies = make_bodies(arm, q)
    for row in range(start, stop):
        place(arm, q[row], bodies)
        accelerate(arm, v[row], a[row], bodies)
        balance(arm, bodies)
        for i in range(every):
            total = 0.0 * a[row, 0]
            for j in range(every):
                total += rotors.inertia[i, j] * a[row, j]
            tau[row, i] = total
        spin(rotors, v[row], a[row], bodies, tau[row])
        gather(arm, bodies, tau[row])
