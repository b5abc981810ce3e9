"""From a seam to the motion of the joints, on one branch of the inverse kinematics.

    J v = (ẋ, ω),   J a = (ẍ, ω̇) - J̇ v

J̇ v follows from the columns of J: turning joint i moves the columns of the joints after it.
A redundant arm has the smallest joint speeds, v = J⁺ (ẋ, ω), or holds its elbow angle, which is one
more row of J; its acceleration is the rate of that speed.

    a = J⁺ ((ẍ, ω̇) - J̇ v) + (1 - J⁺ J) J̇ᵀ λ,   v = Jᵀ λ

Ref: [Siciliano 2009, sections 3.5, 3.8]
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, ThreeArrays, TwoArrays
from armtwin.maths.compiled import compiled, exactly
from armtwin.maths.exact_vectors import cross, minus, plus
from armtwin.maths.vectors import Vector, put, vector
from armtwin.mechanics.newton_ik import POSE
from armtwin.motion.curves import Jet, Turning
from armtwin.motion.route import JointMove
from armtwin.motion.seam import Command, Seam
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot

EVERY = slice(None)
CHUNK = 4096  # samples worked on at a time: they lie in a core's own cache
ALONG = 1e-5  # part of a motion [rad, m] over which the rate of a Jacobian is taken
RAMP_SHARES = np.linspace(0.0, 1.0, 17)  # of a ramp's time; its largest acceleration is at one half


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Joint motion along a seam at the set-point rate.

    Attributes:
        trajectory: Positions, speeds and accelerations; NaN where a pose is out of reach.
        command: Arc length, speed and acceleration along the seam at the same samples.
        distance: Distance to the nearest singularity, 1 / ‖J⁻¹‖, (m,) [m, rad per rad]; 0 at one.
        reasons: Why a pose is out of reach, by the number of the first sample of each such stretch.
    """

    trajectory: Trajectory
    command: Command
    distance: Floats
    reasons: dict[int, str]


def joint_motion(
    robot: Robot, seam: Seam, rate: float, q0: Floats, rows: slice = EVERY
) -> JointMotion:
    """Joint motion along a seam, or at some of its samples, from the one nearest to q0."""
    time = seam.times(rate)[rows]
    command = seam.command(time)
    if seam.reference is not None:
        q, v, a = seam.reference.at(time - seam.standstill[0])
        _, distance = invert_jacobians(robot.jacobian(q))
        return JointMotion(Trajectory(rate, q, v, a), command, distance, {})
    found = follow_command(robot, seam, command, q0)
    trajectory = Trajectory(rate, found.q, found.v, found.a)
    return JointMotion(trajectory, command, found.distance, found.reasons)


@dataclass(frozen=True, eq=False)
class Followed:
    """Joints that follow a command; fields as of a trajectory and of a JointMotion."""

    q: Floats
    v: Floats
    a: Floats
    distance: Floats
    reasons: dict[int, str]


def follow_command(robot: Robot, seam: Seam, command: Command, q0: Floats) -> Followed:
    """The joints for a command whose arc length never decreases, from the position near q0."""
    q, v, a = np.empty((3, len(command.s), robot.n))
    distance = np.full(len(q), np.inf)
    out = Followed(q, v, a, distance, {})
    near = np.asarray(q0, dtype=np.float64)
    done = 0
    for move in seam.joint_moves:
        if move.stop < command.s[0] or move.start > command.s[-1]:
            continue
        start = max(done, int(np.searchsorted(command.s, move.start)))
        near = _follow_tool(robot, seam, command, slice(done, start), near, out)
        done = max(start, int(np.searchsorted(command.s, move.stop, side="right")))
        some = slice(start, done)
        X = _poses(*seam.at(np.array([move.start])))
        begin = robot.inverse.trace(X, near, seam.elbow)[0]
        end = _goal(robot, seam, move, begin)
        rate = (end - begin) / (move.stop - move.start)
        q[some] = begin + (command.s[some] - move.start)[:, None] * rate
        v[some] = command.speed[some, None] * rate
        a[some] = command.acceleration[some, None] * rate
        near = end
    _follow_tool(robot, seam, command, slice(done, len(q)), near, out)
    return out


def _goal(robot: Robot, seam: Seam, move: JointMove, begin: Floats) -> Floats:
    """Where a move of the joints leads: as given, or to the solution next to where it begins."""
    if move.joints is not None:
        return move.joints
    (X,) = _poses(*seam.at(np.array([move.stop])))
    found = robot.inverse_kinematics(X, within_limits=True)
    if not len(found):
        raise ArmtwinError(
            f"{move.what} ends out of reach, at {1e3 * move.stop:.1f} mm. "
            f"{robot.why_unreachable(X)}"
        )
    return found[int(np.abs(found - begin).max(axis=1).argmin())]


