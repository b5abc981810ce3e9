"""Joint torques of a log, from whatever the machine wrote down."""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.csv_reading import ALIASES
from armtwin.logs.log import Log, channel_kind
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

CHANNELS = ("tau", "tau_m", "current")


def torque_channel(log: Log, channel: str | None = None) -> str:
    """The channel that the torque comes from: tau, else tau_m, else current, or the one asked for."""
    channel = None if channel is None else ALIASES.get(channel, channel)
    found = [name for name in log.channels if channel_kind(name) in CHANNELS]
    if channel is None:
        chosen = next((name for name in CHANNELS if name in found), None)
        if chosen is None:
            others = f"; choose one of {', '.join(found)}" if found else ""
            told = ", ".join(log.channels)
            raise ArmtwinError(
                f"the log has no torque ({', '.join(CHANNELS)}). It has: {told}{others}."
            )
        return chosen
    if channel_kind(channel) not in CHANNELS:
        raise ArmtwinError(
            f"torque must be taken from one of {', '.join(found) or ', '.join(CHANNELS)}, got '{channel}'"
        )
    if channel not in log:
        raise ArmtwinError(
            f"the log has no channel '{channel}'. It has: {', '.join(log.channels)}."
        )
    return channel


def needs_gains(robot: Robot, channel: str) -> bool:
    """Whether a channel is a current and the robot file lacks the torque constant of a motor."""
    if channel_kind(channel) != "current":
        return False
    missing = [m.name for m in robot.description.motor if m.torque_constant is None]
    if missing and len(missing) < len(robot.description.motor):
        raise ArmtwinError(
            f"robot '{robot.name}': motor.torque_constant is given for others, but not {missing[0]}"
        )
    return bool(missing) or not robot.description.motor


def logged_torque(robot: Robot, log: Log, channel: str) -> Floats:
    """Joint torques (m, n) [N m], or currents [A] where their gains are not known."""
    if not needs_gains(robot, channel):
        return joint_torque(robot, log, channel)[0]
    values = log.channels[channel]
    if values.shape[1] != robot.n:
        raise ArmtwinError(
            f"channel '{channel}' must have {robot.n} columns, one for each joint, got {values.shape[1]}"
        )
    signs = np.sign(robot.assembly.gear.sum(axis=1))
    return values * signs if len(signs) == robot.n else values


def joint_torque(robot: Robot, log: Log, channel: str | None = None) -> tuple[Floats, str]:
    """Joint torques (m, n) [N m] and their channel: tau, else tau_m, else current, or the one asked for."""
    source = torque_channel(log, channel)
    kind, values = channel_kind(source), log.channels[source]
    if kind == "tau":
        if values.shape[1] != robot.n:
            raise ArmtwinError(
                f"channel '{source}' must have {robot.n} columns, one for each joint, got {values.shape[1]}"
            )
        return values, source
    N = robot.assembly.motor_rows
    if values.shape[1] != len(N):
        raise ArmtwinError(
            f"channel '{source}' must have {len(N)} columns, one for each motor, got {values.shape[1]}"
        )
    if kind == "tau_m":
        return values @ N, source
    if needs_gains(robot, source):
        raise ArmtwinError(
            f"robot '{robot.name}': currents need motor.torque_constant of every motor"
        )
    constants = np.array([m.torque_constant for m in robot.description.motor], dtype=np.float64)
    return (values * constants) @ N, source
