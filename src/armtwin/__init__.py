"""The dynamic twin of an industrial robot arm: where will the path leave its tolerance, and why."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armtwin.errors import ArmtwinError, FileError
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from armtwin.logs.log import Event, Log
    from armtwin.motion.trajectory import Trajectory
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

# Rooms above the robot are imported when they are first asked for.
_LATER = {
    "Event": "armtwin.logs.log",
    "Log": "armtwin.logs.log",
    "Model": "armtwin.simulation.plant",
    "Run": "armtwin.simulation.closed_loop",
    "Trajectory": "armtwin.motion.trajectory",
    "simulate": "armtwin.simulation.closed_loop",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'armtwin' has no attribute '{name}'")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value
