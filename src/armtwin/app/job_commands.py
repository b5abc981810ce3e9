"""The commands that run jobs: predict, compare, jobs, demo."""

from __future__ import annotations

import json as json_text
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

import armtwin as at
from armtwin.app import job_pages
from armtwin.app.progress import of, progress_bar
from armtwin.errors import ArmtwinError
from armtwin.jobs import files as job_files
from armtwin.jobs.groups import ToolSpeed
from armtwin.jobs.job import Job
from armtwin.report.folder import check_folder, write_folder
from armtwin.report.results import to_result
from armtwin.robot.files import write_atomically

DEFAULT_JOB = "rx90b_line"
WITHIN, OUT = 0, 1

JobName = Annotated[str, typer.Argument(help="A shipped job, or a job file (.toml).")]
Method = Annotated[Literal["nonlinear", "perturbation"], typer.Option(help="How the arm is simulated.")]
RobotName = Annotated[str | None, typer.Option("--robot", help="Another robot than the job's.")]
ToolName = Annotated[str | None, typer.Option("--tool", help="Another tool than the job's.")]
Speed = Annotated[str | None, typer.Option("--speed", help='Another tool speed, as "100 mm/s".')]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the results; by default armtwin_out/JOB.")]
Advise = Annotated[bool, typer.Option("--advise", help="Search what would make the seam hold; writes advised.toml.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Force = Annotated[bool, typer.Option("--force", help="Write into a folder that holds other files.")]


def demo() -> None:
    """Predict the default job and say where the report is."""
    job = Job.load(DEFAULT_JOB)
    folder = _folder(job, None)
    check_folder(folder, force=True)
    answer = _answered(job, "nonlinear")
    _write(folder, answer)
    _show(job_pages.prediction_page(answer), folder)
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
    chosen = _chosen(job, robot, tool, speed)
    folder = _folder(chosen, out)
    check_folder(folder, force)
    answer = _answered(chosen, method, advise)
    result = _write(folder, answer)
    if json:
        typer.echo(json_text.dumps(result, allow_nan=False))
    else:
        _show(job_pages.prediction_page(answer), folder)
    raise typer.Exit(WITHIN if answer.prediction.verdict.within else OUT)


def compare(
    job: JobName,
    log: Annotated[Path, typer.Argument(help="A logged run of that job (.csv, .csv.gz, .npz).")],
    robot: RobotName = None,
    tool: ToolName = None,
    method: Method = "nonlinear",
    speed: Speed = None,
    columns: Annotated[Path | None, typer.Option("--columns", help="Columns file of the log.")] = None,
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Show a logged run of a job over the predicted one. Exit code 1: the logged run was out of tolerance."""
    chosen = _chosen(job, robot, tool, speed)
    folder = _folder(chosen, out, "_compared")
    check_folder(folder, force)
    logged = at.Log.read(log, columns)
    with progress_bar("path") as progress:
        comparison = at.compare(chosen, logged, method=method, progress=progress)
        told = at.explain(comparison.prediction, of(progress, "causes"))
    answer = at.Answer(comparison.prediction, told, comparison=comparison)
    result = _write(folder, answer)
    if json:
        typer.echo(json_text.dumps(result, allow_nan=False))
    else:
        _show(job_pages.comparison_page(comparison, log.name), folder)
    raise typer.Exit(WITHIN if comparison.verdict.within else OUT)


def jobs(name: Annotated[str | None, typer.Argument(help="A shipped job, or a job file (.toml).")] = None) -> None:
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


def _chosen(name: str, robot: str | None, tool: str | None, speed: str | None) -> Job:
    """A job with what the command line changes."""
    job = Job.load(name)
    if robot is not None or tool is not None:
        job = job.with_robot(robot or job.description.robot, tool)
    if speed is not None:
        try:
            job = job.with_speed(ToolSpeed.__metadata__[0].read_word(speed))  # type: ignore[attr-defined]
        except ArmtwinError as error:
            raise ArmtwinError(f"--speed {error}") from None
    return job


def _folder(job: Job, out: Path | None, suffix: str = "") -> Path:
    """Where results go: the folder asked for, or one named after the job."""
    if out is not None:
        return out
    return Path("armtwin_out") / ((re.sub(r"[^\w-]+", "_", job.name).strip("_") or "job") + suffix)


def _answered(job: Job, method: Literal["nonlinear", "perturbation"], advise: bool = False) -> at.Answer:
    with progress_bar("path") as progress:
        prediction = at.predict(None, job, method=method, progress=progress)
        told = at.explain(prediction, of(progress, "causes"))
        advice = at.advise(prediction, progress=of(progress, "advice")) if advise else None
    return at.Answer(prediction, told, advice)


def _write(folder: Path, answer: at.Answer) -> dict[str, Any]:
    """Write the results of an answer; returns what result.json holds."""
    result = to_result(answer)
    writers: dict[str, Callable[[Path], None]] = {
        "result.json": lambda path: write_atomically(path, json_text.dumps(result, allow_nan=False, indent=1)),
        "log.csv": answer.prediction.log.write,
        "report.html": lambda path: at.write_report(answer, path),
    }
    if answer.comparison is not None:
        text = _compared(answer.comparison)
        writers["compared.csv"] = lambda path: write_atomically(path, text)
    best = None if answer.advice is None else answer.advice.best
    if best is not None:
        writers["advised.toml"] = best.job.seen_from(folder).save
    write_folder(folder, writers)
    return result


def _compared(comparison: at.Comparison) -> str:
    """Measured and predicted series side by side, as CSV."""
    names = [f"{name.replace(' ', '_')}_{which}" for name in comparison.channels for which in ("measured", "predicted")]
    columns = [comparison.time, *(x for pair in comparison.channels.values() for x in pair)]
    rows = zip(*(x.tolist() for x in columns), strict=True)
    return "\n".join([",".join(["time", *names]), *(",".join(map(repr, row)) for row in rows)]) + "\n"
