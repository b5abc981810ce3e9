"""The command that identifies what a robot carries, or its drives by what it carries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import armtwin as at
from armtwin.app.options import Force, Json, Output, given_path, optional_quantity
from armtwin.app.progress import progress_bar
from armtwin.app.robot_run import inputs_of, robot_run
from armtwin.app.robots import mounted
from armtwin.errors import ArmtwinError, did_you_mean

DONE, NOT_TOLD = 0, 1


def payload(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file.")],
    with_it: Annotated[Path, typer.Option("--with", help="Log with the payload.")],
    without: Annotated[
        Path | None, typer.Option("--without", help="Log of the same motion without it.")
    ] = None,
    known: Annotated[
        str | None,
        typer.Option("--known", help='Its mass, "5 kg": finds torque constants from currents.'),
    ] = None,
    held: Annotated[
        bool, typer.Option("--held", help="Hold the arm as in its file; one run is enough.")
    ] = False,
    expected: Annotated[
        str | None,
        typer.Option("--expected", help="A tool or payload of the file that it is believed to be."),
    ] = None,
    torque: Annotated[
        str | None, typer.Option("--torque", help="Channel of the torque, as current_des.")
    ] = None,
    cutoff: Annotated[
        str | None, typer.Option("--cutoff", help='Cut-off frequency, as "10 Hz".')
    ] = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the logs.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Tool mounted in both runs.")] = None,
    payload: Annotated[
        str | None, typer.Option("--payload", help="Payload mounted in both runs.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=given_path, metavar="PATH", help="The robot file with it (.toml)."
        ),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Identify a payload by the difference of two runs, or torque constants by a known one.

    Exit code 1: the runs show no payload, or do not tell a torque constant.
    """
    from armtwin.identification.payload.payload_report import payload_report

    prior = mounted(robot, tool, payload)
    inputs = inputs_of(robot, [with_it, without], columns)
    options: dict[str, Any] = {
        "known": optional_quantity("--known", known, "kg"),
        "cutoff": optional_quantity("--cutoff", cutoff, "Hz"),
        "expected": None if expected is None else _believed(prior, expected),
        "torque": torque,
        "method": "held" if held else "difference",
    }
    run = robot_run("payload", prior, inputs, Output(out, json, force))
    with progress_bar("logs") as progress:
        first = None if without is None else at.Log.read(without, columns)
        second = at.Log.read(with_it, columns)
        if progress is not None:
            progress("fit", 0.5)
        found = at.identify_payload(prior, first, second, **options)
    run.finish(payload_report(found), found.robot)
    told = not found.refused if found.gain is None else bool(found.gain.told.all())
    raise typer.Exit(DONE if told else NOT_TOLD)


def _believed(robot: at.Robot, name: str) -> at.Robot:
    """The robot with a tool or payload of its file on it."""
    description = robot.description
    if name in description.payload:
        return robot.with_payload(name)
    if name in description.tool:
        return robot.with_tool(name)
    known = [*description.tool, *description.payload]
    raise ArmtwinError(
        f"--expected: robot '{robot.name}' has no tool or payload '{name}'. "
        f"{did_you_mean(name, known)}"
    )
