"""How a robot is mounted, as the command line says it."""

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.robot.schema.mounting import gravity_of, read_gravity


def on_base(robot: at.Robot, gravity: str | None, mounting: str | None, command: str) -> at.Robot:
    """A robot mounted as a command is given it, else as its file says."""
    if gravity is not None and mounting is not None:
        raise ArmtwinError("--gravity and --mounting say the same; give one of them")
    source = f"measured: as given to {command}"
    try:
        if gravity is not None:
            return robot.with_gravity(read_gravity(gravity), source)
        if mounting is not None:
            return robot.with_gravity(gravity_of(mounting), source)
    except ArmtwinError as error:
        raise ArmtwinError(f"--{error}") from None
    return robot
