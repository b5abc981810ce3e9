"""Logs as NPZ files: arrays `time` (m,), `q` (m, n) and other channels; never pickled."""

from __future__ import annotations

import json
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import FileError, shorten
from armtwin.files.opening import LOG, open_plain_file
from armtwin.logs.channels import CHANNELS, LARGEST, channel_kind
from armtwin.logs.columns import Columns
from armtwin.logs.recording import Event, Recording
from armtwin.maths.batch import Floats, Indices, NamedArrays, Names

_EVENTS = "events"
_JOINTS = "joint_names"
ENCRYPTED = 1  # flag of a member
# what the readers of archives and of arrays raise where a file is cut off, overwritten or made up
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    SyntaxError,
    RuntimeError,
    NotImplementedError,
    OverflowError,
    MemoryError,
)


def put_npz(log: Recording, file: BinaryIO) -> None:
    """Write a log into an open file."""
    events = json.dumps([event.to_list() for event in log.events])
    arrays = {"time": log.time, **log.channels, _EVENTS: np.array(events)}
    if log.joint_names:
        arrays[_JOINTS] = np.array(log.joint_names)
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_npz(path: Path, columns: Columns) -> Recording:
    """Read a log; a file that is no log is refused with the array."""
    with open_plain_file(path, LOG) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, on headers written by old versions of Python
        try:
            with zipfile.ZipFile(file) as archive:
                return _recording(_Archive(path, archive), columns)
        except DAMAGE:
            sentence = "is no NPZ file of plain arrays, or a damaged one"
            raise FileError(path, sentence) from None


def _recording(archive: _Archive, columns: Columns) -> Recording:
    time = _time(archive, columns)
    channels = _channels(archive, columns)
    if not channels:
        known = ", ".join(CHANNELS)
        raise FileError(archive.path, f"no array is a known channel; known: {known}")
    return Recording(time, channels, _events(archive), _joint_names(archive))


def _time(archive: _Archive, columns: Columns) -> Floats:
    """Times that increase, at least one, (m,) [s]."""
    names, path = archive.names, archive.path
    if columns.time not in names:
        got = shorten(", ".join(names), 80) or "none"
        raise FileError(path, f"needs an array '{columns.time}', got {got}")
    time = _seconds(path, columns, archive.array(columns.time))
    if not len(time):
        raise archive.error(columns.time, "must have at least one sample")
    late = np.flatnonzero(np.diff(time) <= 0)
    if len(late):
        k = int(late[0]) + 1
        raise FileError(path, f"sample {k + 1}: time must increase, got {time[k]}")
    return time


def _channels(archive: _Archive, columns: Columns) -> NamedArrays:
    """The arrays that are channels, under the names that a columns file gives them or their own."""
    wanted = list(CHANNELS)
    for name in archive.names:
        if name not in CHANNELS and channel_kind(name) is not None:
            wanted.append(name)
    channels = {}
    for name in wanted:
        given = columns.columns.get(name, name)
        key = given if isinstance(given, str) else name
        if key in archive.names:
            channels[name] = _check_array(archive.path, key, archive.array(key), 2)
    return channels


@dataclass(frozen=True)
class _Archive:
    """The arrays of an NPZ file, each read when it is asked for and no larger than its member."""

    path: Path
    archive: zipfile.ZipFile

    @cached_property
    def names(self) -> dict[str, zipfile.ZipInfo]:
        """The members by the names of their arrays."""
        return {info.filename.removesuffix(".npy"): info for info in self.archive.infolist()}

    def array(self, name: str) -> NDArray[Any]:
        """One array; an encrypted, pickled or too large one is refused."""
        info = self.names[name]
        if info.flag_bits & ENCRYPTED:
            raise self.error(name, "must not be encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self.error(name, "must be stored or deflated, as numpy writes it")
        if info.file_size > LOG.most:
            raise LOG.too_long(self.path)
        with self.archive.open(info) as file:
            shape, turned, dtype = _head(file)
            if dtype.hasobject:
                raise self.error(name, "must hold plain numbers; pickled objects are not read")
            size = math.prod(shape) * dtype.itemsize
            if size > info.file_size:
                raise self.error(name, f"says that it has shape {shape}, but the file holds less")
            data = file.read(size)
        if len(data) != size:
            raise self.error(name, f"says that it has shape {shape}, but the file holds less")
        return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if turned else "C")

    def error(self, name: str, sentence: str) -> FileError:
        """An error in an array."""
        return FileError(self.path, f"array '{shorten(name, 60)}' {sentence}")


def _head(file: IO[bytes]) -> tuple[Indices, bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type of an array."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError("an array of another version")


def _seconds(path: Path, columns: Columns, given: NDArray[Any]) -> Floats:
    """Time in seconds; of dates from the first one on."""
    if given.dtype.kind == "M" and given.size:
        given = given - given.flat[0]
    if given.dtype.kind != "m":
        return _check_array(path, columns.time, given, 1) * columns.factor("time")
    if np.datetime_data(given.dtype)[0] == "generic":
        sentence = f"array '{columns.time}' must say its unit, as timedelta64[ms]"
        raise FileError(path, sentence)
    return _check_array(path, columns.time, given / np.timedelta64(1, "s"), 1)


def _check_array(path: Path, name: str, values: NDArray[Any], dimensions: int) -> Floats:
    """Real numbers of that many dimensions, none too large."""
    is_real = np.issubdtype(values.dtype, np.number) and not np.iscomplexobj(values)
    if values.ndim != dimensions or not is_real:
        contract = f"must have {dimensions} dimensions of numbers"
        raise FileError(path, f"array '{name}' {contract}, got {values.shape}")
    with np.errstate(over="ignore"):
        array = values.astype(np.float64)
    bad = np.argwhere(~(np.abs(array) <= LARGEST))
    if len(bad):
        place = tuple(bad[0])
        contract = f"must be finite and at most {LARGEST:g}, got {array[place]:g}"
        raise FileError(path, f"sample {place[0] + 1} of array '{name}' {contract}")
    return array


def _events(archive: _Archive) -> tuple[Event, ...]:
    if _EVENTS not in archive.names:
        return ()
    try:
        return tuple(Event.of(entry) for entry in json.loads(str(archive.array(_EVENTS))))
    except (ValueError, TypeError, RecursionError):
        raise archive.error(_EVENTS, "must be a JSON list of time, kind, joint and text") from None


def _joint_names(archive: _Archive) -> Names:
    if _JOINTS not in archive.names:
        return ()
    names = archive.array(_JOINTS)
    if names.ndim != 1 or names.dtype.kind != "U":
        raise archive.error(_JOINTS, "must be one row of texts")
    return tuple(str(name) for name in names)
