"""Logs as NPZ files: arrays `time` (m,), `q` (m, n) and other channels; never pickled."""

import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError, FileError, shorten
from armtwin.files.arrays import Arrays, open_arrays
from armtwin.files.opening import LOG
from armtwin.logs.channels import CHANNELS, LARGEST, channel_kind
from armtwin.logs.columns import Columns
from armtwin.logs.recording import Event, Recording
from armtwin.maths.batch import Floats, NamedArrays, Names

_EVENTS = "events"
_JOINTS = "joint_names"


def put_npz(log: Recording, file: BinaryIO) -> None:
    """Write a log into an open file."""
    events = json.dumps([event.to_list() for event in log.events])
    arrays = {"time": log.time, **log.channels, _EVENTS: np.array(events)}
    if log.joint_names:
        arrays[_JOINTS] = np.array(log.joint_names)
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_npz(path: Path, columns: Columns) -> Recording:
    """Read a log; a file that is no log is refused with the array."""
    damaged = "is no NPZ file of plain arrays, or a damaged one"
    with open_arrays(path, LOG, damaged) as arrays:
        return _recording(arrays, columns)


def _recording(archive: Arrays, columns: Columns) -> Recording:
    time = _time(archive, columns)
    channels = _channels(archive, columns)
    if not channels:
        known = ", ".join(CHANNELS)
        raise FileError(archive.path, f"no array is a known channel; known: {known}")
    return Recording(time, channels, _events(archive), _joint_names(archive))


def _time(archive: Arrays, columns: Columns) -> Floats:
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


def _channels(archive: Arrays, columns: Columns) -> NamedArrays:
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


def _events(archive: Arrays) -> tuple[Event, ...]:
    if _EVENTS not in archive.names:
        return ()
    try:
        return tuple(Event.of(entry) for entry in json.loads(str(archive.array(_EVENTS))))
    except (ArmtwinError, ValueError, TypeError, RecursionError):
        raise archive.error(_EVENTS, "must be a JSON list of time, kind, joint and text") from None


def _joint_names(archive: Arrays) -> Names:
    if _JOINTS not in archive.names:
        return ()
    names = archive.array(_JOINTS)
    if names.ndim != 1 or names.dtype.kind != "U":
        raise archive.error(_JOINTS, "must be one row of texts")
    return tuple(str(name) for name in names)
