"""The only place that knows numba: kernels compiled once and cached per state of the whole package.

numba's own cache looks at the file of a kernel only. A kernel that calls a law of another file would keep
running the old law after that file was edited, so the cache lives in a folder named after the contents of
every source file of the package.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])

KEPT_STAMPS = 6


def source_stamp(package: Path) -> str:
    """Short hash of the contents of every Python file below a folder."""
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _user_cache() -> Path:
    """Folder for caches of this user, by the custom of the platform."""
    given = os.environ.get("ARMTWIN_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "armtwin"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "armtwin"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "armtwin"


def _open_folder() -> Path | None:
    """Writable cache folder of this state of the sources, or None where none can be had."""
    try:
        folder = _user_cache() / "kernels" / source_stamp(Path(__file__).parents[1])
        if not folder.is_dir():
            folder.mkdir(parents=True)
            _forget_old(folder.parent)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: Path.home() of a user without a home
        return None


def _forget_old(root: Path) -> None:
    """Remove all but the newest few folders of earlier states of the sources."""
    ours = (p for p in root.iterdir() if p.is_dir() and re.fullmatch(r"[0-9a-f]{12}", p.name))
    stamps = sorted(ours, key=lambda p: p.stat().st_mtime)
    for folder in stamps[:-KEPT_STAMPS]:
        shutil.rmtree(folder, ignore_errors=True)


CACHE_FOLDER = _open_folder()
# Whether nothing is compiled yet for these sources: the first calls will take their time.
FRESH = CACHE_FOLDER is None or not any(CACHE_FOLDER.iterdir())


OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True}


def compiled(f: F) -> F:
    """Compile a kernel on first call and keep the machine code on disk.

    error_model="numpy": a division by zero gives inf as in numpy. fastmath={"contract"} lets multiply-adds
    fuse and changes nothing else: NaN and the order of sums are kept. nogil: kernels run in a thread pool.
    """
    settings: Any = config  # its fields are made at run time
    if settings.DISABLE_JIT:
        return f
    kernel: Any = numba.njit(**OPTIONS)(f)
    if CACHE_FOLDER is not None:
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(CACHE_FOLDER)
        try:
            kernel.enable_caching()
        finally:
            settings.CACHE_DIR = before
    return kernel


def inlined(f: F) -> F:
    """Compile a part of a kernel into each place that calls it: a call would hand over every field of its arrays."""
    settings: Any = config
    part: Any = f if settings.DISABLE_JIT else numba.njit(forceinline=True, **OPTIONS)(f)
    return part
