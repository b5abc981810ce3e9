"""From a raw log to positions, speeds and accelerations that a regression can use.

Time stamps are honoured: an uneven log is put on an even grid first. Speeds and accelerations come from the filtered
positions by central differences, or for whole periods of a periodic motion from its Fourier series. What is compared
with them must pass the same filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats

EVEN = 1e-3  # relative unevenness of the time steps that is taken for rounding
LEAST_RATE = 6.0  # samples kept in a period of the cut-off frequency
POWER = 0.999  # share of the speed's power below the highest frequency that counts
ROOM = 4.0  # default cut-off over that frequency
ORDER = 4
EDGE = 3.0  # periods of the cut-off frequency at either end in which the filter lacks neighbours


@dataclass(frozen=True)
class Cleaning:
    """How a log is cleaned; every choice is here.

    Attributes:
        rate: Rate of the even grid [Hz].
        cutoff: Cut-off frequency of the zero-phase low-pass [Hz].
        step: Every how many samples one is kept after filtering.
        resampled: Whether the time stamps were uneven and the log was put on a grid.
        differentiation: "central", or "fourier" for whole periods.
        period: Period of a periodic motion, for "fourier" [s].
        margin: Samples dropped at either end, where the filter has no neighbours.
    """

    rate: float
    cutoff: float
    step: int
    resampled: bool
    differentiation: Literal["central", "fourier"] = "central"
    period: float | None = None
    margin: int = 0


def choices(log: Log, cutoff: float | None = None, period: float | None = None) -> Cleaning:
    """How to clean a log: rate from its time stamps, cut-off from the spectrum of its speeds where none is given."""
    steps = np.diff(log.time)
    if len(steps) < 20:
        raise ArmtwinError(f"a log needs at least 21 samples to be cleaned, got {len(log.time)}")
    median = float(np.median(steps))
    if steps.max() > 20 * median:
        k = int(steps.argmax())
        raise ArmtwinError(f"the log has a gap of {steps[k]:.4g} s at {log.time[k]:.6g} s; cut it there")
    resampled = bool(np.abs(steps - median).max() > EVEN * median)
    rate = 1 / median
    wanted = _from_spectrum(log, rate) if cutoff is None else cutoff
    if not 0 < wanted < rate / 2:
        raise ArmtwinError(f"cutoff must lie between 0 and half of the log's rate, {rate / 2:.4g} Hz, got {wanted:g}")
    if period is not None:
        return Cleaning(rate, wanted, 1, resampled, "fourier", period)
    return Cleaning(
        rate, wanted, max(1, int(rate / (LEAST_RATE * wanted))), resampled, margin=int(EDGE * rate / wanted)
    )


def _from_spectrum(log: Log, rate: float) -> float:
    """A cut-off a few times above the highest frequency that the joints' speeds hold."""
    v = np.diff(_even(log.time, log.q, rate), axis=0)
    power = (np.abs(np.fft.rfft((v - v.mean(axis=0)) * np.hanning(len(v))[:, None], axis=0)) ** 2).sum(axis=1)
    frequency = np.fft.rfftfreq(len(v), 1 / rate)
    if not power.sum() > 0:
        raise ArmtwinError("the log has no motion: every joint stands still")
    highest = float(frequency[int(np.searchsorted(np.cumsum(power), POWER * power.sum()))])
    return float(np.clip(ROOM * highest, 4 * rate / len(v), rate / 5))


def clean(log: Log, how: Cleaning) -> Log:
    """The log on an even grid: q filtered, v and a from it, every other channel through the same filter."""
    time = _grid(log.time, how.rate)
    channels = {name: _even(log.time, values, how.rate) for name, values in log.channels.items()}
    if how.differentiation == "fourier":
        return _periodic(time, channels, how)
    channels = {name: low_pass(values, how.rate, how.cutoff) for name, values in channels.items()}
    channels["v"] = np.gradient(channels["q"], 1 / how.rate, axis=0)
    channels["a"] = np.gradient(channels["v"], 1 / how.rate, axis=0)
    kept = slice(how.margin, len(time) - how.margin, how.step)
    if len(time[kept]) < 2:
        raise ArmtwinError(f"the log of {len(time)} samples is too short for a cut-off of {how.cutoff:g} Hz")
    return Log.of(time[kept], log.events, **{name: values[kept] for name, values in channels.items()})


def _grid(time: Floats, rate: float) -> Floats:
    """An even grid from the first time stamp to the last."""
    return time[0] + np.arange(int(np.floor((time[-1] - time[0]) * rate + 1e-3)) + 1) / rate


def _even(time: Floats, values: Floats, rate: float) -> Floats:
    """Values at an even grid, by cubic splines through the time stamps."""
    from scipy.interpolate import CubicSpline

    grid = _grid(time, rate)
    if len(grid) == len(time) and np.abs(grid - time).max() < EVEN / rate:
        return values
    return np.asarray(CubicSpline(time, values)(np.minimum(grid, time[-1])))


def low_pass(values: Floats, rate: float, cutoff: float) -> Floats:
    """Values (m, ...) through a Butterworth low-pass, forwards and backwards, so that nothing is delayed."""
    from scipy.signal import butter, sosfiltfilt

    sections = butter(ORDER, cutoff / (rate / 2), output="sos")
    return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=min(len(values) - 1, int(3 * rate / cutoff))))


def _periodic(time: Floats, channels: dict[str, Floats], how: Cleaning) -> Log:
    """Whole periods averaged; q, v and a from the Fourier series up to the cut-off, others through the same."""
    assert how.period is not None
    count = round(how.period * how.rate)
    periods = len(time) // count
    if periods < 1 or abs(count / how.rate - how.period) > 1e-6 * how.period:
        raise ArmtwinError(
            f"the period of {how.period:g} s must be a whole number of samples at {how.rate:g} Hz, and the log hold one"
        )
    means = {name: x[: periods * count].reshape(periods, count, -1).mean(axis=0) for name, x in channels.items()}
    frequency = np.fft.rfftfreq(count, 1 / how.rate)[:, None]
    kept = frequency <= how.cutoff
    result = {}
    for name, values in means.items():
        spectrum = np.fft.rfft(values, axis=0) * kept
        result[name] = np.fft.irfft(spectrum, count, axis=0)
        if name == "q":
            for order, channel in ((1, "v"), (2, "a")):
                result[channel] = np.fft.irfft(spectrum * (2j * np.pi * frequency) ** order, count, axis=0)
    derived = {"v": result["v"], "a": result["a"]}
    return Log.of(time[:count], (), **{**result, **derived})


def chosen_periods(log: Log, period: float, first: int, count: int) -> Log:
    """Some whole periods of a log, from period `first` (0 is the first): the middle two of four are (1, 2)."""
    start = log.time[0] + first * period
    inside = (log.time >= start - 1e-9) & (log.time < start + count * period - 1e-9)
    if first < 0 or count < 1 or log.time[-1] < start + count * period - 1.5 * period / max(1, inside.sum() / count):
        raise ArmtwinError(f"the log holds no {count} periods of {period:g} s from number {first + 1} on")
    return Log.of(log.time[inside], log.events, **{name: x[inside] for name, x in log.channels.items()})
