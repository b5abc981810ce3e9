"""Samples of logs: at other times, and in sequences."""

import numpy as np

from armtwin.maths.batch import Flags, Floats


def at_times(time: Floats, own: Floats, values: Floats) -> Floats:
    """Values (m, k) at other times than their own, linear between samples."""
    return np.stack([np.interp(time, own, column) for column in values.T], axis=1)


def step_of(time: Floats) -> float:
    """Time between samples, median [s]."""
    return float(np.median(np.diff(time)))


def rate_of(time: Floats) -> float:
    """Samples in a second, mean [Hz]."""
    return (len(time) - 1) / float(np.ptp(time))


def runs_of(flags: Flags) -> list[tuple[int, int]]:
    """First and one after the last sample of each sequence of true."""
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
