"""What a ROS bag says of its own lengths, checked first: the readers of bags believe all of it.

Chunks must unpack to what they say and to no more than a chunk may hold; a recording's database
holds plain tables; texts in YAML are short and flat.
"""

import bz2
import os
import re
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from armtwin.errors import FileError
from armtwin.files import opening

LARGEST_CHUNK = 256 * opening.MB
DEEPEST_YAML = 20  # levels of the metadata of a bag
SUFFIXES = (".bag", ".mcap", ".db3")
BAG_MAGIC, MCAP_MAGIC = b"#ROSBAG V2.0\n", b"\x89MCAP0\r\n"
DATABASE_MAGIC = b"SQLite format 3\0"
CHUNK_OF_BAG, CHUNK_OF_MCAP, CHANNEL_OF_MCAP = 5, 6, 4  # kinds of records in their formats
ENTRIES = "select type, name, substr(sql, 1, 60) from sqlite_master limit 100"
TABLES = ("schema", "metadata", "topics", "messages", "message_definitions")
PACKED_MODE = re.compile(r"^\s*compression_mode:\s*[\"']?(file|message)\b", re.I | re.M)
# lists within lists, or far to the right
DEEP_BLOCK = re.compile(rf"(?:[-?][ \t]+){{{DEEPEST_YAML}}}|^[ ]{{{8 * DEEPEST_YAML}}}", re.M)


class Packed(NamedTuple):
    """A chunk of a bag.

    Attributes:
        how: Its compression.
        data: What the file holds of it.
        size: Bytes that it says it unpacks to.
    """

    how: str
    data: bytes
    size: int


def check_bag(path: Path) -> None:
    """Refuse a bag, or the folder of a recording, that is larger or deeper than it may be."""
    if os.path.isdir(path):
        _check_metadata(path / "metadata.yaml")
        for file in sorted(path.iterdir()):
            if file.suffix in SUFFIXES:
                _check_file(file)
            elif not file.is_dir():  # a recording may name it
                opening.check_plain_file(file, opening.BAG)
    else:
        _check_file(path)


def ending_of(path: Path) -> str:
    """The ending of a bag, or of any other file that of the newer ones, by its first bytes."""
    with opening.open_plain_file(path, opening.BAG) as file:
        head = file.read(len(DATABASE_MAGIC))
    kinds = {BAG_MAGIC: ".bag", DATABASE_MAGIC: ".db3"}
    return next((ending for magic, ending in kinds.items() if head.startswith(magic)), ".mcap")


def _check_file(path: Path) -> None:
    ending = ending_of(path)
    if ending == ".db3":
        _check_database(path)
        return
    with opening.open_plain_file(path, opening.BAG) as file:
        chunks = _bag_chunks(file) if ending == ".bag" else _mcap_chunks(path, file)
        try:
            for chunk in chunks:
                _check_chunk(path, chunk)
        except (struct.error, ValueError, LookupError, OSError, EOFError):
            raise damage_error(path, "a record is cut off") from None


def damage_error(path: Path, why: str) -> FileError:
    """The error for a bag that cannot be read."""
    return FileError(path, f"is no bag that can be read ({why:.120})")


def _rest(file: BinaryIO) -> int:
    """Bytes from here to the end of a file."""
    return os.fstat(file.fileno()).st_size - file.tell()


def _take_bytes(file: BinaryIO, size: int) -> bytes:
    """As many bytes as a record says, if there are so many."""
    if size > _rest(file):
        raise EOFError
    return file.read(size)


def _skip_bytes(file: BinaryIO, size: int) -> None:
    if size > _rest(file):
        raise EOFError
    file.seek(size, os.SEEK_CUR)


def _bag_chunks(file: BinaryIO) -> Iterator[Packed]:
    """Packed chunks of a bag of ROS 1; every record is a header and data, each after its length."""
    if file.read(len(BAG_MAGIC)) != BAG_MAGIC:
        return
    while _rest(file):
        header = _bag_header(_take_bytes(file, struct.unpack("<I", _take_bytes(file, 4))[0]))
        size = struct.unpack("<I", _take_bytes(file, 4))[0]
        if header.get(b"op") == bytes([CHUNK_OF_BAG]) and header[b"compression"] != b"none":
            how = header[b"compression"].decode()
            yield Packed(how, _take_bytes(file, size), struct.unpack("<I", header[b"size"])[0])
        else:
            _skip_bytes(file, size)


def _bag_header(data: bytes) -> dict[bytes, bytes]:
    """The fields name=value of a header, each after its length."""
    fields, at = {}, 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        name, _, value = data[at + 4 : at + 4 + size].partition(b"=")
        fields[name] = value
        at += 4 + size
    return fields


