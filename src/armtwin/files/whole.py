"""Sets of files that are written whole or not at all; one file is a set of one.

A set is first staged: written completely into a hidden folder on the same file system and brought to the disk. Then it
is committed. One file is moved into place. A folder that holds nothing else changes places with the staged one. Else a
journal says what moves where, and from the moment it is there the set counts as written: whoever comes next to a folder
with the journal of a run that was killed does the rest, and sweeps away what was staged without one.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from armtwin.errors import ArmtwinError
from armtwin.files.exchange import exchange
from armtwin.files.locks import Lock, grab, locked, release

Content = str | Callable[[BinaryIO], object]
Claim = Callable[[], Collection[str]]

MARK = ".armtwin."
JOURNAL = "journal"


def write_file(path: Path, content: Content) -> None:
    """Write one file: a text, or what a function writes into an open file."""
    check_file(path)
    with told(path):
        _write_beside(_real(path.parent), {path.name: content})


def check_file(path: Path) -> None:
    """Refuse a path at which no file can be written: its name, its folder, or what is there."""
    with told(path):
        os.stat(path.parent)
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
        raise ArmtwinError(f"{path}: cannot be written (it is {kind})")


def write_files(folder: Path, contents: dict[str, Content]) -> None:
    """Write several files into a folder that is there, all or none; other files in it are not touched."""
    with told(folder):
        _write_beside(_real(folder), contents)


def _write_beside(folder: Path, contents: dict[str, Content]) -> None:
    with _staged(folder) as stage:
        _fill(stage / "new", contents)
        with locked(folder):
            _move_in(stage, folder, contents, ())


def write_folder(folder: Path, contents: dict[str, Content], claim: Claim) -> None:
    """Write a folder of files, all or none; it is made with its parents if it is not there.

    Args:
        folder: The folder.
        contents: The files by name.
        claim: Asked when all is staged and nobody else writes there: names of files that shall be gone afterwards; it
            raises to refuse the folder.
    """
    target = _real(folder)
    with told(folder), _parents(target):
        recover(target)
        with _staged(_place(target)) as stage:
            _fill(stage / "new", contents)
            with ExitStack() as locks:
                locks.enter_context(locked(stage.parent))
                if target.is_dir() and target != stage.parent:
                    locks.enter_context(locked(target))
                gone = set(claim()) - set(contents)
                _commit(stage, target, contents, gone)


def try_folder(folder: Path) -> None:
    """Raise what would keep a folder from being written; leaves no trace."""
    target = _real(folder)
    missing = [path for path in (target, *target.parents) if not path.exists()]
    with told(folder):
        place = missing[-1].parent if missing else _place(target)
        with _staged(place) as stage:
            # a name can be too long for one file system and not for another
            (stage / target.relative_to(place)).mkdir(parents=True, exist_ok=True)


def recover(folder: Path) -> None:
    """Finish what a killed run has committed in a folder or beside it, and sweep away what it has not."""
    for place in (folder.parent, folder):
        if place.is_dir():
            with locked(place):
                _sweep(place)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Failures of the file system as a sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)[:200]
        raise ArmtwinError(f"{str(path)[:200]}: cannot be written ({reason})") from None
    except UnicodeEncodeError as error:
        raise ArmtwinError(f"{str(path)[:200]}: cannot be written ({error.reason})") from None


def _real(path: Path) -> Path:
    """A path without links."""
    return Path(os.path.realpath(path))


# Staging


def _place(target: Path) -> Path:
    """Where a folder is staged: beside it, or inside where nothing can be made or moved from there."""
    beside = target.parent
    if not target.is_dir():
        return beside
    same_disk = target.stat().st_dev == beside.stat().st_dev
    writable = os.access(beside, os.W_OK) and os.access(target, os.W_OK)
    return beside if same_disk and writable else target


@contextmanager
def _parents(folder: Path) -> Iterator[None]:
    """The parents of a folder; those that were made for nothing go again."""
    missing = [path for path in folder.parents if not path.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for path in missing:
            with suppress(OSError):  # not empty, or never made
                path.rmdir()


@contextmanager
def _staged(place: Path) -> Iterator[Path]:
    """A hidden folder of our own in a place, held while we live; gone afterwards."""
    with locked(place):
        _sweep(place)
        stage = Path(tempfile.mkdtemp(prefix=MARK, dir=place))
        hold = _held(stage)
    try:
        (stage / "new").mkdir()
        yield stage
    finally:
        if not (stage / JOURNAL).exists():
            shutil.rmtree(stage, ignore_errors=True)
        if hold is not None:
            release(hold)


def _held(stage: Path) -> Lock | None:
    """The lock that says that the stage is in use; None where there are no locks, and nothing is swept either."""
    try:
        return grab(stage)
    except OSError:
        return None


def _fill(folder: Path, contents: dict[str, Content]) -> None:
    """Write files and bring them to the disk."""
    for name, content in contents.items():
        with (folder / name).open("xb") as file:
            if isinstance(content, str):
                file.write(content.encode("utf-8"))
            else:
                content(file)
            file.flush()
            os.fsync(file.fileno())
    _sync(folder)


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    if sys.platform == "win32":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives know no such thing
            os.fsync(handle)
    finally:
        os.close(handle)


# Committing


def _commit(stage: Path, target: Path, names: Collection[str], gone: Collection[str]) -> None:
    """Put a staged folder into its place, in one step where that can be done."""
    if not target.exists():
        os.rename(stage / "new", target)
        _sync(target.parent)
        return
    if _is_replaceable(target, {*names, *gone}):
        shutil.copymode(target, stage / "new")
        if exchange(stage / "new", target):
            _give_back(stage / "new", target, {*names, *gone})
            _sync(target.parent)
            return
    _move_in(stage, target, names, gone)


def _is_replaceable(folder: Path, known: set[str]) -> bool:
    """Whether a folder holds nothing but known files, and we do not stand in it."""
    with suppress(OSError):  # where we stand may be gone
        if Path.cwd().resolve().is_relative_to(folder):
            return False
    with os.scandir(folder) as entries:
        return all(x.name in known and x.is_file(follow_symlinks=False) for x in entries)


def _give_back(old: Path, target: Path, known: set[str]) -> None:
    """Move what somebody saved into the old folder at the last moment into the new one."""
    for name in set(os.listdir(old)) - known:
        os.replace(old / name, target / name)


def _move_in(stage: Path, target: Path, names: Collection[str], gone: Collection[str]) -> None:
    """Move staged files into a folder, and others out of it."""
    if len(names) == 1 and not gone:
        [name] = names
        os.replace(stage / "new" / name, target / name)
        _sync(target)
        return
    for name in (*gone, *names):
        if (target / name).is_dir():
            raise ArmtwinError(f"{target / name}: is a folder where a file must be written")
    (stage / "old").mkdir()
    _write_journal(stage, target, names, gone)
    try:
        for name in (*gone, *names):
            if os.path.lexists(target / name):
                os.replace(target / name, stage / "old" / name)
            if name in names:
                os.replace(stage / "new" / name, target / name)
        _sync(target)
    except BaseException:
        _undo(stage, target, names)
        raise
    (stage / JOURNAL).unlink()


def _write_journal(stage: Path, target: Path, names: Collection[str], gone: Collection[str]) -> None:
    into = "." if target == stage.parent else target.name
    plan = {"into": into, "names": sorted(names), "gone": sorted(gone)}
    _fill(stage, {f"{JOURNAL}.part": json.dumps(plan)})
    os.rename(stage / f"{JOURNAL}.part", stage / JOURNAL)
    _sync(stage)


def _undo(stage: Path, target: Path, names: Collection[str]) -> None:
    """Put everything back as it was before the journal."""
    for name in names:
        if not os.path.lexists(stage / "new" / name):
            os.replace(target / name, stage / "new" / name)
    for path in (stage / "old").iterdir():
        os.replace(path, target / path.name)
    (stage / JOURNAL).unlink()


# What killed runs left


def _sweep(place: Path) -> None:
    """Finish or remove the stages in a place whose runs are no more."""
    try:
        names = [name for name in os.listdir(place) if name.startswith(MARK)]
    except PermissionError:  # one may write there and not look
        return
    for name in names:
        # what cannot be locked, moved or understood is left as it is, and what is gone is gone
        with suppress(OSError, ValueError, LookupError, TypeError):
            if _is_ours(place / name):
                _finish(place / name)


def _is_ours(stage: Path) -> bool:
    """Whether it is a folder of this user; in a place that all may write, others could lay one out for us."""
    found = stage.lstat()
    mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    return stat.S_ISDIR(found.st_mode) and mine


def _finish(stage: Path) -> None:
    hold = grab(stage)
    if hold is None:  # its run is alive
        return
    try:
        journal = stage / JOURNAL
        if journal.exists():
            _roll_forward(stage, json.loads(journal.read_text(encoding="utf-8")))
            journal.unlink()
        shutil.rmtree(stage)
    finally:
        release(hold)


def _roll_forward(stage: Path, plan: dict[str, Any]) -> None:
    """Do what is left of a journal."""
    with ExitStack() as locks:
        target = stage.parent
        if plan["into"] != ".":
            target = target / plain_name(plan["into"])
            locks.enter_context(locked(target))
        for name in map(plain_name, plan["names"]):
            if os.path.lexists(stage / "new" / name):
                os.replace(stage / "new" / name, target / name)
        for name in map(plain_name, plan["gone"]):
            if not os.path.lexists(stage / "old" / name):
                (target / name).unlink(missing_ok=True)


def plain_name(name: str) -> str:
    """A name, if it cannot lead out of its folder."""
    if name in ("", ".", "..") or Path(name).name != name:
        raise ValueError(f"'{name}' is no name of a file")
    return name
