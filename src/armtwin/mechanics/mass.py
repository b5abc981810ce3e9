"""Mass matrix by composite rigid bodies, forward dynamics, energy.

    M_ij = S_jᵀ I_i^c S_i  for j on the path from i to the base,  plus the rotors Nᵀ J N

Ref: [Featherstone 2008]
"""

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.choice import both
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import (
    add,
    cross,
    dot,
    inertia_times,
    put,
    rotate,
    scale_vector,
    ten,
    vector,
)
from armtwin.mechanics.arm import Arm, Bodies, make_bodies, make_frames, place
from armtwin.mechanics.inertia import transform_body
from armtwin.mechanics.newton_euler import accelerate, balance, gather, wrench_to_parent
from armtwin.mechanics.rotors import Rotors, add_spin_mass, spin


@inlined
def composite(arm: Arm, bodies: Bodies) -> None:
    """Write the joint-space inertia of the bodies into the lower triangle of their L, (n, n).

    Only pairs of which one carries the other are written: L comes with zeros elsewhere.
    """
    n, Ic = len(arm.parent), bodies.Ic
    for i in range(n):
        for k in range(10):
            Ic[i, k] = arm.inertia[i, k]
    for i in range(n - 1, -1, -1):
        b = ten(Ic, i)
        if arm.parent[i] >= 0:
            up = transform_body(bodies.R, bodies.P, i, b)
            for k in range(10):
                Ic[arm.parent[i], k] += up[k]
        z = vector(arm.axis, i)
        h = b[1:4]
        if arm.slides[i] == 1:
            force, torque = scale_vector(b[0], z), cross(h, z)
        else:
            force, torque = cross(z, h), inertia_times(b[4:], z)
        j = i
        while True:
            bodies.L[i, j] = dot(vector(arm.axis, j), force if arm.slides[j] == 1 else torque)
            k = arm.parent[j]
            if k < 0:
                break
            force, torque = wrench_to_parent(bodies, j, force, torque)
            j = k


def mass_matrix(arm: Arm, rotors: Rotors, q: Floats) -> Floats:
    """Mass matrix with the rotors, (N, N), at joint positions q, (N,)."""
    bodies = make_bodies(arm, q)
    place(arm, q, bodies)
    M: Floats = np.empty(rotors.inertia.shape, q.dtype)
    whole_mass(arm, rotors, bodies, M)
    for i in range(len(M)):
        for j in range(i):
            M[j, i] = M[i, j]
    return M


@inlined
def whole_mass(arm: Arm, rotors: Rotors, bodies: Bodies, M: Floats) -> None:
    """Lower triangle of the mass matrix of all coordinates; the bodies are in the first ones."""
    composite(arm, bodies)
    for i in range(len(M)):
        for j in range(i + 1):
            M[i, j] = rotors.inertia[i, j] + (bodies.L[i, j] if i < len(arm.parent) else 0.0)
    add_spin_mass(arm, rotors, bodies.R, M)


@inlined
def equations_of_motion(
    arm: Arm, rotors: Rotors, bodies: Bodies, u: Floats, v: Floats, M: Floats, bias: Floats
) -> None:
    """Write the lower triangle of M(u) with the rotors, and h(u, v) = C v + g.

    The first of the N coordinates are the joints of the bodies; what follows moves rotors only.
    """
    place(arm, u, bodies)
    accelerate(arm, v, bodies.none, bodies)
    balance(arm, bodies)
    for i in range(len(bias)):
        bias[i] = 0.0
    spin(rotors, v, bodies.none, bodies, bias)
    gather(arm, bodies, bias)
    whole_mass(arm, rotors, bodies, M)


@inlined
def solve_in_place(A: Floats, b: Floats) -> bool:
    """Solve A x = b for a symmetric positive definite A by L D Lᵀ; b becomes x.

    Only the lower triangle of A is read. A is overwritten: Lᵀ above its diagonal, the inverses of D
    on it. There is no square root in it, for which the next column would have to wait. Returns
    whether A is definite; if not, b is of no use.
    """
    n = len(b)
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


def forward_dynamics(
    arm: Arm, rotors: Rotors, q: Floats, v: Floats, force: Floats
) -> tuple[Floats, bool]:
    """Accelerations a = M⁻¹ (force - C v - g), (N,), and whether M is definite."""
    bodies = make_bodies(arm, q)
    M: Floats = np.empty(rotors.inertia.shape, q.dtype)
    bias: Floats = np.empty(q.shape, q.dtype)
    equations_of_motion(arm, rotors, bodies, q, v, M, bias)
    a = force - bias
    definite = solve_in_place(M, a)
    return a, definite


@compiled
def potential_energy(arm: Arm, q: Floats, U: Floats, start: int, stop: int) -> None:
    """Energy of the bodies under gravity, U = -g · Σ (m p + R h), zero at the base's origin."""
    n, at = len(arm.parent), make_frames(arm, q)
    first, mass = np.empty((n, 3)), np.empty(n)
    for row in range(start, stop):
        place(arm, q[row], at)
        for i in range(n):
            put(first, i, (arm.inertia[i, 1], arm.inertia[i, 2], arm.inertia[i, 3]))
            mass[i] = arm.inertia[i, 0]
        U[row] = 0.0
        for i in range(n - 1, -1, -1):
            h = add(rotate(at.R, i, vector(first, i)), scale_vector(mass[i], vector(at.P, i)))
            k = arm.parent[i]
            if k >= 0:
                put(first, k, add(vector(first, k), h))
                mass[k] += mass[i]
            else:
                g = arm.gravity
                U[row] -= dot((g[0], g[1], g[2]), h)
