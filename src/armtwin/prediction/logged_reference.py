"""The reference of a log as set-points of a servo, with what the machine fed forward.

Speeds are the log's where they are those of its positions, else their derivative; accelerations
likewise. What is differentiated loses what is faster than an eighth of the log's rate.
"""

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.hypothesis import refuse_by
from armtwin.identification.plausibility.suspect import refuse_joint_torque_mistakes
from armtwin.logs.joints import feedforward_torque
from armtwin.logs.log import Log
from armtwin.logs.plausibility import Pace, check_motion
from armtwin.logs.reference_plausibility import JUMPS, choose_derivative, reference_hypotheses
from armtwin.maths.batch import Floats
from armtwin.maths.interpolation import interpolate_columns
from armtwin.maths.smoothing import low_pass
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot

SHORTEST = 50  # samples of a log that is compared
SMOOTH = 8.0  # samples in a period of the fastest that is left before differentiating


@dataclass(frozen=True, eq=False)
class LoggedReference:
    """What a machine was asked to do.

    Attributes:
        trajectory: The reference at the log's mean rate.
        feedforward: Motor torques that were fed forward, (m, motors) [N m], or None.
        source: Channel of these, or "".
    """

    trajectory: Trajectory
    feedforward: Floats | None
    source: str


def read_reference(robot: Robot, log: Log, q: Floats) -> LoggedReference:
    """The reference of a log with measured joint positions q, (m, n)."""
    _check(robot, log, q)
    count = len(log.time)
    rate = (count - 1) / float(log.time[-1] - log.time[0])
    time = log.time[0] + np.arange(count) / rate
    positions = _at(time, log.time, log.q_ref)
    cutoff = rate / SMOOTH
    v = np.gradient(low_pass(positions, rate, cutoff), 1 / rate, axis=0)
    if "v_ref" in log:
        v = choose_derivative(_at(time, log.time, log.v_ref), v, JUMPS)
    a = np.gradient(low_pass(v, rate, cutoff), 1 / rate, axis=0)
    if "a_ref" in log:
        a = choose_derivative(_at(time, log.time, log.a_ref), a)
    torque, source = feedforward_torque(robot, log)
    if torque is not None:
        torque = _at(time, log.time, torque)
    return LoggedReference(Trajectory.sampled(rate, positions, v, a), torque, source)


def _at(times: Floats, own: Floats, values: Floats) -> Floats:
    """Columns of values at other times, (k, n)."""
    if np.array_equal(times, own):
        return values
    return interpolate_columns(times, own, values)


def _check(robot: Robot, log: Log, q: Floats) -> None:
    """Refuse a log whose reference is none."""
    if "q_ref" not in log:
        raise ArmtwinError(
            "the log has no reference q_ref to run the robot on. "
            f"It has: {', '.join(log.channels)}. Name a job in place of the robot."
        )
    if log.q_ref.shape != q.shape:
        got = log.q_ref.shape[1]
        raise ArmtwinError(
            f"the log must have {robot.n} columns of q_ref for robot '{robot.name}', got {got}"
        )
    if len(log.time) < SHORTEST:
        raise ArmtwinError(f"the log must have at least {SHORTEST} samples, got {len(log.time)}")
    check_motion(log, "q_ref", Pace.of_robot(robot))
    refuse_by(reference_hypotheses(log.time, q, log.q_ref, robot.joint_names))
    refuse_joint_torque_mistakes(robot, log)
