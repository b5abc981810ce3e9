"""From a raw log to positions, speeds and accelerations that a regression can use.

Time stamps are honoured: an uneven log is put on an even grid first. Speeds and accelerations come
from the filtered positions by central differences, or for whole periods of a periodic motion from
its Fourier series. What is compared with them must pass the same filter.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, NamedArrays, TwoArrays
from armtwin.maths.smoothing import low_pass

COARSE = 0.35  # share of a step from which on rounding could hide a lost sample
ROUNDED = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # to what time stamps are rounded [s]
NEARLY = 1e-5  # relative difference of rates that is taken for rounding
REPEATS = 0.1  # share of a joint's range by which one period may differ from another
EVEN = 1e-3  # relative unevenness of the time steps that is taken for rounding
LEAST_RATE = 6.0  # samples kept in a period of the cut-off frequency
POWER = 0.999  # share of the speed's power below the highest frequency that counts
ABOVE_NOISE = 30.0  # times the noise that a frequency must hold to count as motion
ROOM = 4.0  # default cut-off over that frequency
MOST_RATE = 12.0  # the same beyond which neighbours are averaged
EDGE = 1.0  # periods of the cut-off frequency at either end in which the filter lacks neighbours
LEAST_PERIODS = 3.0  # of the cut-off frequency in a log: one at either end and one between


@dataclass(frozen=True)
class Cleaning:
    """How a log is cleaned; every choice is here.

    Attributes:
        rate: Rate of the even grid [Hz].
        averaged: Neighbouring samples that are averaged into one of the grid, where the log is
            much faster than the cut-off.
        cutoff: Cut-off frequency of the zero-phase low-pass [Hz].
        step: Every how many samples one is kept after filtering.
        resampled: Whether the time stamps were uneven, more than by rounding, and the log was put
            on a grid.
        differentiation: "central", or "fourier" for whole periods.
        period: Period of a periodic motion, for "fourier" [s].
        margin: Samples dropped at either end, where the filter has no neighbours.
        replaced: Wild samples that were replaced by their neighbours' mean.
    """

    rate: float
    cutoff: float
    step: int
    resampled: bool
    differentiation: Literal["central", "fourier"] = "central"
    period: float | None = None
    margin: int = 0
    replaced: int = 0
    averaged: int = 1


def choices(
    log: Log, cutoff: float | None = None, period: float | None = None, rows: float = 0.0
) -> Cleaning:
    """How to clean a log: rate from its time stamps, cut-off from the spectrum of its speeds.

    Args:
        log: A log with q.
        cutoff: Cut-off frequency, where it is given [Hz].
        period: Period of a periodic motion [s].
        rows: Rate of the rows that are wanted, where not the least that the cut-off needs [Hz].
    """
    steps = np.diff(log.time)
    if len(steps) < 20:
        raise ArmtwinError(f"a log needs at least 21 samples to be cleaned, got {len(log.time)}")
    median = float(np.median(steps))
    if steps.max() > 20 * median:
        k = int(steps.argmax())
        raise ArmtwinError(
            f"the log has a gap of {steps[k]:.4g} s at {log.time[k]:.6g} s; cut it there"
        )
    rate = _even_rate(log.time)
    resampled = rate is None
    rate = rate or 1 / median
    if cutoff is None:
        cutoff = _from_spectrum(log, Cleaning(rate, 0.0, 1, resampled))
    if not 0 < cutoff < rate / 2:
        contract = f"must lie between 0 and half of the log's rate, {rate / 2:.4g} Hz"
        raise ArmtwinError(f"cutoff {contract}, got {cutoff:g}")
    _check_length(float(log.time[-1] - log.time[0]), cutoff, period)
    if period is not None:
        whole = max(1, round(period * rate)) / period
        resampled |= abs(whole / rate - 1) > NEARLY
        step = _decimation_step(whole, cutoff, rows)
        return Cleaning(whole, cutoff, step, resampled, "fourier", period)
    averaged = max(1, int(rate / max(MOST_RATE * cutoff, rows)))
    rate = rate / averaged
    step = _decimation_step(rate, cutoff, rows)
    margin = int(EDGE * rate / cutoff)
    return Cleaning(rate, cutoff, step, resampled, margin=margin, averaged=averaged)


def _decimation_step(rate: float, cutoff: float, rows: float) -> int:
    """Every how many samples of a rate [Hz] one is kept, for a rate of rows or for the cut-off."""
    if rows:
        return max(1, round(rate / rows))
    return max(1, int(rate / (LEAST_RATE * cutoff)))


def _check_length(duration: float, cutoff: float, period: float | None) -> None:
    """Refuse a cut-off so low that the filter would leave nothing of a log, or of a period."""
    if period is None:
        least, what = LEAST_PERIODS / duration, f"a log of {duration:.4g} s"
    else:
        least, what = 1 / period, f"a period of {period:g} s"
    if cutoff >= least * (1 - NEARLY):
        return
    raise ArmtwinError(
        f"cutoff must be at least {least:.4g} Hz for {what}, got {cutoff:g}: the filter would "
        "leave nothing of the motion"
    )


def _even_rate(time: Floats) -> float | None:
    """The rate of even time stamps, also of rounded ones; None where they are uneven."""
    rate = (len(time) - 1) / float(time[-1] - time[0])
    off = float(np.abs(time - (time[0] + np.arange(len(time)) / rate)).max())
    if off < EVEN / rate:
        return rate
    since = time - time[0]
    for quantum in ROUNDED:
        ticks = since / quantum
        if np.abs(ticks - np.round(ticks)).max() < 1e-3:
            return rate if off <= quantum < COARSE / rate else None
    return None


def _from_spectrum(log: Log, how: Cleaning) -> float:
    """A cut-off a few times above the highest frequency that the joints' speeds hold."""
    rate = how.rate
    v = np.diff(on_grid(log.time, log.q, how), axis=0)
    frequency = np.fft.rfftfreq(len(v), 1 / rate)
    power = _power_of_motion(v, frequency, rate)
    total = power.sum()
    if not total > 0:
        raise ArmtwinError("the log has no motion: every joint is at rest")
    last = int(np.searchsorted(np.cumsum(power), POWER * total))
    highest = float(frequency[last])
    return float(np.clip(ROOM * highest, 4 * rate / len(v), rate / 5))


