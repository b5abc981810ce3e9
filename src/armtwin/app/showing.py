"""How a command ends: its result written and shown, or printed as JSON."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Any, Protocol

import typer
from rich.console import Console

from armtwin.app.streams import spelled
from armtwin.files.disk import Content
from armtwin.notebook.sections import Report
from armtwin.report.page import to_html
from armtwin.report.result_file import to_result
from armtwin.report.terminal import to_terminal

REPORT = "report.html"
ROBOT = "robot.toml"
COVARIANCE = "robot.covariance.npz"  # of what ROBOT holds


class Place(Protocol):
    """Where a result goes."""

    def path(self, name: str) -> Path:
        """Where a part of the result is written."""

    def write(self, result: dict[str, Any], contents: dict[str, Content]) -> dict[str, Any]:
        """Write result and contents; returns what the result file holds."""


def show(report: Report) -> None:
    """Print a report."""
    console().print(to_terminal(report, spelled))


def say(sentence: str) -> None:
    """Print a sentence as it is, however long."""
    console().print(sentence, soft_wrap=True, markup=False)


def console() -> Console:
    """The terminal."""
    return Console(highlight=False, soft_wrap=False)


def finish(report: Report, place: Place, contents: dict[str, Content], json: bool) -> None:
    """Write a result with its report, and show it."""
    contents = {**contents, REPORT: to_html(report)}
    result = place.write(to_result(report), contents)
    if json:
        typer.echo(json_text.dumps(result, allow_nan=False))
        return
    show(report)
    for name in contents:
        if name != "log.csv":
            say(f"wrote {place.path(name).as_posix()}")
