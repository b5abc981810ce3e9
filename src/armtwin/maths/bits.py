"""Places in a table from the leading bits of a number, in kernels that are also traced.

Numbers with LEADING bits after the first one crowd towards zero, 2^LEADING of them in each octave:
nodes over many orders of magnitude, found without a logarithm or a root.
"""

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import inlined

LEADING = 4
DROPPED = 52 - LEADING  # of the bits of a double's fraction
MASK = -(1 << DROPPED)


@inlined
def coarse(x: float) -> float:
    """The largest number with LEADING bits that is not above x, for x > 0."""
    return np.int64(np.float64(x).view(np.int64) & MASK).view(np.float64)


@inlined
def rank(x: float) -> np.int64:
    """Count of the coarse numbers up to x, for x > 0."""
    return np.float64(x).view(np.int64) >> DROPPED


def coarse_numbers(first: float, octaves: int) -> Floats:
    """All coarse numbers from a coarse one on over some octaves, both ends included."""
    start = np.float64(first).view(np.int64) >> DROPPED
    ranks = start + np.arange((octaves << LEADING) + 1)
    return (ranks << DROPPED).view(np.float64)
