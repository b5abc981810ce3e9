"""Inverse kinematics of any arm by damped Newton steps from many starting points.

    (JᵀJ + λ 1) δq = Jᵀ e,   e = (position error, rotation vector of R_target Rᵀ)

λ shrinks with the error, so that the last steps are Newton steps.

Ref: [Levenberg 1944], [Sugihara 2011]
"""

from __future__ import annotations

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled
from armtwin.maths.vectors import dot, scale_vector
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.kinematics import jacobians, poses
from armtwin.mechanics.mass import solve_in_place

LARGEST_STEP = 0.8  # of a joint [rad, m]


@compiled
def _rotation_vector(R: Floats) -> tuple[float, float, float]:
    """Axis times angle of a rotation (3, 3) [rad]."""
    twist = ((R[2, 1] - R[1, 2]) / 2, (R[0, 2] - R[2, 0]) / 2, (R[1, 0] - R[0, 1]) / 2)
    sine = np.sqrt(dot(twist, twist))
    angle = np.arctan2(sine, (R[0, 0] + R[1, 1] + R[2, 2] - 1) / 2)
    if sine < 1e-9 and angle > 1.0:  # half a turn: the axis is the largest column of R + 1
        best = 0
        for c in range(1, 3):
            if R[c, c] > R[best, best]:
                best = c
        twist = (R[0, best] + (best == 0), R[1, best] + (best == 1), R[2, best] + (best == 2))
        sine = np.sqrt(dot(twist, twist))
    scale = 1.0 if sine < 1e-12 else angle / sine
    return scale_vector(scale, twist)


@compiled
def pose_error(target: Floats, X: Floats, e: Floats) -> float:
    """Error e (6,) from pose X to the target, in base axes [m, rad]; returns its norm."""
    R = np.zeros((3, 3))
    for r in range(3):
        for c in range(3):
            for k in range(3):
                R[r, c] += target[r, k] * X[c, k]
    turn = _rotation_vector(R)
    total = 0.0
    for r in range(3):
        e[r] = target[r, 3] - X[r, 3]
        e[3 + r] = turn[r]
        total += e[r] ** 2 + e[3 + r] ** 2
    return np.sqrt(total)


@compiled
def _error_at(
    arm: Arm, joints: Floats, body: int, X_BF: Floats, target: Floats, X: Floats, e: Floats
) -> float:
    """Error e (6,) of the frame's pose X (1, 4, 4) at joints (1, n); returns its norm."""
    poses(arm, body, X_BF, joints, X, 0, 1)
    return pose_error(target, X[0], e)


@compiled
def descend(
    arm: Arm, G: Floats, c: Floats, body: int, X_BF: Floats, target: Floats, q: Floats, steps: int
) -> float:
    """Improve q (n,) in place until the frame's pose meets the target; returns the error left.

    All joints are G q + c of the free coordinates q.
    """
    n = q.shape[0]
    X = np.empty((1, 4, 4))
    J = np.empty((1, 6, G.shape[0]))
    A = np.empty((n, n))
    e, b, trial = np.empty(6), np.empty(n), q.copy()
    point = X_BF[:3, 3].copy()
    joints = (G @ q + c).reshape(1, -1)
    error = _error_at(arm, joints, body, X_BF, target, X, e)
    damping = 1e-2
    for _ in range(steps):
        if error < 1e-14:
            break
        joints = (G @ q + c).reshape(1, -1)
        jacobians(arm, body, point, joints, J, 0, 1)
        JG = J[0] @ G
        A[:] = JG.T @ JG
        b[:] = JG.T @ e
        for i in range(n):
            A[i, i] += damping * error**2 + 1e-16
        if not solve_in_place(b, A, b):
            break
        for i in range(n):
            trial[i] = q[i] + min(max(b[i], -LARGEST_STEP), LARGEST_STEP)
        joints = (G @ trial + c).reshape(1, -1)
        better = _error_at(arm, joints, body, X_BF, target, X, e)
        if better < error:
            q[:] = trial
            error = better
            damping = damping * 0.3
        else:
            damping = damping * 10 + 1e-3
            joints = (G @ q + c).reshape(1, -1)
            _error_at(arm, joints, body, X_BF, target, X, e)
            if damping > 1e8:
                break
    return error
