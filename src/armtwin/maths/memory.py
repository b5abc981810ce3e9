"""Where the arrays of a stretch lie in the memories that a kernel is given."""

import math
from collections.abc import Sequence

from armtwin.maths.batch import Indices


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
    """

    def __init__(self) -> None:
        self.arrays: dict[str, tuple[int, int, Indices]] = {}
        self.sizes: list[int] = []
        self.tables: set[int] = set()
        self.woven = False

    def add(self, name: str, shape: Indices, memory: int = 0) -> None:
        """Give an array its place at the end of a memory."""
        while len(self.sizes) <= memory:
            self.sizes.append(0)
        self.arrays[name] = memory, self.sizes[memory], shape
        self.sizes[memory] += math.prod(shape)
