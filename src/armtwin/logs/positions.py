"""Joint positions of a log, from whatever encoders the machine wrote down."""

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

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
