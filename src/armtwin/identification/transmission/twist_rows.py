"""Rows of the twist: motor minus link encoder of every joint that has both, and what explains it.

    q - q_link = constant + d v + T / K        T = tau - J_r a - f(v)

d is the time by which the link encoder is late, T the torque that the spring carries: that of the
motor less what its rotor and the friction on its side take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.clean_log import clean_log
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.log import Log
from armtwin.logs.torque import joint_torque
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot

BLOCKS = 20  # stretches of a log that count as independent of each other
SAME = 1e-12  # difference of two encoders that is none [rad]


@dataclass(frozen=True, eq=False)
class TwistRows:
    """Samples of several logs, each joint's and log's mean removed, (m, k) each.

    Attributes:
        twist: q - q_link [rad].
        speed: Joint speed [rad/s].
        load: Torque of the spring with all friction on the motor's side [N m].
        friction: Friction torque by the robot file [N m].
        side: Sign of the load, smooth where it is small: which flank of a gap bears.
        block: Number of the stretch of each sample, (m,).
        log: Number of the log of each sample, (m,).
    """

    twist: Floats
    speed: Floats
    load: Floats
    friction: Floats
    side: Floats
    block: NDArray[np.int64]
    log: NDArray[np.int64]

    def only(self, kept: Flags) -> TwistRows:
        """Some of the samples."""
        return TwistRows(*(values[kept] for values in vars(self).values()))

    @property
    def first_half(self) -> Flags:
        """Samples of the first half of each log."""
        return self.block % BLOCKS < BLOCKS // 2


def twist_rows(robot: Robot, logs: Sequence[Log], joints: int) -> TwistRows:
    """Rows of logs with q, q_link and a torque, for the first joints."""
    parts = []
    for number, log in enumerate(logs):
        parts.append(_rows(robot, log, joints, number))
    return TwistRows(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def joints_with_two_encoders(robot: Robot, logs: Sequence[Log]) -> int:
    """How many of the first joints have a link encoder in every log."""
    if not logs:
        raise ArmtwinError("at least one log is needed")
    counts = []
    for log in logs:
        counts.append(log.q_link.shape[1])
        if log.q.shape[1] != robot.n:
            raise ArmtwinError(
                f"log: q must have {robot.n} columns, one for each joint, got {log.q.shape[1]}"
            )
    joints = min(counts)
    if joints > robot.n:
        raise ArmtwinError(f"log: q_link must have at most {robot.n} columns, got {joints}")
    for log in logs:
        apart = np.abs(log.q[:, :joints] - log.q_link[:, :joints]).max(axis=0)
        if apart.max() < SAME:
            raise ArmtwinError("log: q and q_link are the same; there is one encoder, not two")
    return joints


def _rows(robot: Robot, log: Log, joints: int, number: int) -> tuple[NDArray[np.generic], ...]:
    torque, _ = joint_torque(robot, log)
    cleaned = clean_log(log, None, Recipe(), torque)
    motion, time = cleaned.motion, cleaned.clean.time
    twist = np.empty((len(time), joints))
    for j in range(joints):
        twist[:, j] = np.interp(time, log.time, log.q[:, j] - log.q_link[:, j])
    friction = robot.friction_torque(motion.v, motion.q)[:, :joints]
    rotors = (motion.a @ robot.assembly.rotors.inertia)[:, :joints]
    load = cleaned.clean.tau[:, :joints] - rotors - friction
    small = 0.02 * np.abs(load).max(axis=0) + 1e-300
    side = np.tanh(load / small)
    speed = motion.v[:, :joints]
    block = number * BLOCKS + np.minimum(np.arange(len(time)) * BLOCKS // len(time), BLOCKS - 1)
    centred = [x - x.mean(axis=0) for x in (twist, speed, load, friction, side)]
    return (*centred, block, np.full(len(time), number))
