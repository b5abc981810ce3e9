"""How a sweep spreads over two cores: threads, processes and dask beside one thread.

    python benchmarks/sweeps.py [--quick] [RUNS]

Wall time of whole sweeps, start of workers included, with the CPU time of all processes beside it;
they need two idle cores, and say little on a machine that others use. They come first, before a
cluster has run in this process. After them, what a piece of work costs that does nothing, and 1 s
of work per piece on processes and on dask. Naps show how pieces are handed out, whatever the
machine does.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

import armtwin as at
from armtwin.files.versions import stamped_version
from armtwin.maths.runner import as_done
from armtwin.sweeps.bases import parcel_of
from armtwin.sweeps.cluster import on_cluster
from armtwin.sweeps.executors import Place, on_processes

QUICK = "--quick" in sys.argv
GIVEN = [int(word) for word in sys.argv[1:] if word.isdigit()]
RUNS = GIVEN[0] if GIVEN else 6 if QUICK else 1000
TURNS = 1
EMPTY, BUSY = (20, 2) if QUICK else (1000, 24)
SECOND = 0.05 if QUICK else 1.0
NAPS, NAP = (4, 0.1) if QUICK else (16, 0.5)
PLACES: dict[str, dict[str, object]] = {
    "one thread": {"threads": 1},
    "2 threads": {"threads": 2},
    "2 processes": {"workers": 2},
    "dask, 2 workers": {"cluster": "local:2"},
}


def used() -> float:
    """CPU seconds of this process and of those that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def jobs() -> at.Sweep:
    """Placements of the line of the RX90B at 300 mm/s."""
    job = at.Job.load("rx90b_line").with_speed("300 mm/s")
    places = [f"{350 + 0.15 * k:.2f} mm" for k in range(RUNS)]
    return at.Sweep.over(job, {"workpiece.position.1": places})


def spread() -> None:
    """Print how long a sweep takes everywhere."""
    asked = jobs()
    at.sweep(at.Sweep.over(asked.given[0], {"speed": ["300 mm/s"]}))  # kernels
    walls: dict[str, list[float]] = {name: [] for name in PLACES}
    cpu: dict[str, float] = {}
    rows = {}
    each: dict[str, float] = {}
    for _ in range(TURNS):
        for name, options in PLACES.items():
            start, before = time.perf_counter(), used()
            found = at.sweep(asked, **options)  # type: ignore[arg-type]
            walls[name].append(time.perf_counter() - start)
            cpu[name] = used() - before
            each[name] = float(np.mean([row.cpu_s for row in found.rows]))
            rows[name] = [replace(row, cpu_s=0.0) for row in found.rows]
    alone = min(walls["one thread"])
    for name in PLACES:
        same = "equal bits" if rows[name] == rows["one thread"] else "OTHER BITS"
        wall = min(walls[name])
        print(
            f"{name}: {RUNS} runs {wall:.1f} s wall, {cpu[name]:.1f} s CPU in all, "
            f"{1e3 * each[name]:.1f} ms CPU a run, {same}; wall ratio to one thread "
            f"{alone / wall:.2f}, CPU ratio {each['one thread'] / each[name]:.2f}",
            flush=True,
        )


def nothing(sent: object, number: int) -> int:
    """A piece of work that does nothing."""
    return number


def spin(sent: object, number: int) -> int:
    """A piece of work of some CPU time."""
    end = time.thread_time() + SECOND
    while time.thread_time() < end:
        pass
    return number


def nap(sent: object, number: int) -> int:
    """A piece of work that only takes time, however busy the machine is."""
    time.sleep(NAP)
    return number


def in_time(place: Place, work: Callable[..., int], count: int) -> float:
    """Wall seconds of pieces of work."""
    start = time.perf_counter()
    done = sum(len(some) for some in as_done(work, iter(range(1, count + 1)), place))
    assert done == count
    return time.perf_counter() - start


def places() -> Iterator[tuple[str, AbstractContextManager[Place]]]:
    """Processes and dask, each with two workers."""
    asked = at.Sweep.over(at.Job.load("rx90b_line"), {})
    parcel = parcel_of(asked.bases, False, "nonlinear", stamped_version())
    yield "2 processes", on_processes(parcel, 2)
    yield "dask, 2 workers", on_cluster(parcel, "local:2")


def overhead() -> None:
    """Print what a piece of work costs beside the work."""
    busy = {}
    for name, opened in places():
        with opened as place:
            in_time(place, nothing, 10)
            before = time.process_time()
            empty = in_time(place, nothing, EMPTY) / EMPTY
            own = (time.process_time() - before) / EMPTY
            asleep = in_time(place, nap, NAPS)
            busy[name] = in_time(place, spin, BUSY)
        print(
            f"{name}: {1e3 * empty:.2f} ms a piece, {1e3 * own:.2f} ms CPU of client and "
            f"scheduler; {NAPS} naps of {NAP:g} s: ratio {NAPS * NAP / asleep:.2f} to one after "
            f"another; {BUSY} pieces of {SECOND:g} s {busy[name]:.1f} s",
            flush=True,
        )
    ratio = busy["dask, 2 workers"] / busy["2 processes"]
    print(f"dask over processes at {SECOND:g} s of work a piece: ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    spread()
    overhead()
