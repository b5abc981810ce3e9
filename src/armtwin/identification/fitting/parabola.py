"""The least of errors, finer than the values that were tried."""

from __future__ import annotations

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
    shift = find_trough(errors, best) - best
    step = values[1] / values[0]
    return float(values[best] * step**shift)


def find_trough(values: Sequence[float] | Floats, k: int) -> float:
    """Place of the least value of a parabola through three values about k; k at an end."""
    if not 0 < k < len(values) - 1:
        return float(k)
    before, here, after = values[k - 1 : k + 2]
    bend = before - 2 * here + after
    return float(k + 0.5 * (before - after) / bend) if bend > 0 else float(k)
