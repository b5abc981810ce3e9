"""How large the motions of a robot are: postures, speeds and torques, from its file and logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.curves import split
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.logs.positions import joint_positions
from armtwin.logs.torque import joint_torque, tells_torque
from armtwin.maths.batch import Floats
from armtwin.robot.assumed_drives import POSES, some_postures
from armtwin.robot.robot import Robot

MOST_POSTURES = 200  # of logs at which inertias are computed
TURNING, SLIDING = 3.0, 1.0  # highest speed where neither file nor log tells it [rad/s, m/s]
RISE = 0.3  # time in which a joint comes to full speed [s]
SHORTEST_REACH = 0.1  # [m]
MARGIN = 1.25  # of the largest logged torque: a log seldom reaches the limit
# share of the samples of a log that counts; the rest may be noise
MOST_SAMPLES = 99.9  # [%]


class Sizes(NamedTuple):
    """What the rules measure a robot by.

    Attributes:
        postures: Joint positions at which inertias are computed, (k, n).
        where: The postures in words.
        speed: Highest speed of each joint, (n,) [rad/s or m/s].
        logged: Largest logged torque of each motor, (motors,) [N m]; 0 where none was logged.
    """

    postures: Floats
    where: str
    speed: Floats
    logged: Floats


def sizes(robot: Robot, logs: Sequence[Log]) -> Sizes:
    """The sizes of a robot with as many motors as joints."""
    limit = robot.limits.velocity
    joints = [robot.assembly.tree.joints[k] for k in robot.assembly.free]
    usual = np.where([joint.type == "revolute" for joint in joints], TURNING, SLIDING)
    logged = np.zeros(len(robot.description.motor))
    if not logs:
        where = f"mean of {POSES} postures within the position limits"
        speed = np.where(np.isfinite(limit), limit, usual)
        return Sizes(some_postures(robot), where, speed, logged)
    postures = []
    fastest = np.zeros(robot.n)
    for log in logs:
        ordered = in_order_of(log, robot.joint_names)
        q, _ = joint_positions(robot, ordered)
        v = ordered.v if "v" in ordered else np.gradient(q, ordered.time, axis=0)
        fastest = np.maximum(fastest, _largest(v))
        postures.append(q)
        if robot.description.motor and tells_torque(robot, ordered):
            torque, _ = joint_torque(robot, ordered)
            logged = np.maximum(logged, _largest(torque @ robot.assembly.motor_inverse))
    every = np.concatenate(postures)
    thin = every[:: max(1, len(every) // MOST_POSTURES)]
    speed = np.where(np.isfinite(limit), limit, fastest)
    return Sizes(thin, "mean of the logged postures", speed, logged)


def _largest(values: Floats) -> Floats:
    """Largest magnitude of each column, but for the few samples that may be noise."""
    return np.asarray(np.percentile(np.abs(values), MOST_SAMPLES, axis=0))


def largest_torques(robot: Robot, found: Sizes) -> tuple[Floats, list[str]]:
    """Largest torque of each joint, (n,) [N m or N], and the rule that gave it.

        τ = τ_lim of the file, else max |g(q)| + τ_f(v) + mean M_jj v / rise

    A limit of the file that does not hold the robot's own weight stands for none.
    """
    limit = robot.limits.torque
    weight = np.abs(robot.gravity(found.postures)).max(axis=0)
    friction = np.abs(robot.friction_torque(found.speed, found.postures[0]))
    inertia = np.einsum("mjj->mj", robot.mass_matrix(found.postures)).mean(axis=0)
    needed = weight + friction + inertia * found.speed / RISE
    holds = np.isfinite(limit) & (limit >= weight)
    rules = []
    for j in range(robot.n):
        by_speed = f"weight, friction and full speed within {RISE:g} s"
        if holds[j]:
            rules.append("the torque limit of its joint")
        elif np.isfinite(limit[j]):
            weak = f"its limit of {limit[j]:.3g} N m does not hold its weight, {weight[j]:.3g} N m"
            rules.append(f"{by_speed} ({weak})")
        else:
            rules.append(by_speed)
    return np.where(holds, limit, needed), rules


def felt_inertias(robot: Robot, postures: Floats) -> Floats:
    """Inertia that each motor feels, diagonal of N⁻ᵀ M N⁻¹, mean of postures, (motors,) [kg m²]."""
    inverse = robot.assembly.motor_inverse
    M = robot.mass_matrix(postures).mean(axis=0)
    return np.asarray(np.diag(inverse.T @ M @ inverse))


def viscous_at_motors(robot: Robot, speed: float) -> Floats:
    """Viscous friction that each motor feels per speed, (motors,) [N m s/rad].

    Diagonal of N⁻ᵀ D N⁻¹, D = Σ s f(w) / w sᵀ over the friction elements, w the speed of each
    element's row where its joints move at `speed`.
    """
    D = np.zeros((robot.n, robot.n))
    for element, row in robot.assembly.friction:
        w = speed * float(np.abs(row.weights).max())
        _, viscous = split(element.law, np.array([w]))
        D += viscous[0] / w * np.outer(row.weights, row.weights)
    inverse = robot.assembly.motor_inverse
    return np.asarray(np.diag(inverse.T @ D @ inverse))


def reach(robot: Robot) -> float:
    """Length of the stretched arm from its second joint to the tool, at least a hand's [m]."""
    tree = robot.assembly.tree
    body, X_BT = robot.assembly.frame("tool")
    lengths = [float(np.linalg.norm(X_BT[:3, 3]))]
    while body >= 0:
        lengths.append(float(np.linalg.norm(tree.joints[body].origin.position)))
        body = tree.parents[body]
    return max(sum(lengths[:-2]), SHORTEST_REACH)
