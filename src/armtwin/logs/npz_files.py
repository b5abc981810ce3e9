"""Logs as NPZ files: arrays `time` (m,), `q` (m, n) and other channels; never pickled."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.logs.columns import Columns
from armtwin.logs.log import CHANNELS, Event, Log, channel_kind
from armtwin.maths.batch import Floats

_EVENTS = "events"


def put_npz(log: Log, file: BinaryIO) -> None:
    """Write a log into an open file."""
    told = json.dumps([[float(e.time), e.kind, e.joint, e.text] for e in log.events])
    arrays = {"time": log.time, **log.channels, _EVENTS: np.array(told)}
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_npz(path: Path, columns: Columns) -> Log:
    """Read a log; a file that is no log is refused with the array."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise ArmtwinError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, zipfile.BadZipFile, EOFError):
        raise FileError(str(path), ["is no NPZ file of plain arrays (pickled objects are not read)"]) from None
    if columns.time not in arrays:
        raise FileError(str(path), [f"needs an array '{columns.time}', got {', '.join(arrays)[:80]}"])
    time = _checked(path, columns.time, arrays[columns.time], 1) * columns.factor("time")
    late = np.flatnonzero(np.diff(time) <= 0)
    if len(late):
        raise FileError(str(path), [f"sample {late[0] + 2}: time must increase, got {time[late[0] + 1]}"])
    channels = {}
    suffixed = [name for name in arrays if name not in CHANNELS and channel_kind(name) is not None]
    for name in (*CHANNELS, *suffixed):
        given = columns.columns.get(name, name)
        key = given if isinstance(given, str) else name
        if key in arrays:
            channels[name] = columns.to_si(name, _checked(path, key, arrays[key], 2))
    if not channels:
        raise FileError(str(path), [f"no array is a known channel; known: {', '.join(CHANNELS)}"])
    return Log.of(time, _events(path, arrays.get(_EVENTS)), **channels)


def _checked(path: Path, name: str, values: Floats, dimensions: int) -> Floats:
    if values.ndim != dimensions or not np.issubdtype(values.dtype, np.number) or np.iscomplexobj(values):
        raise FileError(str(path), [f"array '{name}' must have {dimensions} dimensions of numbers, got {values.shape}"])
    array = values.astype(np.float64)
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise FileError(str(path), [f"sample {row + 1} of array '{name}' must be finite"])
    return array


def _events(path: Path, told: Floats | None) -> tuple[Event, ...]:
    if told is None:
        return ()
    try:
        return tuple(Event(float(t), str(kind), str(who), str(text)) for t, kind, who, text in json.loads(str(told)))
    except (ValueError, TypeError):
        raise FileError(str(path), ["array 'events' must be a JSON list of time, kind, joint and text"]) from None
