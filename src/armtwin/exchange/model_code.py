"""The C of a unit's model: its numbers, its variables, its tables, and the stages of its tapes."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources

from armtwin.exchange.unit import ExchangeUnit, Variable
from armtwin.maths.batch import Sentences
from armtwin.maths.c_code import PRELUDE, c_function, c_number, c_table
from armtwin.maths.c_flow import c_kernel, place_name
from armtwin.maths.traced_fields import NUMBERS, TABLE

KINDS = {"independent": 0, "parameter": 1, "input": 2, "output": 3}
CONTINUOUS, DERIVATIVE = 4, 5
KEPT_AT_LEAST = 1
CLOCK = "clock"  # fields that the kernels of stages count with


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
    parts = [
        f"/* {_comment(unit.title)} Written by armtwin from its tape; do not edit. */\n",
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


def _comment(text: str) -> str:
    return text.replace("*/", "* /").encode("ascii", "replace").decode()


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
