"""The archive of a foreign unit, unpacked where it can do no harm to other files."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from armtwin.errors import FileError
from armtwin.files.opening import CHUNK, MB, UNIT, read_bytes

MOST_MEMBERS = 10_000
DESCRIPTION = "modelDescription.xml"


def unpack(path: Path, folder: Path) -> None:
    """Unpack a unit into an empty folder; an archive that leads out of it is refused whole."""
    origin = str(path)
    try:
        archive = zipfile.ZipFile(io.BytesIO(read_bytes(path, UNIT)))
    except zipfile.BadZipFile:
        raise FileError(origin, ["is no unit: a .fmu file is a zip archive"]) from None
    with archive:
        members = archive.infolist()
        _check(members, origin)
        left = UNIT.most
        for member in members:
            left -= _written(archive, member, folder, left, origin)


def _check(members: list[zipfile.ZipInfo], origin: str) -> None:
    if len(members) > MOST_MEMBERS:
        problem = f"must hold at most {MOST_MEMBERS} members, got {len(members)}"
        raise FileError(origin, [problem])
    for member in members:
        place = PurePosixPath(member.filename.replace("\\", "/"))
        out = ".." in place.parts or place.is_absolute() or ":" in member.filename
        link = stat.S_ISLNK(member.external_attr >> 16)
        if out or link or "\0" in member.filename:
            why = "is a link" if link else "leads out of the archive's own folder"
            problem = f"member '{member.filename}' {why}; nothing of it was unpacked"
            raise FileError(origin, [problem])
    if DESCRIPTION not in {member.filename for member in members}:
        raise FileError(origin, [f"is no unit: it has no {DESCRIPTION}"])


def _written(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, left: int, origin: str
) -> int:
    """Write a member piece by piece; returns its length."""
    target = folder / member.filename.replace("\\", "/")
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    length = 0
    try:
        with archive.open(member) as packed, target.open("wb") as file:
            while piece := packed.read(CHUNK):
                length += len(piece)
                if length > left:
                    problem = f"must unpack to at most {UNIT.most / MB:g} MB"
                    raise FileError(origin, [problem])
                file.write(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        problem = f"member '{member.filename}' is damaged or packed in an unknown way ({error})"
        raise FileError(origin, [problem]) from None
    return length
