"""Hidden folders in which files are written before they are moved, and what killed runs left.

Where several files change in a folder of others, a journal says beforehand what moves where: from
the moment it is there the set counts as written, and whoever finds it after a kill does the rest.
"""

import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from armtwin.errors import ArmtwinError
from armtwin.files import opening
from armtwin.files.locks import Lock, grab, lock_folder, release
from armtwin.maths.ownership import is_own

Content = str | bytes | Callable[[BinaryIO], object]
Contents = dict[str, Content]  # of files, by name


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Failures of the file system as a sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)[:200]
        raise ArmtwinError(f"{str(path)[:200]}: cannot be written ({reason})") from None
    except UnicodeEncodeError as error:
        raise ArmtwinError(f"{str(path)[:200]}: cannot be written ({error.reason})") from None


def real(path: Path) -> Path:
    """A path without links."""
    return Path(os.path.realpath(path))


def plain_name(name: str) -> str:
    """A name, if it cannot lead out of its folder."""
    if name in ("", ".", "..") or Path(name).name != name:
        raise ValueError(f"'{name}' is no name of a file")
    return name


def fill(folder: Path, contents: Contents) -> None:
    """Write files and bring them to the disk."""
    for name, content in contents.items():
        with (folder / name).open("xb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
    sync(folder)


def sync(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    if sys.platform == "win32":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives know no such thing
            os.fsync(handle)
    finally:
        os.close(handle)


JOURNAL = "journal"


def move_in(stage: Path, target: Path, names: Collection[str], gone: Collection[str]) -> None:
    """Move staged files into a folder, and others out of it."""
    if len(names) == 1 and not gone:
        [name] = names
        os.replace(stage / "new" / name, target / name)
        sync(target)
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
        sync(target)
    except BaseException:
        _undo(stage, target, names)
        raise
    (stage / JOURNAL).unlink()


def _write_journal(
    stage: Path, target: Path, names: Collection[str], gone: Collection[str]
) -> None:
    into = "." if target == stage.parent else target.name
    plan = {"into": into, "names": sorted(names), "gone": sorted(gone)}
    fill(stage, {f"{JOURNAL}.part": json.dumps(plan)})
    os.rename(stage / f"{JOURNAL}.part", stage / JOURNAL)
    sync(stage)


def _undo(stage: Path, target: Path, names: Collection[str]) -> None:
    """Put everything back as it was before the journal."""
    for name in names:
        if not os.path.lexists(stage / "new" / name):
            os.replace(target / name, stage / "new" / name)
    for path in (stage / "old").iterdir():
        os.replace(path, target / path.name)
    (stage / JOURNAL).unlink()


def roll_forward(stage: Path, plan: dict[str, Any]) -> None:
    """Do what is left of a journal."""
    with ExitStack() as locks:
        target = stage.parent
        if plan["into"] != ".":
            target = target / plain_name(plan["into"])
            locks.enter_context(lock_folder(target))
        for name in map(plain_name, plan["names"]):
            if os.path.lexists(stage / "new" / name):
                os.replace(stage / "new" / name, target / name)
        for name in map(plain_name, plan["gone"]):
            if not os.path.lexists(stage / "old" / name):
                (target / name).unlink(missing_ok=True)


MARK = ".armtwin."
ABANDONED = 3600.0  # seconds after which nobody writes into a stage that cannot be locked


def place_for(target: Path) -> Path:
    """Where a folder is staged: beside it, or inside where that cannot be done."""
    beside = target.parent
    if not target.is_dir():
        return beside
    same_disk = target.stat().st_dev == beside.stat().st_dev
    writable = os.access(beside, os.W_OK) and os.access(target, os.W_OK)
    return beside if same_disk and writable else target


@contextmanager
def parents_of(folder: Path) -> Iterator[None]:
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
def stage_folder(place: Path) -> Iterator[Path]:
    """A hidden folder of our own in a place, held while we live; gone afterwards."""
    with lock_folder(place):
        _sweep(place)
        stage = Path(tempfile.mkdtemp(prefix=MARK, dir=place))
        hold = _hold_stage(stage)
    try:
        (stage / "new").mkdir()
        yield stage
    finally:
        if not (stage / JOURNAL).exists():
            shutil.rmtree(stage, ignore_errors=True)
        if hold is not None:
            release(hold)


def _hold_stage(stage: Path) -> Lock | None:
    """The lock that says that a stage is in use; without locks nothing is swept either."""
    try:
        return grab(stage)
    except OSError:
        return None


def recover(folder: Path) -> None:
    """Finish what killed runs have committed in a folder or beside it; sweep away the rest."""
    for place in (folder.parent, folder):
        if place.is_dir():
            with lock_folder(place):
                _sweep(place)


def _sweep(place: Path) -> None:
    """Finish or remove the stages in a place whose runs are no more."""
    try:
        names = [name for name in os.listdir(place) if name.startswith(MARK)]
    except PermissionError:  # one may write there and not look
        return
    for name in names:
        # what cannot be locked, moved or understood is left as it is, and what is gone is gone
        with suppress(ArmtwinError, OSError, ValueError, LookupError, TypeError, RecursionError):
            if _is_ours(place / name):
                _finish(place / name)


def _is_ours(stage: Path) -> bool:
    """Whether it is a folder of this user; others could lay one out for us in a shared place."""
    found = stage.lstat()
    return stat.S_ISDIR(found.st_mode) and is_own(found)


def _finish(stage: Path) -> None:
    try:
        hold = grab(stage)
        alive = hold is None
    except OSError:  # where nothing can be locked, its age decides
        hold = None
        alive = time.time() - stage.stat().st_mtime < ABANDONED
    if alive:
        return
    try:
        journal = stage / JOURNAL
        if journal.exists():
            roll_forward(stage, json.loads(opening.read_text(journal, opening.JOURNAL)))
            journal.unlink()
        shutil.rmtree(stage)
    finally:
        if hold is not None:
            release(hold)
