"""Logs from arrays by name, as MATLAB, HDF5, Parquet and data frames hold them.

An array (m, n) is a channel, one (m,) a column as q1 of a CSV file.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import FileError, shorten
from armtwin.logs.channels import ALIASES, CHANNELS, LARGEST, channel_kind, is_time
from armtwin.logs.columns import Columns
from armtwin.logs.csv_reading import place_columns, unread_remark
from armtwin.logs.formats.signals import Signal, combine, seconds
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats

Named = Mapping[str, NDArray[Any]]
NEAR = 0.1  # root mean square difference from q over its range below which qd is a reference


def read_named(
    path: Path, columns: Columns, arrays: Named, units: Mapping[str, str], unread: list[str]
) -> Recording:
    """The log of arrays by name; what is no log is refused with the array.

    Args:
        path: The file.
        columns: The columns file.
        arrays: Numbers or dates by name.
        units: Their units, where the file says them.
        unread: Names of what is no array of numbers.
    """
    key = _time_name(path, columns, arrays, unread)
    given = np.squeeze(arrays[key])
    if given.ndim != 1:
        raise FileError(path, f"'{key}' must be one row of times, got shape {arrays[key].shape}")
    time = seconds(path, key, given, columns, units.get(key, ""))
    remarks: list[str] = []
    found: dict[str, list[Signal]] = {}
    used = {key}
    for name, keys in _channels(path, columns, arrays, len(time)).items():
        parts = [_values(path, word, arrays[word], len(time), remarks) for word in keys]
        found[name] = [Signal(part, time, units.get(keys[0], "")) for part in parts]
        used.update(keys)
    if not found:
        known = ", ".join(CHANNELS)
        held = shorten(", ".join([*arrays, *unread]), 80)
        raise FileError(path, f"no array is a known channel, got {held}; known: {known}")
    _judge_qd(found, used, remarks)
    left = [name for name in (*arrays, *unread) if name not in used]
    return combine(path, found, columns, [*remarks, *unread_remark("arrays", left)])


def _time_name(path: Path, columns: Columns, arrays: Named, unread: list[str]) -> str:
    wanted = columns.time
    names = [name for name in arrays if name == wanted or (wanted == "time" and is_time(name))]
    if names:
        return wanted if wanted in names else names[0]
    held = shorten(", ".join(arrays), 80) or "none"
    others = f"; not arrays of numbers: {shorten(', '.join(unread), 120)}" if unread else ""
    raise FileError(path, f"needs an array '{wanted}' of times, got {held}{others}")


def is_wanted(name: str, columns: Columns) -> bool:
    """Whether an array can be the time or a channel, by its name."""
    if (
        name == columns.time
        or is_time(name)
        or any(name in word for word in columns.columns.values())
    ):
        return True
    channel = re.sub("_?[0-9]{1,3}$", "", name)
    return _channel_of(name, columns) is not None or _channel_of(channel, columns) is not None


def _channels(path: Path, columns: Columns, arrays: Named, samples: int) -> dict[str, list[str]]:
    """For each channel the names of its array, or of the columns of its joints."""
    found: dict[str, list[str]] = {}
    flat = []
    for name, array in arrays.items():
        channel = _channel_of(name, columns)
        if channel is not None and _holds(array, samples):
            if channel in found:
                raise FileError(path, f"arrays '{found[channel][0]}' and '{name}' mean the same")
            found[channel] = [name]
        elif np.squeeze(array).ndim == 1:
            flat.append(name)
    for channel, places in place_columns(path, columns.canonical(flat)).items():
        found.setdefault(channel, [flat[k] for k in places])
    return found


def _channel_of(name: str, columns: Columns) -> str | None:
    for channel, given in columns.columns.items():
        if given == name:
            return channel
    channel = ALIASES.get(name, name)
    return channel if channel_kind(channel) is not None else None


def _holds(array: NDArray[Any], samples: int) -> bool:
    return array.ndim in (1, 2) and (samples in array.shape or array.ndim == 2)


def _values(path: Path, name: str, given: NDArray[Any], samples: int, remarks: list[str]) -> Floats:
    """Finite numbers (m, n), turned where time runs along the second axis."""
    array = given[:, None] if given.ndim == 1 else given
    if array.shape[0] != samples and array.shape[1] == samples:
        remarks.append(f"array '{name}' has time along its second axis: turned")
        array = array.T
    if array.shape[0] != samples:
        contract = f"must have {samples} samples as time"
        raise FileError(path, f"array '{name}' {contract}, got shape {given.shape}")
    values = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.argwhere(~(np.abs(values) <= LARGEST))
    if len(bad):
        row, column = bad[0]
        contract = f"must be finite and at most {LARGEST:g}, got {values[row, column]:g}"
        raise FileError(path, f"sample {row + 1} of array '{name}' {contract}")
    return values


def _judge_qd(found: dict[str, list[Signal]], used: set[str], remarks: list[str]) -> None:
    """Take an array qd that follows q for the reference, which some mean by d, not for a speed."""
    if "qd" not in used or "q" not in found or "q_ref" in found:
        return
    q, qd = found["q"][0].values, found["v"][0].values
    if q.shape != qd.shape:
        return
    apart = float(np.sqrt(np.mean((qd - q) ** 2)))
    travel = float(np.ptp(q, axis=0).max(initial=0.0))
    if apart < NEAR * travel:
        found["q_ref"] = found.pop("v")
        remarks.append("qd follows q: taken as the reference position, not as a speed")
    else:
        remarks.append("qd does not follow q: taken as the speed")
