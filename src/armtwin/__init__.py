"""The dynamic twin of an industrial robot arm: where will the path leave its tolerance, and why."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armtwin.errors import ArmtwinError, FileError
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from armtwin.identification.completion.complete import Completion, complete
    from armtwin.identification.rigid_body.estimate import Estimate
    from armtwin.identification.rigid_body.identify import identify
    from armtwin.identification.rigid_body.judgement import Identification, judge
    from armtwin.identification.rigid_body.recipe import Recipe
    from armtwin.identification.rigid_body.validation import Validation
    from armtwin.identification.servo.identify_servo import ServoIdentification, identify_servo
    from armtwin.jobs.job import Job
    from armtwin.logs.log import Log
    from armtwin.logs.recording import Event
    from armtwin.motion.trajectory import Trajectory
    from armtwin.prediction.advice import Advice, advise
    from armtwin.prediction.answer import Answer
    from armtwin.prediction.causes import explain
    from armtwin.prediction.compare import Comparison, compare
    from armtwin.prediction.compare_reference import ReferenceComparison
    from armtwin.prediction.predict import Prediction, predict
    from armtwin.report.writing import write_report
    from armtwin.simulation.closed_loop import simulate
    from armtwin.simulation.model import Model
    from armtwin.simulation.outcome import Run

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "Answer",
    "ArmtwinError",
    "Comparison",
    "Completion",
    "Estimate",
    "Event",
    "FileError",
    "Identification",
    "Job",
    "Log",
    "Model",
    "Prediction",
    "Recipe",
    "ReferenceComparison",
    "Robot",
    "Run",
    "ServoIdentification",
    "Trajectory",
    "Validation",
    "__version__",
    "advise",
    "compare",
    "complete",
    "explain",
    "identify",
    "identify_servo",
    "judge",
    "predict",
    "simulate",
    "write_report",
]

# Rooms above the robot are imported when they are first asked for.
_LATER = {
    "Advice": "armtwin.prediction.advice",
    "Answer": "armtwin.prediction.answer",
    "Comparison": "armtwin.prediction.compare",
    "Completion": "armtwin.identification.completion.complete",
    "complete": "armtwin.identification.completion.complete",
    "Estimate": "armtwin.identification.rigid_body.estimate",
    "ReferenceComparison": "armtwin.prediction.compare_reference",
    "Recipe": "armtwin.identification.rigid_body.recipe",
    "Validation": "armtwin.identification.rigid_body.validation",
    "Event": "armtwin.logs.recording",
    "Job": "armtwin.jobs.job",
    "Log": "armtwin.logs.log",
    "Model": "armtwin.simulation.model",
    "Prediction": "armtwin.prediction.predict",
    "Run": "armtwin.simulation.outcome",
    "Trajectory": "armtwin.motion.trajectory",
    "advise": "armtwin.prediction.advice",
    "compare": "armtwin.prediction.compare",
    "explain": "armtwin.prediction.causes",
    "Identification": "armtwin.identification.rigid_body.judgement",
    "identify": "armtwin.identification.rigid_body.identify",
    "ServoIdentification": "armtwin.identification.servo.identify_servo",
    "identify_servo": "armtwin.identification.servo.identify_servo",
    "judge": "armtwin.identification.rigid_body.judgement",
    "predict": "armtwin.prediction.predict",
    "simulate": "armtwin.simulation.closed_loop",
    "write_report": "armtwin.report.writing",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'armtwin' has no attribute '{name}'")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value
