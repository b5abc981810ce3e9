"""Nested NamedTuples of arrays on a tape: each field is what its annotation says.

    Floats      every element is an input, and may be written
    Pattern     as above; zeros and plus or minus ones are constants of the structure
    Table       read at computed places, never written
    Series      a table whose number of rows is a number of the run
    Ring        as above, and written: the past of something
    Rows        written at computed rows, in which it lasts a run
    Index       known when the kernel is made: it shapes it
    Aside       no part of a kernel: handed through as it is
    float, int  one input

A field is named by its path, as "plant.springs.stiffness". The fields of a value say in one walk
which inputs a tape has, where they lie in memory, what shapes the kernel and what its memories
hold.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Flags, Floats
from armtwin.maths.stretches import Memory, Part
from armtwin.maths.tape import Symbol, Tape, TapeTable, pattern_of

Pattern = Annotated[Floats, "pattern"]
Table = Annotated[Floats, "table"]
Series = Annotated[Floats, "series"]
Ring = Annotated[Floats, "ring"]
Rows = Annotated[Floats, "rows"]
Index = Annotated[NDArray[np.int64], "index"]
Known = Annotated[int, "index"]
Aside = Annotated[Any, "aside"]

INPUT, PATTERN, TABLE, SERIES = "input", "pattern", "table", "series"
RING, ROWS, INDEX, ASIDE = "ring", "rows", "index", "aside"
SEPARATE = (TABLE, SERIES, RING, ROWS)  # each in a memory of its own
COUNTED = (SERIES, RING)  # whose number of rows is an input
NUMBERS = 0  # memory of all inputs
STATE = "state."  # fields that a run leaves changed


class Leaf(NamedTuple):
    """A field that holds no further fields.

    Attributes:
        path: Its name.
        kind: What it is.
        value: What it holds.
    """

    path: str
    kind: str
    value: Any

    @property
    def in_memory(self) -> bool:
        """Whether it lies in a memory of the kernel."""
        return self.kind not in (INDEX, ASIDE)

    @property
    def axes_of_row(self) -> int:
        """How many of the last axes of a table are read together, in most places."""
        axes = np.ndim(self.value)
        return {TABLE: min(1, axes - 1), SERIES: axes - 1}.get(self.kind, 0)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape in memory: that of one row where the number of rows is of the run."""
        shape = np.shape(self.value)
        return (1, *shape[1:]) if self.kind in (*COUNTED, ROWS) else shape


@lru_cache
def _kinds(kind: Any) -> dict[str, str]:
    """The kind of each field of a NamedTuple."""
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        parts = [hint, *get_args(hint)]
        marks = [x.__metadata__[0] for x in parts if hasattr(x, "__metadata__")]
        found[name] = marks[0] if marks else INPUT
    return found


def leaves(value: Any, path: str = "") -> Iterator[Leaf]:
    """All fields of nested NamedTuples that are there."""
    of: Any = type(value)
    for name, kind in _kinds(of).items():
        inner = getattr(value, name)
        where = f"{path}.{name}" if path else name
        if inner is None:
            continue
        if hasattr(inner, "_fields"):
            yield from leaves(inner, where)
        else:
            yield Leaf(where, kind, inner)


class SparseTable(TapeTable):
    """A table some of whose columns are zero in every row."""

    def __init__(self, tape: Tape, name: str, shape: tuple[Any, ...], zero: Flags) -> None:
        super().__init__(tape, name, shape)
        self.zero = zero

    def __getitem__(self, place: tuple[Any, ...]) -> Any:
        return 0.0 if self.zero[place[1:]] else super().__getitem__(place)


class TracedCells:
    """An array that is read and written at places which may be computed."""

    def __init__(self, part: Part, name: str, shape: tuple[Any, ...]) -> None:
        self.part, self.name, self.shape = part, name, shape

    def __getitem__(self, place: tuple[Any, ...]) -> Any:
        return self.part.tape.load(self.name, place)

    def __setitem__(self, place: tuple[Any, ...], value: Any) -> None:
        self.part.put(self.name, place, value)


