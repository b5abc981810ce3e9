"""A low-pass that delays nothing and has no trouble at the ends.

    min Σ (x - y)² + λ Σ (Δ³ y)²        gain 1 / (1 + (sin(πf/f_s) / sin(πf_c/f_s))⁶)

The gain is that of a third-order Butterworth filter run forwards and backwards; at the ends, where
that one needs made-up samples, this one carries the trend on. One banded system, solved in a time
that grows with the samples.

Ref: [Whittaker 1923], [Eilers 2003]
"""

import numpy as np

from armtwin.maths.banded import solve_banded
from armtwin.maths.batch import Floats

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
        solve_banded(_bands(m, rate, cutoff), smooth)
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
