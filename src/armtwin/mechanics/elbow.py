"""The elbow angle of an arm of seven revolute joints: how far its elbow is turned about the line
from shoulder to wrist.

    ψ = atan2(|w| c · (w × u), |w|² c · u - (c · w) (w · u)),   c = E - S,   w = W - S

S, E and W are the points of axes 2, 4 and 6 that are nearest to axes 1, 3 and 5, u is the direction
of axis 1. At 0 the elbow lies in the plane of u and w, on the side of u; angles turn about w.

Ref: [Shimizu-Kakuya-Yoon 2008]
"""

from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled
from armtwin.maths.vectors import Vector, add, cross, dot, scale_vector, vector
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.kinematics import jacobians, places

AXES = 7  # joints of an arm with an elbow angle
CARRIERS = (1, 3, 5)  # bodies on whose axes shoulder, elbow and wrist lie
SHORTEST = 1e-3  # upper arm or forearm [m]
PARALLEL = 1e-6  # sine of the angle between axes
STRAIGHT = 1e-20  # squared sines below which the elbow lies on the line


class Elbow(NamedTuple):
    """Where an arm has its elbow, and the angle at which it is held.

    Attributes:
        bodies: Bodies that carry shoulder, elbow and wrist, (3,).
        points: The points in the frames of these bodies, (3, 3) [m].
        up: Direction of axis 1 in base axes, (3,).
        angle: Elbow angle to be held [rad]; NaN where it is free.
    """

    bodies: Any
    points: Any
    up: Any
    angle: float = np.nan


NO_ELBOW = Elbow(np.array(CARRIERS), np.zeros((3, 3)), np.zeros(3))


def recognise(axes: Floats, poses: Floats) -> Elbow | str:
    """The elbow of revolute axes at q = 0, or why they have none.

    Args:
        axes: Unit vectors of the axes in base axes, (n, 3).
        poses: Poses of the bodies, whose origins lie on their axes, (n, 4, 4).
    """
    if len(axes) != AXES:
        return f"an elbow angle needs {AXES} revolute joints in a chain, got {len(axes)}"
    origins = poses[:, :3, 3]
    places_at_zero = np.empty((3, 3))
    for k, i in enumerate(CARRIERS):
        # the point p_i + t u_i that is nearest to axis i - 1
        between = origins[i - 1] - origins[i]
        cosine = axes[i] @ axes[i - 1]
        t = 0.0
        if 1 - cosine**2 > PARALLEL**2:
            t = (between @ axes[i] - cosine * (between @ axes[i - 1])) / (1 - cosine**2)
        places_at_zero[k] = origins[i] + t * axes[i]
    lengths = np.linalg.norm(np.diff(places_at_zero, axis=0), axis=1)
    if lengths.min() < SHORTEST:
        return "its upper arm or forearm has no length"
    points = np.empty((3, 3))
    for k, i in enumerate(CARRIERS):
        points[k] = poses[i, :3, :3].T @ (places_at_zero[k] - origins[i])
    return Elbow(np.array(CARRIERS), points, axes[0].copy())


@compiled
def _slopes(c: Vector, w: Vector, u: Vector) -> tuple[float, Vector, Vector]:
    """Elbow angle ψ, and its slopes by c and by w; the slopes are 0 where the arm is straight."""
    far = np.sqrt(dot(w, w))
    side = cross(w, u)
    A = far * dot(c, side)
    B = far**2 * dot(c, u) - dot(c, w) * dot(w, u)
    size = A**2 + B**2
    if size <= STRAIGHT * far**4 * dot(c, c):
        return 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    a, b = -A / size, B / size
    by_c = add(
        scale_vector(b * far, side),
        add(scale_vector(a * far**2, u), scale_vector(-a * dot(w, u), w)),
    )
    A_by_w = add(scale_vector(dot(c, side) / far, w), scale_vector(far, cross(u, c)))
    B_by_w = add(
        scale_vector(2 * dot(c, u), w),
        add(scale_vector(-dot(w, u), c), scale_vector(-dot(c, w), u)),
    )
    by_w = add(scale_vector(b, A_by_w), scale_vector(a, B_by_w))
    return np.arctan2(A, B), by_c, by_w


@compiled
def elbow_angles(
    arm: Arm, elbow: Elbow, q: Floats, angle: Floats, slope: Floats, start: int, stop: int
) -> None:
    """Elbow angles (m,) and their slopes by the joints, (m, n), at joint positions q (m, n)."""
    n = q.shape[1]
    P = np.empty((q.shape[0], 3, 3))
    places(arm, elbow.bodies, elbow.points, q, P, start, stop)
    J = np.empty((3, q.shape[0], 6, n))
    for k in range(3):
        jacobians(arm, elbow.bodies[k], elbow.points[k], q, J[k], start, stop)
    u = (elbow.up[0], elbow.up[1], elbow.up[2])
    for row in range(start, stop):
        shoulder = scale_vector(-1.0, vector(P[row], 0))
        c = add(vector(P[row], 1), shoulder)
        w = add(vector(P[row], 2), shoulder)
        angle[row], by_c, by_w = _slopes(c, w, u)
        for j in range(n):
            slope[row, j] = 0.0
            for r in range(3):
                slope[row, j] += by_c[r] * (J[1, row, r, j] - J[0, row, r, j])
                slope[row, j] += by_w[r] * (J[2, row, r, j] - J[0, row, r, j])
