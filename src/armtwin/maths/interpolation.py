"""Piecewise quintics through values with their first and second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.maths.batch import Floats


def quintic(x: Floats, values: Floats, first: Floats, second: Floats) -> Any:
    """The curve with given values and derivatives at x, all intervals at once, as scipy's BPoly.

    With the coefficients of Bernstein in an interval of length h:

        c0 = y0,  c1 = y0 + h y0'/5,  c2 = y0 + 2 h y0'/5 + h² y0''/20
        c5 = y1,  c4 = y1 - h y1'/5,  c3 = y1 - 2 h y1'/5 + h² y1''/20

    Args:
        x: Increasing places, (m,).
        values: Values there, (m, ...).
        first: First derivatives, (m, ...).
        second: Second derivatives, (m, ...).
    """
    from scipy.interpolate import BPoly

    h = np.diff(x).reshape(-1, *[1] * (values.ndim - 1))
    slope, bend = h * first[:-1] / 5, h * h * second[:-1] / 20
    left = (values[:-1], values[:-1] + slope, values[:-1] + 2 * slope + bend)
    slope, bend = h * first[1:] / 5, h * h * second[1:] / 20
    right = (values[1:] - 2 * slope + bend, values[1:] - slope, values[1:])
    return BPoly(np.stack([*left, *right]), x)
