"""The command that shows the frequency response of a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import armtwin as at
from armtwin.app.options import Force, Json, given_path
from armtwin.app.places import Source, files_of_log, result_folder
from armtwin.app.showing import REPORT, finish
from armtwin.errors import ArmtwinError
from armtwin.maths.units import Unit
from armtwin.report.folder import RESULT


def frequency(
    log: Annotated[Path, typer.Argument(help="A log of a run that follows noise (.csv, .npz).")],
    given: Annotated[str, typer.Option("--input", help="Channel of the input.")] = "q_ref",
    answer: Annotated[str, typer.Option("--output", help="Channel of the output.")] = "q",
    joint: Annotated[
        int | None, typer.Option("--joint", help="One joint; by default all that move.")
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", help='Length of a window, as "0.5 s".')
    ] = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the log.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=given_path, metavar="PATH", help="Folder for the results."),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Frequency response with coherence from one channel of a log to another."""
    length = None
    if window is not None:
        try:
            length = Unit("s", above=0).read_word(window)
        except ArmtwinError as error:
            raise ArmtwinError(f"--window {error}") from None
    options = {"input": given, "output": answer, "joint": joint, "window_s": length}
    words = []
    if (given, answer) != ("q_ref", "q"):
        words.append(f"{given} to {answer}")
    if joint is not None:
        words.append(f"joint {joint}")
    if window is not None:
        words.append(window)
    source = Source("frequency", log.name.partition(".")[0], str(log), options, tuple(words))
    place = result_folder(source, out, (RESULT, REPORT), files_of_log(log, columns), force)
    from armtwin.identification.frequency import log_response
    from armtwin.identification.frequency_report import frequency_report

    found = log_response(at.Log.read(log, columns), given, answer, window=length, joint=joint)
    finish(frequency_report(found), place, {}, json)
