"""The commands that run jobs: predict, compare, jobs, demo."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

import armtwin as at
from armtwin.app.options import Force, Json, given_path
from armtwin.app.places import files_of_job, files_of_log, of_job, result_folder
from armtwin.app.progress import of, progress_bar
from armtwin.app.showing import REPORT, finish, say, show
from armtwin.errors import ArmtwinError, FileError
from armtwin.files.disk import Content
from armtwin.jobs import files as job_files
from armtwin.jobs.job import Job
from armtwin.logs.csv_files import put_csv, rows_as_text
from armtwin.report.folder import RESULT, ResultFolder
from armtwin.report.prediction_report import prediction_report

DEFAULT_JOB = "rx90b_line"
WITHIN, OUT = 0, 1
LOG, COMPARED, ADVISED = "log.csv", "compared.csv", "advised.toml"
PREDICTED = (RESULT, LOG, REPORT)

JobName = Annotated[str, typer.Argument(help="A shipped job, or a job file (.toml).")]
Method = Annotated[
    Literal["nonlinear", "perturbation"], typer.Option(help="How the arm is simulated.")
]
RobotName = Annotated[str | None, typer.Option("--robot", help="Another robot than the job's.")]
ToolName = Annotated[str | None, typer.Option("--tool", help="Another tool than the job's.")]
Speed = Annotated[str | None, typer.Option("--speed", help='Another tool speed, as "100 mm/s".')]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        parser=given_path,
        metavar="PATH",
        help="Folder for the results; by default armtwin_out/JOB or JOB_OPTION.",
    ),
]
Advise = Annotated[
    bool,
    typer.Option("--advise", help="Search what would make the seam hold; writes advised.toml."),
]


def demo() -> None:
    """Predict the default job and say where the report is."""
    job = Job.load(DEFAULT_JOB)
    source = of_job("predict", job, job, "nonlinear")
    place = result_folder(source, None, PREDICTED, files_of_job(job), force=True)
    _deliver(_answered(job, "nonlinear"), place, json=False)
    say("Next: armtwin jobs, armtwin predict JOB --advise, armtwin --help")


def predict(
    job: JobName = DEFAULT_JOB,
    robot: RobotName = None,
    tool: ToolName = None,
    method: Method = "nonlinear",
    speed: Speed = None,
    advise: Advise = False,
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Simulate a job in closed loop: errors, verdict, causes, advice.

    Exit code 1: out of tolerance.
    """
    asked = Job.load(job)
    chosen = chosen_job(asked, robot, tool, speed)
    source = of_job("predict", asked, chosen, method)
    names = (*PREDICTED, ADVISED) if advise else PREDICTED
    place = result_folder(source, out, names, files_of_job(chosen), force)
    answer = _answered(chosen, method, advise)
    _deliver(answer, place, json)
    raise typer.Exit(WITHIN if answer.prediction.verdict.within else OUT)


def compare(
    job: JobName,
    log: Annotated[Path, typer.Argument(help="A logged run of that job (.csv, .csv.gz, .npz).")],
    robot: RobotName = None,
    tool: ToolName = None,
    method: Method = "nonlinear",
    speed: Speed = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the log.")
    ] = None,
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Show a logged run of a job over the predicted one.

    Exit code 1: the logged run was out of tolerance.
    """
    asked = Job.load(job)
    chosen = chosen_job(asked, robot, tool, speed)
    source = of_job("compare", asked, chosen, method)
    inputs = [*files_of_job(chosen), *files_of_log(log, columns)]
    place = result_folder(source, out, (*PREDICTED, COMPARED), inputs, force)
    logged = at.Log.read(log, columns)
    with progress_bar("path") as progress:
        comparison = at.compare(chosen, logged, method=method, progress=progress)
        causes = at.explain(comparison.prediction, of(progress, "causes"))
    answer = at.Answer(comparison.prediction, causes, comparison=comparison)
    _deliver(answer, place, json)
    raise typer.Exit(WITHIN if comparison.verdict.within else OUT)


def jobs(
    name: Annotated[
        str | None, typer.Argument(help="A shipped job, or a job file (.toml).")
    ] = None,
) -> None:
    """List the shipped jobs, or show one of them; nothing is simulated."""
    from armtwin.report.job_report import job_report, job_shelf

    if name is None:
        show(job_shelf(Job.load(known) for known in job_files.shipped()))
    else:
        show(job_report(Job.load(name)))


def chosen_job(job: Job, robot: str | None, tool: str | None, speed: str | None) -> Job:
    """A job with what the command line changes."""
    if robot is not None or tool is not None:
        job = _with_robot(job, robot, tool)
    if speed is not None:
        try:
            job = job.with_speed(speed)
        except FileError:
            raise
        except ArmtwinError as error:  # it begins with the word speed
            raise ArmtwinError(f"--{error}") from None
    return job


def _with_robot(job: Job, robot: str | None, tool: str | None) -> Job:
    """A job with the robot and the tool of the command line, which are to blame if they fail."""
    changed = job.with_robot(robot or job.description.robot, tool)
    try:
        changed.robot()
    except ArmtwinError as error:
        blamed = f"{job.where}: "
        if not str(error).startswith(blamed):
            raise
        given = "--tool" if robot is None else "--robot"
        raise ArmtwinError(f"{given}: {str(error).removeprefix(blamed)}") from None
    return changed


def _answered(
    job: Job, method: Literal["nonlinear", "perturbation"], advise: bool = False
) -> at.Answer:
    with progress_bar("path") as progress:
        prediction = at.predict(None, job, method=method, progress=progress)
        causes = at.explain(prediction, of(progress, "causes"))
        advice = None
        if advise:
            advice = at.advise(prediction, progress=of(progress, "advice"))
    return at.Answer(prediction, causes, advice)


def _deliver(answer: at.Answer, place: ResultFolder, json: bool) -> None:
    """Write and show an answer with its log, its comparison and its advised job."""
    contents: dict[str, Content] = {LOG: partial(put_csv, answer.prediction.log.recording)}
    if answer.comparison is not None:
        contents[COMPARED] = _compared(answer.comparison)
    best = None if answer.advice is None else answer.advice.best
    if best is not None:
        contents[ADVISED] = best.job.seen_from(place.folder).to_toml()
    finish(prediction_report(answer), place, contents, json)


def _compared(comparison: at.Comparison) -> str:
    """Measured and predicted series side by side, as CSV."""
    names = ["time"]
    columns = [comparison.time]
    for name, pair in comparison.channels.items():
        for which, values in zip(("measured", "predicted"), pair, strict=True):
            names.append(f"{name.replace(' ', '_')}_{which}")
            columns.append(values)
    return f"{','.join(names)}\n{rows_as_text(np.column_stack(columns)).decode()}"
