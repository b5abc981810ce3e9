"""What is said of a sweep before it is run: what its file holds, what it would take."""

from __future__ import annotations

from pathlib import Path

from armtwin.notebook.sections import Data, Facts, Report, Section, Text
from armtwin.sweeps.estimate import Estimate
from armtwin.sweeps.sweep import Sweep
from armtwin.sweeps.words import size_in_words, time_in_words


def described_sweep(asked: Sweep) -> Report:
    """What is in a sweep file; every axis was tried on its jobs, nothing was run."""
    count = len(asked)
    facts = [
        ("jobs", ", ".join(dict.fromkeys(base.job.name for base in asked.bases))),
        ("robots", ", ".join(dict.fromkeys(base.robot for base in asked.bases))),
    ]
    for axis in asked.axes:
        ends = axis.words(axis.values[0]), axis.words(axis.values[-1])
        facts.append((axis.label, f"{axis.key}: {ends[0]} to {ends[1]}"))
    facts.append(("design", asked.description.design))
    facts.append(("runs", f"{count}, {'with bands' if asked.description.band else 'nominal'}"))
    return Report(
        title=asked.description.title or asked.name,
        subtitle=f"{asked.name}: sweep file, format 1",
        sections=(Section("", (Facts(tuple(facts)),)),),
    )


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
