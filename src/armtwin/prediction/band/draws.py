"""Samples of several normal numbers at once, from points that fill a box evenly."""

from armtwin.maths.batch import Floats
from armtwin.maths.sobol import sobol_points


def normal_draws(count: int, quantities: int, seed: int) -> Floats:
    """Standard normal deviations, (count, quantities); the first half is what half as many give.

    Args:
        count: A power of two.
        quantities: How many numbers each sample has.
        seed: The same seed gives the same bits.
    """
    from scipy.special import ndtri

    return ndtri(sobol_points(count, quantities, seed))
