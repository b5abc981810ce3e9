"""Checks of logs from which no servo is identifiable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.data.log_checks import check_positions, same_log
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

AT_REST = 1e-4  # range of a reference that does not move [rad, m]
SAME = 1e-9  # error over motion below which reference and measurement are one
SCALE = 3.0  # factor between reference and measurement that no servo makes
DEGREES = 180 / np.pi
NEAR_DEGREES = 0.15
LEAST_SAMPLES = 100
LEADS = 2.0  # samples by which all joints must lead for the reference to be called late
ALIKE = 2.0  # factor between their leads
EXPLAINS = 0.5  # share of the error that the lead alone explains


def check_servo_logs(robot: Robot, logs: Sequence[Log], names: Sequence[str]) -> None:
    """Refuse logs from which no servo is identifiable."""
    if not logs:
        raise ArmtwinError("at least one log with q_ref is needed to fit a servo")
    _check_drives(robot)
    for log, name in zip(logs, names, strict=True):
        _check_log(robot, log, name)
    _check_motion(robot, logs, names)
    for k, log in enumerate(logs):
        for i in range(k):
            if same_log(logs[i], log):
                raise ArmtwinError(f"{names[k]} is the same log as {names[i]}; give each once")


def _check_drives(robot: Robot) -> None:
    motors, joints = len(robot.description.motor), robot.n
    if robot.description.hydraulic or motors != joints:
        raise ArmtwinError(
            f"robot '{robot.name}': a servo is fitted to {joints} joints with as many motors, got "
            f"{motors} motors; `armtwin complete` gives a robot what it lacks"
        )


def _check_log(robot: Robot, log: Log, name: str) -> None:
    if "q_ref" not in log:
        held = ", ".join(log.channels)
        raise ArmtwinError(
            f"{name}: must have q_ref, the reference that the servo was given, beside q; it has "
            f"{held}. Without it no servo is identifiable"
        )
    if "q" not in log:
        raise ArmtwinError(f"{name}: must have q, the measured positions, beside q_ref")
    _check_scale(robot, log, name)
    for channel in ("q", "q_ref"):
        check_positions(robot, log, channel, name)
    if len(log.time) < LEAST_SAMPLES:
        raise ArmtwinError(
            f"{name}: must have at least {LEAST_SAMPLES} samples to fit a servo, "
            f"got {len(log.time)}"
        )
    _check_same(robot, log, name)
    _check_lead(log, name)


def _check_scale(robot: Robot, log: Log, name: str) -> None:
    """Refuse a reference in another unit than the measurement."""
    if log.q.shape != log.q_ref.shape:
        raise ArmtwinError(
            f"{name}: q and q_ref must have as many columns, got {log.q.shape[1]} and "
            f"{log.q_ref.shape[1]}"
        )
    moved = np.ptp(log.q_ref, axis=0)
    factor = moved / np.maximum(np.ptp(log.q, axis=0), AT_REST)
    for j in np.flatnonzero(moved > AT_REST):
        if 1 / SCALE < factor[j] < SCALE:
            continue
        hint = "check the unit of q_ref in the columns file"
        if abs(factor[j] / DEGREES - 1) < NEAR_DEGREES:
            hint = 'it looks like degrees; say unit.q_ref = "deg" in a columns file'
        joint = robot.joint_names[j] if j < robot.n else f"column {j + 1}"
        raise ArmtwinError(
            f"{name}: q_ref of {joint} moves {factor[j]:.3g} times as far as q; {hint}"
        )


def _check_motion(robot: Robot, logs: Sequence[Log], names: Sequence[str]) -> None:
    """Refuse joints that are at rest in all logs."""
    moved = np.max([np.ptp(log.q_ref, axis=0) for log in logs], axis=0)
    still = [robot.joint_names[j] for j in np.flatnonzero(moved <= AT_REST)]
    if still:
        where = names[0] if len(names) == 1 else "any of the logs"
        raise ArmtwinError(
            f"{', '.join(still)} does not move in {where}, so its servo is not identifiable; "
            "log a motion of all joints"
        )


def _check_same(robot: Robot, log: Log, name: str) -> None:
    """Refuse a reference that is the measurement."""
    moved = np.ptp(log.q_ref, axis=0)
    apart = np.ptp(log.q_ref - log.q, axis=0)
    same = [
        robot.joint_names[j] for j in np.flatnonzero((apart <= SAME * moved) & (moved > AT_REST))
    ]
    if same:
        raise ArmtwinError(
            f"{name}: q_ref of {', '.join(same)} equals q, so it is no reference but the "
            "measurement; log what the servo was given"
        )


def _check_lead(log: Log, name: str) -> None:
    """Refuse a reference that comes late on all joints alike."""
    step = float(np.median(np.diff(log.time)))
    leads, explained = _leads(log)
    late = (leads > LEADS * step).all() and (explained > EXPLAINS).all()
    if len(leads) and late and leads.max() < ALIKE * leads.min():
        raise ArmtwinError(
            f"{name}: every joint leads its reference, by {1e3 * np.median(leads):.3g} ms; no "
            "servo acts before its command, so the column q_ref is late: shift it"
        )


def _leads(log: Log) -> tuple[Floats, Floats]:
    """Times by which joints lead their reference [s], and how much of the error that explains."""
    v = np.gradient(log.q_ref, log.time, axis=0)
    moving = np.ptp(log.q_ref, axis=0) > AT_REST
    v = v[:, moving] - v[:, moving].mean(axis=0)
    error = (log.q_ref - log.q)[:, moving]
    error = error - error.mean(axis=0)
    lag = (v * error).sum(axis=0) / (v * v).sum(axis=0)
    squares = ((error - lag * v) ** 2).sum(axis=0)
    return -lag, 1 - squares / (error**2).sum(axis=0)
