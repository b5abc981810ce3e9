"""Rows of the twist: motor minus link encoder of every joint that has both, and its regressors.

    q(t) - q_link(t) = constant + [q(t) - q(t - d)] + T(t - d) / K + b/2 side(T)
    T = tau - J_r a - f(v)

d is the time by which the link encoder is late, T the torque that the spring carries: that of the
motor less what its rotor and the friction on its side take. The bracket is d v to first order; to
second order, d² a / 2, it looks like the twist of an inertia, so that it is taken as it is, at the
d known so far. Where a joint hardly moves the sign of its friction is in doubt: these samples are
left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.files.hypothesis import refuse_by
from armtwin.identification.fitting.estimate import even_blocks
from armtwin.identification.resampling import at_times
from armtwin.identification.rigid_body.data.clean_log import clean_log, limit_to_rate
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.identification.transmission.load import BLOCKS, Drives
from armtwin.logs.cleaning import filter_values
from armtwin.logs.joints import joint_torque
from armtwin.logs.log import Log
from armtwin.logs.reference_plausibility import encoder_hypotheses
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot

SAME = 1e-12  # difference of two encoders that is none [rad]
CUTOFF = 20.0  # of the motion [Hz]: fast enough to see when friction turns
SMALL = 0.02  # share of the largest load within which the loaded flank is uncertain


@dataclass(frozen=True, eq=False)
class TwistRows:
    """Samples of several logs, (m, k) each.

    Attributes:
        twist: q - q_link [rad].
        late: Angle that the motor turns in the time offset, over that offset [rad/s].
        load: Torque of the spring with all friction on the motor's side [N m].
        load_error: What it may be off by in each direction that torques leave open, half of its
            95 % interval, (m, k, directions) [N m].
        friction: Friction torque by the robot file [N m].
        angle: Motor angle when the link encoder was read, joint side [rad].
        side: Sign of the load, smooth where it is small: which flank of a gap is loaded.
        moving: Whether the joint moves.
        block: Number of the stretch of each sample, (m,).
        log: Number of the log of each sample, (m,).
    """

    twist: Floats
    late: Floats
    load: Floats
    load_error: Floats
    friction: Floats
    angle: Floats
    side: Floats
    moving: Flags
    block: NDArray[np.int64]
    log: NDArray[np.int64]

    def only(self, kept: Flags) -> TwistRows:
        """The chosen samples."""
        return TwistRows(*(values[kept] for values in vars(self).values()))

    @property
    def joints(self) -> int:
        """Number of joints."""
        return self.twist.shape[1]


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
        apart = np.abs(log.q[:, :joints] - log.q_link[:, :joints])
        if apart.max() < SAME:
            raise ArmtwinError("log: q and q_link are the same; there is one encoder, not two")
        pair = log.q[:, :joints], log.q_link[:, :joints]
        refuse_by(encoder_hypotheses(log.time, *pair, robot.joint_names[:joints]))
    return joints


def twist_rows(
    robot: Robot, drives: Drives, logs: Sequence[Log], joints: int, offset: float = 0.0
) -> TwistRows:
    """Rows of logs with q, q_link and a torque, for the first joints.

    Args:
        robot: The robot.
        drives: Its rotors and friction.
        logs: The logs.
        joints: Number of joints.
        offset: Time by which the link encoders are late, as far as it is known [s].
    """
    parts = []
    for number, log in enumerate(logs):
        parts.append(_rows(robot, drives, log, joints, number, offset))
    return TwistRows(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _rows(
    robot: Robot, drives: Drives, log: Log, joints: int, number: int, offset: float
) -> tuple[NDArray[np.generic], ...]:
    torque, _ = joint_torque(robot, log)
    cleaned = clean_log(log, limit_to_rate(log, CUTOFF), Recipe(), torque)
    motion, grid = cleaned.motion, cleaned.clean.time
    friction = filter_values(robot.friction_torque(motion.v, motion.q, motion.a), cleaned.how)
    taken, unknown = drives.torques(robot, cleaned)
    # from the first sample whose past the log holds
    time = grid[grid >= grid[0] + max(offset, 0.0)]
    before = time - offset
    q, v = motion.q[:, :joints], motion.v[:, :joints]
    twist = at_times(time, log.time, log.q[:, :joints] - log.q_link[:, :joints])
    late = _mean_speed(grid, q, v, time, offset)
    load = cleaned.clean.tau - taken
    carried, rubbing, speed, angle = (
        at_times(before, grid, values[:, :joints]) for values in (load, friction, v, q)
    )
    unknown = unknown[:, :joints]
    error = at_times(before, grid, unknown.reshape(len(grid), -1))
    error = error.reshape(len(before), *unknown.shape[1:])
    side = np.tanh(carried / (SMALL * np.abs(carried).max(axis=0) + 1e-300))
    moving = np.abs(speed) > SLOW_SHARE * np.abs(speed).max(axis=0)
    block = number * BLOCKS + even_blocks([len(time)], BLOCKS)
    log_number = np.full(len(time), number)
    return twist, late, carried, error, rubbing, angle, side, moving, block, log_number


def _mean_speed(grid: Floats, q: Floats, v: Floats, time: Floats, offset: float) -> Floats:
    """Mean speeds over the time offset before each time, (m, joints) [rad/s]."""
    if offset == 0:
        return at_times(time, grid, v)
    from scipy.interpolate import CubicSpline

    past = CubicSpline(grid, q)
    return (past(time) - past(time - offset)) / offset
