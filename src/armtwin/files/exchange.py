"""Two folders change places in one step, where the platform has such a step."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

SWAP = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
HERE = -100  # AT_FDCWD of Linux


@cache
def _library() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def exchange(one: Path, other: Path) -> bool:
    """Whether two folders of one file system changed places; if not, nothing has changed."""
    a, b = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux" and hasattr(_library(), "renameat2"):
        return bool(_library().renameat2(HERE, a, HERE, b, SWAP) == 0)
    if sys.platform == "darwin" and hasattr(_library(), "renamex_np"):
        return bool(_library().renamex_np(a, b, SWAP) == 0)
    return False
