"""The least of errors, finer than the values that were tried."""

from collections.abc import Sequence

import numpy as np

from armtwin.maths.batch import Floats


def find_vertex(values: Sequence[float] | Floats, errors: Sequence[float] | Floats) -> float:
    """Value at the vertex of the parabola through the least error and its neighbours, over ln.

    The best one itself where it is the first or the last.

    Args:
        values: Values that were tried, above 0, evenly in ratio.
        errors: Their errors.
    """
    best = int(np.argmin(errors))
    shift = shift_to_vertex(errors, best)
    if not shift:
        return float(values[best])
    step = values[best + 1] / values[best]
    return float(values[best] * step**shift)


def shift_to_vertex(values: Sequence[float] | Floats, k: int) -> float:
    """Steps from k to the least of the parabola through three values about it; 0 at an end."""
    if not 0 < k < len(values) - 1:
        return 0.0
    before, here, after = values[k - 1 : k + 2]
    bend = before - 2 * here + after
    return float(0.5 * (before - after) / bend) if bend > 0 else 0.0
