"""Prepared loops laid side by side: the memories of a kernel, and its results."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.traced_fields import ROWS, SEPARATE, count_of
from armtwin.simulation.kernels import MOST_KEPT, Kernel
from armtwin.simulation.loop import FINISHED, Inputs

Ended = tuple[int, int, int]  # how, when (in ticks) and where a run ended
SERIES_OF_INPUTS = ("ref", "external", "wrench")


class Lanes:
    """What a kernel works on: runs side by side.

    Of one loop its own arrays are used, of several copies; lanes beyond the loops have copies of
    the last one.

    Attributes:
        kernel: The kernel.
        runs: The runs.
        ended: How and where each loop ended, (lanes, 2).
        running: Lanes whose loops have not ended.
    """

    def __init__(self, kernel: Kernel, runs: Sequence[Any]) -> None:
        self.kernel, self.runs, self.count = kernel, runs, kernel.lanes
        self.fields = [run.fields for run in runs]
        filled = [*self.fields, *[self.fields[-1]] * (self.count - len(runs))]
        self.numbers = _interleave([x.numbers(kernel.memory) for x in filled])
        separate = [x.separate() for x in filled]
        self.arrays = {name: self._weave(name, [x[name] for x in separate]) for name in separate[0]}
        self.kept = np.zeros(MOST_KEPT * self.count)
        self.ended = np.zeros((self.count, 2), dtype=np.int64)
        self.running = list(range(len(runs)))

    def _weave(self, name: str, arrays: Sequence[Floats]) -> Floats:
        """An array of each lane as its memory has them."""
        return _interleave(arrays, self.kernel.memory.width(name))

    def view(self, name: str) -> Any:
        """An array in the memory of inputs, (lanes, ...)."""
        _, first, shape = self.kernel.memory.arrays[name]
        size = math.prod(shape)
        rows = self.numbers.reshape(-1, self.count)[first : first + size]
        woven = rows.reshape(*shape, self.count)
        return woven.transpose(len(shape), *range(len(shape)))

    @property
    def memories(self) -> tuple[Floats, ...]:
        """All inputs, then tables, series and records, and space for what is kept.

        Each is woven: element e of lane l at e lanes + l.
        """
        return self.numbers, *self.arrays.values(), self.kept

    def feed(self, inputs: Sequence[Inputs]) -> None:
        """Have the loops go on with other set-points, those of the lanes that are running."""
        given = dict(zip(self.running, inputs, strict=True))
        lanes = [given.get(lane, inputs[0]) for lane in range(self.count)]
        for name in SERIES_OF_INPUTS:
            path = f"inputs.{name}"
            if path in self.arrays:
                series = [getattr(x, name) for x in lanes]
                self.arrays[path] = self._weave(path, series)
                _, first, _ = self.kernel.memory.arrays[count_of(path)]
                self.numbers.reshape(-1, self.count)[first] = [len(x) for x in series]

    def read_trace(self, lane: int, rows: slice) -> Floats:
        """Rows of the trace of a loop, (rows, N)."""
        shape = self.fields[lane].leaves["record.trace"].value.shape
        woven = self.arrays["record.trace"].reshape(*shape, self.count)
        return woven[rows, :, lane].copy()

    def run_ticks(self, first: int, last: int, begin: int = 0) -> int:
        """Run the ticks from the first to the last, or to that in which a loop ends.

        Series and records begin with a tick that is not after the first.
        """
        run = self.runs[0]
        c = run.controller
        self.ended[:] = FINISHED, -1
        counts = (first, last, begin, run.inputs.log_ticks, c.position_ticks, c.setpoint_ticks)
        is_pushed = any(x.inputs.is_pushed for x in self.runs)
        lanes = (0,) * self.count
        return self.kernel.run(
            self.memories, self.kernel.slots, lanes, counts, is_pushed, self.ended
        )

    def finish(self, lane: int) -> None:
        """Write the state and the record of a loop that has ended."""
        self.running.remove(lane)
        for path, leaf in self.fields[lane].leaves.items():
            is_changing = path.startswith("state.") or leaf.kind == ROWS
            if not is_changing:
                continue
            if leaf.kind not in SEPARATE:
                leaf.value[...] = self.view(path)[lane]
            elif self.count > 1:
                woven = self.arrays[path].reshape(-1, self.count)[: leaf.value.size, lane]
                leaf.value[...] = woven.reshape(leaf.value.shape)

    def fill(self) -> None:
        """Have lanes without a loop do what one with a loop does."""
        if not self.running:
            return
        lane = self.running[0]
        others = [x for x in range(self.count) if x not in self.running]
        widths = [1, *map(self.kernel.memory.width, self.arrays), 1]
        for memory, width in zip(self.memories, widths, strict=True):
            woven = memory.reshape(-1, self.count, width)
            for other in others:
                woven[:, other] = woven[:, lane]


def run_lanes(kernel: Kernel, runs: Sequence[Any]) -> list[Ended]:
    """Run prepared loops, one in each lane: how, when and where each ended.

    Their states and records are written. A lane without a loop of its own, or whose loop has
    ended, does what another lane does.
    """
    lanes = Lanes(kernel, runs)
    ends: dict[int, Ended] = {}
    first = 0
    while lanes.running:
        last = min(runs[lane].inputs.ticks for lane in lanes.running)
        tick = lanes.run_ticks(first, last)
        for lane in list(lanes.running):
            how, where = lanes.ended[lane]
            if how != FINISHED or tick == runs[lane].inputs.ticks:
                ends[lane] = int(how), tick, int(where)
                lanes.finish(lane)
        lanes.fill()
        first = tick if tick == last else tick + 1
    return [ends[lane] for lane in range(len(runs))]


def _interleave(arrays: Sequence[Any], width: int = 1) -> Floats:
    """Arrays row by row of a width side by side; the shorter ones are filled with zeros."""
    if len(arrays) == 1:
        return np.ascontiguousarray(arrays[0]).reshape(-1)
    longest = max(np.size(x) for x in arrays) // width
    woven = np.zeros((longest, len(arrays), width))
    for lane, values in enumerate(arrays):
        rows = np.reshape(values, (-1, width))
        woven[: len(rows), lane] = rows
    return woven.reshape(-1)
