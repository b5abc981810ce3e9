"""Mass matrix by composite rigid bodies, forward dynamics, energy.

    M_ij = S_jᵀ I_i^c S_i  for j on the path from i to the base,  plus the rotors Nᵀ J N

Ref: [Featherstone 2008]
"""

from __future__ import annotations

from collections.abc import Sized

import numpy as np

from armtwin.maths.batch import Floats, Integers
from armtwin.maths.choice import both
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import add, cross, dot, inertia_times, put, rotate, scale_vector, vector
from armtwin.mechanics.arm import Arm, place
from armtwin.mechanics.inertia import ten, transform_body
from armtwin.mechanics.newton_euler import accelerate, body_wrench, gather
from armtwin.mechanics.rotors import Rotors, add_spin_mass, spin


@inlined
def composite(
    size: Sized,
    parent: Integers,
    slides: Integers,
    axis: Floats,
    inertia: Floats,
    R: Floats,
    P: Floats,
    Ic: Floats,
    M: Floats,
) -> None:
    """Write the joint-space inertia of the bodies into the lower triangle of M, (n, n).

    Only pairs of which one carries the other are written: M comes with zeros elsewhere.
    Ic, (n, 10), is scratch.
    """
    n = len(size)
    for i in range(n):
        for k in range(10):
            Ic[i, k] = inertia[i, k]
    for i in range(n - 1, -1, -1):
        b = ten(Ic, i)
        if parent[i] >= 0:
            up = transform_body(R, P, i, b)
            for k in range(10):
                Ic[parent[i], k] += up[k]
        z = vector(axis, i)
        h = (b[1], b[2], b[3])
        if slides[i] == 1:
            force = scale_vector(b[0], z)
            torque = cross(h, z)
        else:
            force = cross(z, h)
            torque = inertia_times((b[4], b[5], b[6], b[7], b[8], b[9]), z)
        j = i
        while True:
            M[i, j] = dot(vector(axis, j), force if slides[j] == 1 else torque)
            k = parent[j]
            if k < 0:
                break
            force = rotate(R, j, force)
            torque = add(rotate(R, j, torque), cross(vector(P, j), force))
            j = k


@compiled
def mass_matrix(arm: Arm, rotors: Rotors, q: Floats, M: Floats, start: int, stop: int) -> None:
    """Mass matrices of rows start..stop, rotors included; q (m, N), M (m, N, N)."""
    parent, slides, axis = arm.parent, arm.slides, arm.axis
    n, every = parent.shape[0], q.shape[1]
    R = np.empty((n, 3, 3))
    P = np.empty((n, 3))
    Ic = np.empty((n, 10))
    bodies = np.zeros((n, n))
    L = np.empty((every, every))
    for row in range(start, stop):
        place(parent, slides, arm.turn, arm.offset, q[row], R, P)
        composite(parent, parent, slides, axis, arm.inertia, R, P, Ic, bodies)
        whole_mass(bodies, rotors.inertia, L)
        add_spin_mass(parent, slides, axis, R, rotors.body, rotors.axis, rotors.row, L)
        for i in range(every):
            for j in range(i + 1):
                M[row, i, j] = M[row, j, i] = L[i, j]


@inlined
def whole_mass(bodies: Floats, rotors: Floats, M: Floats) -> None:
    """Lower triangle of the mass matrix of all coordinates; the bodies are in the first ones."""
    n = bodies.shape[0]
    for i in range(rotors.shape[0]):
        for j in range(i + 1):
            M[i, j] = rotors[i, j] + (bodies[i, j] if i < n else 0.0)


@inlined
def solve_in_place(size: Sized, A: Floats, b: Floats) -> bool:
    """Solve A x = b for a symmetric positive definite A by L D Lᵀ; b becomes x.

    Only the lower triangle of A is read. A is overwritten: Lᵀ above its diagonal, the inverses of D
    on it. There is no square root in it, for which the next column would have to wait. Returns
    whether A is definite; if not, b is of no use.
    """
    n = len(size)
    definite = True
    for j in range(n):
        definite = both(definite, A[j, j] > 0.0)
        inverse = 1.0 / A[j, j]
        A[j, j] = inverse
        for i in range(j + 1, n):
            share = A[i, j] * inverse
            A[j, i] = share
            for k in range(j + 1, i + 1):
                A[i, k] -= share * A[k, j]
    for i in range(n):
        x = b[i]
        for k in range(i):
            x -= A[k, i] * b[k]
        b[i] = x
    for i in range(n - 1, -1, -1):
        x = b[i] * A[i, i]
        for k in range(i + 1, n):
            x -= A[i, k] * b[k]
        b[i] = x
    return definite


@compiled
def forward_dynamics(
    arm: Arm,
    rotors: Rotors,
    q: Floats,
    v: Floats,
    force: Floats,
    a: Floats,
    bad: Integers,
    start: int,
    stop: int,
) -> None:
    """Accelerations a = M⁻¹ (force - C v - g) of rows start..stop; bad[row]: M is not definite."""
    parent, slides, axis = arm.parent, arm.slides, arm.axis
    n, every = parent.shape[0], q.shape[1]
    R = np.empty((n, 3, 3))
    P, f, t = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    w, al, ac = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    Ic = np.empty((n, 10))
    bodies = np.zeros((n, n))
    M = np.empty((every, every))
    none, bias = np.zeros(every), np.empty(every)
    for row in range(start, stop):
        place(parent, slides, arm.turn, arm.offset, q[row], R, P)
        accelerate(parent, parent, slides, axis, arm.gravity, R, P, v[row], none, w, al, ac)
        for i in range(n):
            body_wrench(arm.inertia, i, w, al, ac, f, t)
        for i in range(every):
            bias[i] = 0.0
        spin(rotors.body, rotors.axis, rotors.row, v[row], none, w, al, t, bias)
        gather(parent, parent, slides, axis, R, P, f, t, bias)
        composite(parent, parent, slides, axis, arm.inertia, R, P, Ic, bodies)
        whole_mass(bodies, rotors.inertia, M)
        add_spin_mass(parent, slides, axis, R, rotors.body, rotors.axis, rotors.row, M)
        for i in range(every):
            a[row, i] = force[row, i] - bias[i]
        bad[row] = 0 if solve_in_place(q[row], M, a[row]) else 1


@compiled
def potential_energy(arm: Arm, q: Floats, U: Floats, start: int, stop: int) -> None:
    """Energy of the bodies under gravity, U = -g · Σ (m p + R h), zero at the base's origin."""
    n = arm.parent.shape[0]
    R = np.empty((n, 3, 3))
    P = np.empty((n, 3))
    first, mass = np.empty((n, 3)), np.empty(n)
    for row in range(start, stop):
        place(arm.parent, arm.slides, arm.turn, arm.offset, q[row], R, P)
        for i in range(n):
            put(first, i, (arm.inertia[i, 1], arm.inertia[i, 2], arm.inertia[i, 3]))
            mass[i] = arm.inertia[i, 0]
        U[row] = 0.0
        for i in range(n - 1, -1, -1):
            h = add(rotate(R, i, vector(first, i)), scale_vector(mass[i], vector(P, i)))
            k = arm.parent[i]
            if k >= 0:
                put(first, k, add(vector(first, k), h))
                mass[k] += mass[i]
            else:
                g = arm.gravity
                U[row] -= dot((g[0], g[1], g[2]), h)
