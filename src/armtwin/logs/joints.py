"""A log at a robot's joints: its columns in their order, positions, torques of any channel."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.channels import ALIASES, channel_kind
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.defaults.assumed_drives import lacks_gears
from armtwin.robot.robot import Robot


def in_order_of(log: Log, names: Sequence[str]) -> Log:
    """The log with its columns in the order of a robot's joints.

    Joints that the robot lacks, as those of a gripper, are left out. A log without names, or with
    names that are all other ones, is taken to be in the robot's order.

    Args:
        log: Any log.
        names: The robot's joints, (n,).
    """
    held = log.joint_names
    if held == tuple(names) or set(held).isdisjoint(names):
        return log
    if not set(names) <= set(held):
        raise ArmtwinError(
            f"{log.origin or 'the log'}: it names the joints {', '.join(held)}, but the robot has "
            f"{', '.join(names)}; give their order as columns.q of a columns file"
        )
    order = [held.index(name) for name in names]
    channels = dict(log.channels)
    for channel, values in log.channels.items():
        if values.shape[1] == len(held):
            # sums over samples depend on how they lie in memory, and no result shall on the order
            channels[channel] = np.ascontiguousarray(values[:, order])
    return replace(log, channels=channels, joint_names=tuple(names))


CHANNELS = ("tau", "tau_m", "current")
FED_FORWARD = ("tau_m_ff", "tau_ff")  # torque that a servo adds in advance, at the motor or joint


def torque_channel(log: Log, channel: str | None = None) -> str:
    """The channel of the torque: tau, else tau_m, else current, or the one asked for."""
    known = ", ".join(CHANNELS)
    held = ", ".join(log.channels)
    found = ", ".join(name for name in log.channels if channel_kind(name) in CHANNELS)
    if channel is None:
        for name in CHANNELS:
            if name in log:
                return name
        others = f"; choose one of {found}" if found else ""
        raise ArmtwinError(f"the log has no torque ({known}). It has: {held}{others}.")
    asked = ALIASES.get(channel, channel)
    if channel_kind(asked) not in CHANNELS:
        raise ArmtwinError(f"torque must be taken from one of {found or known}, got '{asked}'")
    if asked not in log:
        raise ArmtwinError(f"the log has no channel '{asked}'. It has: {held}.")
    return asked


def needs_gains(robot: Robot, channel: str) -> bool:
    """Whether the robot file lacks what makes a channel a joint torque.

    That is the torque constant of a motor for currents, the gears for motor torques.
    """
    kind = channel_kind(channel)
    if kind != "current":
        return kind == "tau_m" and lacks_gears(robot)
    missing = [m.name for m in robot.description.motor if m.known_constant is None]
    if missing and len(missing) < len(robot.description.motor):
        raise ArmtwinError(
            f"robot '{robot.name}': motor.torque_constant is given for others, but not {missing[0]}"
        )
    return bool(missing) or not robot.description.motor


def has_joint_torque(robot: Robot, log: Log) -> bool:
    """Whether a log has joint torques: its own, or currents of motors with torque constants."""
    if not any(name in log for name in CHANNELS):
        return False
    return not needs_gains(robot, torque_channel(log))


def torque_or_current(robot: Robot, log: Log, channel: str) -> Floats:
    """Joint torques (m, n) [N m], or what was logged where its gains are not known."""
    if not needs_gains(robot, channel):
        return joint_torque(robot, log, channel)[0]
    values = log.channels[channel]
    _check_columns(values, robot.n, channel, "joint")
    signs = np.sign(robot.assembly.gear.sum(axis=1))
    return values * signs if len(signs) == robot.n else values


def joint_torque(robot: Robot, log: Log, channel: str | None = None) -> tuple[Floats, str]:
    """Joint torques (m, n) [N m] and the channel they come from, as `torque_channel` chooses it."""
    source = torque_channel(log, channel)
    kind = channel_kind(source)
    values = log.channels[source]
    if kind == "tau":
        _check_columns(values, robot.n, source, "joint")
        return values, source
    if needs_gains(robot, source):
        needed = "motor torques need gear.ratios"
        if kind == "current":
            needed = "currents need motor.torque_constant of every motor"
        raise ArmtwinError(f"robot '{robot.name}': {needed}")
    N = robot.assembly.motor_rows
    _check_columns(values, len(N), source, "motor")
    if kind == "tau_m":
        return values @ N, source
    constants = np.array([m.torque_constant for m in robot.description.motor], dtype=np.float64)
    return (values * constants) @ N, source


def feedforward_torque(robot: Robot, log: Log) -> tuple[Floats | None, str]:
    """Motor torques (m, motors) [N m] that a machine fed forward, and their channel, if logged."""
    for channel in FED_FORWARD:
        if channel in log:
            break
    else:
        return None, ""
    values = log.channels[channel]
    if channel == "tau_m_ff":
        _check_columns(values, len(robot.assembly.motor_rows), channel, "motor")
        return values, channel
    _check_columns(values, robot.n, channel, "joint")
    return values @ robot.assembly.motor_inverse, channel


def _check_columns(values: Floats, count: int, channel: str, part: str) -> None:
    """Refuse a channel that has not one column for each joint, or motor."""
    got = values.shape[1]
    if got != count:
        contract = f"must have {count} columns, one for each {part}"
        raise ArmtwinError(f"channel '{channel}' {contract}, got {got}")


SIDES = ("q_link", "q", "q_m")  # the nearer to the tool the better


def joint_positions(robot: Robot, log: Log) -> tuple[Floats, str]:
    """Joint positions (m, n) of a log and the channel they come from.

    The link side is taken where every joint has an encoder there.
    """
    held = [side for side in SIDES if side in log]
    if not held:
        raise ArmtwinError(
            f"the log has no positions (q_link, q or q_m). It has: {', '.join(log.channels)}."
        )
    for side in held:
        values = log.channels[side]
        if values.shape[1] != robot.n:
            continue
        if side == "q_m":
            return values @ robot.assembly.motor_inverse.T, side
        return values, side
    side = held[0]
    got = log.channels[side].shape[1]
    columns = f"{robot.n} columns of {side}"
    raise ArmtwinError(f"the log must have {columns} for robot '{robot.name}', got {got}")
