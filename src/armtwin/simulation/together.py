"""Many prepared runs at once: those of one kernel in lanes, groups of them on several threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from armtwin.maths.lanes import LANES
from armtwin.maths.runner import run_all, threads
from armtwin.simulation.prepared import Ended, PreparedRun
from armtwin.simulation.traced_loop import kernel_of, run_traced

# LANES lanes cost as much as two loops that run alone, whether all of them are needed or not
LEAST_LOOPS = 3
# Runs of one call from which on they go into lanes: that kernel has to be compiled or loaded too.
MANY = 32


def run_together(
    runs: Sequence[PreparedRun],
    progress: Callable[[int], None] | None = None,
    *,
    many: int = MANY,
) -> list[Ended]:
    """Run prepared runs: how, when and where each ended; each ends as it would alone.

    Args:
        runs: Runs, each to be run once.
        progress: Called with the number of runs that are done.
        many: Number of runs from which on they go into lanes.
    """
    ends: dict[int, Ended] = {}
    groups = list(_groups(runs)) if len(runs) >= many else [[k] for k in range(len(runs))]
    with threads() as executor:
        together = [[runs[place] for place in group] for group in groups]
        found = run_all(_run, together, executor=executor)
        for group, ended in zip(groups, found, strict=True):
            ends.update(zip(group, ended, strict=True))
            if progress is not None:
                progress(len(ends))
    return [ends[place] for place in range(len(runs))]


def _run(group: Sequence[PreparedRun]) -> list[Ended]:
    """A group of runs of one kernel in its lanes, one run alone."""
    kernel = kernel_of(group[0].structure, LANES) if len(group) > 1 else None
    if kernel is None:
        return [run.run() for run in group]
    return run_traced(kernel, group)


def _groups(runs: Sequence[PreparedRun]) -> Iterator[list[int]]:
    """Places of runs that go into lanes together, and of those that run alone.

    Runs of about the same length are put together: a lane whose run has ended waits for the others.
    """
    alike: dict[Any, list[int]] = defaultdict(list)
    for place, run in enumerate(runs):
        alike[_kind(place, run)].append(place)
    for places in alike.values():
        places.sort(key=lambda place: -runs[place].inputs.ticks)
        for first in range(0, len(places), LANES):
            group = places[first : first + LANES]
            if len(group) >= LEAST_LOOPS:
                yield group
                continue
            for place in group:
                yield [place]


def _kind(place: int, run: PreparedRun) -> Any:
    """What runs in the lanes of one kernel have in common; the place of one that runs alone."""
    kernel = kernel_of(run.structure)
    if kernel is None or run.linear is not None:
        return place
    c, state = run.controller, run.state
    rates = (c.tick, c.position_ticks, c.setpoint_ticks, run.inputs.log_ticks)
    return kernel.name, rates, state.readings.shape, state.commands.shape
