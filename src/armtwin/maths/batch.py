"""Leading batch dimensions and threads: where arrays of a user become arrays of a kernel."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armtwin.errors import ArmtwinError
from armtwin.maths.compiled import Function
from armtwin.maths.units import whole_number

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]
Numbers = NDArray[np.inexact]  # real or complex
Flags = NDArray[np.bool_]
NamedArrays = dict[str, Floats]
NamedNumbers = dict[str, float]
NamedTexts = dict[str, str]
Record = dict[str, Any]  # plain values by their keys, as files and pages write them
TwoArrays = tuple[Floats, Floats]
ThreeArrays = tuple[Floats, Floats, Floats]
Values = tuple[float, ...]
Indices = tuple[int, ...]
Sentences = Iterator[str]
Names = tuple[str, ...]
NamesAndUnits = tuple[tuple[str, str], ...]
Pair = tuple[float, float]
OnProgress = Callable[[float], None]  # called with the share of the work that is done

LARGEST = 1e30  # magnitude of a number of a user's array: products of several stay finite
# Work below this many scalars costs less than handing it to a second thread.
LEAST_PER_THREAD = 3000


def check_array(
    name: str, value: ArrayLike, shape: tuple[int, ...], what: str, *, single: bool = False
) -> Floats:
    """A finite float64 array whose last dimensions are `shape`, or an error with what was given.

    A single one has no others.
    """
    try:
        if np.iscomplexobj(value):
            raise TypeError
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArmtwinError(
            f"{name} must be an array of numbers ({what}), got {value!r:.80}"
        ) from None
    leading = array.ndim - len(shape)
    if leading < 0 or array.shape[leading:] != shape or (single and leading):
        wanted = shape if single else f"(..., {', '.join(map(str, shape))})"
        raise ArmtwinError(f"{name} must have shape {wanted} ({what}), got {array.shape}")
    if not np.abs(array).max(initial=0.0) <= LARGEST:  # neither of what is no number
        place = tuple(int(i) for i in np.argwhere(~(np.abs(array) <= LARGEST))[0])
        contract = f"must be finite ({what})" + (
            f", at most {LARGEST:g}" if array[place] < np.inf else ""
        )
        raise ArmtwinError(f"{name} {contract}, got {array[place]} at index {place}")
    return array


def runs_of(flags: Flags) -> Integers:
    """First place of each run of flags that are set, and the one after its last, (k, 2)."""
    framed = np.concatenate([[False], flags, [False]])
    return np.flatnonzero(np.diff(framed.astype(np.int8))).reshape(-1, 2)


def read_only(array: Floats) -> Floats:
    """The array, made read-only: for what never changes."""
    array.setflags(write=False)
    return array


def stack_tables(*arrays: Floats) -> tuple[tuple[int, ...], list[Floats]]:
    """Common leading shape of vectors (..., n), and each of them as one table (m, n)."""
    try:
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in arrays)
        raise ArmtwinError(
            f"leading dimensions must agree or broadcast, got shapes {shapes}"
        ) from None
    return lead, [_table(x, lead) for x in arrays]


def one_row(vectors: Iterable[ArrayLike], n: int) -> tuple[tuple[int, ...], list[Floats]] | None:
    """The same of single vectors that are float64 and finite, without a look at each; else None."""
    rows = []
    for x in vectors:
        if type(x) is not np.ndarray or x.dtype.char != "d" or x.shape != (n,):
            return None
        if not (x.flags.carray and all(-LARGEST <= v <= LARGEST for v in x.tolist())):
            return None
        rows.append(x[None])
    return (), rows


def _table(x: Floats, lead: tuple[int, ...]) -> Floats:
    """Vectors (..., n) over a leading shape as one C-contiguous writable table (m, n)."""
    width = x.shape[-1]
    if x.shape[:-1] != lead:
        x = np.broadcast_to(x, (*lead, width))
    table = np.ascontiguousarray(x.reshape(-1, width))
    # A read-only array is another type to numba and would compile every kernel a second time.
    return table if table.flags.writeable else table.copy()


def reusable(out: Floats | None, shape: tuple[int, ...]) -> Floats | None:
    """The array given for a result, if it can hold it: its shape, float64, C-contiguous."""
    if out is None or out.shape != shape or out.dtype != np.float64:
        return None
    return out if out.flags.c_contiguous and out.flags.writeable else None


class _Here(threading.local):
    """What holds on this thread.

    Attributes:
        alone: Whether its work stays on it.
    """

    alone = False


_here = _Here()


def thread_count() -> int:
    """Threads for large batches: all that there are, or one on a thread that keeps to itself."""
    return 1 if _here.alone else _threads()


@cache
def _threads() -> int:
    """ARMTWIN_THREADS, or the cores this process may use."""
    given = os.environ.get("ARMTWIN_THREADS")
    if given:
        threads = whole_number(given)
        if not threads:
            raise ArmtwinError(f"ARMTWIN_THREADS must be a whole number from 1 on, got '{given}'")
        return threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def keep_to_this_thread() -> None:
    """Keep large batches on this thread from now on: for one of many that have work of their own.

    Otherwise each of them would hand parts of its batches to the others and wait for them.
    """
    _here.alone = True


def on_one_thread() -> None:
    """Keep large batches on one thread from now on: for a process that is one of many."""
    os.environ["ARMTWIN_THREADS"] = "1"
    _threads.cache_clear()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=threads, thread_name_prefix="armtwin")


if hasattr(os, "register_at_fork"):
    # A forked child has its parent's pool without the threads: work given to it would never end.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def spread(kernel: Function, rows: int, width: int, *arguments: Any) -> None:
    """Run kernel(*arguments, start, stop) over all rows, on several threads where that pays.

    Args:
        kernel: Compiled without the interpreter lock; writes rows start..stop of its outputs.
        rows: Number of rows of the batch.
        width: Scalars of work in a row, roughly.
        arguments: Passed on as they are.
    """
    pieces = min(thread_count(), max(1, rows * width // LEAST_PER_THREAD))
    if pieces == 1:
        kernel(*arguments, 0, rows)
        return
    edges = [rows * i // pieces for i in range(pieces + 1)]
    pool = _pool(pieces)
    jobs = [pool.submit(kernel, *arguments, start, stop) for start, stop in pairwise(edges)]
    for job in jobs:
        job.result()


def rows_of_each(which: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64] | slice]]:
    """Each number that occurs in `which` with the rows where it does, in one sort.

    Where the numbers only rise, as along a path, rows are a slice and nothing is copied.
    """
    if not len(which):
        return
    steps = np.flatnonzero(which[1:] != which[:-1]) + 1
    edges = [0, *steps.tolist(), len(which)]
    numbers = which[edges[:-1]]
    if (numbers[1:] > numbers[:-1]).all():
        for number, (first, last) in zip(numbers, pairwise(edges), strict=True):
            yield int(number), slice(first, last)
        return
    order = np.argsort(which, kind="stable")
    found, firsts = np.unique(which[order], return_index=True)
    for number, rows in zip(found, np.split(order, firsts[1:]), strict=True):
        yield int(number), rows
