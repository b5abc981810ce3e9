"""A folder of results: written beside its place and then moved there, so that it is whole or not there at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from armtwin.errors import ArmtwinError

OURS = ("result.json", "log.csv", "compared.csv", "report.html", "advised.toml")


def check_folder(folder: Path, force: bool) -> None:
    """Refuse a folder that must not or cannot be written, before any work is done."""
    if folder.is_symlink() and not folder.exists():
        raise ArmtwinError(f"{folder}: is a link to nowhere")
    if folder.exists() and not folder.is_dir():
        raise ArmtwinError(f"{folder}: is a file; choose another folder with --out")
    if folder.is_dir() and any(folder.iterdir()) and not is_ours(folder) and not force:
        raise ArmtwinError(
            f"{folder}: holds files that are no result of armtwin; choose another folder with --out, or use --force to "
            "add the results there"
        )
    with _beside(folder):
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

    Files of others in the folder stay. Whatever goes wrong on the way leaves the folder as it was.
    """
    with _beside(folder) as fresh:
        for name, write in writers.items():
            write(fresh / name)
        if not folder.exists():
            fresh.rename(folder)
            return
        for path in folder.iterdir():
            if path.name not in OURS:
                _copy(path, fresh / path.name)
        old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.old."))
        try:
            folder.rename(old / folder.name)
            try:
                fresh.rename(folder)
            except BaseException:
                (old / folder.name).rename(folder)
                raise
        finally:
            shutil.rmtree(old, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """An empty folder beside a folder, gone afterwards unless it was moved; an error that says what cannot be done."""
    made = [p for p in (folder.parent, *folder.parent.parents) if not p.exists()]
    fresh = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        fresh.chmod(0o755)
        yield fresh
    except OSError as error:
        raise ArmtwinError(f"{folder}: cannot be written ({error.strerror or error})") from None
    finally:
        if fresh is not None:
            shutil.rmtree(fresh, ignore_errors=True)
        for parent in made:  # parents that were made for nothing go again
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
