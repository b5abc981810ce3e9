"""`write_report`: any result as one HTML file."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

from armtwin.analysis.analysis_report import coupling_report, inertia_report, torques_report
from armtwin.analysis.bearing_loads import BearingLoads
from armtwin.analysis.bending_report import bending_report
from armtwin.analysis.compliance import Sag, ToolCompliance
from armtwin.analysis.coupling import Coupling
from armtwin.analysis.flexibility import Flexibility
from armtwin.analysis.flexibility_report import compliance_report, modes_report, sag_report
from armtwin.analysis.inertia import EffectiveInertia
from armtwin.analysis.loads_report import loads_report
from armtwin.analysis.modes import Modes
from armtwin.analysis.sensitivity import Sensitivity
from armtwin.analysis.sensitivity_report import sensitivity_report
from armtwin.analysis.torques import TorqueShares
from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.files.whole import write_file
from armtwin.identification.actuator.actuator_report import (
    actuator_report,
    flow_report,
    oil_report,
    valve_report,
)
from armtwin.identification.actuator.identify import (
    ActuatorIdentification,
    FlowIdentification,
    ValveIdentification,
)
from armtwin.identification.actuator.oil import OilFit
from armtwin.identification.clamping.clamp import Clamping
from armtwin.identification.clamping.clamping_report import clamping_report
from armtwin.identification.closed_loop.friction_shapes import ShapeFit
from armtwin.identification.closed_loop.in_loop import LoopIdentification
from armtwin.identification.closed_loop.shape_report import shape_report
from armtwin.identification.completion.complete import Completion
from armtwin.identification.completion.completion_report import completion_report
from armtwin.identification.excitation.excitation import Excitation
from armtwin.identification.excitation.excitation_report import excitation_report
from armtwin.identification.frequency import LogResponse
from armtwin.identification.frequency_report import frequency_report
from armtwin.identification.friction_curves.fit_friction import FrictionFit
from armtwin.identification.friction_curves.friction_report import (
    friction_report,
    presliding_report,
)
from armtwin.identification.friction_curves.presliding import PreslidingFit
from armtwin.identification.payload.identify_payload import PayloadIdentification
from armtwin.identification.payload.payload_report import payload_report
from armtwin.identification.rigid_body.estimate import Estimate
from armtwin.identification.rigid_body.identification_report import identification_report
from armtwin.identification.rigid_body.judgement import Identification
from armtwin.identification.transmission.identify_transmission import (
    TransmissionIdentification,
)
from armtwin.identification.transmission.transmission_report import transmission_report
from armtwin.identification.warm_up import WarmUpIdentification
from armtwin.identification.warm_up_report import warm_up_report
from armtwin.identification.worm import WormIdentification
from armtwin.identification.worm_report import worm_report
from armtwin.jobs.experiment_report import experiment_report
from armtwin.jobs.experiment_run import ExperimentRun
from armtwin.jobs.job import Job
from armtwin.jobs.recreation import recreate
from armtwin.logs.log import Log
from armtwin.logs.log_report import log_report
from armtwin.notebook.sections import Report
from armtwin.prediction.answer import Answer
from armtwin.prediction.causes import explain
from armtwin.prediction.compare import Comparison
from armtwin.prediction.compare_reference import ReferenceComparison
from armtwin.prediction.correct import Correction
from armtwin.prediction.correction_report import correction_report
from armtwin.prediction.job_report import job_report
from armtwin.prediction.predict import Prediction
from armtwin.prediction.prediction_report import prediction_report
from armtwin.prediction.reference_report import reference_report
from armtwin.prediction.side_by_side import SideBySide
from armtwin.prediction.side_by_side_report import side_by_side_report
from armtwin.report.page import to_html
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.robot_report import robot_report
from armtwin.simulation.response_report import response_report
from armtwin.simulation.responses import Response
from armtwin.sweeps.result import SweepResult
from armtwin.sweeps.sweep_report import sweep_report


def write_report(result: Any, path: str | Path) -> None:
    """Write the report of a result as one HTML file that needs nothing else.

    Args:
        result: A prediction, a comparison, or an answer that holds both with causes and advice;
            several runs side by side; a sweep;
            an estimate, or an identification that holds one with its judgement; a fitted servo; a
            completion; a clamping, a transmission, an actuator, an experiment that was run; an
            analysis; a correction; an excitation; a payload; a
            robot, a job or a log.
        path: The file.
    """
    write_file(Path(path), to_html(to_report(result)))


@singledispatch
def to_report(result: Any) -> Report:
    """The report of a result."""
    if isinstance(result, Result):
        return result.sections()
    raise ArmtwinError(f"there is no report of a {type(result).__name__}")


@to_report.register
def _of_answer(answer: Answer) -> Report:
    return prediction_report(answer)


@to_report.register
def _of_runs(runs: SideBySide) -> Report:
    return side_by_side_report(runs)


@to_report.register
def _of_sweep(result: SweepResult) -> Report:
    return sweep_report(result)


@to_report.register
def _of_prediction(prediction: Prediction) -> Report:
    return prediction_report(Answer(prediction, explain(prediction)))


@to_report.register
def _of_comparison(comparison: Comparison) -> Report:
    prediction = comparison.prediction
    return prediction_report(Answer(prediction, explain(prediction), comparison=comparison))


@to_report.register
def _of_reference(comparison: ReferenceComparison) -> Report:
    return reference_report(comparison)


@to_report.register
def _of_completion(result: Completion) -> Report:
    return completion_report(result)


@to_report.register
def _of_identification(result: Identification) -> Report:
    return identification_report(result)


@to_report.register
def _of_estimate(estimate: Estimate) -> Report:
    return identification_report(Identification(estimate))


@to_report.register
def _of_loop(result: LoopIdentification) -> Report:
    return identification_report(Identification(result.fit))


@to_report.register
def _of_shapes(result: ShapeFit) -> Report:
    return shape_report(result)


@to_report.register
def _of_clamping(result: Clamping) -> Report:
    return clamping_report(result, recreate(result))


@to_report.register
def _of_experiment(run: ExperimentRun) -> Report:
    return experiment_report(run)


@to_report.register
def _of_transmission(result: TransmissionIdentification) -> Report:
    return transmission_report(result)


@to_report.register
def _of_excitation(result: Excitation) -> Report:
    return excitation_report(result)


@to_report.register
def _of_payload(result: PayloadIdentification) -> Report:
    return payload_report(result)


@to_report.register
def _of_robot(robot: Robot) -> Report:
    return robot_report(robot, sources=True)


@to_report.register
def _of_job(job: Job) -> Report:
    return job_report(job)


@to_report.register
def _of_log(log: Log) -> Report:
    return log_report(log, file_name(log.origin, "log"))


@to_report.register
def _of_flexibility(found: Flexibility) -> Report:
    return bending_report(found)


@to_report.register
def _of_loads(loads: BearingLoads) -> Report:
    return loads_report(loads)


@to_report.register
def _of_torques(result: TorqueShares) -> Report:
    return torques_report(result)


@to_report.register
def _of_coupling(result: Coupling) -> Report:
    return coupling_report(result)


@to_report.register
def _of_correction(result: Correction) -> Report:
    return correction_report(result)


@to_report.register
def _of_modes(result: Modes) -> Report:
    return modes_report(result)


@to_report.register
def _of_sag(result: Sag) -> Report:
    return sag_report(result)


@to_report.register
def _of_compliance(result: ToolCompliance) -> Report:
    return compliance_report(result)


@to_report.register
def _of_inertia(result: EffectiveInertia) -> Report:
    return inertia_report(result)


@to_report.register
def _of_response(result: LogResponse) -> Report:
    return frequency_report(result)


@to_report.register
def _of_sensitivity(result: Sensitivity) -> Report:
    return sensitivity_report(result, "sensitivity")


@to_report.register
def _of_step_response(result: Response) -> Report:
    return response_report(result)


@to_report.register
def _of_oil(result: OilFit) -> Report:
    return oil_report(result)


@to_report.register
def _of_actuator(result: ActuatorIdentification) -> Report:
    return actuator_report(result)


@to_report.register
def _of_valve(result: ValveIdentification) -> Report:
    return valve_report(result)


@to_report.register
def _of_flow(result: FlowIdentification) -> Report:
    return flow_report(result)


@to_report.register
def _of_friction(result: FrictionFit) -> Report:
    return friction_report(result)


@to_report.register
def _of_warm_up(result: WarmUpIdentification) -> Report:
    return warm_up_report(result)


@to_report.register
def _of_worm(result: WormIdentification) -> Report:
    return worm_report(result)


@to_report.register
def _of_presliding(result: PreslidingFit) -> Report:
    return presliding_report(result)
