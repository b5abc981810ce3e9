"""From a seam to the motion of the joints, on one branch of the inverse kinematics.

    J v = (ẋ, ω),   J a = (ẍ, ω̇) - J̇ v

J̇ v follows from the columns of J: turning joint i moves the columns of the joints after it.

Ref: [Siciliano 2009, section 3.8]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats, ThreeArrays, TwoArrays
from armtwin.maths.compiled import compiled, exactly
from armtwin.maths.exact_vectors import cross, minus, plus
from armtwin.maths.vectors import Vector, put, vector
from armtwin.motion.seam import Command, Seam
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot

EVERY = slice(None)
CHUNK = 4096  # samples worked on at a time: they lie in a core's own cache
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
    q, v, a = np.empty((3, len(time), robot.n))
    distance = np.empty(len(time))
    reasons: dict[int, str] = {}
    near = np.asarray(q0, dtype=np.float64)
    for start in range(0, len(time), CHUNK):
        some = slice(start, start + CHUNK)
        asked = Command(command.s[some], command.speed[some], command.acceleration[some])
        found = _joints(robot, seam, asked, near)
        q[some], v[some], a[some] = found.q, found.v, found.a
        distance[some] = found.distance
        unreachable = np.isnan(found.q[:, 0])
        before = np.concatenate([[False], unreachable[:-1]])
        for k in np.flatnonzero(unreachable & ~before):
            reasons[start + int(k)] = robot.why_unreachable(found.X[k])
        if not unreachable.all():
            near = found.q[~unreachable][-1]
    return JointMotion(Trajectory(rate, q, v, a), command, distance, reasons)


class _Joints(NamedTuple):
    """Poses (m, 4, 4); positions, speeds, accelerations (m, n); distances to a singularity (m,)."""

    X: Floats
    q: Floats
    v: Floats
    a: Floats
    distance: Floats


def _joints(robot: Robot, seam: Seam, command: Command, near: Floats) -> _Joints:
    """What the joints do for a command, the first position being the one near to a given one.

    twist = (t, w) ṡ,   its rate = (c, dw/ds) ṡ² + (t, w) s̈
    """
    jet, turning = seam.at(command.s)
    X = np.zeros((len(jet.p), 4, 4))
    X[:, :3, :3] = turning.R
    X[:, :3, 3] = jet.p
    X[:, 3, 3] = 1.0
    q = robot.inverse.trace(X, near)
    ds = command.speed[:, None]
    dds = command.acceleration[:, None]
    along = np.hstack([jet.t, turning.w])
    bend = np.hstack([jet.c, turning.dw])
    v, a, distance = _rates(robot, q, along * ds, bend * ds**2 + along * dds)
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


def _rates(robot: Robot, q: Floats, twist: Floats, rate_of_twist: Floats) -> ThreeArrays:
    """Joint speeds and accelerations for the tool's, and the distance to a singularity."""
    v = np.full_like(q, np.nan)
    a = np.full_like(q, np.nan)
    distance = np.zeros(len(q))
    known = ~np.isnan(q[:, 0])
    J = robot.jacobian(q[known])
    inverse, distance[known] = invert_jacobians(J)
    v[known] = np.einsum("mij,mj->mi", inverse, twist[known])
    by_joints = rate_of_twist[known] - jacobian_rate(J, v[known])
    a[known] = np.einsum("mij,mj->mi", inverse, by_joints)
    return v, a, distance


def invert_jacobians(J: Floats) -> TwoArrays:
    """Inverses of Jacobians and the distances to a singularity, 1 / ‖J⁻¹‖.

    At a singularity the inverse is that of what is left, and the distance 0.
    """
    try:
        inverse = np.linalg.inv(J)
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
