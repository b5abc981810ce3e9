"""Symmetric systems whose matrix has three diagonals beside the main one.

A = L D Lᵀ,    L with ones on its diagonal, in a time that grows with the rows
"""

from armtwin.maths.batch import Floats, spread
from armtwin.maths.compiled import compiled, inlined


def solve_banded(bands: Floats, x: Floats) -> None:
    """Solve A y = x; y takes the place of x, and L D Lᵀ that of A.

    Args:
        bands: Its diagonals, (m, 4): entry [k, d] couples rows k and k - d.
        x: Right sides, (m, k).
    """
    _factor(bands)
    spread(_solve, x.shape[1], len(x), bands, x)


@compiled
def _factor(bands: Floats) -> None:
    """L D Lᵀ of the banded matrix, written over its bands: D in the first column."""
    for k in range(bands.shape[0]):
        furthest = min(3, k)
        for d in range(furthest, 0, -1):
            left = bands[k, d]
            for e in range(d + 1, furthest + 1):
                left -= bands[k, e] * bands[k - e, 0] * bands[k - d, e - d]
            bands[k, d] = left / bands[k - d, 0]
        for d in range(1, furthest + 1):
            bands[k, 0] -= bands[k, d] ** 2 * bands[k - d, 0]


@compiled
def _solve(bands: Floats, x: Floats, start: int, stop: int) -> None:
    """Solve for columns start..stop of x in place, row by row."""
    _solve_lower(bands, x, start, stop)
    _solve_upper(bands, x, start, stop)


@inlined
def _solve_lower(bands: Floats, x: Floats, start: int, stop: int) -> None:
    """L y = x, from the first row on; y takes the place of x."""
    for k in range(x.shape[0]):
        if k >= 3:
            a, b, c = bands[k, 1], bands[k, 2], bands[k, 3]
            for j in range(start, stop):
                x[k, j] -= a * x[k - 1, j] + b * x[k - 2, j] + c * x[k - 3, j]
        else:
            for d in range(1, k + 1):
                for j in range(start, stop):
                    x[k, j] -= bands[k, d] * x[k - d, j]


@inlined
def _solve_upper(bands: Floats, x: Floats, start: int, stop: int) -> None:
    """D Lᵀ z = y, from the last row on; z takes the place of y."""
    m = x.shape[0]
    for k in range(m - 1, -1, -1):
        scale = 1.0 / bands[k, 0]
        if k + 3 < m:
            a, b, c = bands[k + 1, 1], bands[k + 2, 2], bands[k + 3, 3]
            for j in range(start, stop):
                x[k, j] = x[k, j] * scale - a * x[k + 1, j] - b * x[k + 2, j] - c * x[k + 3, j]
        else:
            for j in range(start, stop):
                x[k, j] *= scale
            for d in range(1, m - k):
                for j in range(start, stop):
                    x[k, j] -= bands[k + d, d] * x[k + d, j]
