"""Hidden folders in which files are written before they are moved, and what killed runs left."""

import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from armtwin.errors import ArmtwinError
from armtwin.files import opening
from armtwin.files.journal import JOURNAL, roll_forward
from armtwin.files.locks import Lock, grab, lock_folder, release
from armtwin.maths.ownership import is_own

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
