"""What is said of a sweep before it is run."""

from __future__ import annotations

from pathlib import Path

from armtwin.report.sections import Data, Facts, Report, Section, Text
from armtwin.sweeps.estimate import Estimate
from armtwin.sweeps.sweep import Sweep
from armtwin.sweeps.words import size_in_words, time_in_words


def estimate_report(asked: Sweep, found: Estimate, table: Path) -> Report:
    """How many runs a sweep has, how long it would take, how large its table would be."""
    left = found.runs - found.known
    facts = (
        ("runs", f"{found.runs}"),
        ("there already", f"{found.known} in {table.as_posix()}" if found.known else ""),
        ("cost of a run", f"{1e3 * found.each_s:.3g} ms of one core"),
        ("at the same time", f"{found.width}"),
        ("time", f"about {time_in_words(found.seconds)} for {left} runs"),
        ("size", f"about {size_in_words(found.bytes)}, {found.row_bytes:.0f} bytes a run"),
    )
    sentence = f"{left} runs would take about {time_in_words(found.seconds)}; nothing was kept."
    data = Data("estimate", found.__dict__)
    return Report(
        title=asked.description.title or asked.name,
        subtitle=f"{asked.name}: dry run",
        sections=(Section("", (Facts(facts), data)),),
        verdict=(Text(sentence),),
    )
