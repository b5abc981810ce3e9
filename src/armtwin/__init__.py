"""The dynamic twin of an industrial robot arm: where will the path leave its tolerance, and why."""

from armtwin.errors import ArmtwinError, FileError
from armtwin.logs.log import Event, Log
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot
from armtwin.simulation.closed_loop import Run, simulate
from armtwin.simulation.plant import Model

__version__ = "0.1.0"

__all__ = [
    "ArmtwinError",
    "Event",
    "FileError",
    "Log",
    "Model",
    "Robot",
    "Run",
    "Trajectory",
    "__version__",
    "simulate",
]
