"""The one place that opens files for reading: plain files, and no more of them than they may hold.

A pipe or a device has no end and may block for ever; a packed file may unpack to more than the
memory holds.
"""

import gzip
import lzma
import os
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from armtwin.errors import ArmtwinError, FileError

MB = 1024 * 1024  # bytes
CHUNK = MB  # bytes that are read at once
# a file that unpacks to more than this multiple of its size is a trap, where that is not small
PACKED_SHARE, SMALL = 200, 64 * MB
# bits of st_mode and what they mean
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        what: What it is called.
        most: Bytes that it may hold, unpacked.
    """

    what: str
    most: int

    def too_long(self, path: Path) -> FileError:
        """The error for a file that holds more."""
        return FileError(path, f"{self.what} must be at most {self.most / MB:g} MB")


TOML = Kind("a TOML file", 4 * MB)
COLUMNS = Kind("a columns file", MB)
URDF = Kind("a URDF file", 16 * MB)
DH_TABLE = Kind("a Denavit-Hartenberg table", MB)
RESONANCES = Kind("a table of resonances", MB)
FRICTION_CURVES = Kind("a table of friction curves", 16 * MB)
SETPOINTS = Kind("a table of set-points", 100 * MB)
POINTS = Kind("a points file", 64 * MB)
PROGRAM = Kind("a robot program", 16 * MB)
LOG = Kind("a log", 1024 * MB)
TRACE_HEADER = Kind("a header of a trace", 4 * MB)
BAG = Kind("a bag", 16 * 1024 * MB)
COVARIANCE = Kind("a covariance file", 64 * MB)
MESHES = Kind("a file of meshes", 4 * MB)
UNIT = Kind("a unit (.fmu)", 512 * MB)
RESULT = Kind("a result.json", 256 * MB)
RESULT_TABLE = Kind("a table of results", 64 * 1024 * MB)
INPUT = Kind("an input of a run", BAG.most)
JOURNAL = Kind("a journal of moved files", MB)
CERTIFICATE = Kind("a certificate or key", MB)
BAG_METADATA = Kind("metadata of a bag", MB // 8)
# what the readers of archives and of arrays raise where a file is cut off, overwritten or made up
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    SyntaxError,
    RuntimeError,
    OverflowError,
    MemoryError,
)


def open_plain_file(path: Path, kind: Kind) -> BinaryIO:
    """A plain file opened for reading; what is none, or holds too much, is refused."""
    with _naming(path):
        _check(path, os.stat(path), kind)
        file: BinaryIO = open(path, "rb", opener=_open)  # noqa: SIM115
    try:
        _check(path, os.fstat(file.fileno()), kind)  # it may be another file by now
    except ArmtwinError:
        file.close()
        raise
    return file


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file that cannot be read."""
    try:
        yield
    except OSError as error:
        raise ArmtwinError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:  # a name with a null character
        raise ArmtwinError(f"{path}: cannot be read ({error})") from None


def _open(name: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe, where the system knows how."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _check(path: Path, found: os.stat_result, kind: Kind) -> None:
    if not stat.S_ISREG(found.st_mode):
        other = KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise FileError(path, f"must be a plain file, but is {other}")
    if found.st_size > kind.most:
        raise kind.too_long(path)


def check_plain_file(path: Path, kind: Kind) -> None:
    """Refuse what another library is to open and is no plain file, or holds too much."""
    open_plain_file(path, kind).close()


def check_database(path: Path, kind: Kind) -> None:
    """Refuse a database of SQLite where it, or a file beside it that SQLite opens, is no file."""
    for ending in ("", "-journal", "-wal", "-shm"):
        file = Path(f"{path}{ending}")
        if os.path.lexists(file):
            check_plain_file(file, kind)


def read_bytes(path: Path, kind: Kind) -> bytes:
    """All that a file holds."""
    with open_plain_file(path, kind) as file, _naming(path):
        # a file that grows is read as it was when it was opened; one of the system's says that it
        # has no size
        size = max(os.fstat(file.fileno()).st_size, CHUNK)
        data = file.read(min(size, kind.most) + 1)
    if len(data) > kind.most:
        raise kind.too_long(path)
    return data


def read_text(path: Path, kind: Kind) -> str:
    """All that a file holds, as text in UTF-8."""
    try:
        return read_bytes(path, kind).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(path, "is not a text file in UTF-8") from None


def unpack_gzip(path: Path, kind: Kind) -> bytearray:
    """All that a gzip file holds, unpacked piece by piece up to what its kind may hold."""
    data = bytearray()
    with open_plain_file(path, kind) as file, _naming(path):
        honest = max(PACKED_SHARE * os.fstat(file.fileno()).st_size, SMALL)
        try:
            with gzip.GzipFile(fileobj=file) as packed:
                while piece := packed.read(CHUNK):
                    data += piece
                    if len(data) > kind.most:
                        raise kind.too_long(path)
                    if len(data) > honest:
                        trap = f"unpacks to more than {PACKED_SHARE} times its size"
                        raise FileError(path, f"{trap}, which no table of numbers does")
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise FileError(path, "the gzip file is cut off or damaged") from None
    return data
