"""Samples that cannot be: a single value far from both its neighbours.

A lost or doubled telegram leaves such a value.
"""

from collections.abc import Mapping

import numpy as np

from armtwin.maths.batch import Flags, Floats, NamedArrays
from armtwin.maths.narrow import ranges

FAR = 8.0  # times the distance from the median of its neighbourhood that nine of ten samples keep
SHARE = 0.01  # of the channel's range that a jump must have to count


def without_outliers(channels: Mapping[str, Floats]) -> tuple[NamedArrays, int]:
    """Channels with single wild samples replaced by their neighbours' mean, and their number."""
    count = 0
    found = dict(channels)
    for name, values in channels.items():
        wild = _wild(values)
        if wild.any():
            count += int(wild.sum())
            found[name] = _bridge_samples(values, wild)
    return found, count


def _wild(x: Floats) -> Flags:
    """Which samples (m, n) stand alone; the ends never do."""
    wild = np.zeros(x.shape, dtype=bool)
    if len(x) < 5:
        return wild
    least = SHARE * ranges(x)
    step = np.diff(x, axis=0)
    size = np.abs(step)
    if not (size > least).any():
        return wild
    before, after = step[:-1], step[1:]
    # distance from the median of three: to the nearer neighbour, where both lie on one side
    away = np.where(before * after < 0, np.minimum(size[:-1], size[1:]), 0.0)
    if not (away > least).any():
        return wild
    usual = np.quantile(away, 0.9, axis=0)
    # a jump between two levels is motion or noise: the neighbours of an outlier agree
    agree = np.abs(before + after) < 0.5 * away
    wild[1:-1] = agree & (away > np.maximum(FAR * usual, least))
    return wild


def _bridge_samples(x: Floats, wild: Flags) -> Floats:
    """The values with wild samples interpolated between the others."""
    result = x.copy()
    k = np.arange(len(x))
    for j in np.flatnonzero(wild.any(axis=0)):
        good = ~wild[:, j]
        result[~good, j] = np.interp(k[~good], k[good], x[good, j])
    return result