def _follow_tool(
    robot: Robot, seam: Seam, command: Command, rows: slice, near: Floats, out: Followed
) -> Floats:
    """Fill in the joints at rows of a command that lead the tool; the last position of them."""
    for start in range(rows.start, rows.stop, CHUNK):
        some = slice(start, min(start + CHUNK, rows.stop))
        asked = Command(command.s[some], command.speed[some], command.acceleration[some])
        found = _joints(robot, seam, asked, near)
        out.q[some], out.v[some], out.a[some] = found.q, found.v, found.a
        out.distance[some] = found.distance
        unreachable = np.isnan(found.q[:, 0])
        before = np.concatenate([[False], unreachable[:-1]])
        for k in np.flatnonzero(unreachable & ~before):
            out.reasons[start + int(k)] = robot.inverse.why_lost(found.X[k], seam.elbow)
        if not unreachable.all():
            near = found.q[~unreachable][-1]
    return near


class _Joints(NamedTuple):
    """Poses (m, 4, 4); positions, speeds, accelerations (m, n); distances to a singularity (m,)."""

    X: Floats
    q: Floats
    v: Floats
    a: Floats
    distance: Floats


def _poses(jet: Jet, turning: Turning) -> Floats:
    """Poses of the tool, (m, 4, 4)."""
    X = np.zeros((len(jet.p), 4, 4))
    X[:, :3, :3] = turning.R
    X[:, :3, 3] = jet.p
    X[:, 3, 3] = 1.0
    return X


def _joints(robot: Robot, seam: Seam, command: Command, near: Floats) -> _Joints:
    """What the joints do for a command, the first position being the one near to a given one.

    twist = (t, w) ṡ,   its rate = (c, dw/ds) ṡ² + (t, w) s̈
    """
    jet, turning = seam.at(command.s)
    X = _poses(jet, turning)
    q = robot.inverse.trace(X, near, seam.elbow)
    ds = command.speed[:, None]
    dds = command.acceleration[:, None]
    along = np.hstack([jet.t, turning.w])
    bend = np.hstack([jet.c, turning.dw])
    tool = _ToolRates(along * ds, bend * ds**2 + along * dds)
    v, a, distance = _rates(robot, q, tool, seam.elbow)
    return _Joints(X, q, v, a, distance)


@dataclass(frozen=True, eq=False)
class Instants:
    """Joint motion at single instants.

    Attributes:
        time: When, (m,) [s].
        s: Arc length, (m,) [m].
        q: Joint positions, (m, n); NaN where a pose is out of reach.
        v: Joint speeds, (m, n).
        a: Joint accelerations, (m, n).
    """

    time: Floats
    s: Floats
    q: Floats
    v: Floats
    a: Floats


def with_ramps(robot: Robot, seam: Seam, motion: JointMotion) -> Instants:
    """A motion at its set-points and, between them, at instants of every ramp of its time law.

    A ramp may be over before the next set-point; what it asks of the joints only the law shows.
    """
    trajectory = motion.trajectory
    before = seam.standstill[0]
    last = len(trajectory.q) - 1
    parts = [(trajectory.time, motion.command.s, trajectory.q, trajectory.v, trajectory.a)]
    for t, s, speed, acceleration in zip(*seam.profile.ramps(RAMP_SHARES), strict=True):
        sample = int(np.searchsorted(trajectory.time, before + t[0]))
        near = trajectory.q[min(sample, last)]
        if np.isnan(near).any():
            continue
        found = _joints(robot, seam, Command(s, speed, acceleration), near)
        parts.append((before + t, s, found.q, found.v, found.a))
    time, s, q, v, a = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    order = np.argsort(time, kind="stable")
    return Instants(time[order], s[order], q[order], v[order], a[order])


class _ToolRates(NamedTuple):
    """Twist of the tool (m, 6) and its rate (m, 6)."""

    twist: Floats
    rate: Floats


def _rates(robot: Robot, q: Floats, tool: _ToolRates, elbow: float | None) -> ThreeArrays:
    """Joint speeds and accelerations for the tool's, and the distance to a singularity."""
    v = np.full_like(q, np.nan)
    a = np.full_like(q, np.nan)
    distance = np.zeros(len(q))
    known = ~np.isnan(q[:, 0])
    tool = _ToolRates(tool.twist[known], tool.rate[known])
    if robot.n > POSE:
        v[known], a[known], distance[known] = _redundant_rates(robot, q[known], tool, elbow)
        return v, a, distance
    J = robot.jacobian(q[known])
    inverse, distance[known] = invert_jacobians(J)
    v[known] = np.einsum("mij,mj->mi", inverse, tool.twist)
    by_joints = tool.rate - jacobian_rate(J, v[known])
    a[known] = np.einsum("mij,mj->mi", inverse, by_joints)
    return v, a, distance


