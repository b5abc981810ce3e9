"""What was made of files, kept until they change."""

import os
import stat
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

ABSENT = "absent"
SETTLED = 3.0  # age [s] of a file from which a later change shows in its time, on every disk


class FileCache(Generic[T]):
    """Values made of files, a bounded number; the oldest is forgotten first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Hashable, T] = {}

    def value(
        self, path: Path, make: Callable[[], T], *options: Hashable, beside: Sequence[Path] = ()
    ) -> T:
        """The value made of a file as it is now.

        Args:
            path: The file.
            make: Makes the value; an error is not remembered.
            options: What else the value depends on.
            beside: Other files that it is made of, where they are there.
        """
        state = _states(path, beside)
        if state is None:
            return make()
        key = (str(path), state, options)
        if key in self._known:
            return self._known[key]
        value = make()
        if _states(path, beside) == state:
            self._known[key] = value
            for oldest in list(self._known)[: -self._most]:
                self._known.pop(oldest, None)
        return value


def _states(path: Path, beside: Sequence[Path]) -> Hashable | None:
    """What changes when a file does, or one of those beside it; None where it is unknown."""
    states = [_state(path)]
    for other in beside:
        states.append(_state(other) if os.path.lexists(other) else ABSENT)
    return None if None in states else tuple(states)


def _state(path: Path) -> Hashable | None:
    """What changes when a file does; None where that is unknown."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # not there, or no name of a file
        return None
    if not stat.S_ISREG(found.st_mode) or time.time() - found.st_mtime < SETTLED:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
