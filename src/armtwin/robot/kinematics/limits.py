"""Limits of the coordinates of a robot, also where joints follow others."""

from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats, read_only
from armtwin.robot.dynamics.assembly import Assembly

TURNING, SLIDING = 3.0, 1.0  # highest speed where none is known [rad/s, m/s]


class Limits(NamedTuple):
    """Largest values of each coordinate, (n,); inf where there is none.

    Attributes:
        velocity: Speed [rad/s or m/s].
        acceleration: Acceleration [rad/s² or m/s²].
        torque: Joint torque or force [N m or N].
        motor_torque: Torque of each motor at its current limit, (motors,) [N m].
    """

    velocity: Floats
    acceleration: Floats
    torque: Floats
    motor_torque: Floats


def motion_limits(robot: Assembly) -> Limits:
    """Limits of speed, acceleration and torque.

    A joint that follows another limits how fast that one may be; one of a closed loop does not.
    """
    velocity = _of_joints(robot, "velocity", np.inf)
    acceleration = _of_joints(robot, "acceleration", np.inf)
    torque = _of_joints(robot, "torque", np.inf)
    if robot.passive:
        driven = list(robot.free)
        velocity, acceleration, torque = velocity[driven], acceleration[driven], torque[driven]
    elif robot.coupling is not None:
        velocity = _of_leaders(velocity, robot.coupling.G)
        acceleration = _of_leaders(acceleration, robot.coupling.G)
        torque = torque[list(robot.free)]
    motor_torque = np.full(len(robot.description.motor), np.inf)
    for i, motor in enumerate(robot.description.motor):
        if motor.torque_constant is not None and motor.current_limit is not None:
            motor_torque[i] = motor.torque_constant * motor.current_limit
    return Limits(
        read_only(velocity), read_only(acceleration), read_only(torque), read_only(motor_torque)
    )


def highest_speeds(robot: Assembly, fastest: Floats | None = None) -> Floats:
    """Speed limits of the joints, (n,) [rad/s or m/s].

    Args:
        robot: The robot.
        fastest: Speeds where the file gives no limit, (n,); by default those of usual arms.
    """
    if fastest is None:
        turns = [joint.type == "revolute" for joint in robot.free_joints]
        fastest = np.where(turns, TURNING, SLIDING)
    limit = motion_limits(robot).velocity
    return np.where(np.isfinite(limit), limit, fastest)


def _of_leaders(largest: Floats, G: Floats) -> Floats:
    """Largest rate of each free coordinate, (n,), at which no joint, G q, exceeds its own."""
    share = np.abs(G)
    rate = np.full_like(share, np.inf)
    for joint, leader in np.argwhere(share > 0):
        rate[joint, leader] = largest[joint] * (1.0 / share[joint, leader])
    return rate.min(axis=0)


def position_limits(robot: Assembly) -> Floats:
    """Lower and upper limits, (2, n); a joint that follows another limits it too."""
    lower = _of_joints(robot, "lower", -np.inf)
    upper = _of_joints(robot, "upper", np.inf)
    if robot.passive:
        return read_only(np.array([lower, upper])[:, list(robot.free)])
    coupling = robot.coupling
    if coupling is None:
        return read_only(np.array([lower, upper]))
    n = len(robot.free)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    # lower <= G q + c <= upper, one coordinate in each row
    for i, weights in enumerate(coupling.G):
        leader = int(np.argmax(np.abs(weights)))
        weight = weights[leader]
        if weight == 0:
            continue
        ends = [(lower[i] - coupling.c[i]) / weight, (upper[i] - coupling.c[i]) / weight]
        low[leader] = max(low[leader], min(ends))
        high[leader] = min(high[leader], max(ends))
    return read_only(np.array([low, high]))


def _of_joints(robot: Assembly, key: str, none: float) -> Floats:
    """One kind of limit of all joints of the tree."""
    values = []
    for joint in robot.tree.joints:
        value = getattr(joint.limits, key, None)
        values.append(none if value is None else value)
    return np.array(values)
