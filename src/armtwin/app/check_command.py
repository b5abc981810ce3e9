"""The command that says what is in a file."""

import os
from pathlib import Path

from armtwin import ArmtwinError, Job, Log, Robot
from armtwin.app import options as opt
from armtwin.app.places import is_experiment, is_sweep
from armtwin.app.run import end_with_cautions
from armtwin.app.showing import describe
from armtwin.files.reading import read_tables
from armtwin.jobs import files as job_files
from armtwin.jobs.experiment import Experiment
from armtwin.logs.formats.table import FORMATS, find_format
from armtwin.prediction.job_check import JobCheck
from armtwin.prediction.predict import refuse_incomplete
from armtwin.programs import table as programs
from armtwin.report.result import Result


def check(
    file: str = opt.argument(
        "FILE",
        "A robot (.toml, .urdf, shipped), job or experiment (.toml, shipped), sweep, log, bag, "
        "or robot program.",
    ),
    robot: str | None = opt.option(
        "ROBOT", "Of a log: the robot whose limits and weight it should fit."
    ),
    columns: opt.Columns = None,
    frames: opt.Frames = None,
    json: opt.Json = False,
) -> None:
    """Say what is in a file, what is measured, public, assumed, missing; nothing is run.

    Exit code 1: a mistake would explain what a robot, a job or a log of --robot says, or a
    program has lines that are not understood.
    """
    program = programs.find_format(Path(file))
    if program is not None:
        given = programs.read_side_file(frames)
        model = None if robot is None else Robot.load(robot)
        found: Result = programs.ProgramContents(programs.read_program(Path(file), given, model))
    elif frames is not None:
        raise ArmtwinError(f"--frames is for a robot program, but '{file}' is none")
    else:
        found = _contents(file, robot, columns)
    describe(found, json)
    end_with_cautions(getattr(found, "cautions", ()))


def _contents(file: str, robot: str | None, columns: Path | None) -> Result:
    """What is in a file, of a log beside a robot where one is named."""
    from armtwin.identification.plausibility.log_check import LogCheck
    from armtwin.sweeps.sweep import Sweep

    if _is_log(file):
        log = _read_log(file, columns)
        return log if robot is None else LogCheck(log, Robot.load(robot))
    if robot is not None or columns is not None:
        given = "--columns" if robot is None else "--robot"
        raise ArmtwinError(f"{given} is for a log, but '{file}' is none")
    if is_sweep(file):
        return Sweep.load(file)
    if is_experiment(file):
        return Experiment.load(file)
    keys = set(read_tables(Path(file))) if file.endswith(".toml") else set()
    if file in job_files.list_shipped() or keys & {"segment", "robot", "speed"}:
        job = Job.load(file)
        _refuse_unknown_servo(job)
        return JobCheck(job)
    return Robot.load(file)


def _is_log(file: str) -> bool:
    """Whether a name is that of a log: all that is there and is no robot, job or table of TOML."""
    if file.endswith((".toml", ".urdf", ".xacro")):
        return False
    if os.path.isfile(file) and not file.endswith(".xml"):
        return True
    return find_format(Path(file)) is not None


def _read_log(file: str, columns: Path | None) -> Log:
    """The log of a file; what no format recognises is said to be no log that can be read."""
    known = find_format(Path(file))
    try:
        return Log.read(file, columns)
    except ArmtwinError as error:
        if known is not None:
            raise
        names = ", ".join(one.name for one in FORMATS)
        sentence = f"is a log that cannot be read: it is none of {names}"
        raise ArmtwinError(f"{file}: {sentence}. As CSV: {error}") from None


def _refuse_unknown_servo(job: Job) -> None:
    """Refuse a job that names another servo than its robot has, as a prediction would."""
    robot = job.robot()
    if robot.description.servo and job.description.model.servo not in robot.description.servo:
        refuse_incomplete(robot, job)