def _redundant_rates(robot: Robot, q: Floats, tool: _ToolRates, elbow: float | None) -> ThreeArrays:
    """As `_rates` for positions within reach of an arm with more joints than a pose needs."""
    held = [(0, 0), (0, elbow is not None)]
    twist, rate = np.pad(tool.twist, held), np.pad(tool.rate, held)
    J = robot.inverse.task_rows(q, elbow)
    inverse, distance = invert_jacobians(J)
    v = np.einsum("mij,mj->mi", inverse, twist)
    size = np.abs(v).max(axis=1, keepdims=True) + 1e-300
    step = ALONG * v / size
    ahead = robot.inverse.task_rows(q + step, elbow)
    dJ = (ahead - robot.inverse.task_rows(q - step, elbow)) * (size / (2 * ALONG))[:, None]
    load = np.einsum("mji,mj->mi", inverse, v)  # λ with v = Jᵀ λ
    free = np.einsum("mji,mj->mi", dJ, load)
    by_joints = rate - np.einsum("mij,mj->mi", dJ, v) - np.einsum("mij,mj->mi", J, free)
    return v, free + np.einsum("mij,mj->mi", inverse, by_joints), distance


def invert_jacobians(J: Floats) -> TwoArrays:
    """Inverses of Jacobians (m, k, n) and the distances to a singularity, 1 / ‖J⁻¹‖.

    With more joints than rows it is the inverse of least norm. At a singularity it is that of what
    is left, and the distance 0.
    """
    rows, n = J.shape[1:]
    try:
        if rows == n:
            inverse = np.linalg.inv(J)
        else:
            turned = np.swapaxes(J, 1, 2)
            inverse = turned @ np.linalg.inv(J @ turned)
        distance = 1 / np.linalg.norm(inverse, axis=(1, 2))
    except np.linalg.LinAlgError:
        values = np.linalg.svd(J, compute_uv=False)
        lost = values[:, -1] < 1e-12 * values[:, 0]
        sizes = np.where(lost[:, None], np.inf, 1 / np.maximum(values, 1e-300))
        inverse = np.linalg.pinv(J)
        distance = 1 / np.linalg.norm(sizes, axis=1)
    return inverse.astype(np.float64, copy=False), np.asarray(distance)


def jacobian_rate(J: Floats, v: Floats) -> Floats:
    """J̇ v of a chain of joints, from its Jacobian: the tool's acceleration at steady v, (m, 6).

    Σ_j v_j [ Ω_j × Jv_j + Jω_j × Σ_{i>j} v_i Jv_i ;  Ω_j × Jω_j ],   Ω_j = Σ_{i≤j} v_i Jω_i
    """
    found = np.empty((len(J), 6))
    _jacobian_rates(np.ascontiguousarray(J), np.ascontiguousarray(v), found)
    return found


@compiled(exact=True)
def _jacobian_rates(J: Floats, v: Floats, out: Floats) -> None:
    """J̇ v for rows of Jacobians (m, 6, n) and speeds (m, n), into out (m, 6)."""
    n = J.shape[2]
    later = np.empty((n, 3))
    for i in range(J.shape[0]):
        linear = _share(J, v, i, n - 1, 0)
        put(later, n - 1, linear)
        for j in range(n - 2, -1, -1):
            put(later, j, plus(vector(later, j + 1), _share(J, v, i, j, 0)))
        moved = turned = before = 0.0, 0.0, 0.0
        for j in range(n):
            linear = _share(J, v, i, j, 0)
            angular = _share(J, v, i, j, 3)
            before = plus(before, angular)
            after = minus(vector(later, j), linear)
            moved = plus(moved, plus(cross(before, linear), cross(angular, after)))
            turned = plus(turned, cross(before, angular))
        for k in range(3):
            out[i, k] = moved[k]
            out[i, 3 + k] = turned[k]


@exactly
def _share(J: Floats, v: Floats, i: int, j: int, first: int) -> Vector:
    """What joint j has in the tool's speed: three rows of its column of Jacobian i, times v_j."""
    return J[i, first, j] * v[i, j], J[i, first + 1, j] * v[i, j], J[i, first + 2, j] * v[i, j]
