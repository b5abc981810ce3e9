"""The command that identifies a robot from its logs."""

from __future__ import annotations

import json as json_text
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

import typer
from rich.console import Console

import armtwin as at
from armtwin.app.identify_page import identification_page
from armtwin.app.options import given_path
from armtwin.app.places import Source, files_of_log, result_folder
from armtwin.app.progress import of, progress_bar
from armtwin.errors import ArmtwinError
from armtwin.files.disk import Content
from armtwin.files.whole import check_file, try_folder, write_files
from armtwin.maths.units import Unit, whole_number
from armtwin.report.folder import RESULT, ResultFolder, refuse_inputs
from armtwin.report.page import to_html
from armtwin.report.results import to_result
from armtwin.report.writing import to_report
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
        str | None, typer.Option("--torque", help="Column of the torque, as tau or current_des.")
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
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as one JSON object.")
    ] = False,
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
    inputs = [Path(robot), *(against or ())]
    for path in (*logs, validate):
        inputs += [] if path is None else files_of_log(path, columns)
    place = _place_of(prior, out, inputs, force)
    with progress_bar("logs") as progress:
        read = [_read(path, columns, progress, k / len(logs)) for k, path in enumerate(logs)]
        unseen = None if validate is None else at.Log.read(validate, columns)
        others = {path.as_posix(): _mounted(path, tool, payload) for path in against or ()}
        if progress is not None:
            progress("fit", 0.0)
        found = at.identify(prior, read, torque=torque, cutoff=frequency, recipe=recipe)
        result = at.judge(
            prior, found, unseen, others=others or None, progress=of(progress, "left out")
        )
    told = place.write(result)
    if json:
        typer.echo(json_text.dumps(told, allow_nan=False))
    else:
        console = Console(highlight=False, soft_wrap=False)
        console.print(identification_page(result))
        names = [x.as_posix() for x in place.files]
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
        raise ArmtwinError(
            f'--periods must be a number or two as "2-3", counted from 1, got {text}'
        )
    if last < first:
        raise ArmtwinError(f"--periods must not run backwards, got {text}")
    return first - 1, last - first + 1


class _Place(Protocol):
    """Where the results go."""

    @property
    def files(self) -> list[Path]:
        """The files that are written."""

    def write(self, result: at.Identification) -> dict[str, Any]:
        """Write robot file, report and result; returns what the result file holds."""


def _place_of(prior: at.Robot, out: Path | None, inputs: list[Path], force: bool) -> _Place:
    """Where results go, checked before any work is done."""
    if out is not None:
        return _Beside(out, inputs, force)
    source = Source("identify", prior.name, prior.origin)
    return _InFolder(result_folder(source, None, _InFolder.names, inputs, force))


@dataclass(frozen=True)
class _InFolder:
    """A folder of ours."""

    folder: ResultFolder
    names: ClassVar = [RESULT, "robot.toml", "report.html"]

    @property
    def files(self) -> list[Path]:
        return [self.folder.path / name for name in ("robot.toml", "report.html", RESULT)]

    def write(self, result: at.Identification) -> dict[str, Any]:
        robot, report = _texts(result)
        return self.folder.write(to_result(result), {"robot.toml": robot, "report.html": report})


class _Beside:
    """A robot file that was asked for, with report and result beside it."""

    def __init__(self, out: Path, inputs: list[Path], force: bool) -> None:
        if out.suffix != ".toml":
            raise ArmtwinError(f"--out must be a robot file that ends in .toml, got {out}")
        if not out.parent.is_dir():
            raise ArmtwinError(f"{out.parent}: there is no such folder")
        self.files = [
            out,
            out.with_name(f"{out.stem}.report.html"),
            out.with_name(f"{out.stem}.result.json"),
        ]
        self.inputs, self.force = inputs, force
        self.check()
        try_folder(out.parent)

    def check(self) -> None:
        """Refuse what must not be replaced."""
        for path in self.files:
            check_file(path)
            if os.path.lexists(path) and not self.force:
                raise ArmtwinError(
                    f"{path} exists already; use --force to replace it, or --out to choose another name",
                )
        refuse_inputs(self.files, self.inputs)

    def write(self, result: at.Identification) -> dict[str, Any]:
        robot, report = _texts(result)
        names = [path.name for path in self.files]
        told = {**to_result(result), "files": sorted(names)}
        text = json_text.dumps(told, allow_nan=False, indent=1)
        contents: dict[str, Content] = dict(zip(names, (robot, report, text), strict=True))
        self.check()  # files may have come while the robot was identified
        write_files(self.files[0].parent, contents)
        return told


def _texts(result: at.Identification) -> tuple[str, str]:
    """Robot file and report."""
    return to_text(result.estimate.robot.description), to_html(to_report(result))
