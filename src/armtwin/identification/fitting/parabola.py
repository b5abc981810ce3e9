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
    if best in (0, len(values) - 1):
        return float(values[best])
    before, here, after = errors[best - 1], errors[best], errors[best + 1]
    curvature = before - 2 * here + after
    shift = 0.5 * (before - after) / curvature if curvature > 0 else 0.0
    step = values[best + 1] / values[best]
    return float(values[best] * step**shift)
