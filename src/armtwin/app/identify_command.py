"""The command that identifies a robot from its logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import armtwin as at
from armtwin.app.options import Force, Json, given_path, optional_quantity
from armtwin.app.places import files_of_log, robot_place
from armtwin.app.progress import Say, of, progress_bar
from armtwin.app.robots import mounted
from armtwin.app.showing import ROBOT, finish
from armtwin.errors import ArmtwinError
from armtwin.maths.units import whole_number
from armtwin.robot.files import to_text

DONE, FAILED = 0, 1

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        parser=given_path,
        metavar="PATH",
        help="The identified robot file (.toml).",
    ),
]


def identify(
    robot: Annotated[
        str, typer.Argument(help="A shipped robot, or a robot file (.toml, .urdf): the prior.")
    ],
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG...", help="Logs to fit (.csv, .csv.gz, .npz, bags)."),
    ],
    validate: Annotated[
        Path | None, typer.Option("--validate", help="A log that the fit does not see.")
    ] = None,
    torque: Annotated[
        str | None,
        typer.Option("--torque", help="Column of the torque, as tau or current_des."),
    ] = None,
    cutoff: Annotated[
        str | None, typer.Option("--cutoff", help='Cut-off of the filter, as "60 Hz".')
    ] = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the logs.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Tool mounted while logging.")] = None,
    payload: Annotated[
        str | None, typer.Option("--payload", help="Payload mounted while logging.")
    ] = None,
    estimator: Annotated[
        Literal["consistent", "ridge", "truncated"],
        typer.Option(help="How parameters are estimated."),
    ] = "consistent",
    motion: Annotated[
        Literal["measured", "reference"], typer.Option(help="Motion of the regressor.")
    ] = "measured",
    period: Annotated[
        str | None, typer.Option("--period", help='Period of a periodic motion, as "8 s".')
    ] = None,
    periods: Annotated[
        str | None, typer.Option("--periods", help='First and last period used, as "2-3".')
    ] = None,
    average: Annotated[
        bool, typer.Option("--average", help="The logs repeat one motion: use their mean.")
    ] = False,
    robust: Annotated[
        bool, typer.Option("--robust", help="Rows with a large residual count less.")
    ] = False,
    friction_only: Annotated[
        bool, typer.Option("--friction-only", help="Keep inertias, renew friction.")
    ] = False,
    against: Annotated[
        list[Path] | None, typer.Option("--against", help="Another model to show beside.")
    ] = None,
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Dynamic parameters from logs: identified robot file and report.

    Exit code 1: the validation failed.
    """
    prior = mounted(robot, tool, payload)
    frequency = optional_quantity("--cutoff", cutoff, "Hz")
    recipe = at.Recipe(
        estimator=estimator,
        motion=motion,
        period=optional_quantity("--period", period, "s"),
        periods=None if periods is None else _periods(periods),
        average=average,
        robust=robust,
        only="friction" if friction_only else "all",
    )
    models = against or []
    place = robot_place(
        "identify", prior, out, _inputs(robot, logs, validate, models, columns), force
    )
    with progress_bar("logs") as progress:
        read = _read(logs, columns, progress)
        unseen = None if validate is None else at.Log.read(validate, columns)
        others = {path.as_posix(): mounted(path, tool, payload) for path in models}
        if progress is not None:
            progress("fit", 0.0)
        found = at.identify(prior, read, torque=torque, cutoff=frequency, recipe=recipe)
        held_out = of(progress, "left out")
        result = at.judge(prior, found, unseen, others=others or None, progress=held_out)
    text = to_text(result.estimate.robot.description)
    from armtwin.report.identification_report import identification_report

    finish(identification_report(result), place, {ROBOT: text}, json)
    raise typer.Exit(FAILED if result.failed else DONE)


def _inputs(
    robot: str,
    logs: list[Path],
    validate: Path | None,
    models: list[Path],
    columns: Path | None,
) -> list[Path]:
    """All files that the command reads."""
    inputs = [Path(robot), *models]
    for log in logs:
        inputs += files_of_log(log, columns)
    if validate is not None:
        inputs += files_of_log(validate, columns)
    return inputs


def _read(logs: list[Path], columns: Path | None, progress: Say | None) -> list[at.Log]:
    found = []
    for number, path in enumerate(logs):
        if progress is not None:
            progress("logs", number / len(logs))
        found.append(at.Log.read(path, columns))
    return found


def _periods(text: str) -> tuple[int, int]:
    """First period (0 is the first) and number of periods, from "2-3" or "2"."""
    words = text.split("-")
    first = whole_number(words[0].strip())
    last = whole_number(words[-1].strip())
    if not first or last is None or len(words) > 2:
        raise ArmtwinError(
            f'--periods must be a number or two as "2-3", counted from 1, got {text}'
        )
    if last < first:
        raise ArmtwinError(f"--periods must not run backwards, got {text}")
    return first - 1, last - first + 1
