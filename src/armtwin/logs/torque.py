"""Joint torques of a log, from whatever the machine wrote down."""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

CHANNELS = ("tau", "tau_m", "current")


def joint_torque(robot: Robot, log: Log, channel: str | None = None) -> tuple[Floats, str]:
    """Joint torques (m, n) [N m] and their channel: tau, else tau_m, else current, or the one asked for."""
    source = channel or next((name for name in CHANNELS if name in log), None)
    if source is None:
        raise ArmtwinError(f"the log has no torque ({', '.join(CHANNELS)}). It has: {', '.join(log.channels)}.")
    if source not in CHANNELS:
        raise ArmtwinError(f"torque must be taken from one of {', '.join(CHANNELS)}, got '{source}'")
    values = getattr(log, source)
    if source == "tau":
        return values, source
    N = robot.assembly.gear
    if values.shape[1] != len(N):
        raise ArmtwinError(f"channel '{source}' must have {len(N)} columns, one for each motor, got {values.shape[1]}")
    if source == "tau_m":
        return values @ N, source
    constants = [m.torque_constant for m in robot.description.motor]
    if any(k is None for k in constants):
        raise ArmtwinError(f"robot '{robot.name}': currents need motor.torque_constant of every motor")
    return (values * np.array(constants, dtype=np.float64)) @ N, source
