"""Twist of the gears and what it moves the flange by: measured by two encoders, and predicted.

    twist(t) = q(t - d) - q_link(t),   d: the link encoder is late by so much, as the file says

Each log's constant is taken off: the zeros of two encoders are not the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from armtwin.identification.transmission.identify_transmission import fit_transmissions
from armtwin.identification.transmission.result import TransmissionIdentification
from armtwin.logs.log import Log, as_logs
from armtwin.maths.batch import Floats
from armtwin.maths.interpolation import interpolate_columns
from armtwin.prediction.agreement import Series, pair_joints
from armtwin.prediction.band.quantities import spread_parameters
from armtwin.robot.robot import Robot
from armtwin.simulation.outcome import Run

FLANGE = ("flange x", "flange y", "flange z")


def identify_transmission(
    robot: Robot, logs: Log | Sequence[Log], *, validate: Log | None = None
) -> TransmissionIdentification:
    """Stiffness, lost motion and side of friction of transmissions from two encoders.

    Args:
        robot: The robot, with what was mounted; how far its rotors, friction and links may be off
            follows from their sources.
        logs: Logs with q (motor encoders), q_link (link encoders) and a torque.
        validate: An unseen log.
    """
    runs = as_logs(logs, "identify_transmission")
    return fit_transmissions(robot, runs, spread_parameters(robot), validate=validate)


def has_two_encoders(robot: Robot, log: Log) -> bool:
    """Whether a log has motor and link encoders of a robot with elastic gears."""
    springs = any(gear.stiffness is not None for gear in robot.description.transmission)
    return springs and "q" in log and "q_link" in log and log.q_link.shape[1] <= robot.n


def pair_twists(robot: Robot, log: Log, run: Run, time: Floats) -> Iterator[Series]:
    """Twist of each joint with two encoders, and deflection of the flange by all of them.

    Args:
        robot: The robot, which says by how much its link encoders are late.
        log: A log with q and q_link.
        run: The elastic run on its reference.
        time: Times of the samples from the log's start, (m,) [s].
    """
    count = log.q_link.shape[1]
    names = robot.joint_names[:count]
    late = {gear.joint: gear.delay for gear in robot.description.transmission}
    before = np.column_stack([time - late.get(name, 0.0) for name in robot.joint_names])
    before = np.maximum(before, 0.0)
    logged = _at_own_times(before, log.time - log.time[0], log.q)
    motor = _at_own_times(before, run.trace_time, run.motor_side)
    link = _at_own_times(before, run.trace_time, run.link_side)
    measured = logged[:, :count] - log.q_link[: len(time)]
    predicted = (motor - link)[:, :count]
    twists = [values - values.mean(axis=0) for values in (measured, predicted)]
    yield from pair_joints(names, "twist", "rad", *twists)
    moved = [_deflection(robot, logged, twist) for twist in twists]
    for k, name in enumerate(FLANGE):
        yield Series(name, "m", np.stack([values[:, k] for values in moved]))


def _at_own_times(times: Floats, grid: Floats, values: Floats) -> Floats:
    """Columns of values at times of their own, (m, n) each."""
    columns = zip(times.T, values.T, strict=True)
    return np.column_stack([interpolate_columns(t, grid, x[:, None])[:, 0] for t, x in columns])


def _deflection(robot: Robot, q: Floats, twist: Floats) -> Floats:
    """How far twists of the first joints move the flange, (m, 3) [m]."""
    bent = q.copy()
    bent[:, : twist.shape[1]] -= twist
    places = [robot.forward_kinematics(x, "flange")[:, :3, 3] for x in (bent, q)]
    return np.asarray(places[0] - places[1])
