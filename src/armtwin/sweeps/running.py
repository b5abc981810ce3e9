"""Run a sweep: what is not in the table yet, piece by piece, each kept as soon as it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from armtwin.errors import ArmtwinError
from armtwin.files.versions import stamped_version, stamped_versions
from armtwin.maths.runner import as_done
from armtwin.sweeps.bases import parcel_of
from armtwin.sweeps.cluster import Cluster, check_cluster, on_cluster
from armtwin.sweeps.executors import Place, check_count, on_processes, on_threads
from armtwin.sweeps.result import Course, SweepResult, result_of
from armtwin.sweeps.rows import ResultRow
from armtwin.sweeps.sweep import LOOKED_AT, Sweep
from armtwin.sweeps.table import ResultTable, open_table
from armtwin.sweeps.work import SweepRun, run_some

LARGEST_TASK = 1024  # runs of one piece of work
SHARES = 4  # pieces for each worker that what is left is at least good for


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes:
        done: Runs that are there.
        total: All runs.
        left_s: Time that is left, by what was done since it began [s]; None at the beginning.
    """

    done: int
    total: int
    left_s: float | None


Watch = Callable[[Progress], None]


def sweep(
    what: Sweep | str | Path,
    results: str | Path | None = None,
    *,
    workers: int | None = None,
    cluster: str | Cluster | None = None,
    threads: int | None = None,
    progress: Watch | None = None,
) -> SweepResult:
    """Run many predictions; what a table of results holds already is not run again.

    Args:
        what: A sweep, or its file; `at.Sweep.over(job, axes)` makes one.
        results: SQLite file of the results; without one they are kept in memory.
        workers: Processes on this machine, in place of threads.
        cluster: A scheduler of dask distributed or its address, or "local:N".
        threads: Threads, where neither is given; by default one for each core.
        progress: Called with how far it is.
    """
    asked = what if isinstance(what, Sweep) else Sweep.load(what)
    total = len(asked)  # refuses what cannot be run
    check_place(workers, cluster, threads)
    found = stamped_versions()
    place = None if results is None else Path(results)
    start = time.monotonic()
    with open_table(place, asked.name, found) as table:
        missing = _Missing(asked, table)
        words = "nothing had to be run"
        if missing.look():
            d = asked.description
            parcel = parcel_of(asked.bases, d.band, d.method, found["armtwin"])
            where: AbstractContextManager[Place] = on_threads(parcel, total, threads)
            if cluster is not None:
                where = on_cluster(parcel, cluster)
            elif workers is not None:
                where = on_processes(parcel, workers)
            with where as executor:
                words = executor.words
                _run(missing, executor, _Watched(total, progress))
        course = Course(missing.given, total - missing.given, time.monotonic() - start, words)
        return result_of(asked, table, course)


def check_place(
    workers: int | None = None, cluster: str | Cluster | None = None, threads: int | None = None
) -> None:
    """Refuse a place where nothing can be run, before anything is written."""
    if sum(x is not None for x in (workers, cluster, threads)) > 1:
        raise ArmtwinError("a sweep runs on threads, on workers or on a cluster: give one of them")
    for count in (workers, threads):
        if count is not None:
            check_count(count)
    if cluster is not None:
        check_cluster(cluster, stamped_version())


class _Missing(Iterator[SweepRun]):
    """The runs that are not in the table, looked up in groups.

    Attributes:
        sweep: The sweep.
        table: The table.
        given: Runs that were given out.
        kept: Runs that were computed and are in the table now.
        seen: Runs that were looked up.
    """

    def __init__(self, asked: Sweep, table: ResultTable) -> None:
        self.sweep, self.table = asked, table
        self.given = self.kept = self.seen = 0
        self._waiting: list[SweepRun] = []
        self._out: set[bytes] = set()

    def __next__(self) -> SweepRun:
        self.look()
        if not self._waiting:
            raise StopIteration
        self.given += 1
        run = self._waiting.pop()
        self._out.add(run.key)
        return run

    def look(self) -> bool:
        """Look up runs until one is missing; whether one is."""
        while not self._waiting and self.seen < len(self.sweep):
            stop = min(self.seen + LOOKED_AT, len(self.sweep))
            some = {run.key: run for run in self.sweep.runs(self.seen, stop)}
            self.seen = stop
            there = self.table.known(list(some)) | self._out  # two that are the same run once
            self._waiting = [run for key, run in some.items() if key not in there]
            self._waiting.reverse()
        return bool(self._waiting)

    def keep(self, runs: Sequence[SweepRun]) -> None:
        """Some runs are in the table now."""
        self.kept += len(runs)
        self._out.difference_update(run.key for run in runs)

    @property
    def left(self) -> int:
        """Runs that may still be given out: those that are missing, and those not looked up."""
        return len(self._waiting) + len(self.sweep) - self.seen

    @property
    def done(self) -> int:
        """Runs that are known to be in the table."""
        return self.seen - len(self._waiting) - (self.given - self.kept)


@dataclass
class _Watched:
    """Says how far a sweep is."""

    total: int
    say: Watch | None
    begun: float = field(default_factory=time.monotonic)

    def count(self, runs: _Missing) -> None:
        """Some more runs are done."""
        if self.say is None:
            return
        took = time.monotonic() - self.begun
        left = took / runs.kept * (self.total - runs.done)
        self.say(Progress(runs.done, self.total, left))


def _run(runs: _Missing, executor: Place, watched: _Watched) -> None:
    """Run what is missing, and keep each piece when it is done."""
    pieces = _Pieces(runs, executor)
    for done in as_done(run_some, pieces, executor):
        records = []
        for piece, rows in done:
            for run, row in zip(piece, rows, strict=True):
                base, inputs = runs.sweep.base(run.number - 1), runs.sweep.inputs(run.number - 1)
                records.append((run.key, base.job.name, base.robot, inputs, row))
            pieces.learn(rows)
        runs.table.put(records)  # one commit, which waits for the disk, for all that is done
        for piece, _ in done:
            runs.keep(piece)
        watched.count(runs)


class _Pieces(Iterator[Sequence[SweepRun]]):
    """Pieces of work: one run at first, then as many as take about the time that suits the place.

    Towards the end they get as small as it allows, so that all workers end together.

    Attributes:
        runs: What is run.
        place: Where.
    """

    def __init__(self, runs: _Missing, place: Place) -> None:
        self.runs, self.place = runs, place
        self._cost = 0.0
        self._count = 0

    def learn(self, rows: Sequence[ResultRow]) -> None:
        """What some runs cost."""
        self._cost += sum(row.cpu_s for row in rows)
        self._count += len(rows)

    def __next__(self) -> Sequence[SweepRun]:
        found = list(islice(self.runs, self._size()))
        if not found:
            raise StopIteration
        return found

    def _size(self) -> int:
        if not self._count:
            return 1
        mean = max(self._cost / self._count, 1e-4)
        usual = round(self.place.task_s / mean)
        least = round(self.place.least_s / mean)
        even = self.runs.left // (SHARES * self.place.width)
        return max(1, min(LARGEST_TASK, usual, max(least, even)))
