"""Tapes made ready for a writer: which operations are done in which loop, and in which branch.

A part of a kernel stands in loops. What does not change within a loop is computed before it, and
kept in memory for what stands inside. Of a choice whose one side is costly, that side is computed
only where it is chosen.
"""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from armtwin.maths.batch import Indices
from armtwin.maths.tape import Operation, Symbol, Tape


def flat_index(place: Sequence[int], shape: Indices) -> int:
    """Where an element lies in an array that is written row by row."""
    flat = 0
    for index, length in zip(place, shape, strict=True):
        flat = flat * length + index
    return flat


class Memory:
    """Where the arrays of a stretch lie: in which of the arrays given to the kernel, from where on.

    Attributes:
        arrays: For each array by name the number of the memory, its first element there, its shape.
        sizes: Elements of each memory, or of one of its rows.
        tables: Memories with rows: the arrays lie in them once for each row, one after the other.
        woven: Whether in lanes each element lies in all memories once for each lane, side by side.
        rows: For tables by name how many axes, the last ones, are a row: of woven tables whole rows
            lie side by side, once for each lane.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, tuple[int, int, Indices]] = {}
        self.sizes: list[int] = []
        self.tables: set[int] = set()
        self.woven = False
        self.rows: dict[str, int] = {}

    def add(self, name: str, shape: Indices, memory: int = 0) -> None:
        """Give an array its place at the end of a memory."""
        while len(self.sizes) <= memory:
            self.sizes.append(0)
        self.arrays[name] = memory, self.sizes[memory], shape
        self.sizes[memory] += math.prod(shape)

    def width(self, name: str) -> int:
        """Elements of a row of a table, 1 of what is woven element by element."""
        _, _, shape = self.arrays[name]
        return math.prod(shape[len(shape) - self.rows.get(name, 0) :])


COSTS = {"root": 15, "divide": 12, "load": 4, "cosine": 40, "sine": 40, "arctangent": 60}
WORTH_A_BRANCH = 30  # operations of a side that are saved by not computing it
FREE = ("constant", "input")


@dataclass(frozen=True)
class Computed:
    """An index that an operation gives, by its number."""

    number: int


Place = tuple[str, tuple[int | Computed, ...]]  # an element of an array
Output = tuple[Place, int]  # where a result goes, and its number
Side = tuple[int, bool]  # of a choice: its number, and whether it is the side taken when it holds


@dataclass
class Part:
    """A part of a kernel: operations, and where their results go."""

    tape: Tape
    outputs: list[Output] = field(default_factory=list)

    def put(self, array: str, place: Sequence[Any], value: Any) -> None:
        """Write a value to an element of an array, at a place that may be computed."""
        indices = []
        for index in place:
            known = not isinstance(index, Symbol)
            indices.append(int(index) if known else Computed(self.tape.number_of(index)))
        self.outputs.append(((array, tuple(indices)), self.tape.number_of(value)))

    def arrays_read(self) -> set[str]:
        """Names of the arrays that its results depend on."""
        found = set()
        for number in self.tape.needed(operands(self.outputs)):
            operation = self.tape.operations[number]
            if operation.name == "input":
                found.add(operation.detail[0])
            elif operation.name == "load":
                found.add(operation.detail)
        return found


def is_computed(place: tuple[int | Computed, ...]) -> bool:
    """Whether an index of a place is computed."""
    return any(isinstance(index, Computed) for index in place)


def known_place(place: tuple[int | Computed, ...]) -> Indices:
    """A place of which no index is computed."""
    found = []
    for index in place:
        assert isinstance(index, int)
        found.append(index)
    return tuple(found)


def operands(outputs: Iterable[Output]) -> Iterator[int]:
    """Operations that outputs need: what is written, and computed indices of where."""
    for (_, place), number in outputs:
        yield number
        for index in place:
            if isinstance(index, Computed):
                yield index.number


@dataclass(frozen=True)
class TapeStretch:
    """Operations that are done one after the other.

    Attributes:
        tape: Where they stand.
        numbers: Which they are, in order.
        kept: Where results of stretches before this one are found, by their number.
        outputs: Where results go, with their number.
        sides: For operations that only one side of a choice needs, that side.
    """

    tape: Tape
    numbers: list[int]
    kept: dict[int, Place]
    outputs: list[Output]
    sides: dict[int, Side]


def stretches(part: Part, name: str, unchanged: Sequence[set[str]] = ()) -> list[TapeStretch]:
    """The stretches of a part, that of the outermost loop first.

    Args:
        part: The part.
        name: Name of the array in which results are kept from loop to loop.
        unchanged: For each loop around it, the outermost first, arrays that do not change in it.
    """
    tape = part.tape
    needed = tape.needed(operands(part.outputs))
    levels = _levels(tape, needed, unchanged)
    innermost = len(unchanged)
    crossing = _crossing(tape, needed, levels, part.outputs, innermost)
    kept: dict[int, Place] = {number: (name, (slot,)) for slot, number in enumerate(crossing)}
    found = []
    for level in range(innermost + 1):
        numbers = [x for x in needed if levels[x] == level]
        outputs: list[Output] = [(kept[x], x) for x in crossing if levels[x] == level]
        if level == innermost:
            outputs = part.outputs
        sides = _sides(tape, numbers, operands(outputs))
        found.append(TapeStretch(tape, numbers, kept, outputs, sides))
    return found


def _levels(tape: Tape, needed: list[int], unchanged: Sequence[set[str]]) -> dict[int, int]:
    """The loop in which each operation is done; tables are read inside."""
    levels: dict[int, int] = {}
    for number in needed:
        operation = tape.operations[number]
        if operation.name == "constant":
            levels[number] = 0
        elif operation.name == "input":
            own = (k for k, names in enumerate(unchanged) if operation.detail[0] in names)
            levels[number] = next(own, len(unchanged))
        elif operation.name == "load":
            levels[number] = len(unchanged)
        else:
            levels[number] = max(levels[x] for x in operation.of)
    return levels


def _crossing(
    tape: Tape,
    needed: list[int],
    levels: Mapping[int, int],
    outputs: Iterable[Output],
    innermost: int,
) -> list[int]:
    """Operations whose results are needed in a later stretch; inputs are read there again."""
    crossing: set[int] = set()

    def cross(number: int, level: int) -> None:
        if levels[number] < level and tape.operations[number].name not in FREE:
            crossing.add(number)

    for number in needed:
        for x in tape.operations[number].of:
            cross(x, levels[number])
    for number in operands(outputs):
        cross(number, innermost)
    return sorted(crossing)


def _sides(tape: Tape, numbers: list[int], outputs: Iterable[int]) -> dict[int, Side]:
    """For each operation that only one costly side of a choice needs, that side."""
    users = _users(tape, numbers, outputs)
    here = set(numbers)
    sides: dict[int, Side] = {}
    for number in numbers:  # inner choices come first and keep what is theirs
        operation = tape.operations[number]
        if operation.name != "choose":
            continue
        for index, holds in ((1, True), (2, False)):
            only = _only_for(tape, number, index, users, here)
            if _cost(tape, only) >= WORTH_A_BRANCH:
                for x in only:
                    sides.setdefault(x, (number, holds))
    return sides


def _users(tape: Tape, numbers: list[int], outputs: Iterable[int]) -> dict[int, set[int]]:
    """Operations that need each operation; -1 is any place that it is written to."""
    users: dict[int, set[int]] = defaultdict(set)
    for number in numbers:
        for x in tape.operations[number].of:
            users[x].add(number)
    for number in outputs:
        users[number].add(-1)
    return users


def _only_for(
    tape: Tape, number: int, index: int, users: Mapping[int, set[int]], here: set[int]
) -> set[int]:
    """Operations that nothing but one side of a choice needs."""
    of = tape.operations[number].of
    root = of[index]
    if root not in here or of.count(root) > 1 or users[root] != {number}:
        return set()
    only = {root}
    for x in range(root - 1, -1, -1):
        used = users.get(x)
        if x in here and used and used <= only and tape.operations[x].name != "constant":
            only.add(x)
    return only


def _cost(tape: Tape, numbers: Iterable[int]) -> int:
    names = [tape.operations[x].name for x in numbers]
    return sum(0 if name in FREE else COSTS.get(name, 1) for name in names)


def find_fused_products(stretch: TapeStretch) -> dict[int, int]:
    """For each sum or difference that takes in a product, that product: a b + c in one operation.

    It is one that nothing else needs, the later one of two. The tape alone decides, so that every
    writer rounds alike, whichever branches and lanes it writes.
    """
    tape = stretch.tape
    users = _users(tape, stretch.numbers, operands(stretch.outputs))
    here = set(stretch.numbers)
    found: dict[int, int] = {}
    for number in stretch.numbers:
        name, of, _ = tape.operations[number]
        if name not in ("add", "subtract") or of[0] == of[1]:
            continue
        for x in of:
            is_product = x in here and tape.operations[x].name == "multiply"
            if is_product and users[x] == {number}:
                found[number] = max(x, found.get(number, x))
    return found


def blocks(stretch: TapeStretch) -> dict[Side | None, list[int]]:
    """Operations of a stretch by the side of a choice that they belong to, None for no side."""
    found: dict[Side | None, list[int]] = defaultdict(list)
    for number in stretch.numbers:
        found[stretch.sides.get(number)].append(number)
    return found


def is_branch(number: int, among: Container[Side | None]) -> bool:
    """Whether a choice has operations that only one of its sides needs."""
    return (number, True) in among or (number, False) in among


def functions_of_angles(stretch: TapeStretch) -> dict[int, list[int]]:
    """Sines and cosines that need no other one and no branch, by the number of their angle."""
    found = blocks(stretch)
    functions: dict[int, list[int]] = {}
    after: set[int] = set()
    for number in found.get(None, []):
        name, of, _ = stretch.tape.operations[number]
        if is_branch(number, found) or not after.isdisjoint(of):
            after.add(number)
        elif name in ("sine", "cosine"):
            functions.setdefault(of[0], []).append(number)
            after.add(number)
    return functions


def evaluate(stretch: TapeStretch, memory: dict[str, Any]) -> None:
    """Do a stretch in plain Python, with arrays by name: what tests compare other writers to."""
    from armtwin.maths.tape import COMPUTED

    values: dict[int, Any] = {}
    for number, (array, place) in stretch.kept.items():
        if number not in stretch.numbers:
            values[number] = memory[array][place]

    def result(number: int) -> Any:
        """A result, or a constant or input that another stretch has."""
        return values[number] if number in values else value(stretch.tape.operations[number])

    def value(operation: Operation) -> Any:
        if operation.name == "constant":
            return operation.detail
        if operation.name == "input":
            array, place = operation.detail
            return memory[array][place]
        of = [result(x) for x in operation.of]
        if operation.name == "load":
            return memory[operation.detail][tuple(int(index) for index in of)]
        if operation.name == "choose":
            return of[1] if of[0] else of[2]
        return COMPUTED[operation.name](*of)

    for number in stretch.numbers:
        values[number] = value(stretch.tape.operations[number])
    written = []
    for (array, place), number in stretch.outputs:
        indices = [int(result(x.number)) if isinstance(x, Computed) else x for x in place]
        written.append((array, tuple(indices), result(number)))
    for array, where, value in written:
        memory[array][where] = value
