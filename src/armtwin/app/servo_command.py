"""The command that fits the servo of a robot to its logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import armtwin as at
from armtwin.app.options import Force, Json, Output, given_path
from armtwin.app.progress import progress_bar
from armtwin.app.robot_run import inputs_of, robot_run
from armtwin.app.robots import mounted

DONE, FAILED = 0, 1


def servo(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file (.toml).")],
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG...", help="Logs with q_ref and q (.csv, .csv.gz, .npz, bags)."),
    ],
    validate: Annotated[
        list[Path] | None,
        typer.Option("--validate", help="A log that the fit does not see; may be repeated."),
    ] = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the logs.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Tool mounted while logging.")] = None,
    payload: Annotated[
        list[str] | None,
        typer.Option("--payload", help="Payload mounted while logging; one, or one for each log."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=given_path,
            metavar="PATH",
            help="The robot file with the servo (.toml)",
        ),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Fit the servo from the reference and the motion of logs: robot file with it, and report.

    Exit code 1: it explains less than 80 % of some joint's error where it was judged.
    """
    given = payload or []
    prior = mounted(robot, tool, given[0] if len(given) == 1 else None)
    unseen = validate or []
    inputs = inputs_of(robot, [*logs, *unseen], columns)
    run = robot_run("servo", prior, inputs, Output(out, json, force))
    with progress_bar("logs") as progress:
        read = [at.Log.read(path, columns) for path in logs]
        held_out = [at.Log.read(path, columns) for path in unseen]
        if progress is not None:
            progress("fit", 0.3)
        found = at.identify_servo(
            prior, read, held_out or None, payloads=given if len(given) > 1 else None
        )
    run.finish(found.sections(), found.robot)
    raise typer.Exit(DONE if found.validated else FAILED)
