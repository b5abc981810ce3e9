"""The dynamic twin of an industrial robot arm: where will the path leave its tolerance, and why."""

from armtwin.errors import ArmtwinError, FileError
from armtwin.robot.robot import Robot

__version__ = "0.1.0"

__all__ = ["ArmtwinError", "FileError", "Robot", "__version__"]
