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

from armtwin.errors import ArmtwinError, FileError, shortened
from armtwin.files.opening import LOG, opened
from armtwin.logs.columns import Columns
from armtwin.logs.log import CHANNELS, LARGEST, Event, Log, channel_kind
from armtwin.maths.batch import Floats

_EVENTS = "events"
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


def put_npz(log: Log, file: BinaryIO) -> None:
    """Write a log into an open file."""
    told = json.dumps([[float(e.time), e.kind, e.joint, e.text] for e in log.events])
    arrays = {"time": log.time, **log.channels, _EVENTS: np.array(told)}
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_npz(path: Path, columns: Columns) -> Log:
    """Read a log; a file that is no log is refused with the array."""
    with opened(path, LOG) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, on headers written by old versions of Python
        try:
            with zipfile.ZipFile(file) as archive:
                return _log(_Archive(path, archive), columns)
        except DAMAGE:
            told = "is no NPZ file of plain arrays, or a damaged one"
            raise FileError(str(path), [told]) from None


def _log(archive: _Archive, columns: Columns) -> Log:
    names, path = archive.names, archive.path
    if columns.time not in names:
        got = shortened(", ".join(names), 80) or "none"
        raise FileError(str(path), [f"needs an array '{columns.time}', got {got}"])
    time = _seconds(path, columns, archive.array(columns.time))
    if not len(time):
        raise archive.error(columns.time, "must have at least one sample")
    late = np.flatnonzero(np.diff(time) <= 0)
    if len(late):
        raise FileError(
            str(path), [f"sample {late[0] + 2}: time must increase, got {time[late[0] + 1]}"]
        )
    channels = {}
    suffixed = [name for name in names if name not in CHANNELS and channel_kind(name) is not None]
    try:
        for name in (*CHANNELS, *suffixed):
            given = columns.columns.get(name, name)
            key = given if isinstance(given, str) else name
            if key in names:
                channels[name] = columns.to_si(name, _checked(path, key, archive.array(key), 2))
        if not channels:
            known = ", ".join(CHANNELS)
            raise FileError(str(path), [f"no array is a known channel; known: {known}"])
        return Log.of(time, _events(archive), **channels)
    except FileError:
        raise
    except ArmtwinError as error:
        raise FileError(str(path), [str(error)]) from None


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
        return FileError(str(self.path), [f"array '{shortened(name, 60)}' {sentence}"])


def _head(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
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
        return _checked(path, columns.time, given, 1) * columns.factor("time")
    if np.datetime_data(given.dtype)[0] == "generic":
        told = f"array '{columns.time}' must say its unit, as timedelta64[ms]"
        raise FileError(str(path), [told])
    return _checked(path, columns.time, given / np.timedelta64(1, "s"), 1)


def _checked(path: Path, name: str, values: NDArray[Any], dimensions: int) -> Floats:
    if (
        values.ndim != dimensions
        or not np.issubdtype(values.dtype, np.number)
        or np.iscomplexobj(values)
    ):
        raise FileError(
            str(path),
            [f"array '{name}' must have {dimensions} dimensions of numbers, got {values.shape}"],
        )
    with np.errstate(over="ignore"):
        array = values.astype(np.float64)
    bad = np.argwhere(~(np.abs(array) <= LARGEST))
    if len(bad):
        told = f"must be finite and at most {LARGEST:g}, got {array[tuple(bad[0])]:g}"
        raise FileError(str(path), [f"sample {bad[0][0] + 1} of array '{name}' {told}"])
    return array


def _events(archive: _Archive) -> tuple[Event, ...]:
    if _EVENTS not in archive.names:
        return ()
    try:
        return tuple(Event.of(told) for told in json.loads(str(archive.array(_EVENTS))))
    except (ValueError, TypeError, RecursionError):
        raise archive.error(_EVENTS, "must be a JSON list of time, kind, joint and text") from None
