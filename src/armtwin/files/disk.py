"""Single steps on the disk: fill a folder, bring it to the disk, report what fails."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from armtwin.errors import ArmtwinError

Content = str | Callable[[BinaryIO], object]
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
            if isinstance(content, str):
                file.write(content.encode("utf-8"))
            else:
                content(file)
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
