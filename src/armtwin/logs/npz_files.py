"""Logs as NPZ files: arrays `time` (m,), `q` (m, n) and other channels; never pickled."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.files.arrays import Arrays, open_arrays
from armtwin.files.opening import LOG
from armtwin.logs.columns import Columns
from armtwin.logs.formats.named_arrays import is_wanted, read_named
from armtwin.logs.recording import Event, Recording
from armtwin.maths.batch import Names

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
    own = [name for name in archive.names if name not in (_EVENTS, _JOINTS)]
    wanted = [name for name in own if is_wanted(name, columns)]
    arrays = {name: _check_numbers(archive, name) for name in wanted}
    unread = [name for name in own if name not in wanted]
    found = read_named(archive.path, columns, arrays, {}, unread)
    return replace(found, events=_events(archive), joint_names=_joint_names(archive))


def _check_numbers(archive: Arrays, name: str) -> NDArray[Any]:
    """An array of real numbers, durations or dates."""
    array = archive.array(name)
    if array.dtype.kind not in "fiumM" or array.ndim not in (1, 2):
        contract = "must be numbers of one or two dimensions"
        raise archive.error(name, f"{contract}, got {array.dtype} of shape {array.shape}")
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
