"""Samples: scrambled Sobol points, of which a power of two fill a box evenly.

The direction numbers are a file that `scipy.stats.qmc.Sobol` gave, and the points are its own to
the last bit; importing it would take longer than many a prediction.

Ref: [Joe-Kuo 2008], [Owen 1998]
"""

from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats

BITS = 30  # of a point


def normal_draws(count: int, quantities: int, seed: int) -> Floats:
    """Standard normal deviations, (count, quantities); the first half is what half as many give.

    Args:
        count: A power of two.
        quantities: How many numbers each sample has.
        seed: The same seed gives the same bits.
    """
    from scipy.special import ndtri

    if not quantities:
        return np.zeros((count, 0))
    return ndtri(sobol_points(count, quantities, seed))


def sobol_points(count: int, quantities: int, seed: int) -> Floats:
    """Scrambled Sobol points in the unit box, (count, quantities).

    A random lower triangular matrix of bits scrambles each direction, a random shift all points.
    Point i is the shift, and the directions of the bits of its Gray code, by exclusive or.
    """
    table = _directions()
    columns = max(1, (count - 1).bit_length())
    if quantities > table.shape[0] or columns > table.shape[1]:
        most = f"{2 ** table.shape[1]} samples of {table.shape[0]} quantities"
        raise ArmtwinError(f"samples: at most {most}, got {count} of {quantities}")
    rng = np.random.default_rng(seed).spawn(1)[0]
    powers = 1 << np.arange(BITS, dtype=np.uint32)
    shift = rng.integers(2, size=(quantities, BITS), dtype=np.uint32) @ powers
    scramble = np.tril(rng.integers(2, size=(quantities, BITS, BITS), dtype=np.uint32), -1)
    scramble += np.eye(BITS, dtype=np.uint32)
    plain = table[:quantities, :columns, None] // powers[::-1] % 2  # the highest bit first
    bits = np.einsum("qpk,qjk->qjp", scramble, plain) % 2
    directions = bits @ powers[::-1]
    numbers = np.arange(count, dtype=np.uint32)
    gray = numbers ^ numbers >> 1
    points = np.tile(shift, (count, 1))
    for j in range(columns):
        points ^= (gray[:, None] >> j & 1) * directions[:, j]
    return points / 2.0**BITS


@cache
def _directions() -> NDArray[np.uint32]:
    """Direction numbers, by quantity and bit of the Gray code."""
    with (resources.files("armtwin.prediction.band") / "sobol_directions.npy").open("rb") as file:
        return np.load(file)
