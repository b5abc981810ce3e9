"""Periods and repeated runs: which of them count, and their mean, in which noise falls and the motion stays.

Ref: [Waiboer 2007, section 4.4.2]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log

SAME_MOTION = 0.05  # of a joint's range by which repeated runs may differ
SAME_TIME = 0.25  # of a sample by which the time stamps of repeated runs may differ


def chosen_periods(log: Log, period: float, first: int, count: int) -> Log:
    """Some whole periods of a log, from period `first` (0 is the first): the middle two of four are (1, 2)."""
    start = log.time[0] + first * period
    inside = (log.time >= start - 1e-9) & (log.time < start + count * period - 1e-9)
    if (
        first < 0
        or count < 1
        or log.time[-1] < start + count * period - 1.5 * period / max(1, inside.sum() / count)
    ):
        raise ArmtwinError(
            f"the log holds no {count} periods of {period:g} s from number {first + 1} on"
        )
    chosen = Log.of(
        log.time[inside], log.events, **{name: x[inside] for name, x in log.channels.items()}
    )
    return replace(chosen, origin=log.origin)


def averaged(logs: Sequence[Log]) -> Log:
    """The mean of runs that repeat one motion at the same times; channels that not all have are left out."""
    first = logs[0]
    for k, log in enumerate(logs[1:], 2):
        if len(log.time) != len(first.time):
            raise ArmtwinError(
                f"runs to be averaged must have equally many samples; number 1 has {len(first.time)}, "
                f"number {k} has {len(log.time)}"
            )
        shift = np.abs((log.time - log.time[0]) - (first.time - first.time[0])).max()
        if shift > SAME_TIME * float(np.median(np.diff(first.time))):
            raise ArmtwinError(
                f"runs to be averaged must have the same time stamps; number {k} is {shift:.4g} s off"
            )
        for name in ("q", "q_ref"):
            if name in first and name in log:
                apart = np.abs(log.channels[name] - first.channels[name]).max(axis=0)
                if (apart > SAME_MOTION * np.ptp(first.channels[name], axis=0) + 1e-9).any():
                    j = int(apart.argmax())
                    raise ArmtwinError(
                        f"runs to be averaged must repeat one motion; {name}{j + 1} of number {k} is {apart[j]:.3g} off"
                    )
    names = [name for name in first.channels if all(name in log for log in logs)]
    means = {name: np.mean([log.channels[name] for log in logs], axis=0) for name in names}
    told = (
        f"mean of {len(logs)} runs: {', '.join(log.origin for log in logs)}" if first.origin else ""
    )
    return replace(Log.of(first.time, (), **means), origin=told)
