"""Scrambled Sobol points, of which a power of two fill a box evenly.

Bit by bit those of scipy.stats.qmc, whose import alone takes 54 MB and half a second of every
prediction. In sobol.txt there is a line for each dimension from the second on: the coefficients of
a primitive polynomial over GF(2) as a binary number, then the first odd numbers of its recurrence.

Ref: [Joe-Kuo 2008], [Owen 1998]
"""

from importlib import resources

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Integers

BITS = 30
MOST = 512  # dimensions in the table


def sobol_points(count: int, dimensions: int, seed: int) -> Floats:
    """Points in the unit box, (count, dimensions); more of them begin with fewer ones.

    Args:
        count: How many.
        dimensions: Numbers of each.
        seed: The same seed gives the same bits.
    """
    if dimensions > MOST:
        raise ArmtwinError(f"at most {MOST} numbers are sampled together, got {dimensions}")
    random = np.random.default_rng(seed).spawn(1)[0]
    shift = random.integers(2, size=(dimensions, BITS), dtype=np.uint32)
    lower = np.tril(random.integers(2, size=(dimensions, BITS, BITS), dtype=np.uint32), -1)
    scramble = lower.astype(np.int64) + np.eye(BITS, dtype=np.int64)
    powers = 1 << np.arange(BITS)
    bits = _directions(dimensions)[:, None, :] // powers[::-1, None] % 2
    directions = powers[::-1] @ (scramble @ bits % 2)
    number = np.arange(count)
    gray = number ^ number >> 1
    found = np.tile(shift @ powers, (count, 1))
    for j in range(count.bit_length()):
        found ^= (gray >> j & 1)[:, None] * directions[:, j]
    return found * 0.5**BITS


def _directions(dimensions: int) -> Integers:
    """Direction numbers before they are scrambled, (dimensions, bits)."""
    found = np.ones((dimensions, BITS), dtype=np.int64)
    table = (resources.files("armtwin.maths") / "sobol.txt").read_text("ascii").split("\n")
    for row, line in zip(found[1:], table, strict=False):
        polynomial, *first = map(int, line.split())
        degree = len(first)
        row[:degree] = first
        for j in range(degree, BITS):
            row[j] = row[j - degree]
            for k in range(1, degree + 1):
                row[j] ^= (polynomial >> degree - k & 1) * (row[j - k] << k)
    return found << np.arange(BITS)[::-1]
