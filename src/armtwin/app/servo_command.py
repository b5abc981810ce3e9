"""The command that fits the servo of a robot to its logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import armtwin as at
from armtwin.app.options import Force, Json, given_path
from armtwin.app.places import Source, files_of_log, result_folder
from armtwin.app.progress import progress_bar
from armtwin.app.showing import REPORT, finish
from armtwin.report.folder import RESULT
from armtwin.robot.files import to_text

DONE, FAILED = 0, 1
ROBOT = "robot.toml"
WRITTEN = (ROBOT, REPORT, RESULT)


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
        typer.Option("--out", parser=given_path, metavar="DIR", help="Folder of the results."),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Fit the servo from the reference and the motion of logs: robot file with it, and report.

    Exit code 1: it explains less than 80 % of some joint's error where it was judged.
    """
    prior = at.Robot.load(robot)
    if tool is not None:
        prior = prior.with_tool(tool)
    given = payload or []
    if len(given) == 1:
        prior = prior.with_payload(given[0])
    unseen = validate or []
    inputs = [Path(robot)]
    for path in (*logs, *unseen):
        inputs += files_of_log(path, columns)
    source = Source("servo", f"{prior.name}_servo", prior.origin)
    place = result_folder(source, out, WRITTEN, inputs, force)
    with progress_bar("logs") as progress:
        read = [at.Log.read(path, columns) for path in logs]
        held_out = [at.Log.read(path, columns) for path in unseen]
        if progress is not None:
            progress("fit", 0.3)
        found = at.identify_servo(
            prior, read, held_out or None, payloads=given if len(given) > 1 else None
        )
    from armtwin.report.servo_report import servo_report

    text = to_text(found.robot.description)
    finish(servo_report(found), place, {ROBOT: text}, json)
    raise typer.Exit(DONE if found.validated else FAILED)
