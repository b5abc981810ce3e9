"""Periods and repeated runs: which of them count, and their mean, which has less noise.

Ref: [Waiboer 2007, section 4.4.2]
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import NamedArrays

SAME_MOTION = 0.05  # of a joint's range by which repeated runs may differ
SAME_TIME = 0.25  # of a sample by which the time stamps of repeated runs may differ


def select_periods(log: Log, period: float, first: int, count: int) -> Log:
    """Whole periods of a log, from period `first` on, 0 being the first."""
    time = log.time
    start = time[0] + first * period
    stop = start + count * period
    inside = (time >= start - 1e-9) & (time < stop - 1e-9)
    in_a_period = max(1, inside.sum() / max(count, 1))
    ends_early = time[-1] < stop - 1.5 * period / in_a_period
    if first < 0 or count < 1 or ends_early:
        raise ArmtwinError(
            f"the log holds no {count} periods of {period:g} s from number {first + 1} on"
        )
    channels = {name: values[inside] for name, values in log.channels.items()}
    return replace(log, time=time[inside], channels=channels)


def average_runs(logs: Sequence[Log]) -> Log:
    """The mean of runs that repeat one motion at the same times, of the channels that all have."""
    first = logs[0]
    for number, log in enumerate(logs[1:], 2):
        _check_times(first, log, number)
        for channel in ("q", "q_ref"):
            if channel in first and channel in log:
                _check_motion(first, log, number, channel)
    origin = ""
    if first.origin:
        origins = ", ".join(log.origin for log in logs)
        origin = f"mean of {len(logs)} runs: {origins}"
    mean = Log.of(first.time, (), first.joint_names, **_means(logs))
    return replace(mean, origin=origin)


def _means(logs: Sequence[Log]) -> NamedArrays:
    """Means of the channels that all logs have."""
    means = {}
    for name in logs[0].channels:
        if all(name in log for log in logs):
            means[name] = np.mean([log.channels[name] for log in logs], axis=0)
    return means


def _check_times(first: Log, log: Log, number: int) -> None:
    """Refuse a run whose samples are not at the times of the first one's."""
    if len(log.time) != len(first.time):
        raise ArmtwinError(
            "runs to be averaged must have equally many samples; "
            f"number 1 has {len(first.time)}, number {number} has {len(log.time)}"
        )
    since = log.time - log.time[0]
    wanted = first.time - first.time[0]
    shift = np.abs(since - wanted).max()
    step = float(np.median(np.diff(first.time)))
    if shift > SAME_TIME * step:
        raise ArmtwinError(
            "runs to be averaged must have the same time stamps; "
            f"number {number} is {shift:.4g} s off"
        )


def _check_motion(first: Log, log: Log, number: int, channel: str) -> None:
    """Refuse a run whose motion differs from the first one."""
    wanted = first.channels[channel]
    apart = np.abs(log.channels[channel] - wanted).max(axis=0)
    allowed = SAME_MOTION * np.ptp(wanted, axis=0) + 1e-9
    if (apart > allowed).any():
        j = int(apart.argmax())
        raise ArmtwinError(
            "runs to be averaged must repeat one motion; "
            f"{channel}{j + 1} of number {number} is {apart[j]:.3g} off"
        )
