"""Piecewise polynomials through values, with their derivatives: lines, cubics and quintics."""

from dataclasses import dataclass
from math import comb

import numpy as np

from armtwin.maths.batch import Floats


def interpolate_columns(at: Floats, x: Floats, values: Floats) -> Floats:
    """Columns of values (m, n), known at increasing x (m,), straight between these, (k, n)."""
    return np.stack([np.interp(at, x, column) for column in values.T], axis=1)


def hermite_cubics(y: Floats, d: Floats, step: Floats | float = 1.0) -> Floats:
    """Cubics through values y (m,) with slopes d, coefficients of 1, x, x², x³, (m - 1, 4).

    x runs from 0 to the step of each interval, and the slopes are those over x.
    """
    y0 = y[:-1]
    d0, d1 = d[:-1], d[1:]
    chord = np.diff(y) / step
    c2 = (3 * chord - 2 * d0 - d1) / step
    c3 = (d0 + d1 - 2 * chord) / step**2
    return np.stack([y0, d0, c2, c3], axis=1)


@dataclass(frozen=True, eq=False)
class Quintic:
    """A curve of a quintic in each interval.

    Attributes:
        x: Increasing places between the intervals, (m,).
        c: Coefficients of Bernstein, (6, m - 1, ...).
    """

    x: Floats
    c: Floats

    def __call__(self, at: Floats, order: int = 0) -> Floats:
        """Values, or derivatives of an order, at places (k,), (k, ...); beyond the ends it goes on.

        c_i' = 5 (c_i+1 - c_i) / h
        y = Σ binomial(5, i) tⁱ (1 - t)⁵⁻ⁱ c_i
        """
        interval = np.searchsorted(self.x, at, side="right") - 1
        interval = np.clip(interval, 0, len(self.x) - 2)
        start = self.x[interval]
        h = self.x[interval + 1] - start
        shape = (-1, *[1] * (self.c.ndim - 2))
        t = ((at - start) / h).reshape(shape)
        c = self.c[:, interval]
        for degree in range(5, 5 - order, -1):
            c = degree * np.diff(c, axis=0) / h.reshape(shape)
        degree = 5 - order
        y = np.zeros(c.shape[1:], dtype=c.dtype)
        for i in range(degree + 1):
            y += comb(degree, i) * t**i * (1 - t) ** (degree - i) * c[i]
        return y


def quintic(x: Floats, values: Floats, first: Floats, second: Floats) -> Quintic:
    """The curve with given values and derivatives at x, all intervals at once.

    With the coefficients of Bernstein in an interval of length h:

        c0 = y0,  c1 = y0 + h y0'/5,  c2 = y0 + 2 h y0'/5 + h² y0''/20
        c5 = y1,  c4 = y1 - h y1'/5,  c3 = y1 - 2 h y1'/5 + h² y1''/20

    Args:
        x: Increasing places, (m,).
        values: Values there, (m, ...).
        first: First derivatives, (m, ...).
        second: Second derivatives, (m, ...).
    """
    h = np.diff(x).reshape(-1, *[1] * (values.ndim - 1))
    y0, y1 = values[:-1], values[1:]

    slope = h * first[:-1] / 5
    bend = h * h * second[:-1] / 20
    c1 = y0 + slope
    c2 = y0 + 2 * slope + bend

    slope = h * first[1:] / 5
    bend = h * h * second[1:] / 20
    c3 = y1 - 2 * slope + bend
    c4 = y1 - slope

    return Quintic(x, np.stack([y0, c1, c2, c3, c4, y1]))
