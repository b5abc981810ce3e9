"""`identify_payload`: the payload of a robot, or its torque constants by a known payload."""

from __future__ import annotations

import math

from armtwin.errors import ArmtwinError
from armtwin.files.hypothesis import Hypothesis, refuse_by
from armtwin.identification.payload import drive_gain as load_fits
from armtwin.identification.payload.difference import by_difference, synchronise, with_arm_held
from armtwin.identification.payload.result import Method, PayloadIdentification
from armtwin.identification.plausibility.suspect import refuse_torque_mistakes
from armtwin.identification.rigid_body.data.log_checks import check_logs
from armtwin.logs.channels import channel_kind
from armtwin.logs.joints import in_order_of, needs_gains, torque_channel, torque_or_current
from armtwin.logs.log import Log, as_logs
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.robot import Robot

HEAVIEST, LIGHTEST = 5.0, 1e-4  # payload over the mass of its arm; masses of files may be invented


@one_blas_thread()
def identify_payload(
    robot: Robot,
    without: Log | None,
    with_it: Log,
    *,
    expected: Robot | None = None,
    torque: str | None = None,
    cutoff: float | None = None,
) -> PayloadIdentification:
    """Identify the ten parameters of a payload.

    Args:
        robot: The robot without the payload, as in the first run.
        without: A log of a motion without the payload, whose difference from the other needs no
            prior; None holds the arm as in the robot file.
        with_it: A log of the same motion with it.
        expected: The robot with the payload as it is believed to be, for comparison with a fit that
            starts from there.
        torque: Channel of the torque, as for `identify`.
        cutoff: Cut-off frequency; by default from the spectrum of the speeds [Hz].
    """
    ordered, source = _ordered(robot, [with_it] if without is None else [without, with_it], torque)
    if needs_gains(robot, source):
        raise ArmtwinError(
            f"robot '{robot.name}': channel '{source}' holds currents, and the file has no "
            'torque constants; give the payload\'s mass (known, --known "5 kg") to find these, or '
            "a robot file that has them"
        )
    torques = [torque_or_current(robot, log, torque_channel(log, source)) for log in ordered]
    runs = None
    method: Method = "difference"
    if without is None:
        method = "held"
        rows = with_arm_held(robot, ordered[-1], torques[-1], cutoff)
    else:
        runs = synchronise(ordered[0], ordered[1], (torques[0], torques[1]))
        rows = by_difference(robot, runs, cutoff)
    road = None
    if expected is not None:
        road = load_fits.fit_truncated_mass(robot, expected, ordered[-1], torque, rows.cutoff)
    load = load_fits.fit_load(rows)
    mistake, remedy = "Is a torque in another unit", "say unit.tau in a columns file"
    _refuse_unlikely(robot, load.mass, mistake, remedy)
    return PayloadIdentification(robot, method, source, rows, load, None, runs, road)


def _refuse_unlikely(
    robot: Robot, mass: float, mistake: str, remedy: str, least: float = -math.inf
) -> None:
    """Refuse a payload that no arm of this mass carries, or that it does not feel."""
    arm = float(robot.parameters[: robot.layout.all_links.stop : 10].sum())
    heavy = mass > HEAVIEST * arm
    if heavy or mass < least * arm:
        size = "carries" if heavy else "feels"
        evidence = f"no arm of {arm:.3g} kg {size} a payload of {mass:.4g} kg"
        refuse_by([Hypothesis(evidence, mistake, remedy)])


@one_blas_thread()
def identify_drive_gains(
    robot: Robot,
    without: Log,
    with_it: Log,
    mass: float,
    *,
    torque: str | None = None,
    cutoff: float | None = None,
) -> PayloadIdentification:
    """Identify torque constants of the motors from currents, by a payload of known mass.

    Args:
        robot: The robot without the payload, as in the first run.
        without: A log of a motion without the payload.
        with_it: A log of the same motion with it.
        mass: Mass of the payload [kg].
        torque: Channel of the current, as for `identify`.
        cutoff: Cut-off frequency; by default from the spectrum of the speeds [Hz].
    """
    load_fits.check_mass(mass)
    mistake, remedy = "Is the known mass in another unit", "give it as in '5 kg'"
    _refuse_unlikely(robot, mass, mistake, remedy, LIGHTEST)
    logs, source = _ordered(robot, [without, with_it], torque)
    if channel_kind(source) != "current":
        raise ArmtwinError(
            f"torque constants are found from currents, and '{source}' is a torque; choose the "
            'current by torque="current" (--torque current)'
        )
    at_motors = load_fits.motors_of(robot)
    currents = []
    for log in logs:
        values = log.channels[torque_channel(log, source)]
        if values.shape[1] != at_motors.shape[1]:
            raise ArmtwinError(
                f"channel '{source}' must have {at_motors.shape[1]} columns, one for each motor, "
                f"got {values.shape[1]}"
            )
        currents.append(values)
    runs = synchronise(logs[0], logs[1], (currents[0], currents[1]))
    rows = by_difference(robot, runs, cutoff)
    gain = load_fits.drive_gain(rows, at_motors, mass)
    return PayloadIdentification(robot, "difference", source, rows, gain.load, gain, runs, None)


def _ordered(robot: Robot, given: list[Log], torque: str | None) -> tuple[list[Log], str]:
    """Checked logs in the order of the robot's joints, and the channel of their torque."""
    logs = as_logs(given, "identify_payload")
    ordered = [in_order_of(log, robot.joint_names) for log in logs]
    check_logs(robot, tuple(ordered), "q")
    source = torque_channel(ordered[-1], torque)
    refuse_torque_mistakes(robot, ordered[0], source)
    return ordered, source
