"""Locks of folders between processes and threads; they leave nothing behind in a user's folder."""

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from armtwin.errors import ArmtwinError

PATIENCE = 60.0  # seconds: a lock is held while files are moved, not while they are written
PAUSE = 0.005  # [s] between two tries


@dataclass(frozen=True)
class Lock:
    """A held lock: an open handle, and a file in place of the folder where those have none."""

    handle: int
    file: Path | None = None


@contextmanager
def lock_folder(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Within it no other process or thread is; where a file system has no locks, nobody waits."""
    lock = _wait_for_lock(folder, patience)
    try:
        yield
    finally:
        if lock is not None:
            release(lock)


def _wait_for_lock(folder: Path, patience: float) -> Lock | None:
    end = time.monotonic() + patience
    while True:
        try:
            lock = grab(folder)
        except OSError:  # no right to read the folder, or a file system without locks
            return None
        if lock is not None:
            return lock
        if time.monotonic() > end:
            raise ArmtwinError(
                f"{folder}: another run has been writing there for {patience:g} s; "
                "wait until it is done, or choose another folder with --out"
            )
        time.sleep(PAUSE)


if sys.platform == "win32":
    import msvcrt

    def grab(folder: Path) -> Lock | None:
        """The lock of a folder, None while another holds it; OSError where there are none."""
        place = os.path.normcase(folder.resolve())
        name = hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        file = Path(tempfile.gettempdir()) / f"armtwin-{name}.lock"
        handle = os.open(file, os.O_RDWR | os.O_CREAT)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            os.close(handle)
            return None
        return Lock(handle, file)

    def release(lock: Lock) -> None:
        """Give a lock back."""
        msvcrt.locking(lock.handle, msvcrt.LK_UNLCK, 1)
        os.close(lock.handle)
        if lock.file is not None:
            with suppress(OSError):  # another has it open and waits: it stays
                lock.file.unlink()

else:
    import fcntl

    def grab(folder: Path) -> Lock | None:
        """The lock of a folder, None while another holds it; OSError where there are none."""
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            same = os.path.samestat(os.fstat(handle), os.stat(folder))
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError:
            os.close(handle)
            raise
        if not same:  # another folder was put in its place in the meantime
            os.close(handle)
            return None
        return Lock(handle)

    def release(lock: Lock) -> None:
        """Give a lock back."""
        fcntl.flock(lock.handle, fcntl.LOCK_UN)  # a forked child may hold the same handle open
        os.close(lock.handle)