def _power_of_motion(v: Floats, frequency: NDArray[np.floating], rate: float) -> Floats:
    """Power of speeds (m, n) at frequencies where it stands out of the noise, all joints, (f,)."""
    window = np.hanning(len(v))[:, None]
    centred = v - v.mean(axis=0)
    spectrum = np.fft.rfft(centred * window, axis=0)
    each = np.abs(spectrum) ** 2
    # white noise of the positions, seen where no motion is left, grows in the speeds as
    # sin(pi f / rate) squared
    shape = np.sin(np.pi * frequency / rate)[:, None] ** 2
    upper = frequency > rate / 4
    level = np.median(each[upper] / shape[upper], axis=0)
    noise = level * shape
    return np.where(each > ABOVE_NOISE * noise, each, 0.0).sum(axis=1)


def clean(log: Log, how: Cleaning) -> Log:
    """The log on an even grid: q filtered, v and a from it, others through the same filter."""
    even = {name: on_grid(log.time, values, how) for name, values in log.channels.items()}
    return replace(clean_channels(log.time, even, how), events=log.events)


def clean_channels(stamps: Floats, raw: NamedArrays, how: Cleaning) -> Log:
    """The clean log from channels on the even grid, and the time stamps (m,) of their log."""
    time = _grid(stamps, how)
    if how.differentiation == "fourier":
        return _periodic(time, raw, how)
    smooth = {name: low_pass(values, how.rate, how.cutoff) for name, values in raw.items()}
    smooth["v"], smooth["a"] = _derivatives(smooth["q"], how.rate)
    kept = slice(how.margin, len(time) - how.margin, how.step)
    if len(time[kept]) < 2:
        raise ArmtwinError(
            f"the log of {len(time)} samples is too short for a cut-off of {how.cutoff:g} Hz"
        )
    channels = {name: values[kept] for name, values in smooth.items()}
    return Log.of(time[kept], (), **channels)


def _derivatives(q: Floats, rate: float) -> TwoArrays:
    """Speeds and accelerations (m, n) by central differences, h = 1 / rate.

        v_k = (8 (q_k+1 - q_k-1) - (q_k+2 - q_k-2)) / 12 h
        a_k = (16 (q_k+1 + q_k-1) - (q_k+2 + q_k-2) - 30 q_k) / 12 h²

    of fourth order; of second at the ends.
    """
    v = np.gradient(q, 1 / rate, axis=0, edge_order=2)
    a = np.gradient(v, 1 / rate, axis=0, edge_order=2)
    here = q[2:-2]
    before, after = q[1:-3], q[3:-1]
    two_before, two_after = q[:-4], q[4:]
    change = 8 * (after - before) - (two_after - two_before)
    bend = 16 * (after + before) - (two_after + two_before) - 30 * here
    v[2:-2] = change * (rate / 12)
    a[2:-2] = bend * (rate**2 / 12)
    return v, a


