"""The command that fills what a prediction still lacks in a robot file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import armtwin as at
from armtwin.app.options import Force, Json, Output, given_path, optional_quantity
from armtwin.app.robot_run import inputs_of, robot_run
from armtwin.app.robots import mounted

DONE, FAILED = 0, 1


def complete(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file (.toml, .urdf).")],
    logs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[LOG]...", help="Logs of it, for postures, speeds, torques."),
    ] = None,
    bandwidth: Annotated[
        str | None,
        typer.Option("--bandwidth", help='Of the position loop of a guessed servo, as "10 Hz".'),
    ] = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the logs.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Tool that it carries.")] = None,
    payload: Annotated[
        str | None, typer.Option("--payload", help="Payload that it carries.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=given_path, metavar="PATH", help="The completed robot file (.toml)."
        ),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Fill what a prediction still lacks in a robot file by named rules, marked as assumed.

    Exit code 1: no rule gives all that it lacks.
    """
    given = mounted(robot, tool, payload)
    frequency = optional_quantity("--bandwidth", bandwidth, "Hz")
    inputs = inputs_of(robot, logs or [], columns)
    run = robot_run("complete", given, inputs, Output(out, json, force))
    read = [at.Log.read(log, columns) for log in logs or []]
    result = at.complete(given, read, bandwidth=frequency)
    from armtwin.identification.completion.completion_report import completion_report

    run.finish(completion_report(result), result.robot)
    raise typer.Exit(FAILED if result.still else DONE)
