"""`identify_payload`: the payload of a robot, or its torque constants by a known payload."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.payload.difference import by_difference, with_arm_held
from armtwin.identification.payload.drive_gain import drive_gain, motors_of
from armtwin.identification.payload.load_fit import fitted
from armtwin.identification.payload.one_motion import one_motion
from armtwin.identification.payload.prior_road import by_prior
from armtwin.identification.payload.result import Method, PayloadIdentification
from armtwin.identification.rigid_body.data.log_checks import check_logs
from armtwin.logs.channels import channel_kind
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log, as_logs
from armtwin.logs.torque import logged_torque, needs_gains, torque_channel
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.robot import Robot


@one_blas_thread()
def identify_payload(
    robot: Robot,
    without: Log | None,
    with_it: Log,
    *,
    method: Method = "difference",
    known: float | None = None,
    expected: Robot | None = None,
    torque: str | None = None,
    cutoff: float | None = None,
) -> PayloadIdentification:
    """Identify the ten parameters of a payload, or torque constants by its known mass.

    Args:
        robot: The robot without the payload, as in the first run.
        without: A log of a motion without the payload; None with the arm held.
        with_it: A log of the same motion with it.
        method: "difference" of the two runs, without any prior; or "held", the arm as in the robot
            file, from the run with the payload alone.
        known: Mass of the payload; the torque constants of the motors are then found from currents
            [kg].
        expected: The robot with the payload as it is believed to be, for comparison with a fit that
            starts from there.
        torque: Channel of the torque, as for `identify`.
        cutoff: Cut-off frequency; by default from the spectrum of the speeds [Hz].
    """
    _check_choices(robot, method, known, without)
    logs = as_logs([with_it] if without is None else [without, with_it], "identify_payload")
    ordered = [in_order_of(log, robot.joint_names) for log in logs]
    check_logs(robot, tuple(ordered), "q")
    source = torque_channel(ordered[-1], torque)
    if known is not None:
        return _gains(robot, ordered, source, known, cutoff)
    if needs_gains(robot, source):
        raise ArmtwinError(
            f"robot '{robot.name}': channel '{source}' holds currents, and the file has no "
            'torque constants; give the payload\'s mass (known, --known "5 kg") to find these, or '
            "a robot file that has them"
        )
    torques = [logged_torque(robot, log, torque_channel(log, source)) for log in ordered]
    runs = None
    if method == "held":
        rows = with_arm_held(robot, ordered[-1], torques[-1], cutoff)
    else:
        runs = one_motion(ordered[0], ordered[1], (torques[0], torques[1]))
        rows = by_difference(robot, runs, cutoff)
    road = None
    if expected is not None:
        road = by_prior(robot, expected, ordered[-1], torque, rows.cutoff)
    return PayloadIdentification(robot, method, source, rows, fitted(rows), None, runs, road)


def _check_choices(robot: Robot, method: str, known: float | None, without: Log | None) -> None:
    """Refuse choices that contradict each other."""
    if not isinstance(robot, Robot):
        kind = type(robot).__name__
        raise ArmtwinError(
            f"identify_payload needs a robot, got a {kind}; load it by at.Robot.load"
        )
    if method not in ("difference", "held"):
        raise ArmtwinError(f"method must be one of difference, held, got '{method}'")
    if without is None and method == "difference":
        raise ArmtwinError(
            "a difference needs a log without the payload; give it, or hold the arm as its file "
            'has it (method "held", --held)'
        )
    if known is None:
        return
    if not 0 < known < np.inf:
        raise ArmtwinError(f"known must be the payload's mass above 0 kg, got {known!r}")
    if method == "held":
        raise ArmtwinError("torque constants come from the difference of two runs, not held ones")


def _gains(
    robot: Robot, logs: Sequence[Log], source: str, known: float, cutoff: float | None
) -> PayloadIdentification:
    """Torque constants from the difference of currents."""
    if channel_kind(source) != "current":
        raise ArmtwinError(
            f"torque constants are found from currents, and '{source}' is a torque; choose the "
            'current by torque="current" (--torque current)'
        )
    at_motors = motors_of(robot)
    currents = []
    for log in logs:
        values = log.channels[torque_channel(log, source)]
        if values.shape[1] != at_motors.shape[1]:
            raise ArmtwinError(
                f"channel '{source}' must have {at_motors.shape[1]} columns, one for each motor, "
                f"got {values.shape[1]}"
            )
        currents.append(values)
    runs = one_motion(logs[0], logs[1], (currents[0], currents[1]))
    rows = by_difference(robot, runs, cutoff)
    gain = drive_gain(rows, at_motors, known)
    return PayloadIdentification(robot, "difference", source, rows, gain.load, gain, runs, None)