def _grid(time: Floats, how: Cleaning) -> Floats:
    """Times of an even grid from the first time stamp on; of averaged samples their middle."""
    fine = how.rate * how.averaged
    middle = (how.averaged - 1) / 2 / fine
    count = _count(time, how) // how.averaged
    return time[0] + middle + np.arange(count) / how.rate


def _count(time: Floats, how: Cleaning) -> int:
    """Samples of the grid before any are averaged."""
    if not how.resampled:
        return len(time)
    fine = how.rate * how.averaged
    return int(np.floor((time[-1] - time[0]) * fine + 1e-3)) + 1


def on_grid(time: Floats, values: Floats, how: Cleaning) -> Floats:
    """Values (m, n) at the even grid, by cubic splines where time stamps are uneven."""
    count = _count(time, how)
    if how.resampled:
        from scipy.interpolate import CubicSpline

        grid = time[0] + np.arange(count) / (how.rate * how.averaged)
        values = np.asarray(CubicSpline(time, values)(np.minimum(grid, time[-1])))
    if how.averaged == 1:
        return values
    whole = count // how.averaged
    last = whole * how.averaged
    total = values[: last : how.averaged].copy()
    for k in range(1, how.averaged):
        total += values[k : last : how.averaged]
    return total / how.averaged


def _periodic(time: Floats, channels: NamedArrays, how: Cleaning) -> Log:
    """Whole periods averaged; q, v, a and all others from the Fourier series up to the cut-off."""
    assert how.period is not None
    count = round(how.period * how.rate)
    periods = len(time) // count
    if periods < 1:
        raise ArmtwinError(
            f"the log of {time[-1] - time[0]:.4g} s holds no whole period of {how.period:g} s"
        )
    _check_repeats(channels["q"], count, periods, how.period)
    means = {}
    for name, values in channels.items():
        whole = values[: periods * count]
        means[name] = whole.reshape(periods, count, -1).mean(axis=0)
    result = {name: _band(mean, how) for name, mean in means.items()}
    result["v"] = _band(means["q"], how, 1)
    result["a"] = _band(means["q"], how, 2)
    kept = {name: values[:: how.step] for name, values in result.items()}
    return Log.of(time[: count : how.step], (), **kept)


def _check_repeats(q: Floats, count: int, periods: int, period: float) -> None:
    """Refuse positions (m, n) whose last period is not as the first, of `count` samples each."""
    first = q[:count]
    last = q[(periods - 1) * count : periods * count]
    travel = np.maximum(np.ptp(q, axis=0), 1e-9)
    apart = np.abs(last - first).max(axis=0) / travel
    if (apart > REPEATS).any():
        j = int(apart.argmax())
        off = f"joint {j + 1} is {100 * apart[j]:.0f} % off"
        raise ArmtwinError(f"the motion does not repeat after {period:g} s: {off}")


def _band(values: Floats, how: Cleaning, order: int = 0) -> Floats:
    """Derivative of that order of a whole period, from the Fourier series up to the cut-off."""
    frequency = np.fft.rfftfreq(len(values), 1 / how.rate)[:, None]
    spectrum = np.fft.rfft(values, axis=0) * (frequency <= how.cutoff)
    derivative = spectrum * (2j * np.pi * frequency) ** order
    return np.fft.irfft(derivative, len(values), axis=0)


def filter_values(values: Floats, how: Cleaning, *, overwrite: bool = False) -> Floats:
    """Values (m, k) on the even grid through the filter that `clean` uses.

    Their memory may be used for the result where they are to be overwritten.
    """
    if how.differentiation == "fourier":
        return _band(values, how)
    return low_pass(values, how.rate, how.cutoff, overwrite=overwrite)


def speed_noise(raw: Floats, clean_q: Floats, how: Cleaning) -> Floats:
    """Standard deviation of the speeds (n,) by the positions' noise below the cut-off.

    σ_v² = S (2π)² f_c³ / 3      S = ‖q - q_clean‖² / m / (f_N - f_c), as if the noise were white
    """
    power = ((raw - clean_q) ** 2).mean(axis=0)
    density = power / (how.rate / 2 - how.cutoff)
    return np.sqrt(density * (2 * np.pi) ** 2 * how.cutoff**3 / 3)
