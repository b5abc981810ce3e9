"""The dynamic twin of an industrial robot arm: where will the path leave its tolerance, and why."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armtwin.errors import ArmtwinError, FileError
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from armtwin.analysis.analyse import analyse
    from armtwin.analysis.coupling import Coupling
    from armtwin.analysis.inertia import EffectiveInertia
    from armtwin.analysis.sensitivity import Sensitivity
    from armtwin.analysis.torques import TorqueShares
    from armtwin.identification.frequency import LogResponse, log_response
    from armtwin.identification.rigid_body.estimate import Estimate
    from armtwin.identification.rigid_body.identify import identify
    from armtwin.identification.rigid_body.judgement import Identification, judge
    from armtwin.identification.rigid_body.recipe import Recipe
    from armtwin.identification.rigid_body.validation import Validation
    from armtwin.jobs.job import Job
    from armtwin.logs.log import Log
    from armtwin.logs.recording import Event
    from armtwin.motion.trajectory import Trajectory
    from armtwin.prediction.advice import Advice, advise
    from armtwin.prediction.answer import Answer
    from armtwin.prediction.causes import explain
    from armtwin.prediction.compare import Comparison, compare
    from armtwin.prediction.predict import Prediction, predict
    from armtwin.prediction.sensitivity import sensitivity
    from armtwin.report.writing import write_report
    from armtwin.simulation.closed_loop import simulate
    from armtwin.simulation.model import Model
    from armtwin.simulation.outcome import Run
    from armtwin.simulation.responses import (
        Response,
        StepTest,
        driven_response,
        step_response,
    )

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "Answer",
    "ArmtwinError",
    "Comparison",
    "Coupling",
    "EffectiveInertia",
    "Estimate",
    "Event",
    "FileError",
    "Identification",
    "Job",
    "Log",
    "LogResponse",
    "Model",
    "Prediction",
    "Recipe",
    "Response",
    "Robot",
    "Run",
    "Sensitivity",
    "StepTest",
    "TorqueShares",
    "Trajectory",
    "Validation",
    "__version__",
    "advise",
    "analyse",
    "compare",
    "driven_response",
    "explain",
    "identify",
    "judge",
    "log_response",
    "predict",
    "sensitivity",
    "simulate",
    "step_response",
    "write_report",
]

# Rooms above the robot are imported when they are first asked for.
_LATER = {
    "LogResponse": "armtwin.identification.frequency",
    "Response": "armtwin.simulation.responses",
    "Sensitivity": "armtwin.analysis.sensitivity",
    "StepTest": "armtwin.simulation.responses",
    "driven_response": "armtwin.simulation.responses",
    "log_response": "armtwin.identification.frequency",
    "sensitivity": "armtwin.prediction.sensitivity",
    "step_response": "armtwin.simulation.responses",
    "Coupling": "armtwin.analysis.coupling",
    "EffectiveInertia": "armtwin.analysis.inertia",
    "TorqueShares": "armtwin.analysis.torques",
    "analyse": "armtwin.analysis.analyse",
    "Advice": "armtwin.prediction.advice",
    "Answer": "armtwin.prediction.answer",
    "Comparison": "armtwin.prediction.compare",
    "Estimate": "armtwin.identification.rigid_body.estimate",
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
