"""Samples of several normal numbers at once, from points that fill a box evenly."""

from statistics import NormalDist

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.sobol import BITS, sobol_points


def normal_draws(count: int, quantities: int, seed: int) -> Floats:
    """Standard normal deviations, (count, quantities); the first half is what half as many give.

    By the standard library: importing scipy.special takes 8 MB of every prediction.

    Args:
        count: A power of two.
        quantities: How many numbers each sample has.
        seed: The same seed gives the same bits.
    """
    points = np.maximum(sobol_points(count, quantities, seed), 0.5 ** (BITS + 1))
    quantile = NormalDist().inv_cdf
    return np.array([quantile(x) for x in points.ravel().tolist()]).reshape(points.shape)
