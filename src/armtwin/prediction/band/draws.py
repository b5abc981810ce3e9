"""Samples: scrambled Sobol points, of which a power of two fill a box evenly.

Ref: [Owen 1998]
"""

import numpy as np

from armtwin.maths.batch import Floats


def normal_draws(count: int, quantities: int, seed: int) -> Floats:
    """Standard normal deviations, (count, quantities); the first half is what half as many give.

    Args:
        count: A power of two.
        quantities: How many numbers each sample has.
        seed: The same seed gives the same bits.
    """
    from scipy.special import ndtri
    from scipy.stats import qmc

    if not quantities:
        return np.zeros((count, 0))
    engine = qmc.Sobol(quantities, scramble=True, rng=np.random.default_rng(seed))
    points = engine.random(count)
    return ndtri(points)
