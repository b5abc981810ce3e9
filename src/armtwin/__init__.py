"""The dynamic twin of an industrial robot arm: where will the path leave its tolerance, and why."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armtwin.errors import ArmtwinError, FileError
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from armtwin.jobs.job import Job
    from armtwin.logs.log import Event, Log
    from armtwin.motion.trajectory import Trajectory
    from armtwin.prediction.compare import Comparison, compare
    from armtwin.prediction.predict import Prediction, predict
    from armtwin.simulation.closed_loop import simulate
    from armtwin.simulation.outcome import Run
    from armtwin.simulation.plant import Model

__version__ = "0.1.0"

__all__ = [
    "ArmtwinError",
    "Comparison",
    "Event",
    "FileError",
    "Job",
    "Log",
    "Model",
    "Prediction",
    "Robot",
    "Run",
    "Trajectory",
    "__version__",
    "compare",
    "predict",
    "simulate",
]

# Rooms above the robot are imported when they are first asked for.
_LATER = {
    "Comparison": "armtwin.prediction.compare",
    "Event": "armtwin.logs.log",
    "Job": "armtwin.jobs.job",
    "Log": "armtwin.logs.log",
    "Model": "armtwin.simulation.plant",
    "Prediction": "armtwin.prediction.predict",
    "Run": "armtwin.simulation.outcome",
    "Trajectory": "armtwin.motion.trajectory",
    "compare": "armtwin.prediction.compare",
    "predict": "armtwin.prediction.predict",
    "simulate": "armtwin.simulation.closed_loop",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'armtwin' has no attribute '{name}'")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value
