"""The dynamic twin of a robot arm: where will its path exceed the tolerance, and why."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armtwin.errors import ArmtwinError as ArmtwinError, FileError as FileError, FormerNameError

__version__ = "0.2.0"

# The public names, once: editors and type checkers read this block, and so does `_find_modules`;
# a module is imported when one of its names is first asked for.
if TYPE_CHECKING:
    from armtwin import elements as elements
    from armtwin.analysis.analyse import analyse as analyse, states as states
    from armtwin.analysis.compliance import Sag as Sag, ToolCompliance as ToolCompliance
    from armtwin.analysis.coupling import Coupling as Coupling
    from armtwin.analysis.inertia import EffectiveInertia as EffectiveInertia
    from armtwin.analysis.mode_shapes import Modes as Modes
    from armtwin.analysis.sensitivity import Sensitivity as Sensitivity
    from armtwin.analysis.torques import TorqueShares as TorqueShares
    from armtwin.drives.friction.contact import (
        Contact as Contact,
        Teeth as Teeth,
        film_height as film_height,
        gear_pair as gear_pair,
        lubrication_number as lubrication_number,
        roller_bearing as roller_bearing,
    )
    from armtwin.exchange.check import CheckMotion as CheckMotion
    from armtwin.exchange.export import Exported as Exported
    from armtwin.exchange.export_fmu import (
        OneJoint as OneJoint,
        WholeRobot as WholeRobot,
        export_bench as export_bench,
        export_fmu as export_fmu,
    )
    from armtwin.exchange.external_fmu import ForeignUnit as ForeignUnit
    from armtwin.exchange.formats import (
        ExportedRobot as ExportedRobot,
        export_robot as export_robot,
    )
    from armtwin.identification.actuator.oil_fit import OilFit as OilFit, fit_oil as fit_oil
    from armtwin.identification.actuator.result import (
        ActuatorIdentification as ActuatorIdentification,
        FlowIdentification as FlowIdentification,
        ValveIdentification as ValveIdentification,
        identify_actuator as identify_actuator,
        identify_flow as identify_flow,
        identify_valve as identify_valve,
    )
    from armtwin.identification.calibration.calibrate import (
        Calibration as Calibration,
        calibrate as calibrate,
    )
    from armtwin.identification.calibration.geometry import ToolPositions as ToolPositions
    from armtwin.identification.clamping.result import Clamping as Clamping, clamp as clamp
    from armtwin.identification.closed_loop.friction_shapes import (
        fit_friction_shapes as fit_friction_shapes,
    )
    from armtwin.identification.closed_loop.result import (
        LoopIdentification as LoopIdentification,
        ShapeFit as ShapeFit,
    )
    from armtwin.identification.completion.result import (
        Completion as Completion,
        complete as complete,
    )
    from armtwin.identification.excitation.bounds import ExcitationPlan as ExcitationPlan
    from armtwin.identification.excitation.design import excite as excite
    from armtwin.identification.excitation.friction_motions import (
        FrictionMotions as FrictionMotions,
        excite_friction as excite_friction,
    )
    from armtwin.identification.excitation.result import Excitation as Excitation
    from armtwin.identification.frequency import (
        LogResponse as LogResponse,
        log_response as log_response,
    )
    from armtwin.identification.friction_curves.curves import FrictionCurves as FrictionCurves
    from armtwin.identification.friction_curves.document_steps import (
        armstrong_steps as armstrong_steps,
        lubricated_steps as lubricated_steps,
        separated_wrist as separated_wrist,
    )
    from armtwin.identification.friction_curves.fit_friction import fit_friction as fit_friction
    from armtwin.identification.friction_curves.plateaus import (
        curves_of_logs as curves_of_logs,
        curves_of_sweeps as curves_of_sweeps,
    )
    from armtwin.identification.friction_curves.presliding import (
        PreslidingFit as PreslidingFit,
        fit_presliding as fit_presliding,
    )
    from armtwin.identification.friction_curves.result import FrictionFit as FrictionFit
    from armtwin.identification.payload.identify_payload import (
        identify_drive_gains as identify_drive_gains,
        identify_payload as identify_payload,
    )
    from armtwin.identification.payload.result import PayloadIdentification as PayloadIdentification
    from armtwin.identification.rigid_body.evaluation.estimate import (
        Estimate as Estimate,
        Validation as Validation,
    )
    from armtwin.identification.rigid_body.evaluation.result import (
        Identification as Identification,
        judge as judge,
    )
    from armtwin.identification.rigid_body.identify import identify as identify
    from armtwin.identification.rigid_body.recipe import Recipe as Recipe
    from armtwin.identification.servo.identify_servo import identify_servo as identify_servo
    from armtwin.identification.servo.result import ServoIdentification as ServoIdentification
    from armtwin.identification.transmission.result import (
        TransmissionIdentification as TransmissionIdentification,
    )
    from armtwin.identification.warm_up.identify_warm_up import (
        WarmUpIdentification as WarmUpIdentification,
        identify_warm_up as identify_warm_up,
    )
    from armtwin.identification.worm.identify_worm import (
        WormIdentification as WormIdentification,
        identify_worm as identify_worm,
    )
    from armtwin.jobs.experiment import Experiment as Experiment
    from armtwin.jobs.experiment_run import ExperimentRun as ExperimentRun
    from armtwin.jobs.job import Job as Job
    from armtwin.jobs.recreation import Recreation as Recreation, recreate as recreate
    from armtwin.jobs.run_experiment import run_experiment as run_experiment
    from armtwin.jobs.shipped import jobs as jobs, robots as robots
    from armtwin.logs.log import Log as Log
    from armtwin.logs.recording import Event as Event
    from armtwin.motion.trajectory import Trajectory as Trajectory
    from armtwin.prediction.advice import Advice as Advice
    from armtwin.prediction.advise import advise as advise
    from armtwin.prediction.answer import Answer as Answer
    from armtwin.prediction.band.band import Band as Band, assess as assess
    from armtwin.prediction.causes import explain as explain
    from armtwin.prediction.check_motion import check_motion_of as check_motion_of
    from armtwin.prediction.compare import compare as compare
    from armtwin.prediction.comparison import Comparison as Comparison
    from armtwin.prediction.correct import correct as correct
    from armtwin.prediction.correction import Correction as Correction
    from armtwin.prediction.in_loop import identify_in_loop as identify_in_loop
    from armtwin.prediction.learning import learn_from_runs as learn_from_runs
    from armtwin.prediction.parts import ErrorParts as ErrorParts, error_parts as error_parts
    from armtwin.prediction.predict import Prediction as Prediction, predict as predict
    from armtwin.prediction.reference_comparison import ReferenceComparison as ReferenceComparison
    from armtwin.prediction.registration import GivenRegistration as GivenRegistration
    from armtwin.prediction.seams import ZoneSweep as ZoneSweep, sweep_zone as sweep_zone
    from armtwin.prediction.sensitivity import sensitivity as sensitivity
    from armtwin.prediction.side_by_side import (
        SideBySide as SideBySide,
        side_by_side as side_by_side,
    )
    from armtwin.prediction.tool_path import (
        ToolPathComparison as ToolPathComparison,
        compare_tool_path as compare_tool_path,
    )
    from armtwin.prediction.twist import identify_transmission as identify_transmission
    from armtwin.report.catalog import Catalog as Catalog
    from armtwin.report.result import write_report as write_report
    from armtwin.robot.dynamics.friction_columns import ContactStates as ContactStates
    from armtwin.robot.robot import Robot as Robot
    from armtwin.simulation.bench import (
        Bench as Bench,
        BenchFriction as BenchFriction,
        BenchRun as BenchRun,
        bench_of as bench_of,
        simulate_bench as simulate_bench,
    )
    from armtwin.simulation.closed_loop import simulate as simulate
    from armtwin.simulation.model import Model as Model
    from armtwin.simulation.options import RunOptions as RunOptions
    from armtwin.simulation.outcome import Run as Run
    from armtwin.simulation.response import Response as Response
    from armtwin.simulation.responses import (
        StepTest as StepTest,
        driven_response as driven_response,
        step_response as step_response,
    )
    from armtwin.sweeps.cluster import Cluster as Cluster
    from armtwin.sweeps.result import SweepResult as SweepResult
    from armtwin.sweeps.running import sweep as sweep
    from armtwin.sweeps.sweep import Sweep as Sweep


def _find_modules() -> dict[str, str]:
    """The module of each public name, as the block above imports them."""
    tree = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    modules = {}
    for block in tree.body:
        if not isinstance(block, ast.If):
            continue
        for line in block.body:
            if isinstance(line, ast.ImportFrom):
                for name in line.names:
                    modules[name.name] = str(line.module)
    return modules


_MODULES = _find_modules()
__all__ = sorted([*_MODULES, "ArmtwinError", "FileError", "__version__"])
_FORMER = {"design_excitation": "excite"}  # names that were public before

# Loaded now, the package of the jobs does not take the place of `at.jobs` later.
import_module("armtwin.jobs")
del globals()["jobs"]


def __getattr__(name: str) -> Any:
    if name in _FORMER:
        raise FormerNameError(f"at.{name} is now called at.{_FORMER[name]}")
    if name not in _MODULES:
        raise AttributeError(f"module 'armtwin' has no attribute '{name}'")
    if _MODULES[name] == __name__:  # a package whose own names are public
        return import_module(f"{__name__}.{name}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value if isinstance(value, type) else _guard_function(value, name)
    _guard_classes()
    return globals()[name]


def _guard_function(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A public function that checks its arguments; pickled by its public name."""
    from armtwin.border import guard

    checked = guard(call, name)
    checked.__module__, checked.__qualname__ = __name__, name
    return checked


def _guard_classes() -> None:
    """Have all public classes that are loaded check the arguments of their methods."""
    from armtwin.border import guard_class

    for name, module in _MODULES.items():
        value = getattr(sys.modules.get(module), name, None)
        if isinstance(value, type):
            guard_class(value)


def __dir__() -> list[str]:
    return list(__all__)
