"""The text of a program as it is in its file, so that every byte can be written again."""

from pathlib import Path

from armtwin.errors import FileError
from armtwin.files.opening import PROGRAM, read_bytes


def read_program_text(path: Path) -> tuple[str, str]:
    """Text and encoding of a program: UTF-8, or Latin-1, which every byte has a letter in."""
    data = read_bytes(path, PROGRAM)
    if b"\0" in data[:4096]:
        raise FileError(path, "is no text: robot programs are read in their text form")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"
