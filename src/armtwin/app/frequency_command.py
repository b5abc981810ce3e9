"""The command that shows the frequency response of a log."""

from typing import Annotated

import armtwin as at
from armtwin.app.options import Columns, Joint, LogFile, Output, option, quantity
from armtwin.app.places import Source, files_of_log
from armtwin.app.progress import progress_bar
from armtwin.app.run import folder_run


def frequency(
    log: LogFile,
    given: Annotated[str, option("--input", "CHANNEL", "Channel of the input.")] = "q_ref",
    answer: Annotated[str, option("--output", "CHANNEL", "Channel of the output.")] = "q",
    joint: Joint = None,
    window: Annotated[
        float | None, quantity("--window", "s", 'Length of a window, as "0.5 s".')
    ] = None,
    columns: Columns = None,
    *,
    output: Output,
) -> None:
    """Frequency response with coherence from one channel of a log to another."""
    options = {"input": given, "output": answer, "joint": joint, "window_s": window}
    words = []
    if (given, answer) != ("q_ref", "q"):
        words.append(f"{given} to {answer}")
    if joint is not None:
        words.append(f"joint {joint}")
    if window is not None:
        words.append(f"{window:g} s")
    source = Source("frequency", log.name.partition(".")[0], str(log), options, tuple(words))
    run = folder_run(source, output, files_of_log(log, columns))
    with progress_bar("response"):
        read = at.Log.read(log, columns)
        found = at.log_response(read, given, answer, window=window, joint=joint)
    run.finish(found)
