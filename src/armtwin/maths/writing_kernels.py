"""The text of a kernel from tapes: straight lines, branches where a side is costly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from armtwin.maths.tape import Operation, Tape

SIGNS = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "negative": "-{}",
    "absolute": "abs({})",
    "less": "{} < {}",
    "less_equal": "{} <= {}",
    "equal": "{} == {}",
    "unequal": "{} != {}",
    "smaller": "min({}, {})",
    "larger": "max({}, {})",
    "whole": "int({})",
    "floor": "floor({})",
    "root": "sqrt({})",
    "cosine": "cos({})",
    "sine": "sin({})",
    "arctangent": "atan({})",
    "both": "{} and {}",
    "either": "{} or {}",
    "choose": "{1} if {0} else {2}",
}
COSTS = {"root": 15, "divide": 12, "load": 4, "cosine": 40, "sine": 40, "arctangent": 60}
WORTH_A_BRANCH = 30  # operations of a side that are saved by not computing it
FREE = ("constant", "input")


@dataclass
class Part:
    """A stretch of straight lines.

    Attributes:
        name: Begins the names of its variables.
        tape: Its operations.
        outputs: What it writes: array and place, by the number of an operation.
    """

    name: str
    tape: Tape
    outputs: list[tuple[str, int]] = field(default_factory=list)

    def put(self, target: str, value: Any) -> None:
        """Write a value to a target, as "u[3]" or a variable."""
        self.outputs.append((target, self.tape.number_of(value)))


def text_of(part: Part, outer: Sequence[set[str]] = ()) -> list[list[str]]:
    """The lines of a part, those of outer loops first.

    Args:
        part: The part.
        outer: For each loop around the part, the outermost first, the arrays that do not change
            within it; what depends on nothing else is computed before it.
    """
    return _Writer(part, outer).text()


class _Writer:
    def __init__(self, part: Part, outer: Sequence[set[str]]) -> None:
        self.part, self.tape = part, part.tape
        self.needed = self.tape.needed(number for _, number in part.outputs)
        self.innermost = len(outer)
        self.levels = self._levels(outer)
        self.late = [x for x in self.needed if self.levels[x] == self.innermost]
        self.regions = self._regions()

    def _levels(self, outer: Sequence[set[str]]) -> dict[int, int]:
        """The loop before which each operation can be done; loads of tables stay inside."""
        levels: dict[int, int] = {}
        for number in self.needed:
            operation = self.tape.operations[number]
            if operation.name == "constant":
                level = 0
            elif operation.name == "input":
                level = _level_of(operation.detail[0], outer)
            elif operation.name == "load":
                level = self.innermost
            else:
                level = max(levels[x] for x in operation.of)
            levels[number] = level
        return levels

    def text(self) -> list[list[str]]:
        loops: list[list[str]] = []
        for level in range(self.innermost):
            here = [x for x in self.needed if self.levels[x] == level and self._named(x)]
            loops.append([self._line(x) for x in here])
        inside = self._block(self.late, None)
        for target, number in self.part.outputs:
            inside.append(f"{target} = {self._word(number)}")
        return [*loops, inside]

    def _named(self, number: int) -> bool:
        """Whether an operation has a variable; constants stand where they are used."""
        return self.tape.operations[number].name != "constant"

    def _word(self, number: int) -> str:
        operation = self.tape.operations[number]
        if operation.name == "constant":
            return f"({operation.detail!r})" if operation.detail < 0 else repr(operation.detail)
        return f"{self.part.name}{number}"

    def _line(self, number: int) -> str:
        return f"{self._word(number)} = {self._right(self.tape.operations[number])}"

    def _right(self, operation: Operation) -> str:
        if operation.name == "input":
            return element(*operation.detail)
        words = [self._word(x) for x in operation.of]
        if operation.name == "load":
            return f"{operation.detail}[{', '.join(words)}]"
        return SIGNS[operation.name].format(*words)

    # branches

    def _regions(self) -> dict[int, tuple[int, bool]]:
        """For each operation that only one side of a choice needs, that choice and side."""
        users: dict[int, set[int]] = defaultdict(set)
        for number in self.late:
            for x in self.tape.operations[number].of:
                users[x].add(number)
        for _, number in self.part.outputs:
            users[number].add(-1)
        late = set(self.late)
        regions: dict[int, tuple[int, bool]] = {}
        for number in self.late:  # outer choices come later and must not take what inner ones hold
            operation = self.tape.operations[number]
            if operation.name != "choose":
                continue
            for side, yes in ((1, True), (2, False)):
                region = self._only_for(number, operation, side, users, late)
                if self._cost(region) >= WORTH_A_BRANCH:
                    for x in region:
                        regions.setdefault(x, (number, yes))
        return regions

    def _only_for(
        self,
        number: int,
        operation: Operation,
        side: int,
        users: Mapping[int, set[int]],
        late: set[int],
    ) -> set[int]:
        """Operations that nothing but one side of a choice needs."""
        root = operation.of[side]
        others = [x for k, x in enumerate(operation.of) if k != side]
        region: set[int] = set()
        if root not in late or root in others or users[root] != {number}:
            return region
        region.add(root)
        for x in range(root - 1, -1, -1):
            used = users.get(x)
            if x in late and used and used <= region and self.tape.operations[x].name != "constant":
                region.add(x)
        return region

    def _cost(self, region: Iterable[int]) -> int:
        total = 0
        for x in region:
            name = self.tape.operations[x].name
            total += 0 if name in FREE else COSTS.get(name, 1)
        return total

    def _block(self, numbers: list[int], inside: tuple[int, bool] | None) -> list[str]:
        """Lines of operations that belong to one side of a choice, or to none."""
        lines: list[str] = []
        sides: dict[tuple[int, bool], list[int]] = defaultdict(list)
        for x in numbers:
            if self.regions.get(x) not in (None, inside):
                sides[self.regions[x]].append(x)
        for x in numbers:
            if self.regions.get(x) != inside and self.regions.get(x) is not None:
                continue
            if not self._named(x):
                continue
            if (x, True) in sides or (x, False) in sides:
                lines += self._branch(x, sides)
            else:
                lines.append(self._line(x))
        return lines

    def _branch(self, x: int, sides: dict[tuple[int, bool], list[int]]) -> list[str]:
        condition, yes, no = self.tape.operations[x].of
        lines = [f"if {self._word(condition)}:"]
        for side, value in ((True, yes), (False, no)):
            if not side:
                lines.append("else:")
            inner = self._block(sides.get((x, side), []), (x, side))
            lines += [f"    {line}" for line in inner]
            lines.append(f"    {self._word(x)} = {self._word(value)}")
        return lines


def _level_of(array: str, outer: Sequence[set[str]]) -> int:
    for level, unchanged in enumerate(outer):
        if array in unchanged:
            return level
    return len(outer)


def element(array: str, place: tuple[int, ...]) -> str:
    """An element of an array as text; a scalar has no place."""
    if not place:
        return array
    return f"{array}[{', '.join(map(str, place))}]"
