"""Joint torques as a linear function of the ten parameters of each body: τ = Y(q, v, a) φ.

With s = (lin, ang) the motion of body i for a unit rate of joint j, seen in frame i at its origin:
    Y_m = lin · a,   Y_h = (α× + ω×ω×)ᵀ lin + a × ang,   Y_J from angᵀ J α + (ang × ω)ᵀ J ω

Ref: [Waiboer 2007, eq. 4.15-4.30], [Atkeson-An-Hollerbach 1986]
"""

import numpy as np

from armtwin.maths.batch import Floats, Integers, Numbers
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import (
    Vector,
    add,
    cross,
    dot,
    put,
    rotate,
    rotate_back,
    scale_vector,
    vector,
)
from armtwin.mechanics.arm import Arm, make_bodies, place
from armtwin.mechanics.newton_euler import accelerate
from armtwin.mechanics.rotors import Rotors


@inlined
def _body_columns(
    Y: Numbers,
    row: int,
    j: int,
    at: int,
    lin: Vector,
    ang: Vector,
    om: Vector,
    alpha: Vector,
    acc: Vector,
) -> None:
    """Ten columns of one body in the row of joint j, from column `at` on."""
    Y[row, j, at] = dot(lin, acc)
    # lin·(α×h) = h·(lin×α),  lin·(ω×(ω×h)) = h·(ω×(ω×lin)),  ang·(h×a) = h·(a×ang)
    centripetal = cross(om, cross(om, lin))
    first = add(cross(lin, alpha), add(centripetal, cross(acc, ang)))
    for k in range(3):
        Y[row, j, at + 1 + k] = first[k]
    sx, sy, sz = ang
    ax, ay, az = alpha
    wx, wy, wz = om
    bx, by, bz = cross(ang, om)
    Y[row, j, at + 4] = sx * ax + bx * wx
    Y[row, j, at + 5] = sy * ay + by * wy
    Y[row, j, at + 6] = sz * az + bz * wz
    Y[row, j, at + 7] = sx * ay + sy * ax + bx * wy + by * wx
    Y[row, j, at + 8] = sx * az + sz * ax + bx * wz + bz * wx
    Y[row, j, at + 9] = sy * az + sz * ay + by * wz + bz * wy


OF_A_BODY = 10  # parameters of a body: mass, first moments, moments of inertia
HEAVY = 4  # the first n of them have a weight


@compiled
def body_regressor(
    arm: Arm, q: Numbers, v: Numbers, a: Numbers, Y: Numbers, start: int, stop: int
) -> None:
    """Write columns 0..10 n of Y, (m, n, p), for rows start..stop; Y comes as zeros."""
    n, bodies = len(arm.parent), make_bodies(arm, q)
    # row n body + joint: the body's motion per joint
    lin, ang = np.empty((n * n, 3), q.dtype), np.empty((n * n, 3), q.dtype)
    for row in range(start, stop):
        place(arm, q[row], bodies)
        accelerate(arm, v[row], a[row], bodies)
        for i in range(n):
            k = arm.parent[i]
            om, alpha, acc = vector(bodies.w, i), vector(bodies.al, i), vector(bodies.ac, i)
            j = i
            while j >= 0:
                if j == i:
                    z = vector(arm.axis, i)
                    none = (0.0, 0.0, 0.0)
                    to, about = (z, none) if arm.slides[i] == 1 else (none, z)
                else:
                    about = vector(ang, n * k + j)
                    to = add(vector(lin, n * k + j), cross(about, vector(bodies.P, i)))
                    to = rotate_back(bodies.R, i, to)
                    about = rotate_back(bodies.R, i, about)
                put(lin, n * i + j, to)
                put(ang, n * i + j, about)
                _body_columns(Y, row, j, 10 * i, to, about, om, alpha, acc)
                j = arm.parent[j]


@compiled
def rotor_regressor(
    arm: Arm,
    rotors: Rotors,
    gear: Floats,
    spin_on: Integers,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    Y: Numbers,
    at: int,
    start: int,
    stop: int,
) -> None:
    """Write the columns of the rotor inertias, Nᵀ diag(N a), from column `at` on.

    Where a rotor's gyroscopic coupling is modelled, spin_on[motor] is its row in rotors, else -1.

    Ref: [Waiboer 2007, eq. 4.25, with the acceleration in place of the velocity]
    """
    motors, n = gear.shape
    bodies = make_bodies(arm, q)
    coupled = len(rotors.body) > 0
    for row in range(start, stop):
        if coupled:
            place(arm, q[row], bodies)
            accelerate(arm, v[row], a[row], bodies)
        for e in range(motors):
            rate = own = 0.0
            for j in range(n):
                rate += gear[e, j] * v[row, j]
                own += gear[e, j] * a[row, j]
                Y[row, j, at + e] = 0.0
            if spin_on[e] >= 0:
                i = rotors.body[spin_on[e]]
                z = vector(rotors.axis, spin_on[e])
                precession = cross(vector(bodies.w, i), z)
                torque = add(scale_vector(own, z), scale_vector(rate, precession))
                own += dot(z, vector(bodies.al, i))
                while i >= 0:
                    if arm.slides[i] == 0:
                        Y[row, i, at + e] += dot(vector(arm.axis, i), torque)
                    torque = rotate(bodies.R, i, torque)
                    i = arm.parent[i]
            for j in range(n):
                Y[row, j, at + e] += gear[e, j] * own
