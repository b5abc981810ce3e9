"""What a command prints: a report, a sentence, or one JSON object."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rich.console import Console

from armtwin.app.streams import print_json, spell
from armtwin.files.staging import Contents
from armtwin.maths.batch import Record
from armtwin.notebook.sections import Report
from armtwin.report.result import Result
from armtwin.report.result_file import to_description
from armtwin.report.terminal import closing_line, to_screen, to_terminal

Shown = Report | Result


class Place(Protocol):
    """Where a result goes."""

    def path(self, name: str) -> Path:
        """Where a part of the result is written."""

    def write(self, result: Record, contents: Contents) -> Record:
        """Write result and contents; returns what the result file holds."""


def report_of(shown: Shown) -> Report:
    """The report of a result."""
    return shown.sections() if isinstance(shown, Result) else shown


def show(shown: Shown) -> None:
    """Print a report."""
    console().print(to_terminal(report_of(shown), spell))


def show_result(report: Report, written: Sequence[Path], full: bool) -> None:
    """Print the answer of a report, what was written, and the verdict again as the last line.

    Args:
        report: The report.
        written: Files that were written.
        full: Whether all of it is printed, or as much as fits a screen.
    """
    console().print(to_terminal(report, spell) if full else to_screen(report, spell))
    for path in written:
        say(f"wrote {path.as_posix()}")
    verdict = closing_line(report, spell)
    if verdict is not None:
        console().print(verdict)


def say(sentence: str) -> None:
    """Print a sentence as it is, however long."""
    console().print(sentence, soft_wrap=True, markup=False)


def describe(
    shown: Shown, json: bool, files: Sequence[Path] = (), remarks: Sequence[str] = ()
) -> None:
    """Show what something is, where no result is kept.

    Args:
        shown: The description.
        json: Whether it is printed as JSON.
        files: Files that were written.
        remarks: Sentences that follow.
    """
    report = report_of(shown)
    if json:
        described = to_description(report)
        described["remarks"] += remarks
        print_json({**described, "files": [path.as_posix() for path in files]})
        return
    if report.sections:
        show(report)
    for path in files:
        say(f"wrote {path}")
    for remark in remarks:
        say(remark)


def console() -> Console:
    """The terminal."""
    return Console(highlight=False, soft_wrap=False)
