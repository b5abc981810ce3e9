"""`write_report`: any result as one HTML file."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

from armtwin.analysis.bearing_loads import BearingLoads
from armtwin.analysis.flexibility import Flexibility
from armtwin.errors import ArmtwinError
from armtwin.files.whole import write_file
from armtwin.identification.completion.complete import Completion
from armtwin.identification.rigid_body.estimate import Estimate
from armtwin.identification.rigid_body.judgement import Identification
from armtwin.identification.servo.identify_servo import ServoIdentification
from armtwin.jobs.job import Job
from armtwin.logs.log import Log
from armtwin.prediction.answer import Answer
from armtwin.prediction.causes import explain
from armtwin.prediction.compare import Comparison
from armtwin.prediction.compare_reference import ReferenceComparison
from armtwin.prediction.predict import Prediction
from armtwin.report.completion_report import completion_report
from armtwin.report.flexibility_report import flexibility_report
from armtwin.report.identification_report import identification_report
from armtwin.report.inputs import file_name
from armtwin.report.job_report import job_report
from armtwin.report.loads_report import loads_report
from armtwin.report.log_report import log_report
from armtwin.report.page import to_html
from armtwin.report.prediction_report import prediction_report
from armtwin.report.reference_report import reference_report
from armtwin.report.robot_report import robot_report
from armtwin.report.sections import Report
from armtwin.report.servo_report import servo_report
from armtwin.robot.robot import Robot


def write_report(result: Any, path: str | Path) -> None:
    """Write the report of a result as one HTML file that needs nothing else.

    Args:
        result: A prediction, a comparison, or an answer that holds both with causes and advice;
            an estimate, or an identification that holds one with its judgement; a fitted servo; a
            completion; a robot, a job or a log.
        path: The file.
    """
    write_file(Path(path), to_html(to_report(result)))


@singledispatch
def to_report(result: Any) -> Report:
    """The report of a result."""
    raise ArmtwinError(f"there is no report of a {type(result).__name__}")


@to_report.register
def _of_answer(answer: Answer) -> Report:
    return prediction_report(answer)


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
def _of_servo(found: ServoIdentification) -> Report:
    return servo_report(found)


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
    return flexibility_report(found)


@to_report.register
def _of_loads(loads: BearingLoads) -> Report:
    return loads_report(loads)
