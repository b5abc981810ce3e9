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
from armtwin.jobs.job import Job
from armtwin.logs.log import Log
from armtwin.logs.log_report import log_report
from armtwin.notebook.sections import Report
from armtwin.prediction.job_report import job_report
from armtwin.report.page import to_html
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.robot_report import robot_report
from armtwin.simulation.response_report import response_report
from armtwin.simulation.responses import Response


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
def _of_sensitivity(result: Sensitivity) -> Report:
    return sensitivity_report(result, "sensitivity")


@to_report.register
def _of_step_response(result: Response) -> Report:
    return response_report(result)
