"""Reductions over the rows of tables with few columns, in one pass.

numpy goes through such a table with a short inner loop for every row, which takes ten times as
long.
"""

import numpy as np

from armtwin.maths.batch import Floats, TwoArrays
from armtwin.maths.compiled import compiled


def extremes(table: Floats) -> TwoArrays:
    """Least and largest number of each column of a table (m, n) with rows, (n,) each."""
    whole = np.ascontiguousarray(table)
    low, high = whole[0].copy(), whole[0].copy()
    _extremes(whole, low, high)
    return low, high


def ranges(table: Floats) -> Floats:
    """Largest less least number of each column of a table (m, n) with rows, (n,)."""
    low, high = extremes(table)
    return high - low


def largest(table: Floats) -> Floats:
    """Largest size of the numbers of each column of a table (m, n) with rows, (n,)."""
    low, high = extremes(table)
    return np.maximum(-low, high)


@compiled
def _extremes(table: Floats, low: Floats, high: Floats) -> None:
    """Widen low and high (n,) to the numbers of a table (m, n)."""
    m, n = table.shape
    for k in range(m):
        for j in range(n):
            x = table[k, j]
            low[j] = min(low[j], x)
            high[j] = max(high[j], x)