def _mcap_chunks(path: Path, file: BinaryIO) -> Iterator[Packed]:
    """Packed chunks of an MCAP file; every record is a kind, a length and data."""
    if file.read(len(MCAP_MAGIC)) != MCAP_MAGIC:
        return
    while _rest(file) > len(MCAP_MAGIC):
        kind, size = struct.unpack("<BQ", _take_bytes(file, 9))
        if kind == CHANNEL_OF_MCAP:
            check_yaml(path, _take_bytes(file, size).decode("utf-8", errors="replace"))
        elif kind == CHUNK_OF_MCAP:
            record = _take_bytes(file, size)
            unpacked, _, letters = struct.unpack_from("<QII", record, 16)
            how = record[32 : 32 + letters].decode()
            if how:
                yield Packed(how, record[32 + letters + 8 :], unpacked)
        else:
            _skip_bytes(file, size)


def _check_chunk(path: Path, chunk: Packed) -> None:
    """Unpack a chunk piece by piece; one larger than it says, or than any may be, is refused."""
    if chunk.size > LARGEST_CHUNK:
        contract = f"a chunk must unpack to at most {LARGEST_CHUNK // opening.MB} MB"
        raise FileError(path, f"{contract}, got {chunk.size // opening.MB}")
    makers = _unpackers()
    if chunk.how not in makers:
        raise damage_error(path, f"chunks are packed by '{chunk.how}'")
    unpacker, failures = makers[chunk.how]
    tool = unpacker()
    data = chunk.data
    total = 0
    try:
        while not tool.eof:
            piece = tool.decompress(data, opening.CHUNK)
            data = b""
            total += len(piece)
            if total > chunk.size or (not piece and tool.needs_input):
                raise damage_error(path, "a chunk does not unpack to the size it says")
    except failures:
        raise damage_error(path, "a chunk cannot be unpacked") from None


def zstd_library() -> Any:
    """The library that unpacks zstd: the one that the reader of bags takes on this Python."""
    from rosbags.rosbag2 import storage_mcap

    return vars(storage_mcap)["zstd"]


def _unpackers() -> dict[str, tuple[Callable[[], Any], Any]]:
    """For each compression what unpacks it piece by piece, and what that raises."""
    from lz4.frame import LZ4FrameDecompressor

    zstd = zstd_library()
    return {
        "bz2": (bz2.BZ2Decompressor, (OSError, EOFError, ValueError)),
        "lz4": (LZ4FrameDecompressor, (RuntimeError, EOFError, ValueError)),
        "zstd": (zstd.ZstdDecompressor, (zstd.ZstdError, EOFError, ValueError)),
    }


def _check_database(path: Path) -> None:
    """Refuse a database with anything but tables and indexes: a view may be a query without end."""
    opening.check_database(path, opening.BAG)
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True)
        try:
            names = []
            for kind, name, sql in connection.execute(ENTRIES).fetchall():
                if not _is_plain(kind, name, sql):
                    raise damage_error(path, f"its database holds '{name}', which no recording has")
                names.append(name)
            if "topics" in names:
                for topic in connection.execute("select * from topics limit 10000"):
                    check_yaml(path, " ".join(x for x in topic if isinstance(x, str)))
        finally:
            connection.close()
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise damage_error(path, str(error)) from None


def _is_plain(kind: object, name: object, sql: object) -> bool:
    """Whether an entry of a database is one of a recording's tables, or an index."""
    if kind == "index":
        return True
    known = name in TABLES or str(name).startswith("sqlite_")
    return kind == "table" and known and "virtual" not in str(sql).lower()


def _check_metadata(path: Path) -> None:
    text = opening.read_text(path, opening.BAG_METADATA)
    check_yaml(path, text)
    mode = PACKED_MODE.search(text)
    if mode is not None:
        sentence = (
            f"the recording is packed as a whole (compression_mode {mode[1]}); unpack it first"
        )
        raise FileError(path, sentence)


def check_yaml(path: Path, text: str) -> None:
    """Refuse YAML that is long, deep or refers to itself: its readers take without end for it."""
    if len(text) > opening.BAG_METADATA.most:
        raise opening.BAG_METADATA.too_long(path)
    depth = deepest = 0
    for sign in re.findall(r"[\[{\]}]", text):
        depth = max(depth + (1 if sign in "[{" else -1), 0)
        deepest = max(deepest, depth)
    if deepest > DEEPEST_YAML or DEEP_BLOCK.search(text) is not None:
        raise FileError(path, f"YAML must not be nested deeper than {DEEPEST_YAML}")
    if re.search(r"(?:^|[\s\[{,:-])[&*]\w", text):
        raise FileError(path, "YAML must not refer to itself (& and *)")
