"""Limits of the coordinates of a robot, also where joints follow others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats, read_only
from armtwin.robot.assembly import Assembly


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
    """Limits of speed, acceleration and torque; a joint that follows another limits how fast that one may be."""
    velocity, acceleration, torque = (
        _of_joints(robot, key) for key in ("velocity", "acceleration", "torque")
    )
    free = list(robot.free)
    if robot.coupling is not None:
        size = np.abs(robot.coupling.G)
        reached = np.divide(1.0, size, out=np.full_like(size, np.inf), where=size > 0)
        velocity, acceleration = (
            np.where(np.isfinite(reached), x[:, None] * reached, np.inf).min(axis=0)
            for x in (velocity, acceleration)
        )
        torque = torque[free]
    drives = [(m.torque_constant, m.current_limit) for m in robot.description.motor]
    motors = [k * i if k is not None and i is not None else np.inf for k, i in drives]
    return Limits(*(read_only(x) for x in (velocity, acceleration, torque, np.array(motors))))


def position_limits(robot: Assembly) -> Floats:
    """Lower and upper limits, (2, n); a joint that follows another limits it too."""
    lower, upper = _of_joints(robot, "lower", -np.inf), _of_joints(robot, "upper")
    coupling, n = robot.coupling, len(robot.free)
    if coupling is None:
        return read_only(np.array([lower, upper]))
    # lower <= G q + c <= upper, one coordinate in each row
    bounds = np.array([np.full(n, -np.inf), np.full(n, np.inf)])
    for row, c, low, high in zip(coupling.G, coupling.c, lower, upper, strict=True):
        j = int(np.argmax(np.abs(row)))
        if row[j] != 0:
            ends = sorted([(low - c) / row[j], (high - c) / row[j]])
            bounds[:, j] = max(bounds[0, j], ends[0]), min(bounds[1, j], ends[1])
    return read_only(bounds)


def _of_joints(robot: Assembly, key: str, none: float = np.inf) -> Floats:
    """One kind of limit of all joints of the tree."""
    given = [None if j.limits is None else getattr(j.limits, key) for j in robot.tree.joints]
    return np.array([none if x is None else x for x in given])
