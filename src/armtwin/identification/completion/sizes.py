"""How large the motions of a robot are: postures, speeds and torques, from its file and logs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.curves import split
from armtwin.logs.joints import has_joint_torque, in_order_of, joint_positions, joint_torque
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.defaults.joint_sizes import POSES, JointSizes, joint_sizes, some_postures
from armtwin.robot.robot import Robot

MOST_POSTURES = 200  # of logs at which inertias are computed
SHORTEST_REACH = 0.1  # [m]
MARGIN = 1.25  # of the largest logged torque: a log seldom reaches the limit
# share of the samples of a log that counts; the rest may be noise
MOST_SAMPLES = 99.9  # [%]


class Sizes(NamedTuple):
    """Scales of a robot that the rules use.

    Attributes:
        postures: Joint positions at which inertias are computed, (k, n).
        where: The postures in words.
        joints: Largest torques and highest speeds of the joints.
        logged: Largest logged torque of each motor, (motors,) [N m]; 0 where none was logged.
    """

    postures: Floats
    where: str
    joints: JointSizes
    logged: Floats


def sizes(robot: Robot, logs: Sequence[Log]) -> Sizes:
    """The sizes of a robot, by its file and its logs."""
    logged = np.zeros(len(robot.description.motor))
    if not logs:
        where = f"mean of {POSES} postures within the position limits"
        return Sizes(some_postures(robot), where, joint_sizes(robot), logged)
    positions = []
    fastest = np.zeros(robot.n)
    for log in logs:
        ordered = in_order_of(log, robot.joint_names)
        q, _ = joint_positions(robot, ordered)
        v = ordered.v if "v" in ordered else np.gradient(q, ordered.time, axis=0)
        fastest = np.maximum(fastest, _largest(v))
        positions.append(q)
        if robot.description.motor and has_joint_torque(robot, ordered):
            torque, _ = joint_torque(robot, ordered)
            logged = np.maximum(logged, _largest(torque @ robot.assembly.motor_inverse))
    every = np.concatenate(positions)
    postures = every[:: max(1, len(every) // MOST_POSTURES)]
    joints = joint_sizes(robot, postures, fastest)
    return Sizes(postures, "mean of the logged postures", joints, logged)


def _largest(values: Floats) -> Floats:
    """Largest magnitude of each column, but for the few samples that may be noise."""
    return np.percentile(np.abs(values), MOST_SAMPLES, axis=0)


def felt_inertias(robot: Robot, postures: Floats) -> Floats:
    """Inertia that each motor feels, diagonal of N⁻ᵀ M N⁻¹, mean of postures, (motors,) [kg m²]."""
    inverse = robot.assembly.motor_inverse
    M = robot.mass_matrix(postures).mean(axis=0)
    return np.diag(inverse.T @ M @ inverse)


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
    return np.diag(inverse.T @ D @ inverse)


def reach(robot: Robot) -> float:
    """Length of the stretched arm from its second joint to the tool, at least a hand's [m]."""
    tree = robot.assembly.tree
    body, X_BT = robot.assembly.frame("tool")
    lengths = [float(np.linalg.norm(X_BT[:3, 3]))]
    while body >= 0:
        lengths.append(float(np.linalg.norm(tree.joints[body].origin.position)))
        body = tree.parents[body]
    return max(sum(lengths[:-2]), SHORTEST_REACH)
