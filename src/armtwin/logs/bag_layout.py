"""Messages of a bag by the thousand: where the numbers are in the bytes is learnt from one message.

Messages of a topic differ in their numbers and mostly in nothing else. A message is encoded again
with other numbers in it: bytes that change are numbers, the others are layout, and the place of a
list is where bytes change when it alone does. Messages of the same layout are then read together.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats, Names

Encode = Callable[[Any], bytes]
Path = tuple[str, ...]
FILLS = (0x11, 0x22, 0x33)  # bytes of numbers that differ in every byte
STAMP = (("header", "stamp", "sec"), ("header", "stamp", "nanosec"))


class MessageLayout:
    """Where the numbers of messages with one layout are.

    Attributes:
        names: Names of the joints.
        size: Bytes of a message.
    """

    def __init__(self, message: object, data: bytes, encode: Encode, names: Names) -> None:
        self.names, self.size = names, len(data)
        self._encode = encode
        self._first = _vary(message, FILLS[0])
        self._bytes = _as_bytes(encode(self._first))
        other = _as_bytes(encode(_vary(message, FILLS[1])))
        self._fixed = np.flatnonzero(self._bytes == other)
        self._layout = self._bytes[self._fixed]
        self._stamps = [self._find(path) for path in STAMP]
        self._lists: dict[str, slice] = {}
        if not self.holds(_as_bytes(data)[None]):
            raise ValueError("a message that is encoded again has another layout")

    def add(self, signal: str, path: Path) -> None:
        """Find where the list of a signal is."""
        self._lists[signal] = self._find(path)

    def _find(self, path: Path) -> slice:
        """The bytes that a field alone changes."""
        changed = _as_bytes(self._encode(_vary_field(self._first, path)))
        places = np.flatnonzero(changed != self._bytes)
        found = slice(int(places[0]), int(places[-1]) + 1)
        if found.stop - found.start != len(places):
            raise ValueError("a list of numbers that is not in one place")
        return found

    def holds(self, rows: NDArray[np.uint8]) -> bool:
        """Whether messages, one in a row of bytes, all have this layout."""
        return rows.shape[1] == self.size and bool((rows[:, self._fixed] == self._layout).all())

    def stamps(self, rows: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Stamps of messages, (m,) [ns]."""
        kinds = np.dtype("<i4"), np.dtype("<u4")
        sec, nanosec = (
            np.ascontiguousarray(rows[:, place]).view(kind)[:, 0].astype(np.int64)
            for place, kind in zip(self._stamps, kinds, strict=True)
        )
        return 1_000_000_000 * sec + nanosec

    def lists(self, rows: NDArray[np.uint8]) -> Iterable[tuple[str, Floats]]:
        """Each signal of messages, (m, n)."""
        for signal, place in self._lists.items():
            yield signal, np.ascontiguousarray(rows[:, place]).view("<f8").astype(np.float64)


def _as_bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _vary(value: object, fill: int) -> Any:
    """A message, or a part of it, with every number made of one byte."""
    if isinstance(value, np.ndarray):
        return np.frombuffer(bytes([fill]) * value.nbytes, dtype=value.dtype).copy()
    if isinstance(value, list):
        return [_vary(item, fill) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        kept = [field for field in fields(value) if not field.name.startswith("__")]
        return replace(value, **{f.name: _vary(getattr(value, f.name), fill) for f in kept})
    if isinstance(value, float):
        return float(np.frombuffer(bytes([fill]) * 8, dtype=np.float64)[0])
    if isinstance(value, int) and not isinstance(value, bool):
        return int.from_bytes(bytes([fill]) * 4, "little")
    return value


def _vary_field(message: object, path: Path) -> Any:
    """A message with one field made of another byte."""
    name, *rest = path
    held = getattr(message, name)
    changed = _vary_field(held, tuple(rest)) if rest else _vary(held, FILLS[2])
    return replace(message, **{name: changed})  # type: ignore[type-var]
