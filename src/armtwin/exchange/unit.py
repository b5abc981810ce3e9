"""What a unit is written from, and the C of its model: numbers, variables, tables, stages."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import Any, Literal

import numpy as np

from armtwin.maths.batch import Floats, Sentences
from armtwin.maths.c_code import PRELUDE, c_function, c_number, c_table
from armtwin.maths.c_flow import c_kernel, place_name
from armtwin.maths.stretches import Memory, TapeStretch, flat_index
from armtwin.maths.traced_fields import NUMBERS, TABLE, TracedFields

Causality = Literal["independent", "parameter", "input", "output", "local"]
Loop = Literal["transmission", "robot"]
Place = tuple[str, tuple[int, ...]]
Order = tuple[Any, Collection[str], str]
KINDS = {"independent": 0, "parameter": 1, "input": 2, "output": 3}
CONTINUOUS, DERIVATIVE = 4, 5
KEPT_AT_LEAST = 1
CLOCK = "clock"  # fields that the kernels of stages count with


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


def source_files(unit: ExchangeUnit, version: int, guid: str) -> dict[str, str]:
    """All sources of a unit by file name; the interface includes the others."""
    found = {"model.c": model_code(unit, guid)}
    shipped = {"loop.c": f"{unit.loop}.c", "state.h": "state.h", "unit.h": "unit.h"}
    shipped[interface_file(version)] = interface_file(version)
    for name, file in shipped.items():
        found[name] = (resources.files("armtwin.exchange") / "sources" / file).read_text("utf-8")
    return found


def interface_file(version: int) -> str:
    """The file that is compiled."""
    return f"fmi{version}.c"


def model_code(unit: ExchangeUnit, guid: str) -> str:
    """The file model.c."""
    title = unit.title.replace("*/", "* /").encode("ascii", "replace").decode()
    parts = [
        f"/* {title} Written by armtwin from its tape; do not edit. */\n",
        PRELUDE,
        "\n".join(_define(unit, guid)) + "\n",
        c_table("number_start", unit.start()),
        *_variable_tables(unit),
    ]
    parts += _memories(unit)
    for name, stretches in unit.stages.items():
        parts.append(c_function(f"do_{name}", stretches, unit.memory))
    for kernel, stages, name in unit.orders:
        parts.append(c_kernel(kernel, stages, CLOCK, name))
    return "\n".join(parts)


def _memories(unit: ExchangeUnit) -> Sentences:
    """Tables that never change, rings that a state has, and where all memories are."""
    pointers, of_state = ["(s)->numbers"], []
    for k, (path, values) in enumerate(unit.fields.separate().items(), 1):
        if unit.fields.leaves[path].kind == TABLE:
            yield c_table(f"table_{k}", values.ravel())
            pointers.append(f"(double *)table_{k}")
        else:
            of_state.append(f"double ring_{k}[{values.size}];")
            pointers.append(f"(s)->ring_{k}")
    pointers.append("(s)->kept")
    yield f"#define RINGS {' '.join(of_state)}\n#define MEMORIES(s) {{{', '.join(pointers)}}}\n"


def _define(unit: ExchangeUnit, guid: str) -> Sentences:
    kept = unit.memory.sizes[-1]
    yield f'#define GUID "{guid}"'
    yield f"#define N_NUMBERS {unit.memory.sizes[0]}"
    yield f"#define N_KEPT {max(kept, KEPT_AT_LEAST)}"
    yield f"#define N_VARIABLES {len(unit.variables)}"
    yield f"#define N_STATES {len(unit.states)}"
    yield f"#define N_INDICATORS {unit.indicators}"
    for name, value in unit.constants.items():
        yield f"#define {name} {c_number(value)}"
    for name, (memory, first, shape) in unit.memory.arrays.items():
        if memory == NUMBERS and 0 not in shape:
            yield f"#define {place_name(name)} {first}"


def _variable_tables(unit: ExchangeUnit) -> Sentences:
    reference = unit.reference
    slopes = {variable.slope for variable in unit.states}
    places, kinds, rates = [], [], []
    for variable in unit.variables:
        places.append(0 if variable.place is None else unit.offset(variable.place))
        kinds.append(_kind(variable, slopes))
        rates.append(reference[variable.rate] if variable.rate else 0)
    yield _whole("variable_place", places)
    yield _whole("variable_kind", kinds)
    yield _whole("variable_rate", rates)
    yield c_table("variable_least", [variable.least for variable in unit.variables])
    if not unit.states:
        return
    yield _whole("state_place", [places[reference[x.name]] for x in unit.states])
    yield _whole("slope_place", [places[reference[x.slope]] for x in unit.states])
    yield c_table("state_nominal", [x.nominal for x in unit.states])


def _kind(variable: Variable, slopes: set[str]) -> int:
    if variable.slope:
        return KINDS["output"] if variable.start is None else CONTINUOUS
    if variable.name in slopes:
        return DERIVATIVE
    return KINDS[variable.causality]


def _whole(name: str, values: Iterable[int]) -> str:
    words = [str(x) for x in values]
    return f"static const int {name}[{len(words)}] = {{{', '.join(words)}}};\n"
