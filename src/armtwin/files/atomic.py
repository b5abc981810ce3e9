"""Sets of files that are written whole or not at all; one file is a set of one.

A set is first staged: written completely into a hidden folder on the same file system and brought
to the disk. Then it is committed. One file is moved into place. A folder that holds nothing else
changes places with the staged one. Else a journal says what moves where.
"""

import ctypes
import os
import shutil
import stat
import sys
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError
from armtwin.files.locks import lock_folder
from armtwin.files.staging import (
    Content,
    Contents,
    fill,
    move_in,
    naming_file,
    parents_of,
    place_for,
    real,
    recover,
    stage_folder,
    sync,
)

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


Claim = Callable[[], Collection[str]]


def write_file(path: Path, content: Content) -> None:
    """Write one file: a text, or what a function writes into an open file."""
    check_file(path)
    with naming_file(path):
        _write_beside(real(path.parent), {path.name: content})


def check_file(path: Path) -> None:
    """Refuse a path at which no file can be written: its name, its folder, or what is there."""
    if not path.name or "\0" in path.name:
        raise ArmtwinError(f"'{path}': cannot be written (it is no name of a file)")
    with naming_file(path):
        os.stat(path.parent)
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
        raise ArmtwinError(f"{path}: cannot be written (it is {kind})")


def write_files(folder: Path, contents: Contents) -> None:
    """Write several files into a folder that is there, all or none; others in it stay."""
    with naming_file(folder):
        _write_beside(real(folder), contents)


def _write_beside(folder: Path, contents: Contents) -> None:
    with stage_folder(folder) as stage:
        fill(stage / "new", contents)
        with lock_folder(folder):
            move_in(stage, folder, contents, ())


def write_folder(folder: Path, contents: Contents, claim: Claim) -> None:
    """Write a folder of files, all or none; it is made with its parents if it is not there.

    Args:
        folder: The folder.
        contents: The files by name.
        claim: Asked when all is staged and nobody else writes there: names of files that shall be
            gone afterwards; it raises to refuse the folder.
    """
    target = real(folder)
    with naming_file(folder), parents_of(target):
        recover(target)
        with stage_folder(place_for(target)) as stage:
            fill(stage / "new", contents)
            with ExitStack() as locks:
                locks.enter_context(lock_folder(stage.parent))
                if target.is_dir() and target != stage.parent:
                    locks.enter_context(lock_folder(target))
                gone = set(claim()) - set(contents)
                _commit(stage, target, contents, gone)


def try_folder(folder: Path) -> None:
    """Raise what would keep a folder from being written; leaves no trace."""
    target = real(folder)
    with naming_file(folder):
        missing = [path for path in (target, *target.parents) if not path.exists()]
        place = missing[-1].parent if missing else place_for(target)
        with stage_folder(place) as stage:
            # a name can be too long for one file system and not for another
            (stage / target.relative_to(place)).mkdir(parents=True, exist_ok=True)


def _commit(stage: Path, target: Path, names: Collection[str], gone: Collection[str]) -> None:
    """Put a staged folder into its place, in one step where that can be done."""
    if not target.exists():
        os.rename(stage / "new", target)
        sync(target.parent)
        return
    if _is_replaceable(target, {*names, *gone}):
        shutil.copymode(target, stage / "new")
        if exchange(stage / "new", target):
            # what somebody saved into the old folder at the last moment
            for name in set(os.listdir(stage / "new")) - {*names, *gone}:
                os.replace(stage / "new" / name, target / name)
            sync(target.parent)
            return
    move_in(stage, target, names, gone)


def _is_replaceable(folder: Path, known: set[str]) -> bool:
    """Whether a folder holds nothing but known files, and we do not stand in it."""
    with suppress(OSError):  # where we stand may be gone
        if Path.cwd().resolve().is_relative_to(folder):
            return False
    with os.scandir(folder) as entries:
        return all(x.name in known and x.is_file(follow_symlinks=False) for x in entries)
