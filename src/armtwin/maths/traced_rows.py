"""Traced kernels over the rows of a batch: one for each structure, kept on disk.

A formula takes numbers that are the same in all rows and a row of each input, and gives a row of
each output. Its kernel is traced from the readable one: what depends on the numbers alone is
computed before the rows, zeros and ones of the geometry leave nothing to compute.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats, Indices, spread
from armtwin.maths.compiled import compiles, inlined
from armtwin.maths.lanes import LANES
from armtwin.maths.machine_code import Stages, defer_stages, staged
from armtwin.maths.stretches import Memory, Part, TapeStretch, evaluate, stretches
from armtwin.maths.tape import Tape, pattern_of

# Rows of one call from which on its kernel is traced; compiling takes 1 to 2 s, once. The number
# of rows alone decides, so that a call gives the same digits in every process.
LEAST_ROWS = 10_000

EVERY_LANE = np.arange(LANES)
MOST_KEPT = 8192  # results that are computed before the rows
NUMBERS, KEPT, ROWS = 0, 1, 2  # memories: the numbers, what is kept, and tables from here on

Arrays = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Formula:
    """What is computed in each row.

    Attributes:
        kind: What shapes it beside the arrays: a name, a tree, kinds of parts.
        patterns: Arrays of numbers of which zeros and ones are known to the kernel.
        numbers: Arrays of numbers of which every element may change.
        inputs: For each input by name the shape of a row.
        outputs: The same for each output.
        trace: From symbols of all numbers and of a row of the inputs to a row of each output.
    """

    kind: Sequence[Any]
    patterns: Mapping[str, Floats]
    numbers: Mapping[str, Floats]
    inputs: Mapping[str, Indices]
    outputs: Mapping[str, Indices]
    trace: Callable[[Arrays], Arrays]

    @cached_property
    def name(self) -> str:
        """Hash of all that shapes the kernel."""
        digest = hashlib.sha1(usedforsecurity=False)
        shapes = {name: np.shape(values) for name, values in self.numbers.items()}
        digest.update(repr((self.kind, shapes, self.inputs, self.outputs)).encode())
        for name, values in self.patterns.items():
            digest.update(name.encode() + pattern_of(values))
        return digest.hexdigest()[:16]

    @cached_property
    def flat(self) -> Floats:
        """All numbers, in the order in which they lie in memory."""
        arrays = [*self.patterns.values(), *self.numbers.values()]
        return np.concatenate([np.asarray(x, dtype=np.float64).ravel() for x in arrays])

    @cached_property
    def sizes(self) -> list[int]:
        """Numbers of a row of each output."""
        return [math.prod(shape) for shape in self.outputs.values()]

    @cached_property
    def run(self) -> Any:
        """The machine code, made or found on first call; formulas of one structure share it."""
        with _making:
            if self.name not in _kernels:
                stages = defer_stages(self._stages, ("before", "row"))
                _kernels[self.name] = staged(over_rows, stages, self.name, wide=("row",))
            return _kernels[self.name]

    def _stages(self) -> tuple[Stages, Memory]:
        before, row = self.stretches()
        memory = self.memory()
        memory.add("kept", (len(before.kept),), KEPT)
        assert memory.sizes[KEPT] <= MOST_KEPT
        return {"before": [before], "row": [row]}, memory

    def memory(self) -> Memory:
        """Where the arrays lie."""
        memory = Memory()
        for name, values in {**self.patterns, **self.numbers}.items():
            memory.add(name, np.shape(values), NUMBERS)
        for place, (name, shape) in enumerate({**self.inputs, **self.outputs}.items(), ROWS):
            memory.add(name, shape, place)
            memory.tables.add(place)
        return memory

    def part(self) -> Part:
        """A row on a tape."""
        tape = Tape()
        symbols: dict[str, Any] = {}
        for name, values in self.patterns.items():
            symbols[name] = tape.pattern(name, np.asarray(values, dtype=np.float64))
        for name, values in self.numbers.items():
            symbols[name] = tape.inputs(name, np.shape(values))
        for name, shape in self.inputs.items():
            symbols[name] = tape.inputs(name, shape)
        part = Part(tape)
        for name, found in self.trace(symbols).items():
            for place, value in np.ndenumerate(found):
                part.put(name, place, value)
        return part

    def stretches(self) -> tuple[TapeStretch, TapeStretch]:
        """What is done before the rows, and in each row."""
        unchanged = {*self.patterns, *self.numbers}
        before, row = stretches(self.part(), "kept", [unchanged])
        return before, row


def over_rows(numbers: Floats, tables: Sequence[Floats], start: int, stop: int) -> None:
    """Rows start..stop of a formula whose stages are put in by name."""
    memories = (numbers, np.empty(MOST_KEPT), *tables)
    do_before(memories, 0)
    for first in range(start, stop, LANES):
        # the last rows are done with some before them, once more
        do_row(memories, max(min(first, stop - LANES), 0))


@inlined
def _nothing(memories: Sequence[Floats], row: int) -> None:
    """A stage that is put in for each formula."""


do_before = do_row = _nothing


_kernels: dict[str, Any] = {}
_making = Lock()


def is_traced(rows: int) -> bool:
    """Whether a call with so many rows has its kernel traced."""
    return rows >= LEAST_ROWS and compiles()


def compute(formula: Formula, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> None:
    """Fill the outputs, C-contiguous (m, ...), from the inputs, (m, ...), on several threads."""
    m = len(outputs[0])
    if not compiles():
        _evaluate_rows(formula, inputs, outputs)
    elif m >= LANES:
        tables = tuple(np.ascontiguousarray(x).reshape(-1) for x in (*inputs, *outputs))
        spread(formula.run, m, sum(formula.sizes), formula.flat, tables)
    elif m:  # too few for the lanes: the last one fills the rest
        given = [x.take(EVERY_LANE, 0, None, "clip").ravel() for x in inputs]
        found = [np.empty(LANES * size) for size in formula.sizes]
        formula.run(formula.flat, (*given, *found), 0, LANES)
        for x, y in zip(outputs, found, strict=True):
            x.ravel()[:] = y[: x.size]


def _evaluate_rows(formula: Formula, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> None:
    """The same in plain Python, operation by operation."""
    before, row = formula.stretches()
    memory: dict[str, Any] = {**formula.patterns, **formula.numbers}
    memory["kept"] = np.empty(len(before.kept))
    evaluate(before, memory)
    for i in range(len(outputs[0])):
        for name, x in zip((*formula.inputs, *formula.outputs), (*inputs, *outputs), strict=True):
            memory[name] = x[i]
        evaluate(row, memory)
