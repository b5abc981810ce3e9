"""Median of numbers that count differently."""

import numpy as np

from armtwin.maths.batch import Floats


def weighted_median(values: Floats, weights: Floats) -> float:
    """The number below and above which half of the weight is, (m,) each."""
    order = np.argsort(values)
    half = int(np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum()))
    return float(values[order[min(half, len(order) - 1)]])
