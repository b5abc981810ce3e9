"""The runs of a grid as an array over its axes: what is best, and how far an axis may be taken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Flags, Floats
from armtwin.notebook.cards import words_that_differ
from armtwin.sweeps.axes import SweepAxis
from armtwin.sweeps.result import SweepResult
from armtwin.sweeps.rows import HOLDS
from armtwin.sweeps.sweep import Sweep

Numbers = NDArray[np.int_]
SPEED = "speed"
JOBS = "job"  # what jobs and robots of a sweep are called as an axis


@dataclass(frozen=True, eq=False)
class Pivot:
    """Runs of a grid over two axes, with the others beside.

    Attributes:
        result: The sweep.
        x: The level axis of maps.
        y: The upright axis.
        others: All other axes; jobs and robots are the first, where there are several.
        runs: Numbers of runs, (values of y, values of x, others...).
    """

    result: SweepResult
    x: SweepAxis
    y: SweepAxis
    others: tuple[SweepAxis, ...]
    runs: Numbers

    @cached_property
    def held(self) -> Flags:
        """Which runs hold, shaped as the runs."""
        flags = np.array([row.outcome == HOLDS for row in self.result.rows])
        return flags[self.runs]

    def best(self) -> Numbers:
        """Number of the best run in each cell of the map, whatever the others are, (k, m)."""
        rows, columns = self.runs.shape[:2]
        rank = np.full(len(self.result.rows), np.inf)
        order = self.result.best(len(self.result.rows))
        rank[order] = np.arange(len(order))
        flat = self.runs.reshape(rows, columns, -1)
        chosen = rank[flat].argmin(axis=2)
        return np.take_along_axis(flat, chosen[:, :, None], axis=2)[:, :, 0]

    def combinations(self) -> Iterator[tuple[str, Numbers]]:
        """Each combination of the other axes in words, with the numbers of its runs, (k, m)."""
        for places in product(*(range(len(axis.values)) for axis in self.others)):
            words = []
            for axis, k in zip(self.others, places, strict=True):
                words.append(axis.named(axis.values[k]))
            index: Any = (..., *places)
            yield ", ".join(words), self.runs[index]

    def limit(self, axis: SweepAxis) -> Floats:
        """Highest value of an axis that holds with all lower ones, in each cell, (k, m).

        NaN where not even the lowest does. Of the other axes the best is taken.
        """
        place = 2 + self.others.index(axis)
        values = axis.numbers
        order = np.argsort(values)
        held = np.moveaxis(self.held, place, -1)[..., order]
        unbroken = np.logical_and.accumulate(held, axis=-1)
        count = unbroken.sum(axis=-1)
        rows, columns = count.shape[:2]
        most = count.reshape(rows, columns, -1).max(axis=2)
        found = np.concatenate([[np.nan], values[order]])
        return found[most]


def pivot_of(result: SweepResult) -> Pivot | None:
    """The runs over the two axes of the map; None where they are no grid over two numbers."""
    asked = result.sweep
    axes = asked.axes
    if asked.description.design != "grid":
        return None
    chosen = map_axes(asked)
    if chosen is None:
        return None
    shape = [len(axis.values) for axis in axes]
    bases = len(asked.bases)
    runs = np.arange(len(result.rows)).reshape(bases, *shape)
    x, y = chosen
    moved = np.moveaxis(runs, (1 + axes.index(y), 1 + axes.index(x)), (0, 1))
    moved = moved[np.argsort(y.numbers)][:, np.argsort(x.numbers)]
    others = [axis for axis in axes if axis not in (x, y)]
    if bases == 1:
        moved = moved[:, :, 0]
    else:
        others.insert(0, SweepAxis(JOBS, JOBS, "", tuple(_base_names(result))))
    return Pivot(result, x, y, tuple(others), moved)


def sort_values(axis: SweepAxis) -> Floats:
    """Values of an axis, rising."""
    return np.sort(axis.numbers)


def _base_names(result: SweepResult) -> Sequence[str]:
    """Labels that distinguish the jobs and robots of a sweep."""
    bases = result.sweep.bases
    jobs = [base.job.name for base in bases]
    rows = words_that_differ(jobs, [base.robot for base in bases])
    return [" with ".join(row) or job for row, job in zip(rows, jobs, strict=True)]


def map_axes(asked: Sweep) -> tuple[SweepAxis, SweepAxis] | None:
    """The level and the upright axis of maps; a limit's axis is taken last."""
    by_key = {axis.key: axis for axis in asked.axes if axis.is_number}
    if asked.description.map is not None:
        first, second = asked.description.map
        if first in by_key and second in by_key:
            return by_key[first], by_key[second]
    limit = limit_axis(asked)
    usual = [axis for axis in by_key.values() if axis is not limit]
    usual += [axis for axis in by_key.values() if axis is limit]
    several = [axis for axis in usual if axis.varies]
    return (several[0], several[1]) if len(several) > 1 else None


def limit_axis(asked: Sweep) -> SweepAxis | None:
    """The axis whose highest value that holds is of interest."""
    wanted = asked.description.limit or SPEED
    for axis in asked.axes:
        if axis.key == wanted and axis.is_number and axis.varies:
            return axis
    return None
