"""Forward kinematics and the geometric Jacobian of a frame fixed to a body."""

from __future__ import annotations

import numpy as np

from armtwin.maths.batch import Floats, Integers
from armtwin.maths.compiled import compiled
from armtwin.maths.vectors import Vector, add, cross, dot, rotate, vector
from armtwin.mechanics.arm import Arm, place


@compiled
def to_base(parent: Integers, R: Floats, P: Floats, body: int, x: Vector) -> Vector:
    """Point x of a body's frame, in the base frame."""
    while body >= 0:
        x = add(rotate(R, body, x), vector(P, body))
        body = parent[body]
    return x


@compiled
def axis_to_base(parent: Integers, R: Floats, body: int, x: Vector) -> Vector:
    """Direction x of a body's frame, in the base frame."""
    while body >= 0:
        x = rotate(R, body, x)
        body = parent[body]
    return x


@compiled
def poses(arm: Arm, body: int, X_BF: Floats, q: Floats, X: Floats, start: int, stop: int) -> None:
    """Poses X_WF (m, 4, 4) of the frame F that sits at X_BF (4, 4) on a body (-1: the base)."""
    n = arm.parent.shape[0]
    R = np.empty((n, 3, 3))
    P = np.empty((n, 3))
    for row in range(start, stop):
        place(arm.parent, arm.slides, arm.turn, arm.offset, q[row], R, P)
        p = to_base(arm.parent, R, P, body, (X_BF[0, 3], X_BF[1, 3], X_BF[2, 3]))
        for c in range(3):
            x = axis_to_base(arm.parent, R, body, (X_BF[0, c], X_BF[1, c], X_BF[2, c]))
            for r in range(3):
                X[row, r, c] = x[r]
            X[row, c, 3] = p[c]
            X[row, 3, c] = 0.0
        X[row, 3, 3] = 1.0


@compiled
def places(
    arm: Arm, bodies: Integers, points: Floats, q: Floats, P_W: Floats, start: int, stop: int
) -> None:
    """Places P_W (m, k, 3) of points (k, 3) that are fixed to bodies (k,) (-1: the base)."""
    n = arm.parent.shape[0]
    R = np.empty((n, 3, 3))
    P = np.empty((n, 3))
    for row in range(start, stop):
        place(arm.parent, arm.slides, arm.turn, arm.offset, q[row], R, P)
        for k in range(bodies.shape[0]):
            p = to_base(arm.parent, R, P, bodies[k], vector(points, k))
            for r in range(3):
                P_W[row, k, r] = p[r]


@compiled
def press(
    parent: Integers,
    slides: Integers,
    axis: Floats,
    R: Floats,
    P: Floats,
    body: int,
    point: Floats,
    force: Vector,
    torque: Vector,
    tau: Floats,
) -> None:
    """Add to the joint torques what a force and a torque on a point of a body do, base axes.

    τ_j += z_j · (torque + (p - p_j) × force),   or z_j · force of a prismatic joint

    R and P are where `place` put the bodies.
    """
    tip = to_base(parent, R, P, body, (point[0], point[1], point[2]))
    j = body
    while j >= 0:
        z = axis_to_base(parent, R, j, vector(axis, j))
        if slides[j] == 1:
            tau[j] += dot(z, force)
        else:
            origin = to_base(parent, R, P, j, (0.0, 0.0, 0.0))
            lever = (tip[0] - origin[0], tip[1] - origin[1], tip[2] - origin[2])
            tau[j] += dot(z, add(torque, cross(lever, force)))
        j = parent[j]


@compiled
def jacobians(
    arm: Arm, body: int, point: Floats, q: Floats, J: Floats, start: int, stop: int
) -> None:
    """Jacobians J (m, 6, n) of a point of a body, rows linear then angular, in base axes."""
    n = arm.parent.shape[0]
    R = np.empty((n, 3, 3))
    P = np.empty((n, 3))
    for row in range(start, stop):
        place(arm.parent, arm.slides, arm.turn, arm.offset, q[row], R, P)
        tip = to_base(arm.parent, R, P, body, (point[0], point[1], point[2]))
        for r in range(6):
            for j in range(n):
                J[row, r, j] = 0.0
        j = body
        while j >= 0:
            z = axis_to_base(arm.parent, R, j, vector(arm.axis, j))
            if arm.slides[j] == 1:
                for r in range(3):
                    J[row, r, j] = z[r]
            else:
                origin = to_base(arm.parent, R, P, j, (0.0, 0.0, 0.0))
                lever = (tip[0] - origin[0], tip[1] - origin[1], tip[2] - origin[2])
                velocity = cross(z, lever)
                for r in range(3):
                    J[row, r, j] = velocity[r]
                    J[row, 3 + r, j] = z[r]
            j = arm.parent[j]
