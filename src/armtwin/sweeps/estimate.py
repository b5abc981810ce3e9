"""What a sweep would take: how many runs, how long, how large; a few runs are timed, none kept."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armtwin.files.versions import versions
from armtwin.maths.batch import thread_count
from armtwin.sweeps.bases import parcel_of
from armtwin.sweeps.rows import Row
from armtwin.sweeps.sweep import Sweep
from armtwin.sweeps.table import MEMORY, ResultTable, make_tables, open_table
from armtwin.sweeps.work import run_some

TIMED = 4  # runs
COPIES = 2000  # of a row that are written to see how large it is
AT_ONCE = 1000
BEGINNING = 5.0  # time [s] until processes or workers are ready


@dataclass(frozen=True)
class Estimate:
    """What a sweep would take.

    Attributes:
        runs: Runs that are asked for.
        known: Those that are there already.
        each_s: Cost of a run on one core [s].
        width: Runs that are run at the same time.
        seconds: How long it would take [s].
        row_bytes: Size of a row.
        bytes: Size of the table in the end.
    """

    runs: int
    known: int
    each_s: float
    width: int
    seconds: float
    row_bytes: float
    bytes: int


def estimate(asked: Sweep, results: Path | None, width: int | None = None) -> Estimate:
    """Estimate a sweep by timing a few of its runs, spread over all of them.

    Args:
        asked: The sweep.
        results: Its table of results, where there may be one.
        width: Workers; by default one for each core.
    """
    count = len(asked)
    found = versions()
    d = asked.description
    parcel = parcel_of(asked.bases, d.band, d.method, found["armtwin"])
    numbers = sorted({int(k) for k in np.linspace(0, count - 1, TIMED + 1)})
    runs = [asked.run(number) for number in numbers]
    run_some(parcel, runs[:1])  # the first one may load kernels
    rows = run_some(parcel, runs)
    each = float(np.mean([row.cpu_s for row in rows]))
    cores = thread_count() if width is None else width
    known = _known(asked, results, found)
    left = count - known
    size = _row_bytes(asked, rows[0], found)
    return Estimate(
        runs=count,
        known=known,
        each_s=each,
        width=cores,
        seconds=left * each / cores + (0.0 if width is None else BEGINNING),
        row_bytes=size,
        bytes=int(size * count),
    )


def _known(asked: Sweep, results: Path | None, found: dict[str, str]) -> int:
    """Runs that a table holds already."""
    if results is None or not results.is_file():
        return 0
    known = 0
    with open_table(results, asked.name, found, read_only=True) as table:
        for first in range(0, len(asked), AT_ONCE):
            keys = [run.key for run in asked.runs(first, min(first + AT_ONCE, len(asked)))]
            known += len(table.known(keys))
    return known


def _row_bytes(asked: Sweep, row: Row, found: dict[str, str]) -> float:
    """Size of a row in a table of many, keys at random."""
    connection = sqlite3.connect(MEMORY)
    make_tables(connection)
    told = json.dumps(found, sort_keys=True)
    table = ResultTable(MEMORY, connection, told)
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
