"""What a sweep would take: how many runs, how long, how large; a few runs are timed, none kept."""

import json
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armtwin.files.versions import stamped_versions
from armtwin.maths.batch import NamedTexts, thread_count
from armtwin.notebook.sections import Blocks, Data, Facts, Report, Section, Text
from armtwin.report.result import Result
from armtwin.sweeps.bases import parcel_of
from armtwin.sweeps.rows import ResultRow
from armtwin.sweeps.sweep import Sweep
from armtwin.sweeps.table import MEMORY, ResultTable, make_tables, open_table
from armtwin.sweeps.words import size_in_words, time_in_words
from armtwin.sweeps.work import run_some

KEYS = ("runs", "known", "each_s", "width", "seconds", "row_bytes", "bytes")
TIMED = 4  # runs
COPIES = 2000  # of a row that are written to see how large it is
BEGINNING = 5.0  # time [s] until processes or workers are ready


@dataclass(frozen=True, eq=False, repr=False)
class SweepEstimate(Result):
    """What a sweep would take.

    Attributes:
        sweep: What is asked for.
        table: Its table of results, where there may be one.
        runs: Runs that are asked for.
        known: Those that are there already.
        each_s: Cost of a run on one core [s].
        width: Runs that are run at the same time.
        seconds: How long it would take [s].
        row_bytes: Size of a row.
        bytes: Size of the table in the end.
    """

    sweep: Sweep
    table: Path | None
    runs: int
    known: int
    each_s: float
    width: int
    seconds: float
    row_bytes: float
    bytes: int

    def sections(self) -> Report:
        """How many runs it has, how long it would take, how large its table would be."""
        left = self.runs - self.known
        time = time_in_words(self.seconds)
        return Report(
            title=self.sweep.description.title or self.sweep.name,
            subtitle=f"{self.sweep.name}: dry run",
            sections=(Section("", _blocks(self)),),
            verdict=(Text(f"{left} runs would take about {time}; nothing was kept."),),
        )


def _blocks(found: SweepEstimate) -> Blocks:
    left = found.runs - found.known
    there = "" if found.table is None else found.table.as_posix()
    yield Facts(
        (
            ("runs", f"{found.runs}"),
            ("there already", f"{found.known} in {there}" if found.known else ""),
            ("cost of a run", f"{1e3 * found.each_s:.3g} ms of one core"),
            ("at the same time", f"{found.width}"),
            ("time", f"about {time_in_words(found.seconds)} for {left} runs"),
            ("size", f"about {size_in_words(found.bytes)}, {found.row_bytes:.0f} bytes a run"),
        )
    )
    yield Data({"estimate": {name: getattr(found, name) for name in KEYS}})


def estimate(asked: Sweep, results: Path | None, width: int | None = None) -> SweepEstimate:
    """Estimate a sweep by timing a few of its runs, spread over all of them.

    Args:
        asked: The sweep.
        results: Its table of results, where there may be one.
        width: Workers; by default one for each core.
    """
    count = len(asked)
    found = stamped_versions()
    d = asked.description
    parcel = parcel_of(asked.bases, d.band, d.method, found["armtwin"])
    numbers = sorted({int(k) for k in np.linspace(0, count - 1, TIMED + 1)})
    runs = [asked.run(number) for number in numbers]
    run_some(parcel, runs[:1])  # the first one may load kernels
    rows = run_some(parcel, runs)
    each = float(np.mean([row.cpu_s for row in rows]))
    cores = thread_count() if width is None else width
    known = _count_known(asked, results, found)
    left = count - known
    size = _row_bytes(asked, rows[0], found)
    return SweepEstimate(
        sweep=asked,
        table=results,
        runs=count,
        known=known,
        each_s=each,
        width=cores,
        seconds=left * each / cores + (0.0 if width is None else BEGINNING),
        row_bytes=size,
        bytes=int(size * count),
    )


def _count_known(asked: Sweep, results: Path | None, found: NamedTexts) -> int:
    """Runs that a table holds already."""
    if results is None or not results.is_file():
        return 0
    with open_table(results, asked.name, found, read_only=True) as table:
        return sum(len(table.known(keys)) for keys in asked.key_groups())


def _row_bytes(asked: Sweep, row: ResultRow, found: NamedTexts) -> float:
    """Size of a row in a table of many, keys at random."""
    connection = sqlite3.connect(MEMORY)
    make_tables(connection)
    text = json.dumps(found, sort_keys=True)
    table = ResultTable(MEMORY, connection, text)
    base = asked.base(0)
    inputs = asked.inputs(0)
    records = [(os.urandom(16), base.job.name, base.robot, inputs, row) for _ in range(COPIES)]
    before = _size(connection)
    table.put(records)
    return (_size(connection) - before) / COPIES


def _size(connection: sqlite3.Connection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages) * int(size)
