"""A low-pass that delays nothing and has no trouble at the ends.

    min Σ (x - y)² + λ Σ (Δ³ y)²        gain 1 / (1 + (sin(πf/f_s) / sin(πf_c/f_s))⁶)

The gain is that of a third-order Butterworth filter run forwards and backwards; at the ends, where
that one needs made-up samples, this one carries the trend on. One banded system, solved in a time
that grows with the samples.

Ref: [Whittaker 1923], [Eilers 2003]
"""

import numpy as np

from armtwin.maths.batch import Floats, spread
from armtwin.maths.compiled import compiled, inlined

ORDER = 3  # of the derivative that is kept small
# Samples in a period of the cut-off frequency beyond which means of neighbours are filtered.
MOST_RATE = 50.0
_DIFFERENCE = np.array([-1.0, 3.0, -3.0, 1.0])


def low_pass(values: Floats, rate: float, cutoff: float, *, overwrite: bool = False) -> Floats:
    """Values (m, ...) at an even rate [Hz] without what is faster than the cut-off [Hz].

    Their memory may be used for the result where they are to be overwritten.
    """
    m = len(values)
    bins = int(rate / (MOST_RATE * cutoff))
    if bins > 1 and m > 4 * bins:
        return _coarse(values, rate, cutoff, bins)
    copied = None if overwrite else True
    smooth = np.array(values, dtype=np.float64, order="C", copy=copied).reshape(m, -1)
    if m > ORDER:
        bands = _bands(m, rate, cutoff)
        _factor(bands)
        spread(_solve, smooth.shape[1], m, bands, smooth)
    return smooth.reshape(values.shape)


def _coarse(values: Floats, rate: float, cutoff: float, bins: int) -> Floats:
    """The filter on means of neighbours: with a very low cut-off samples would drown in λ."""
    from scipy.interpolate import CubicSpline

    m = len(values)
    edges = np.linspace(0, m, m // bins + 1)
    first = edges[:-1].round().astype(int)
    count = np.diff(np.append(first, m))
    sums = np.add.reduceat(values, first, axis=0)
    means = sums / count.reshape(-1, *[1] * (values.ndim - 1))
    smooth = low_pass(means, rate * len(first) / m, cutoff)
    middles = first + (count - 1) / 2
    return CubicSpline(middles, smooth)(np.arange(m))


def _bands(m: int, rate: float, cutoff: float) -> Floats:
    """Diagonals of I + λ DᵀD, (m, 4): entry [k, d] couples samples k and k - d."""
    weight = (2 * np.sin(np.pi * cutoff / rate)) ** (-2 * ORDER)
    bands = np.zeros((m, ORDER + 1))
    for apart in range(ORDER + 1):
        for k in range(ORDER + 1 - apart):
            first = apart + k
            product = _DIFFERENCE[k] * _DIFFERENCE[k + apart]
            bands[first : first + m - ORDER, apart] += product
    bands *= weight
    bands[:, 0] += 1.0
    return bands


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
