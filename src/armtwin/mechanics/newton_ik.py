"""Inverse kinematics of any arm by damped Newton steps from many starting points.

    (JᵀJ + λ 1) δq = Jᵀ e,   e = (position error, rotation vector of R_target Rᵀ)

λ shrinks with the error, so that the last steps are Newton steps. An arm with more joints than
that takes the same step from the smaller system, which stays regular: of all steps that correct the
error it is the shortest. An elbow angle that is held is one more row of e and J.

    δq = Jᵀ (J Jᵀ + λ 1)⁻¹ e

Ref: [Levenberg 1944], [Sugihara 2011], [Siciliano 2009, section 3.5.1]
"""

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled
from armtwin.maths.vectors import dot, scale_vector
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.elbow import Elbow, elbow_angles
from armtwin.mechanics.kinematics import jacobians, poses
from armtwin.mechanics.mass import solve_in_place
from armtwin.mechanics.wrist_arm import wrap_angle

POSE = 6  # rows of the error of a pose
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
    arm: Arm,
    joints: Floats,
    body: int,
    X_BF: Floats,
    target: Floats,
    elbow: Elbow,
    X: Floats,
    e: Floats,
) -> float:
    """Error e (rows,) of the frame's pose X (1, 4, 4) at joints (1, n); returns its norm."""
    poses(arm, body, X_BF, joints, X, 0, 1)
    error = pose_error(target, X[0], e)
    if len(e) > POSE:
        angle, slope = np.empty(1), np.empty(joints.shape)
        elbow_angles(arm, elbow, joints, angle, slope, 0, 1)
        e[POSE] = wrap_angle(elbow.angle - angle[0])
        error = np.sqrt(error**2 + e[POSE] ** 2)
    return error


@compiled
def task_rows(
    arm: Arm, body: int, point: Floats, elbow: Elbow, q: Floats, J: Floats, start: int, stop: int
) -> None:
    """Jacobians (m, rows, n) of the frame's pose and, in a seventh row, of the elbow angle."""
    jacobians(arm, body, point, q, J, start, stop)
    if J.shape[1] > POSE:
        angle, slope = np.empty(len(q)), np.empty(q.shape)
        elbow_angles(arm, elbow, q, angle, slope, start, stop)
        J[start:stop, POSE] = slope[start:stop]


@compiled
def descend(
    arm: Arm,
    G: Floats,
    c: Floats,
    body: int,
    X_BF: Floats,
    target: Floats,
    elbow: Elbow,
    q: Floats,
    steps: int,
) -> float:
    """Improve q (n,) in place until the frame's pose meets the target; returns the error left.

    All joints are G q + c of the free coordinates q.
    """
    n = q.shape[0]
    rows = POSE if np.isnan(elbow.angle) else POSE + 1
    is_redundant = n > POSE
    size = rows if is_redundant else n
    X = np.empty((1, 4, 4))
    J = np.empty((1, rows, G.shape[0]))
    A = np.empty((size, size))
    e, tried, b, trial = np.empty(rows), np.empty(rows), np.empty(size), q.copy()
    point = X_BF[:3, 3].copy()
    joints = (G @ q + c).reshape(1, -1)
    error = _error_at(arm, joints, body, X_BF, target, elbow, X, e)
    damping = 1e-2
    for _ in range(steps):
        if error < 1e-14:
            break
        task_rows(arm, body, point, elbow, joints, J, 0, 1)
        JG = J[0] @ G
        if is_redundant:
            A[:] = JG @ JG.T
            b[:] = e
        else:
            A[:] = JG.T @ JG
            b[:] = JG.T @ e
        for i in range(size):
            A[i, i] += damping * error**2 + 1e-16
        if not solve_in_place(A, b):
            break
        step = JG.T @ b if is_redundant else b
        for i in range(n):
            trial[i] = q[i] + min(max(step[i], -LARGEST_STEP), LARGEST_STEP)
        moved = (G @ trial + c).reshape(1, -1)
        better = _error_at(arm, moved, body, X_BF, target, elbow, X, tried)
        if better < error:
            q[:], e[:], joints = trial, tried, moved
            error = better
            damping = damping * 0.3
        else:
            damping = damping * 10 + 1e-3
            if damping > 1e8:
                break
    return error


@compiled
def follow(
    arm: Arm,
    G: Floats,
    c: Floats,
    body: int,
    X_BF: Floats,
    X: Floats,
    elbow: Elbow,
    path: Floats,
    met: float,
    steps: int,
) -> None:
    """Joint path (m, n) along poses X (m, 4, 4), each from the one before, the first from path[0].

    A pose whose error stays above `met` leaves a row of NaN. The shortest steps of a redundant arm
    follow v = J⁺ ẋ to second order: half of what a step has in the null space of J at its end is
    taken back, since J⁺ turns on the way.
    """
    n = path.shape[1]
    before = path[0].copy()
    is_free = n > POSE and np.isnan(elbow.angle)
    J = np.empty((1, POSE, G.shape[0]))
    A, b = np.empty((POSE, POSE)), np.empty(POSE)
    point = X_BF[:3, 3].copy()
    for row in range(X.shape[0]):
        q = path[row]
        q[:] = before
        error = descend(arm, G, c, body, X_BF, X[row], elbow, q, steps)
        if is_free and row > 0 and error < met:
            jacobians(arm, body, point, (G @ q + c).reshape(1, -1), J, 0, 1)
            JG = J[0] @ G
            step = q - before
            A[:] = JG @ JG.T
            b[:] = JG @ step
            if solve_in_place(A, b):
                q -= 0.5 * (step - JG.T @ b)
                error = descend(arm, G, c, body, X_BF, X[row], elbow, q, steps)
        if error < met:
            before[:] = q
        else:
            q[:] = np.nan
