"""Inverse kinematics of any arm by damped Newton steps from many starting points.

    (JᵀJ + λ 1) δq = Jᵀ e,   e = (position error, rotation vector of R_target Rᵀ)

λ shrinks with the error, so that the last steps are Newton steps.

Ref: [Levenberg 1944], [Sugihara 2011]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.maths.compiled import compiled
from armtwin.mechanics.kinematics import jacobians, poses
from armtwin.mechanics.mass import solve_in_place


@compiled
def pose_error(target: Any, X: Any, e: Any) -> float:
    """Error e (6,) from pose X to the target, in base axes [m, rad]; returns its norm."""
    R = np.zeros((3, 3))
    for r in range(3):
        for c in range(3):
            for k in range(3):
                R[r, c] += target[r, k] * X[c, k]
    twist = ((R[2, 1] - R[1, 2]) / 2, (R[0, 2] - R[2, 0]) / 2, (R[1, 0] - R[0, 1]) / 2)
    sine = np.sqrt(twist[0] ** 2 + twist[1] ** 2 + twist[2] ** 2)
    angle = np.arctan2(sine, (R[0, 0] + R[1, 1] + R[2, 2] - 1) / 2)
    if sine < 1e-9 and angle > 1.0:  # half a turn: the axis is the largest column of R + 1
        best = 0
        for c in range(1, 3):
            if R[c, c] > R[best, best]:
                best = c
        x = (R[0, best], R[1, best], R[2, best])
        twist = (x[0] + (best == 0), x[1] + (best == 1), x[2] + (best == 2))
        sine = np.sqrt(twist[0] ** 2 + twist[1] ** 2 + twist[2] ** 2)
    scale = 1.0 if sine < 1e-12 else angle / sine
    total = 0.0
    for r in range(3):
        e[r] = target[r, 3] - X[r, 3]
        e[3 + r] = scale * twist[r]
        total += e[r] ** 2 + e[3 + r] ** 2
    return np.sqrt(total)


@compiled
def descend(
    arm: Any, G: Any, c: Any, body: int, X_BF: Any, target: Any, q: Any, steps: int
) -> float:
    """Improve q (n,) in place until the frame's pose meets the target; returns the error left.

    All joints are G q + c of the free coordinates q.
    """
    n = q.shape[0]
    X, J = np.empty((1, 4, 4)), np.empty((1, 6, G.shape[0]))
    e, point = np.empty(6), X_BF[:3, 3].copy()
    trial, A, b = q.copy(), np.empty((n, n)), np.empty(n)
    full = (G @ q + c).reshape(1, -1)
    poses(arm, body, X_BF, full, X, 0, 1)
    error, damping = pose_error(target, X[0], e), 1e-2
    for _ in range(steps):
        if error < 1e-14:
            break
        full = (G @ q + c).reshape(1, -1)
        jacobians(arm, body, point, full, J, 0, 1)
        JG = J[0] @ G
        A[:] = JG.T @ JG
        b[:] = JG.T @ e
        for i in range(n):
            A[i, i] += damping * error**2 + 1e-16
        if not solve_in_place(b, A, b):
            break
        for i in range(n):
            trial[i] = q[i] + min(max(b[i], -0.8), 0.8)
        full = (G @ trial + c).reshape(1, -1)
        poses(arm, body, X_BF, full, X, 0, 1)
        better = pose_error(target, X[0], e)
        if better < error:
            q[:] = trial
            error, damping = better, damping * 0.3
        else:
            damping = damping * 10 + 1e-3
            full = (G @ q + c).reshape(1, -1)
            poses(arm, body, X_BF, full, X, 0, 1)
            pose_error(target, X[0], e)
            if damping > 1e8:
                break
    return error
