"""The dynamic twin of an industrial robot arm: where will the path leave its tolerance, and why."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armtwin.errors import ArmtwinError, FileError

# at once: the package armtwin.jobs would take the place of the function when it is first loaded
from armtwin.jobs.catalog import jobs

if TYPE_CHECKING:
    from armtwin.analysis.analyse import analyse
    from armtwin.analysis.compliance import Sag, ToolCompliance
    from armtwin.analysis.coupling import Coupling
    from armtwin.analysis.inertia import EffectiveInertia
    from armtwin.analysis.modes import Modes
    from armtwin.analysis.sensitivity import Sensitivity
    from armtwin.analysis.torques import TorqueShares
    from armtwin.drives.friction.contact import (
        Contact,
        Teeth,
        film_height,
        gear_pair,
        lubrication_number,
        roller_bearing,
    )
    from armtwin.exchange.export import Exported
    from armtwin.exchange.export_fmu import export_bench, export_fmu
    from armtwin.exchange.foreign import ForeignUnit
    from armtwin.identification.actuator.identify import (
        ActuatorIdentification,
        FlowIdentification,
        ValveIdentification,
        identify_actuator,
        identify_flow,
        identify_valve,
    )
    from armtwin.identification.actuator.oil import OilFit, fit_oil
    from armtwin.identification.clamping.clamp import Clamping, clamp
    from armtwin.identification.closed_loop.friction_shapes import (
        ShapeFit,
        fit_friction_shapes,
    )
    from armtwin.identification.closed_loop.in_loop import LoopIdentification
    from armtwin.identification.completion.complete import Completion, complete
    from armtwin.identification.excitation.design import excite
    from armtwin.identification.excitation.excitation import Excitation
    from armtwin.identification.excitation.plan import ExcitationPlan
    from armtwin.identification.frequency import LogResponse, log_response
    from armtwin.identification.friction_curves.curves import FrictionCurves
    from armtwin.identification.friction_curves.document_steps import (
        armstrong_steps,
        lubricated_steps,
        separated_wrist,
    )
    from armtwin.identification.friction_curves.fit_friction import FrictionFit, fit_friction
    from armtwin.identification.friction_curves.plateaus import curves_of_logs
    from armtwin.identification.friction_curves.presliding import PreslidingFit, fit_presliding
    from armtwin.identification.friction_curves.sweeps import curves_of_sweeps
    from armtwin.identification.payload.identify_payload import (
        PayloadIdentification,
        identify_payload,
    )
    from armtwin.identification.rigid_body.estimate import Estimate
    from armtwin.identification.rigid_body.identify import identify
    from armtwin.identification.rigid_body.judgement import Identification, judge
    from armtwin.identification.rigid_body.recipe import Recipe
    from armtwin.identification.rigid_body.validation import Validation
    from armtwin.identification.servo.identify_servo import ServoIdentification, identify_servo
    from armtwin.identification.transmission.identify_transmission import (
        TransmissionIdentification,
        identify_transmission,
    )
    from armtwin.identification.warm_up import WarmUpIdentification, identify_warm_up
    from armtwin.identification.worm import WormIdentification, identify_worm
    from armtwin.jobs.catalog import Catalog, robots
    from armtwin.jobs.experiment import Experiment
    from armtwin.jobs.experiment_run import ExperimentRun, run_experiment
    from armtwin.jobs.job import Job
    from armtwin.logs.log import Log
    from armtwin.logs.recording import Event
    from armtwin.motion.trajectory import Trajectory
    from armtwin.prediction.advice import Advice, advise
    from armtwin.prediction.answer import Answer
    from armtwin.prediction.band.band import Band, assess
    from armtwin.prediction.causes import explain
    from armtwin.prediction.compare import Comparison, compare
    from armtwin.prediction.compare_reference import ReferenceComparison
    from armtwin.prediction.correct import Correction, correct
    from armtwin.prediction.in_loop import identify_in_loop
    from armtwin.prediction.parts import ErrorParts, error_parts
    from armtwin.prediction.predict import Prediction, predict
    from armtwin.prediction.recreation import Recreation, recreate
    from armtwin.prediction.sensitivity import sensitivity
    from armtwin.prediction.side_by_side import SideBySide, side_by_side
    from armtwin.report.writing import write_report
    from armtwin.robot.friction_columns import ContactStates
    from armtwin.robot.robot import Robot
    from armtwin.simulation.bench import (
        Bench,
        BenchFriction,
        BenchRun,
        bench_of,
        simulate_bench,
    )
    from armtwin.simulation.closed_loop import simulate
    from armtwin.simulation.model import Model
    from armtwin.simulation.outcome import Run
    from armtwin.simulation.responses import (
        Response,
        StepTest,
        driven_response,
        step_response,
    )
    from armtwin.sweeps.result import SweepResult
    from armtwin.sweeps.running import sweep
    from armtwin.sweeps.sweep import Sweep

__version__ = "0.1.0"

__all__ = [
    "ActuatorIdentification",
    "Advice",
    "Answer",
    "ArmtwinError",
    "Band",
    "Bench",
    "BenchFriction",
    "BenchRun",
    "Catalog",
    "Clamping",
    "Comparison",
    "Completion",
    "Contact",
    "ContactStates",
    "Correction",
    "Coupling",
    "EffectiveInertia",
    "ErrorParts",
    "Estimate",
    "Event",
    "Excitation",
    "ExcitationPlan",
    "Experiment",
    "ExperimentRun",
    "Exported",
    "FileError",
    "FlowIdentification",
    "ForeignUnit",
    "FrictionCurves",
    "FrictionFit",
    "Identification",
    "Job",
    "Log",
    "LogResponse",
    "LoopIdentification",
    "Model",
    "Modes",
    "OilFit",
    "PayloadIdentification",
    "Prediction",
    "PreslidingFit",
    "Recipe",
    "Recreation",
    "ReferenceComparison",
    "Response",
    "Robot",
    "Run",
    "Sag",
    "Sensitivity",
    "ServoIdentification",
    "ShapeFit",
    "SideBySide",
    "StepTest",
    "Sweep",
    "SweepResult",
    "Teeth",
    "ToolCompliance",
    "TorqueShares",
    "Trajectory",
    "TransmissionIdentification",
    "Validation",
    "ValveIdentification",
    "WarmUpIdentification",
    "WormIdentification",
    "__version__",
    "advise",
    "analyse",
    "armstrong_steps",
    "assess",
    "bench_of",
    "clamp",
    "compare",
    "complete",
    "correct",
    "curves_of_logs",
    "curves_of_sweeps",
    "driven_response",
    "error_parts",
    "excite",
    "explain",
    "export_bench",
    "export_fmu",
    "film_height",
    "fit_friction",
    "fit_friction_shapes",
    "fit_oil",
    "fit_presliding",
    "gear_pair",
    "identify",
    "identify_actuator",
    "identify_flow",
    "identify_in_loop",
    "identify_payload",
    "identify_servo",
    "identify_transmission",
    "identify_valve",
    "identify_warm_up",
    "identify_worm",
    "jobs",
    "judge",
    "log_response",
    "lubricated_steps",
    "lubrication_number",
    "predict",
    "recreate",
    "robots",
    "roller_bearing",
    "run_experiment",
    "sensitivity",
    "separated_wrist",
    "side_by_side",
    "simulate",
    "simulate_bench",
    "step_response",
    "sweep",
    "write_report",
]

# Rooms are imported when they are first asked for.
_LATER = {
    "Exported": "armtwin.exchange.export",
    "ForeignUnit": "armtwin.exchange.foreign",
    "export_bench": "armtwin.exchange.export_fmu",
    "export_fmu": "armtwin.exchange.export_fmu",
    "ActuatorIdentification": "armtwin.identification.actuator.identify",
    "FlowIdentification": "armtwin.identification.actuator.identify",
    "ValveIdentification": "armtwin.identification.actuator.identify",
    "identify_actuator": "armtwin.identification.actuator.identify",
    "identify_flow": "armtwin.identification.actuator.identify",
    "identify_valve": "armtwin.identification.actuator.identify",
    "OilFit": "armtwin.identification.actuator.oil",
    "fit_oil": "armtwin.identification.actuator.oil",
    "Excitation": "armtwin.identification.excitation.excitation",
    "ExcitationPlan": "armtwin.identification.excitation.plan",
    "excite": "armtwin.identification.excitation.design",
    "PayloadIdentification": "armtwin.identification.payload.identify_payload",
    "identify_payload": "armtwin.identification.payload.identify_payload",
    "LoopIdentification": "armtwin.identification.closed_loop.in_loop",
    "identify_in_loop": "armtwin.prediction.in_loop",
    "ShapeFit": "armtwin.identification.closed_loop.friction_shapes",
    "fit_friction_shapes": "armtwin.identification.closed_loop.friction_shapes",
    "FrictionCurves": "armtwin.identification.friction_curves.curves",
    "FrictionFit": "armtwin.identification.friction_curves.fit_friction",
    "fit_friction": "armtwin.identification.friction_curves.fit_friction",
    "curves_of_logs": "armtwin.identification.friction_curves.plateaus",
    "curves_of_sweeps": "armtwin.identification.friction_curves.sweeps",
    "PreslidingFit": "armtwin.identification.friction_curves.presliding",
    "fit_presliding": "armtwin.identification.friction_curves.presliding",
    "armstrong_steps": "armtwin.identification.friction_curves.document_steps",
    "lubricated_steps": "armtwin.identification.friction_curves.document_steps",
    "separated_wrist": "armtwin.identification.friction_curves.document_steps",
    "WarmUpIdentification": "armtwin.identification.warm_up",
    "identify_warm_up": "armtwin.identification.warm_up",
    "Contact": "armtwin.drives.friction.contact",
    "Teeth": "armtwin.drives.friction.contact",
    "film_height": "armtwin.drives.friction.contact",
    "gear_pair": "armtwin.drives.friction.contact",
    "lubrication_number": "armtwin.drives.friction.contact",
    "roller_bearing": "armtwin.drives.friction.contact",
    "WormIdentification": "armtwin.identification.worm",
    "identify_worm": "armtwin.identification.worm",
    "LogResponse": "armtwin.identification.frequency",
    "Response": "armtwin.simulation.responses",
    "Sensitivity": "armtwin.analysis.sensitivity",
    "StepTest": "armtwin.simulation.responses",
    "driven_response": "armtwin.simulation.responses",
    "log_response": "armtwin.identification.frequency",
    "sensitivity": "armtwin.prediction.sensitivity",
    "SideBySide": "armtwin.prediction.side_by_side",
    "Sweep": "armtwin.sweeps.sweep",
    "SweepResult": "armtwin.sweeps.result",
    "sweep": "armtwin.sweeps.running",
    "side_by_side": "armtwin.prediction.side_by_side",
    "step_response": "armtwin.simulation.responses",
    "Coupling": "armtwin.analysis.coupling",
    "Modes": "armtwin.analysis.modes",
    "Sag": "armtwin.analysis.compliance",
    "ToolCompliance": "armtwin.analysis.compliance",
    "EffectiveInertia": "armtwin.analysis.inertia",
    "TorqueShares": "armtwin.analysis.torques",
    "analyse": "armtwin.analysis.analyse",
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
    "Catalog": "armtwin.jobs.catalog",
    "Job": "armtwin.jobs.job",
    "Log": "armtwin.logs.log",
    "Model": "armtwin.simulation.model",
    "Prediction": "armtwin.prediction.predict",
    "ContactStates": "armtwin.robot.friction_columns",
    "Robot": "armtwin.robot.robot",
    "robots": "armtwin.jobs.catalog",
    "Run": "armtwin.simulation.outcome",
    "Trajectory": "armtwin.motion.trajectory",
    "advise": "armtwin.prediction.advice",
    "Band": "armtwin.prediction.band.band",
    "assess": "armtwin.prediction.band.band",
    "Correction": "armtwin.prediction.correct",
    "correct": "armtwin.prediction.correct",
    "ErrorParts": "armtwin.prediction.parts",
    "error_parts": "armtwin.prediction.parts",
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
    "Bench": "armtwin.simulation.bench",
    "BenchFriction": "armtwin.simulation.bench",
    "BenchRun": "armtwin.simulation.bench",
    "bench_of": "armtwin.simulation.bench",
    "simulate_bench": "armtwin.simulation.bench",
    "Clamping": "armtwin.identification.clamping.clamp",
    "clamp": "armtwin.identification.clamping.clamp",
    "Experiment": "armtwin.jobs.experiment",
    "ExperimentRun": "armtwin.jobs.experiment_run",
    "run_experiment": "armtwin.jobs.experiment_run",
    "Recreation": "armtwin.prediction.recreation",
    "recreate": "armtwin.prediction.recreation",
    "TransmissionIdentification": "armtwin.identification.transmission.identify_transmission",
    "identify_transmission": "armtwin.identification.transmission.identify_transmission",
}


_FORMER = {"design_excitation": "excite"}  # names that were public before


def __getattr__(name: str) -> Any:
    if name in _FORMER:
        raise ArmtwinError(f"at.{name} is now called at.{_FORMER[name]}")
    if name not in _LATER:
        raise AttributeError(f"module 'armtwin' has no attribute '{name}'")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value
