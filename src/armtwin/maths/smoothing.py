"""A low-pass that delays nothing and has no trouble at the ends.

    min Σ (x - y)² + λ Σ (Δ³ y)²        gain 1 / (1 + (sin(πf/f_s) / sin(πf_c/f_s))⁶)

The gain is that of a third-order Butterworth filter run forwards and backwards; at the ends, where that one needs
made-up samples, this one carries the trend on. One banded system, solved in a time that grows with the samples.

Ref: [Whittaker 1923], [Eilers 2003]
"""

from __future__ import annotations

import numpy as np

from armtwin.maths.batch import Floats

ORDER = 3
_DIFFERENCE = np.array([-1.0, 3.0, -3.0, 1.0])


def low_pass(values: Floats, rate: float, cutoff: float) -> Floats:
    """Values (m, ...) at an even rate [Hz] without what is faster than the cut-off [Hz]."""
    from scipy.linalg import solveh_banded

    m = len(values)
    if m <= ORDER:
        return values.copy()
    flat = np.asfortranarray(values.reshape(m, -1))
    smooth = solveh_banded(_bands(m, rate, cutoff), flat, check_finite=False)
    return np.ascontiguousarray(smooth.reshape(values.shape))


def _bands(m: int, rate: float, cutoff: float) -> Floats:
    """Upper bands of I + λ DᵀD, the main diagonal last."""
    weight = (2 * np.sin(np.pi * cutoff / rate)) ** (-2 * ORDER)
    bands = np.zeros((ORDER + 1, m))
    for apart in range(ORDER + 1):
        for k in range(ORDER + 1 - apart):
            bands[ORDER - apart, apart + k : apart + k + m - ORDER] += _DIFFERENCE[k] * _DIFFERENCE[k + apart]
    bands *= weight
    bands[ORDER] += 1.0
    return bands
