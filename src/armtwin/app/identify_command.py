"""The command that identifies a robot from its logs."""

from __future__ import annotations

import json as json_text
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

import armtwin as at
from armtwin.app.identify_page import identification_page
from armtwin.app.progress import of, progress_bar
from armtwin.errors import ArmtwinError
from armtwin.maths.units import Unit, whole_number
from armtwin.report.folder import check_folder, write_folder
from armtwin.report.results import to_result
from armtwin.robot.files import write_atomically

DONE, FAILED = 0, 1
Writers = dict[str, Callable[[Path], None]]


def identify(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file (.toml, .urdf): the prior.")],
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logs to fit (.csv, .csv.gz, .npz, bags).")],
    validate: Annotated[Path | None, typer.Option("--validate", help="A log that the fit does not see.")] = None,
    torque: Annotated[str | None, typer.Option("--torque", help="Column of the torque, as tau or current_des.")] = None,
    cutoff: Annotated[str | None, typer.Option("--cutoff", help='Cut-off of the filter, as "60 Hz".')] = None,
    columns: Annotated[Path | None, typer.Option("--columns", help="Columns file of the logs.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Tool mounted while logging.")] = None,
    payload: Annotated[str | None, typer.Option("--payload", help="Payload mounted while logging.")] = None,
    estimator: Annotated[
        Literal["consistent", "ridge", "truncated"], typer.Option(help="How parameters are estimated.")
    ] = "consistent",
    motion: Annotated[Literal["measured", "reference"], typer.Option(help="Motion of the regressor.")] = "measured",
    period: Annotated[str | None, typer.Option("--period", help='Period of a periodic motion, as "8 s".')] = None,
    periods: Annotated[str | None, typer.Option("--periods", help='First and last period used, as "2-3".')] = None,
    average: Annotated[bool, typer.Option("--average", help="The logs repeat one motion: use their mean.")] = False,
    robust: Annotated[bool, typer.Option("--robust", help="Rows with a large residual count less.")] = False,
    friction_only: Annotated[bool, typer.Option("--friction-only", help="Keep inertias, renew friction.")] = False,
    against: Annotated[list[Path] | None, typer.Option("--against", help="Another model to show beside.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The identified robot file (.toml).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Dynamic parameters from logs: identified robot file and report. Exit code 1: the validation failed."""
    prior = _mounted(robot, tool, payload)
    frequency = None if cutoff is None else _quantity("--cutoff", cutoff, "Hz")
    recipe = at.Recipe(
        estimator=estimator,
        motion=motion,
        period=None if period is None else _quantity("--period", period, "s"),
        periods=None if periods is None else _periods(periods),
        average=average,
        robust=robust,
        only="friction" if friction_only else "all",
    )
    place = _place(prior.name, out, force)
    with progress_bar("logs") as progress:
        read = [_read(path, columns, progress, k / len(logs)) for k, path in enumerate(logs)]
        unseen = None if validate is None else at.Log.read(validate, columns)
        others = {path.as_posix(): _mounted(path, tool, payload) for path in against or ()}
        if progress is not None:
            progress("fit", 0.0)
        found = at.identify(prior, read, torque=torque, cutoff=frequency, recipe=recipe)
        result = at.judge(prior, found, unseen, others=others or None, progress=of(progress, "left out"))
    told = _write(place, result)
    if json:
        typer.echo(json_text.dumps(told, allow_nan=False))
    else:
        console = Console(highlight=False, soft_wrap=False)
        console.print(identification_page(result))
        names = [x.as_posix() for x in place.files()]
        console.print(f"wrote {', '.join(names)}", soft_wrap=True, markup=False)
    raise typer.Exit(FAILED if result.failed else DONE)


def _mounted(robot: str | Path, tool: str | None, payload: str | None) -> at.Robot:
    """A robot with what was mounted while logging."""
    found = at.Robot.load(robot)
    found = found if tool is None else found.with_tool(tool)
    return found if payload is None else found.with_payload(payload)


def _read(path: Path, columns: Path | None, progress: Any, share: float) -> at.Log:
    if progress is not None:
        progress("logs", share)
    return at.Log.read(path, columns)


def _quantity(option: str, text: str, unit: str) -> float:
    try:
        return Unit(unit, above=0).read_word(text)
    except ArmtwinError as error:
        raise ArmtwinError(f"{option} {error}") from None


def _periods(text: str) -> tuple[int, int]:
    """First period (0 is the first) and number of periods, from "2-3" or "2"."""
    words = text.split("-")
    first, last = whole_number(words[0].strip()), whole_number(words[-1].strip())
    if not first or last is None or len(words) > 2:
        raise ArmtwinError(f'--periods must be a number or two as "2-3", counted from 1, got {text}')
    if last < first:
        raise ArmtwinError(f"--periods must not run backwards, got {text}")
    return first - 1, last - first + 1


class _place:
    """Where the results go: a folder of ours, or a robot file with report and result beside it."""

    def __init__(self, robot: str, out: Path | None, force: bool) -> None:
        folder = (re.sub(r"[^\w-]+", "_", robot).strip("_") or "robot") + "_identified"
        self.folder = Path("armtwin_out") / folder if out is None else out.parent
        self.names = {"robot": "robot.toml", "report": "report.html", "result": "result.json"}
        self.ours = out is None
        if out is None:
            check_folder(self.folder, force)
            return
        if out.suffix != ".toml":
            raise ArmtwinError(f"--out must be a robot file that ends in .toml, got {out}")
        self.names = {"robot": out.name, "report": f"{out.stem}.report.html", "result": f"{out.stem}.result.json"}
        there = next((path for path in self.files() if path.exists()), None)
        if there is not None and not force:
            raise ArmtwinError(f"{there} exists already; use --force to replace it, or another --out")
        if not self.folder.is_dir():
            raise ArmtwinError(f"{self.folder}: there is no such folder")

    def files(self) -> list[Path]:
        """The files that are written."""
        return [self.folder / name for name in self.names.values()]


def _write(place: _place, result: at.Identification) -> dict[str, Any]:
    """Write robot file, report and result; returns what result.json holds."""
    told = to_result(result)
    writers: Writers = {
        place.names["robot"]: result.estimate.robot.save,
        place.names["report"]: lambda path: at.write_report(result, path),
        place.names["result"]: lambda path: write_atomically(path, json_text.dumps(told, allow_nan=False, indent=1)),
    }
    if place.ours:
        write_folder(place.folder, writers)
    else:
        for name, write in writers.items():
            write(place.folder / name)
    return told
