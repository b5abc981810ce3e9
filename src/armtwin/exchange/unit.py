"""The dataclass ExchangeUnit: variables, stages on tapes and tables, of which a unit is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.memory import Memory, flat_index
from armtwin.maths.stretches import TapeStretch
from armtwin.maths.traced_fields import NUMBERS, TracedFields

Causality = Literal["independent", "parameter", "input", "output", "local"]
Loop = Literal["transmission", "robot"]
Place = tuple[str, tuple[int, ...]]
Order = tuple[Any, Collection[str], str]


@dataclass(frozen=True)
class Variable:
    """A variable of a unit.

    Attributes:
        name: Its name.
        causality: What it is for.
        place: Where it lies in the memory of numbers: array and place there; None for time.
        unit: Its unit, "1" for a number.
        description: What it is, in words.
        start: Its value at the start; None for what is computed.
        least: Its least value.
        rate: Name of the input that is its rate.
        slope: Name of the variable that is its derivative, of a continuous state.
        nominal: Its order of magnitude, of a continuous state.
    """

    name: str
    causality: Causality
    place: Place | None
    unit: str
    description: str
    start: float | None = None
    least: float = -np.inf
    rate: str = ""
    slope: str = ""
    nominal: float = 1.0


@dataclass(frozen=True, eq=False)
class ExchangeUnit:
    """What a unit is written from.

    Attributes:
        name: Its name, of any letters.
        title: What it is, in a sentence.
        loop: Which loop runs its stages.
        variables: Its variables; the first one is time. Their numbers are their references.
        fields: What the stages work on.
        stages: The stages on tapes.
        memory: Where their arrays lie.
        orders: Kernels that call the stages, which of them, and the name of each.
        constants: Numbers that the loop is written with, by name.
        indicators: Number of event indicators.
        step: Step of communication that is proposed [s].
        remarks: What a user of it should know, in sentences.
    """

    name: str
    title: str
    loop: Loop
    variables: Sequence[Variable]
    fields: TracedFields
    stages: Mapping[str, Sequence[TapeStretch]]
    memory: Memory
    orders: Sequence[Order]
    constants: Mapping[str, float | int] = field(default_factory=dict)
    indicators: int = 0
    step: float = 1e-3
    remarks: Sequence[str] = ()

    @property
    def identifier(self) -> str:
        """An identifier that is valid in C."""
        letters = [x if x.isascii() and x.isalnum() else "_" for x in self.name]
        word = "".join(letters)
        return word if word[:1].isalpha() else f"unit_{word}"

    @cached_property
    def reference(self) -> dict[str, int]:
        """References of the variables by their names."""
        return {variable.name: k for k, variable in enumerate(self.variables)}

    @property
    def states(self) -> list[Variable]:
        """Continuous states; a unit without any cannot be integrated by its host."""
        return [variable for variable in self.variables if variable.slope]

    def offset(self, place: Place) -> int:
        """Where an element lies in the memory of numbers."""
        array, indices = place
        memory, first, shape = self.memory.arrays[array]
        assert memory == NUMBERS
        return first + flat_index(indices, shape)

    def start(self) -> Floats:
        """The memory of numbers at the start."""
        found = self.fields.numbers(self.memory)
        for variable in self.variables:
            if variable.place is not None and variable.start is not None:
                found[self.offset(variable.place)] = variable.start
        return found
