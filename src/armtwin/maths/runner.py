"""Many pieces of work, several at a time, on whatever executor is passed in.

The band of a verdict, advice, causes, sensitivities and sweeps all run through here. An executor is
what the standard library calls one, with a width: threads of this process, other processes, a
cluster. Work is handed out as it is done, so that a long list of it never lies in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import keep_to_this_thread, thread_count

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2  # pieces under way or waiting for each worker
TRIES = 5  # times that a piece is given out whose worker is lost


class Executor(Protocol):
    """Where work is done.

    Attributes:
        width: Pieces that are worked on at the same time.
    """

    width: int

    def submit(self, work: Callable[..., R], *arguments: Any) -> Future[R]:
        """Begin a piece of work."""


@dataclass
class Threads:
    """Threads of this process; kernels run on them without the interpreter lock."""

    pool: ThreadPoolExecutor
    width: int

    def submit(self, work: Callable[..., R], *arguments: Any) -> Future[R]:
        """Begin a piece of work."""
        return self.pool.submit(work, *arguments)


@contextmanager
def threads(count: int | None = None, *, alone: bool = True) -> Iterator[Threads]:
    """Threads for a while: by default as many as large batches use.

    Args:
        count: How many.
        alone: Whether large batches of a piece of work stay on its thread.
    """
    width = thread_count() if count is None else count
    begin = keep_to_this_thread if alone else None
    with ThreadPoolExecutor(width, initializer=begin) as pool:
        try:
            yield Threads(pool, width)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run_all(work: Callable[..., R], *items: Sequence[Any], executor: Executor) -> Iterator[R]:
    """What work makes of each item, in their order, each as soon as it and those before are done.

    Args:
        work: The work.
        items: Its arguments, a sequence for each.
        executor: Where it is done.
    """
    under_way = [executor.submit(work, *arguments) for arguments in zip(*items, strict=True)]
    under_way.reverse()
    while under_way:
        yield under_way.pop().result()


def as_done(
    work: Callable[..., R], items: Iterable[T], executor: Executor
) -> Iterator[list[tuple[T, R]]]:
    """Items with what work makes of them, all that are done at a time; taken when there is room.

    A piece whose worker is lost is given out again; one that is lost again and again ends it all.

    Args:
        work: The work.
        items: Its items; the next is asked for when a worker will soon be free.
        executor: Where it is done.
    """
    rest = iter(items)
    under_way: dict[Future[R], tuple[T, int]] = {}
    try:
        while True:
            _fill(work, rest, executor, under_way)
            if not under_way:
                return
            ended, _ = wait(under_way, return_when=FIRST_COMPLETED)
            done = []
            for future in ended:
                item, tries = under_way.pop(future)
                try:
                    done.append((item, future.result()))
                except BrokenExecutor:
                    _refuse_lost(tries)
                    under_way[executor.submit(work, item)] = (item, tries + 1)
            if done:
                yield done
    finally:
        for future in under_way:
            future.cancel()


def _fill(
    work: Callable[..., R],
    rest: Iterator[T],
    executor: Executor,
    under_way: dict[Future[R], tuple[T, int]],
) -> None:
    """Give out items until every worker has enough."""
    while len(under_way) < AHEAD * executor.width:
        item = next(rest, None)
        if item is None:
            return
        under_way[executor.submit(work, item)] = (item, 1)


def _refuse_lost(tries: int) -> None:
    if tries >= TRIES:
        raise ArmtwinError(
            f"a worker was lost {tries} times with the same work (killed, or out of memory); what "
            "was done is kept: run it again, with fewer workers where memory is short"
        )
