"""Mass matrix by composite rigid bodies, forward dynamics, energy.

    M_ij = S_jᵀ I_i^c S_i  for j on the path from i to the base,  plus the rotors Nᵀ J N

Ref: [Featherstone 2008]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import add, cross, dot, inertia_times, put, scaled, turned, vector
from armtwin.mechanics.arm import place
from armtwin.mechanics.inertia import moved, ten
from armtwin.mechanics.newton_euler import accelerate, body_wrench, gather, spin


@inlined
def composite(size: Any, parent: Any, slides: Any, axis: Any, inertia: Any, R: Any, P: Any, Ic: Any, M: Any) -> None:
    """Write the joint-space inertia of the bodies into the lower triangle of M, (n, n); Ic, (n, 10), is scratch.

    Only pairs of which one carries the other are written: M comes with zeros elsewhere.
    """
    n = len(size)
    for i in range(n):
        for k in range(10):
            Ic[i, k] = inertia[i, k]
    for i in range(n - 1, -1, -1):
        b = ten(Ic, i)
        if parent[i] >= 0:
            up = moved(R, P, i, b)
            for k in range(10):
                Ic[parent[i], k] += up[k]
        z = vector(axis, i)
        h = (b[1], b[2], b[3])
        if slides[i] == 1:
            force, torque = scaled(b[0], z), cross(h, z)
        else:
            force, torque = cross(z, h), inertia_times((b[4], b[5], b[6], b[7], b[8], b[9]), z)
        j = i
        while True:
            M[i, j] = dot(vector(axis, j), force if slides[j] == 1 else torque)
            k = parent[j]
            if k < 0:
                break
            force = turned(R, j, force)
            torque = add(turned(R, j, torque), cross(vector(P, j), force))
            j = k


@compiled
def spin_mass(
    size: Any, parent: Any, slides: Any, axis: Any, R: Any, spin_body: Any, spin_axis: Any, spin_row: Any, M: Any
) -> None:
    """Add the gyroscopic coupling J (row jᵀ + j rowᵀ), j the rates of the carrier about the rotor's axis.

    It adds to the lower triangle that `composite` wrote, and to pairs that it leaves alone: these it clears first.
    """
    if spin_body.shape[0] > 0:
        for i in range(len(size)):
            for j in range(i):
                k = i
                while k > j:
                    k = parent[k]
                if k != j:
                    M[i, j] = 0.0
    for e in range(spin_body.shape[0]):
        z = vector(spin_axis, e)
        i = spin_body[e]
        while i >= 0:
            if slides[i] == 0:
                rate = dot(vector(axis, i), z)
                for j in range(len(size)):
                    M[max(i, j), min(i, j)] += spin_row[e, j] * rate * (2.0 if i == j else 1.0)
            z = turned(R, i, z)
            i = parent[i]


@compiled
def mass_matrix(arm: Any, q: Any, M: Any, start: int, stop: int) -> None:
    """Mass matrices of rows start..stop, rotors included; q (m, n), M (m, n, n)."""
    parent, slides, axis = arm.parent, arm.slides, arm.axis
    n = parent.shape[0]
    R, P, Ic, L = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 10)), np.zeros((n, n))
    for row in range(start, stop):
        place(parent, slides, arm.turn, arm.offset, q[row], R, P)
        composite(parent, parent, slides, axis, arm.inertia, R, P, Ic, L)
        spin_mass(parent, parent, slides, axis, R, arm.spin_body, arm.spin_axis, arm.spin_row, L)
        for i in range(n):
            for j in range(i + 1):
                M[row, i, j] = M[row, j, i] = L[i, j] + arm.rotors[i, j]


@inlined
def solve_in_place(size: Any, A: Any, b: Any) -> bool:
    """Solve A x = b for a symmetric positive definite A by Cholesky's L Lᵀ; b becomes x.

    Only the lower triangle of A is read; it becomes L with the inverses of its diagonal. Returns whether A is
    definite; if not, b is of no use.
    """
    n, definite = len(size), True
    for j in range(n):
        d = A[j, j]
        for k in range(j):
            d -= A[j, k] * A[j, k]
        definite = definite and d > 0.0
        d = 1.0 / np.sqrt(d)
        A[j, j] = d
        for i in range(j + 1, n):
            x = A[i, j]
            for k in range(j):
                x -= A[i, k] * A[j, k]
            A[i, j] = x * d
    for i in range(n):
        x = b[i]
        for k in range(i):
            x -= A[i, k] * b[k]
        b[i] = x * A[i, i]
    for i in range(n - 1, -1, -1):
        x = b[i]
        for k in range(i + 1, n):
            x -= A[k, i] * b[k]
        b[i] = x * A[i, i]
    return definite


@compiled
def forward_dynamics(arm: Any, q: Any, v: Any, force: Any, a: Any, bad: Any, start: int, stop: int) -> None:
    """Accelerations a = M⁻¹ (force - C v - g) of rows start..stop; bad[row] is 1 where M is not definite."""
    parent, slides, axis = arm.parent, arm.slides, arm.axis
    n = parent.shape[0]
    R, P, Ic = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 10))
    L, M = np.zeros((n, n)), np.empty((n, n))
    w, al, ac = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    f, t, none, bias = np.empty((n, 3)), np.empty((n, 3)), np.zeros(n), np.empty(n)
    for row in range(start, stop):
        place(parent, slides, arm.turn, arm.offset, q[row], R, P)
        accelerate(parent, parent, slides, axis, arm.gravity, R, P, v[row], none, w, al, ac)
        for i in range(n):
            body_wrench(arm.inertia, i, w, al, ac, f, t)
            bias[i] = 0.0
        spin(parent, arm.spin_body, arm.spin_axis, arm.spin_row, v[row], none, w, al, t, bias)
        gather(parent, parent, slides, axis, R, P, f, t, bias)
        composite(parent, parent, slides, axis, arm.inertia, R, P, Ic, L)
        spin_mass(parent, parent, slides, axis, R, arm.spin_body, arm.spin_axis, arm.spin_row, L)
        for i in range(n):
            a[row, i] = force[row, i] - bias[i]
            for j in range(i + 1):
                M[i, j] = L[i, j] + arm.rotors[i, j]
        bad[row] = 0 if solve_in_place(parent, M, a[row]) else 1


@compiled
def potential_energy(arm: Any, q: Any, U: Any, start: int, stop: int) -> None:
    """Energy of the bodies in the field of gravity, U = -g · Σ (m p + R h), zero at the base's origin."""
    n = arm.parent.shape[0]
    R, P, first, mass = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    for row in range(start, stop):
        place(arm.parent, arm.slides, arm.turn, arm.offset, q[row], R, P)
        for i in range(n):
            put(first, i, (arm.inertia[i, 1], arm.inertia[i, 2], arm.inertia[i, 3]))
            mass[i] = arm.inertia[i, 0]
        U[row] = 0.0
        for i in range(n - 1, -1, -1):
            h = add(turned(R, i, vector(first, i)), scaled(mass[i], vector(P, i)))
            k = arm.parent[i]
            if k >= 0:
                put(first, k, add(vector(first, k), h))
                mass[k] += mass[i]
            else:
                U[row] -= arm.gravity[0] * h[0] + arm.gravity[1] * h[1] + arm.gravity[2] * h[2]
