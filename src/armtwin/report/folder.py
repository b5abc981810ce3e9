"""A folder of results: written beside its place and then moved there, so that it is whole or not there at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from armtwin.errors import ArmtwinError

OURS = ("result.json", "log.csv", "compared.csv", "report.html", "advised.toml", "robot.toml")


def check_folder(folder: Path, force: bool) -> None:
    """Refuse a folder that must not or cannot be written, before any work is done."""
    with _told(folder):
        if folder.is_symlink() and not folder.exists():
            raise ArmtwinError(f"{folder}: is a link to nowhere")
        if folder.exists() and not folder.is_dir():
            raise ArmtwinError(f"{folder}: is a file; choose another folder with --out")
        blocked = next((p for p in folder.absolute().parents if p.exists() and not p.is_dir()), None)
        if blocked is not None:
            raise ArmtwinError(f"{folder}: cannot be written, {blocked} is a file")
        if folder.is_dir() and any(folder.iterdir()) and not is_ours(folder) and not force:
            raise ArmtwinError(
                f"{folder}: holds files that are no result of armtwin; choose another folder with --out, or use "
                "--force to add the results there"
            )
        with _fresh(folder.resolve()):
            pass


def is_ours(folder: Path) -> bool:
    """Whether a folder holds a result of armtwin."""
    try:
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(result, dict) and "armtwin" in result and "format" in result


def write_folder(folder: Path, writers: dict[str, Callable[[Path], None]]) -> None:
    """Write files into a folder, each by a function that is given its path; what was there of ours is replaced.

    Files of others in the folder are not touched. Whatever goes wrong on the way leaves the folder as it was.
    """
    with _told(folder), _fresh(folder.resolve()) as fresh:
        target = folder.resolve()
        for name, write in writers.items():
            write(fresh / name)
        if not target.exists():
            fresh.rename(target)
            return
        old = fresh / "old"
        old.mkdir()
        try:
            for name in OURS:
                if (target / name).exists():
                    (target / name).rename(old / name)
            for name in writers:
                (fresh / name).rename(target / name)
        except BaseException:
            for name in writers:
                (target / name).unlink(missing_ok=True)
            for path in old.iterdir():
                path.rename(target / path.name)
            raise


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Failures of the file system as a sentence."""
    try:
        yield
    except OSError as error:
        raise ArmtwinError(f"{str(folder)[:200]}: cannot be written ({error.strerror or str(error)[:200]})") from None


@contextmanager
def _fresh(folder: Path) -> Iterator[Path]:
    """An empty folder inside of a folder, or beside one that is not there yet; gone afterwards unless it was moved."""
    inside = folder if folder.is_dir() else folder.parent
    made = [p for p in (folder.parent, *folder.parent.parents) if not p.exists()]
    fresh = None
    try:
        inside.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=inside, prefix=".armtwin."))
        fresh.chmod(0o755)
        yield fresh
    finally:
        if fresh is not None:
            shutil.rmtree(fresh, ignore_errors=True)
        for parent in made:  # parents that were made for nothing go again
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
