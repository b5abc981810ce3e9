"""The commands that run jobs: predict, compare, jobs, demo."""

from __future__ import annotations

import json as json_text
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

import armtwin as at
from armtwin.app import job_pages
from armtwin.app.options import given_path
from armtwin.app.places import files_of_job, files_of_log, of_job, result_folder
from armtwin.app.progress import of, progress_bar
from armtwin.errors import ArmtwinError, FileError
from armtwin.files.disk import Content
from armtwin.jobs import files as job_files
from armtwin.jobs.job import Job
from armtwin.logs.csv_files import put_csv
from armtwin.report.folder import RESULT, ResultFolder
from armtwin.report.page import to_html
from armtwin.report.results import to_result
from armtwin.report.writing import to_report

DEFAULT_JOB = "rx90b_line"
WITHIN, OUT = 0, 1
PREDICTED = [RESULT, "log.csv", "report.html"]

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
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Force = Annotated[
    bool, typer.Option("--force", help="Write into a folder that holds other things.")
]


def demo() -> None:
    """Predict the default job and say where the report is."""
    job = Job.load(DEFAULT_JOB)
    source = of_job("predict", job, job, "nonlinear")
    place = result_folder(source, None, PREDICTED, files_of_job(job), force=True)
    answer = _answered(job, "nonlinear")
    _write(place, answer)
    _show(job_pages.prediction_page(answer), place.path)
    typer.echo("Next: armtwin jobs, armtwin predict JOB --advise, armtwin --help")


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
    """Simulate a job in closed loop: errors, verdict, causes, advice. Exit code 1: out of tolerance."""
    asked = Job.load(job)
    chosen = _chosen(asked, robot, tool, speed)
    source = of_job("predict", asked, chosen, method)
    names = [*PREDICTED, "advised.toml"] if advise else PREDICTED
    place = result_folder(source, out, names, files_of_job(chosen), force)
    answer = _answered(chosen, method, advise)
    result = _write(place, answer)
    if json:
        typer.echo(json_text.dumps(result, allow_nan=False))
    else:
        _show(job_pages.prediction_page(answer), place.path)
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
    """Show a logged run of a job over the predicted one. Exit code 1: the logged run was out of tolerance."""
    asked = Job.load(job)
    chosen = _chosen(asked, robot, tool, speed)
    source = of_job("compare", asked, chosen, method)
    inputs = [*files_of_job(chosen), *files_of_log(log, columns)]
    place = result_folder(source, out, [*PREDICTED, "compared.csv"], inputs, force)
    logged = at.Log.read(log, columns)
    with progress_bar("path") as progress:
        comparison = at.compare(chosen, logged, method=method, progress=progress)
        told = at.explain(comparison.prediction, of(progress, "causes"))
    answer = at.Answer(comparison.prediction, told, comparison=comparison)
    result = _write(place, answer)
    if json:
        typer.echo(json_text.dumps(result, allow_nan=False))
    else:
        _show(job_pages.comparison_page(comparison, log.name), place.path)
    raise typer.Exit(WITHIN if comparison.verdict.within else OUT)


def jobs(
    name: Annotated[
        str | None, typer.Argument(help="A shipped job, or a job file (.toml).")
    ] = None,
) -> None:
    """List the shipped jobs, or show one of them; nothing is simulated."""
    if name is None:
        page = job_pages.job_shelf([Job.load(known) for known in job_files.shipped()])
    else:
        page = job_pages.job_page(Job.load(name))
    _console().print(page)


def _console() -> Console:
    return Console(highlight=False, soft_wrap=False)


def _show(page: Any, folder: Path) -> None:
    console = _console()
    console.print(page)
    console.print(f"wrote {(folder / 'report.html').as_posix()}", soft_wrap=True, markup=False)


def _chosen(job: Job, robot: str | None, tool: str | None, speed: str | None) -> Job:
    """A job with what the command line changes."""
    if robot is not None or tool is not None:
        job = job.with_robot(robot or job.description.robot, tool)
    if speed is not None:
        try:
            job = job.with_speed(speed)
        except FileError:
            raise
        except ArmtwinError as error:  # it begins with the word speed
            raise ArmtwinError(f"--{error}") from None
    return job


def _answered(
    job: Job, method: Literal["nonlinear", "perturbation"], advise: bool = False
) -> at.Answer:
    with progress_bar("path") as progress:
        prediction = at.predict(None, job, method=method, progress=progress)
        told = at.explain(prediction, of(progress, "causes"))
        advice = at.advise(prediction, progress=of(progress, "advice")) if advise else None
    return at.Answer(prediction, told, advice)


def _write(place: ResultFolder, answer: at.Answer) -> dict[str, Any]:
    """Write the results of an answer; returns what result.json holds."""
    contents: dict[str, Content] = {
        "log.csv": partial(put_csv, answer.prediction.log.recording),
        "report.html": to_html(to_report(answer)),
    }
    if answer.comparison is not None:
        contents["compared.csv"] = _compared(answer.comparison)
    best = None if answer.advice is None else answer.advice.best
    if best is not None:
        contents["advised.toml"] = best.job.seen_from(place.path).to_toml()
    return place.write(to_result(answer), contents)


def _compared(comparison: at.Comparison) -> str:
    """Measured and predicted series side by side, as CSV."""
    names = [
        f"{name.replace(' ', '_')}_{which}"
        for name in comparison.channels
        for which in ("measured", "predicted")
    ]
    columns = [comparison.time, *(x for pair in comparison.channels.values() for x in pair)]
    rows = zip(*(x.tolist() for x in columns), strict=True)
    return (
        "\n".join([",".join(["time", *names]), *(",".join(map(repr, row)) for row in rows)]) + "\n"
    )
