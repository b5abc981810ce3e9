"""The command that tells what the answer of a job or an experiment depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import armtwin as at
from armtwin.app.options import Force, Json, given_path
from armtwin.app.places import Source, files_of_job, is_experiment, result_folder
from armtwin.app.progress import of, progress_bar
from armtwin.app.showing import REPORT, finish
from armtwin.errors import ArmtwinError
from armtwin.jobs.experiment import Experiment
from armtwin.jobs.job import Job
from armtwin.maths.units import Unit
from armtwin.report.folder import RESULT

CHANGE = "10 %"


def sensitivity(
    what: Annotated[
        str,
        typer.Argument(
            metavar="JOB|EXPERIMENT", help="A job or an experiment, shipped or a file (.toml)."
        ),
    ],
    keys: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY...",
            help='Key paths of the robot file or the bench, as "friction.*.viscous", '
            '"motor + gear", or quantities that a verdict depends on, as servo.bandwidth.',
        ),
    ],
    by: Annotated[str, typer.Option("--by", help="Relative change, both ways.")] = CHANGE,
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--feature",
            help='What is looked at, as "overshoot" or "period"; the first ranks. By default all.',
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=given_path, metavar="PATH", help="Folder for the results."),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Say what a job's path error or an experiment's features depend on, changed both ways."""
    asked = Experiment.load(what) if is_experiment(what) else Job.load(what)
    try:
        change = Unit("1", above=0).read_word(by)
    except ArmtwinError as error:
        raise ArmtwinError(f"--by {error}") from None
    if change >= 1:
        raise ArmtwinError(f"--by must be less than 100 %, got {by}")
    chosen = None if not features else [name.replace("_", " ") for name in features]
    options: dict[str, Any] = {"keys": keys, "by": change}
    words = [*keys] if by == CHANGE else [*keys, by]
    if chosen is not None:
        options["features"] = chosen
        words += chosen
    source = Source("sensitivity", asked.name, asked.origin, options, tuple(words))
    files = asked.files if isinstance(asked, Experiment) else files_of_job(asked)
    place = result_folder(source, out, (RESULT, REPORT), files, force)
    from armtwin.analysis.sensitivity_report import sensitivity_report

    with progress_bar("runs") as progress:
        report_share = of(progress, "runs")
        found = at.sensitivity(asked, keys, by=change, features=chosen, progress=report_share)
    finish(sensitivity_report(found, asked.name), place, {}, json)