@dataclass(eq=False)
class TracedFields:
    """The fields of a value, as a tape and its memories see them.

    Attributes:
        value: Nested NamedTuples of arrays.
        constant: For arrays by name the elements that keep their value, of which zeros and ones
            are constants; the other elements are inputs. Of a series the columns that are zero.
        dense: Names of patterns that are taken as if no element were zero or one.
    """

    value: Any
    constant: Mapping[str, Flags] = field(default_factory=dict)
    dense: Collection[str] = ()

    def __post_init__(self) -> None:
        self.leaves = {leaf.path: leaf for leaf in leaves(self.value)}

    def first_rows(self) -> TracedFields:
        """The same structure with one row of what has as many as a run is long."""
        return TracedFields(_first_rows(self.value), self.constant, self.dense)

    def structure(self) -> Iterator[bytes]:
        """What shapes a kernel of it."""
        known = []  # of whose elements zeros and ones do
        for leaf in self.leaves.values():
            fixed = self.constant.get(leaf.path)
            if leaf.kind == INDEX:
                yield f"{leaf.path} {np.asarray(leaf.value).tolist()}".encode()
            elif leaf.in_memory:
                yield f"{leaf.path} {leaf.shape}".encode()
            if fixed is not None:
                yield fixed.tobytes()
            if fixed is not None and leaf.kind != SERIES:
                known.append(np.where(fixed, leaf.value, 0.5))
            elif leaf.kind == PATTERN and leaf.path in self.dense:
                yield b"dense"
            elif leaf.kind == PATTERN:
                known.append(leaf.value)
        yield pattern_of(np.concatenate([np.ravel(x) for x in known]))

    def memory(self) -> Memory:
        """Where the arrays lie."""
        memory = Memory()
        separate = NUMBERS
        for leaf in self.leaves.values():
            if leaf.kind in SEPARATE:
                separate += 1
                memory.add(leaf.path, leaf.shape, separate)
                memory.rows[leaf.path] = leaf.axes_of_row
            elif leaf.in_memory:
                memory.add(leaf.path, leaf.shape, NUMBERS)
            if leaf.kind in COUNTED:
                memory.add(count_of(leaf.path), (), NUMBERS)
        return memory

    def numbers(self, memory: Memory) -> Floats:
        """Contents of the memory of inputs."""
        found = np.zeros(memory.sizes[NUMBERS])
        for path, leaf in self.leaves.items():
            if leaf.kind in COUNTED:
                _, first, _ = memory.arrays[count_of(path)]
                found[first] = len(leaf.value)
            elif leaf.in_memory and leaf.kind not in SEPARATE:
                _, first, shape = memory.arrays[path]
                found[first : first + math.prod(shape)] = np.ravel(leaf.value)
        return found

    def read_back(self, memory: Memory, numbers: Floats) -> None:
        """Write the state, as the memory of inputs has it, to its arrays."""
        for path, leaf in self.leaves.items():
            if path.startswith(STATE) and leaf.kind not in SEPARATE:
                _, first, shape = memory.arrays[path]
                leaf.value[...] = numbers[first : first + math.prod(shape)].reshape(shape)

    def separate(self) -> dict[str, Floats]:
        """The arrays that lie in memories of their own, in the order of these."""
        return {x.path: x.value for x in self.leaves.values() if x.kind in SEPARATE}

    def symbols(self, part: Part) -> Any:
        """The value with symbols in place of its numbers; what is put at places goes to a part."""
        return self._of(self.value, part, "")

    def _of(self, value: Any, part: Part, path: str) -> Any:
        found = []
        for name in value._fields:
            inner = getattr(value, name)
            where = f"{path}.{name}" if path else name
            if hasattr(inner, "_fields"):
                found.append(self._of(inner, part, where))
            else:
                found.append(None if inner is None else self._symbol(where, part))
        return type(value)(*found)

    def _symbol(self, path: str, part: Part) -> Any:
        leaf, tape = self.leaves[path], part.tape
        if not leaf.in_memory:
            return leaf.value
        shape = np.shape(leaf.value)
        if leaf.kind == TABLE:
            return TapeTable(tape, path, shape)
        if leaf.kind in COUNTED:
            shape = (tape.input(count_of(path), ()), *shape[1:])
        if leaf.kind == SERIES and path in self.constant:
            return SparseTable(tape, path, shape, self.constant[path])
        if leaf.kind == SERIES:
            return TapeTable(tape, path, shape)
        if leaf.kind in SEPARATE:
            return TracedCells(part, path, shape)
        if not shape:
            return tape.input(path, ())
        return self._array(leaf, tape)

    def _array(self, leaf: Leaf, tape: Tape) -> Any:
        """An array of inputs, of which some elements may be constants."""
        fixed = self.constant.get(leaf.path)
        if fixed is not None:
            inputs = tape.inputs(leaf.path, leaf.shape)
            return np.where(fixed, tape.pattern(leaf.path, leaf.value), inputs)
        if leaf.kind == PATTERN and leaf.path not in self.dense:
            return tape.pattern(leaf.path, leaf.value)
        return tape.inputs(leaf.path, leaf.shape)

    def put_changes(self, part: Part, before: Any, after: Any, path: str = "") -> None:
        """Write all elements that differ between two values of symbols."""
        for name in before._fields:
            old, new = getattr(before, name), getattr(after, name)
            where = f"{path}.{name}" if path else name
            if hasattr(old, "_fields"):
                self.put_changes(part, old, new, where)
            elif isinstance(old, np.ndarray) and old.dtype == object:
                for place, value in np.ndenumerate(new):
                    if not is_same(value, old[place]):
                        part.put(where, place, value)


def count_of(path: str) -> str:
    """Name of the input that holds the number of rows of a series."""
    return f"{path} rows"


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are one symbol or one number."""
    if isinstance(one, Symbol) and isinstance(other, Symbol):
        return one.number == other.number
    if isinstance(one, Symbol) or isinstance(other, Symbol):
        return False
    return bool(one == other)


def _first_rows(value: object) -> Any:
    """Nested NamedTuples with the first row of each series and record alone."""
    found = {}
    whole: Any = value
    of: Any = type(value)
    for name, kind in _kinds(of).items():
        inner = getattr(value, name)
        if hasattr(inner, "_fields"):
            found[name] = _first_rows(inner)
        elif inner is not None and kind in (SERIES, ROWS):
            found[name] = inner[:1].copy()
    return whole._replace(**found)


def copy_fields(value: Any) -> Any:
    """Nested NamedTuples with copies of their arrays."""
    found = []
    for inner in value:
        if hasattr(inner, "_fields"):
            found.append(copy_fields(inner))
        else:
            found.append(inner.copy() if isinstance(inner, np.ndarray) else inner)
    return type(value)(*found)
