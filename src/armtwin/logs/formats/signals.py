"""Signals of a file, each with its unit and its own times, made into the channels of one log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError, FileError
from armtwin.logs.channels import LARGEST, channel_unit
from armtwin.logs.columns import ZERO_CELSIUS, Columns
from armtwin.logs.recording import Recording, find_repeats, repeats_remark
from armtwin.maths.batch import Floats, NamedArrays
from armtwin.maths.units import CELSIUS, parse_quantity

# what units are called in files besides the names that quantities have
CALLED = {
    "deg": ("grad", "°", "degree", "degrees"),
    "deg/s": ("grad/s", "°/s"),
    "rad": ("radian", "radians"),
    "N m": ("nm", "n*m", "n·m"),
    "s": ("sec", "sekunden"),
    "degC": ("grad c", "c", "celsius"),
    "K": ("kelvin",),
    "A": ("ampere",),
    "rpm": ("u/min", "1/min"),
}
UNITS = {name: unit for unit, names in CALLED.items() for name in names}
COLDEST = 150.0  # temperature of a motor below which a number in K can only be one in °C [K]
SMOOTH = ("q", "v", "a", "q_m", "q_link", "q_ref", "v_ref", "a_ref")  # splines go through these
# whose times are those of the log, the first that is there, else any channel
BASES = ("q", "q_link", "q_m", "q_ref", "tool")
RATES = {"v": "q", "v_ref": "q_ref"}  # channels that are the rates of others
LEAST_LATENESS = 1e-4  # lateness between signals that is taken into account [s]
SHOWN = 0.5  # share of the difference of two signals that their lateness must explain
LEAST_SAMPLES = 10  # from which on a lateness is estimated
SAME_TIME = 1e-9  # by which times of one clock may differ by rounding [s]


@dataclass(frozen=True, eq=False)
class Signal:
    """A channel, or one joint of it, as a file holds it.

    Attributes:
        values: Its values, (m, n).
        time: When they were taken, (m,) [s].
        unit: Their unit as the file or its layout says; "" for SI.
    """

    values: Floats
    time: Floats
    unit: str = ""


def combine(
    path: Path, found: Mapping[str, Sequence[Signal]], columns: Columns, remarks: Iterable[str] = ()
) -> Recording:
    """The channels on one time base, that of the positions, in SI.

    A unit of the columns file counts more than the file's. Signals at other times are put on the
    base, by splines where they are smooth, else along straight lines, and said to be.

    Args:
        path: The file.
        found: For each channel its signals, whole or joint by joint in their order.
        columns: The columns file.
        remarks: What was converted so far.
    """
    said = list(remarks)
    base = next((name for name in (*BASES, *found) if name in found), None)
    if base is None:
        raise FileError(path, "a log needs a channel, got none")
    found = {name: [_once(path, name, one, said) for one in found[name]] for name in found}
    found = _without_lateness(found, said)
    time = _common_times(path, found, found[base][0].time, said)
    channels: NamedArrays = {}
    for name, signals in found.items():
        signals = [_between(signal, time[0], time[-1]) for signal in signals]
        moved = [_at_times(name, signal, time) for signal in signals]
        others = [signal.time for signal in signals if not _is_same_clock(signal.time, time)]
        if others:
            said.append(_describe_resampling(name, others[0], time))
        values = moved[0] if len(moved) == 1 else np.hstack(moved)
        channels[name] = convert(path, name, values, signals[0].unit, columns, said)
    return Recording(time, channels, remarks=tuple(said))


def _once(path: Path, name: str, signal: Signal, said: list[str]) -> Signal:
    """A signal without samples that repeat the one before; its times must increase."""
    repeated = find_repeats(signal.time, signal.values)
    if repeated.any():
        said += [f"{name}: {sentence}" for sentence in repeats_remark(signal.time, repeated)]
        kept = ~repeated
        signal = replace(signal, values=signal.values[kept], time=signal.time[kept])
    check_times(path, name, signal.time)
    return signal


def _between(signal: Signal, first: float, last: float) -> Signal:
    """A signal on the clock of the log, cut to the log; any other as it is."""
    kept = (signal.time >= first - SAME_TIME) & (signal.time <= last + SAME_TIME)
    at_ends = kept.any() and np.ptp(signal.time[kept]) >= last - first - 2 * SAME_TIME
    if kept.all() or not at_ends:
        return signal
    return replace(signal, values=signal.values[kept], time=signal.time[kept])


def check_times(path: Path, name: str, time: Floats) -> None:
    """Refuse times of a channel that are not finite or do not increase."""
    if not len(time) or not np.isfinite(time).all():
        raise FileError(path, f"times of {name} must be finite numbers, at least one")
    late = np.flatnonzero(np.diff(time) <= 0)
    if len(late):
        k = int(late[0]) + 1
        sentence = f"time must increase, got {time[k]:.9g} after {time[k - 1]:.9g}"
        raise FileError(path, f"sample {k + 1} of {name}: {sentence}")


def lateness(time: Floats, q: Floats, own: Floats, seen: Floats, *, offset: bool = False) -> float:
    """By how much the second of two records of the same positions is late [s].

        q(t) - q_seen(t) = L v(t) [+ c]

    0 where that does not explain their difference.

    Args:
        time: Times of the first, (m,).
        q: Its positions, (m, n).
        own: Times of the second, (k,).
        seen: Its positions, (k, n).
        offset: Whether they may also differ by a constant c of each joint.
    """
    inside = (time >= own[0]) & (time <= own[-1])
    if inside.sum() < LEAST_SAMPLES or q.shape[1] != seen.shape[1]:
        return 0.0
    t, x = time[inside], q[inside]
    apart = x - np.column_stack([np.interp(t, own, column) for column in seen.T])
    v = np.gradient(x, t, axis=0)
    if offset:
        apart, v = apart - apart.mean(axis=0), v - v.mean(axis=0)
    power = float((v * v).sum())
    if not power > 0:
        return 0.0
    late = float((apart * v).sum()) / power
    shown = late**2 * power > SHOWN * float((apart * apart).sum())
    return late if shown and abs(late) >= LEAST_LATENESS else 0.0


def describe_lateness(name: str, late: float, other: str, how: str) -> str:
    """A clause on a signal that is late by a time [s], or early, and by what that is seen."""
    word = "later" if late > 0 else "earlier"
    return f"{name} is {1e3 * abs(late):.3g} ms {word} than {other} by {how}"


def _without_lateness(
    found: Mapping[str, Sequence[Signal]], said: list[str]
) -> Mapping[str, Sequence[Signal]]:
    """The signals, rates with another clock than their positions moved to it."""
    moved = dict(found)
    for name, other in RATES.items():
        if name not in found or other not in found:
            continue
        q, v = (_on_one_clock(found[key]) for key in (other, name))
        if q is None or v is None or _is_same_clock(q.time, v.time):
            continue
        if q.unit != v.unit.removesuffix("/s"):
            continue
        steps = 0.5 * (v.values[1:] + v.values[:-1]) * np.diff(v.time)[:, None]
        travel = np.vstack([np.zeros(v.values.shape[1]), np.cumsum(steps, axis=0)])
        late = lateness(q.time, q.values, v.time, travel, offset=True)
        if late:
            said.append(f"{describe_lateness(name, late, other, 'its integral')}: moved")
            moved[name] = [replace(signal, time=signal.time - late) for signal in found[name]]
    return moved


def _on_one_clock(signals: Sequence[Signal]) -> Signal | None:
    """The joints of a channel together; None where they have clocks of their own."""
    first = signals[0]
    if not all(_is_same_clock(first.time, signal.time) for signal in signals):
        return None
    return replace(first, values=np.hstack([signal.values for signal in signals]))


def _is_same_clock(one: Floats, other: Floats) -> bool:
    return len(one) == len(other) and bool(np.abs(one - other).max(initial=0.0) <= SAME_TIME)


def _common_times(
    path: Path, found: Mapping[str, Sequence[Signal]], time: Floats, said: list[str]
) -> Floats:
    """The times of the base at which all channels are known."""
    first, last = -np.inf, np.inf
    for signals in found.values():
        for signal in signals:
            first = max(first, signal.time[0])
            last = min(last, signal.time[-1])
    kept = (time >= first - SAME_TIME) & (time <= last + SAME_TIME)
    lost = len(time) - int(kept.sum())
    if len(time) - lost < 2:
        raise FileError(path, "its channels have no two samples at common times")
    if lost:
        said.append(
            f"{lost} of {len(time)} samples lie outside the times of all channels: left out"
        )
    return time[kept]


def _at_times(name: str, signal: Signal, time: Floats) -> Floats:
    """A signal at other times, (m, n)."""
    if _is_same_clock(signal.time, time):
        return signal.values
    if name in SMOOTH and len(signal.time) > 3:
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(signal.time, signal.values)(time))
    return np.column_stack([np.interp(time, signal.time, v) for v in signal.values.T])


def _describe_resampling(name: str, own: Floats, time: Floats) -> str:
    how = "by cubic splines" if name in SMOOTH else "along straight lines"
    rates = [1 / float(np.median(np.diff(t))) if len(t) > 1 else 0.0 for t in (own, time)]
    return f"{name} has times of its own ({rates[0]:.4g} Hz): put on those of the log, {how}"


def convert(
    path: Path, name: str, values: Floats, unit: str, columns: Columns, said: list[str]
) -> Floats:
    """A channel in SI by the unit of the file, or as it is where a columns file has the unit."""
    if name in columns.unit:
        return values
    values = convert_unit(path, name, values, unit, said)
    if name == "temperature" and values.size and values.max() < COLDEST:
        said.append(f"temperature reaches {values.max():.4g} K only: taken as °C")
        values = values + ZERO_CELSIUS
    return values


def convert_unit(path: Path, name: str, values: Floats, unit: str, said: list[str]) -> Floats:
    """Values of a channel, or of time, in SI; said where they were not."""
    symbol = UNITS.get(unit.strip().lower(), unit.strip())
    si = channel_unit(name)
    if not symbol or symbol == si:
        return values
    said.append(f"{name} is in {symbol}: converted to {si}")
    if symbol in CELSIUS and si == "K":
        return values + ZERO_CELSIUS
    try:
        return values * parse_quantity(f"1 {symbol}", si)
    except ArmtwinError as error:
        raise FileError(
            path, f"unit of {name} {error}; say unit.{name} in a columns file"
        ) from None


def seconds(path: Path, name: str, given: NDArray[Any], columns: Columns, unit: str) -> Floats:
    """Times in seconds; of dates from the first one on.

    Args:
        path: The file.
        name: What it calls the times.
        given: Numbers, durations or dates of numpy, (m,).
        columns: The columns file, whose unit counts more than the file's.
        unit: The file's unit, "" for seconds.
    """
    if given.dtype.kind == "M" and given.size:
        given = given - given[0]
    if given.dtype.kind == "m":
        if np.datetime_data(given.dtype)[0] == "generic":
            raise FileError(path, f"array '{name}' must say its unit, as timedelta64[ms]")
        given, unit = given / np.timedelta64(1, "s"), ""
    elif "time" in columns.unit:
        unit = columns.unit["time"]
    time = convert_unit(path, "time", given.astype(np.float64), unit, [])
    check_times(path, f"array '{name}'", time)
    if np.abs(time).max() > LARGEST:
        raise FileError(path, f"array '{name}' must be at most {LARGEST:g} s")
    return time
