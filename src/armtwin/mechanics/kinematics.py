"""Forward kinematics and the geometric Jacobian of a frame fixed to a body."""

from armtwin.maths.batch import Floats, Integers
from armtwin.maths.compiled import compiled
from armtwin.maths.vectors import Vector, add, cross, dot, rotate, vector
from armtwin.mechanics.arm import Arm, Bodies, Frames, make_frames, place


@compiled
def to_base(arm: Arm, at: Frames | Bodies, body: int, x: Vector) -> Vector:
    """Point x of a body's frame, in the base frame."""
    while body >= 0:
        x = add(rotate(at.R, body, x), vector(at.P, body))
        body = arm.parent[body]
    return x


@compiled
def axis_to_base(arm: Arm, at: Frames | Bodies, body: int, x: Vector) -> Vector:
    """Direction x of a body's frame, in the base frame."""
    while body >= 0:
        x = rotate(at.R, body, x)
        body = arm.parent[body]
    return x


@compiled
def poses(arm: Arm, body: int, X_BF: Floats, q: Floats, X: Floats, start: int, stop: int) -> None:
    """Poses X_WF (m, 4, 4) of the frame F that sits at X_BF (4, 4) on a body (-1: the base)."""
    at, columns = make_frames(arm, q), X_BF.T
    for row in range(start, stop):
        place(arm, q[row], at)
        p = to_base(arm, at, body, vector(columns, 3))
        for c in range(3):
            x = axis_to_base(arm, at, body, vector(columns, c))
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
    at = make_frames(arm, q)
    for row in range(start, stop):
        place(arm, q[row], at)
        for k in range(bodies.shape[0]):
            p = to_base(arm, at, bodies[k], vector(points, k))
            for r in range(3):
                P_W[row, k, r] = p[r]


@compiled
def axis_and_lever(arm: Arm, at: Frames | Bodies, j: int, tip: Vector) -> tuple[Vector, Vector]:
    """Axis z of joint j, and the way p - p_j from it to a point, in base axes."""
    origin = to_base(arm, at, j, (0.0, 0.0, 0.0))
    lever = (tip[0] - origin[0], tip[1] - origin[1], tip[2] - origin[2])
    return axis_to_base(arm, at, j, vector(arm.axis, j)), lever


@compiled
def press(
    arm: Arm,
    at: Frames | Bodies,
    body: int,
    point: Floats,
    force: Vector,
    torque: Vector,
    tau: Floats,
) -> None:
    """Add to the joint torques what a force and a torque on a point of a body do, base axes.

    τ_j += z_j · (torque + (p - p_j) × force),   or z_j · force of a prismatic joint

    The frames are where `place` put the bodies.
    """
    tip = to_base(arm, at, body, (point[0], point[1], point[2]))
    j = body
    while j >= 0:
        z, lever = axis_and_lever(arm, at, j, tip)
        moment = force if arm.slides[j] == 1 else add(torque, cross(lever, force))
        tau[j] += dot(z, moment)
        j = arm.parent[j]


@compiled
def jacobians(
    arm: Arm, body: int, point: Floats, q: Floats, J: Floats, start: int, stop: int
) -> None:
    """Jacobians J (m, 6, n) of a point of a body, rows linear then angular, in base axes."""
    at = make_frames(arm, q)
    for row in range(start, stop):
        place(arm, q[row], at)
        tip = to_base(arm, at, body, (point[0], point[1], point[2]))
        for r in range(6):
            for j in range(q.shape[1]):
                J[row, r, j] = 0.0
        j = body
        while j >= 0:
            z, lever = axis_and_lever(arm, at, j, tip)
            turns = 1 - arm.slides[j]
            velocity = cross(z, lever) if turns else z
            for r in range(3):
                J[row, r, j] = velocity[r]
                J[row, 3 + r, j] = turns * z[r]
            j = arm.parent[j]
