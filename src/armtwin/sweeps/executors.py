"""Where a sweep runs on one machine: threads of this process, or other processes.

Processes are started afresh (not forked), get the jobs once, and load kernels from the cache on the
disk; one that is lost is replaced, and what it was doing is given out again.
"""

import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, Protocol, TypeVar

from armtwin.errors import ArmtwinError
from armtwin.maths import runner
from armtwin.maths.batch import thread_count
from armtwin.maths.heap import keep_freed_memory
from armtwin.maths.runner import Executor
from armtwin.sweeps import worker
from armtwin.sweeps.bases import Parcel
from armtwin.sweeps.work import keep

R = TypeVar("R")
MOST_WORKERS = 1024  # processes or threads


class Place(Executor, Protocol):
    """An executor that a parcel was sent to; work gets the parcel, or its key, first.

    Attributes:
        words: What it is, in words.
        task_s: How long a piece of work should be [s].
        least_s: How long it should be at least, also towards the end [s].
    """

    words: str
    task_s: float
    least_s: float


class OnThreads:
    """Threads of this process."""

    task_s, least_s = 0.2, 0.0

    def __init__(self, threads: runner.Threads, parcel: Parcel) -> None:
        self.threads, self.width = threads, threads.width
        self.sent = keep(parcel)
        self.words = f"{self.width} threads" if self.width > 1 else "one thread"

    def submit(self, work: Callable[..., R], *arguments: Any) -> Future[R]:
        """Begin a piece of work."""
        return self.threads.submit(work, self.sent, *arguments)


@contextmanager
def on_threads(parcel: Parcel, runs: int, count: int | None = None) -> Iterator[OnThreads]:
    """Threads of this process.

    Args:
        parcel: What they need.
        runs: Runs of the sweep; the threads that these leave idle help with the others' batches.
        count: How many; by default as many as there are cores.
    """
    keep_freed_memory()
    alone = count is not None or runs >= thread_count()
    with runner.threads(count, alone=alone) as threads:
        yield OnThreads(threads, parcel)


class OnProcesses:
    """Processes of this machine, each with one thread; lost ones are replaced."""

    task_s, least_s = 0.4, 0.0

    def __init__(self, parcel: Parcel, count: int) -> None:
        self.parcel, self.width = parcel, count
        self.sent = parcel.digest
        self.words = f"{count} processes" if count > 1 else "one process"
        self.pool = self._start_pool()

    def _start_pool(self) -> ProcessPoolExecutor:
        packed = pickle.dumps(self.parcel)
        return ProcessPoolExecutor(
            self.width, get_context("spawn"), initializer=worker.begin, initargs=(packed,)
        )

    def submit(self, work: Callable[..., R], *arguments: Any) -> Future[R]:
        """Begin a piece of work."""
        try:
            return self.pool.submit(work, self.sent, *arguments)
        except BrokenProcessPool:
            self.pool.shutdown(wait=False, cancel_futures=True)
            self.pool = self._start_pool()
            return self.pool.submit(work, self.sent, *arguments)


def check_count(count: int) -> None:
    """Refuse a number of workers that cannot be started."""
    if not 1 <= count <= MOST_WORKERS:
        raise ArmtwinError(f"workers must be from 1 to {MOST_WORKERS}, got {count}")


@contextmanager
def on_processes(parcel: Parcel, count: int) -> Iterator[OnProcesses]:
    """Processes of this machine."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"  # their linear algebra would wait busily for other cores
    place = OnProcesses(parcel, count)
    try:
        yield place
    except BaseException:
        place.pool.shutdown(wait=False, cancel_futures=True)
        raise
    else:
        place.pool.shutdown()
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before
