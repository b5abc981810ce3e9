"""Cubic splines, of second derivatives that are continuous: through values, and least squares.

Those of scipy.interpolate, whose import alone takes a tenth of a prediction's memory.

Ref: [de Boor 1978]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.banded import solve_banded
from armtwin.maths.batch import Floats, Integers

LEAST = 1e-12  # sum of squares of a B-spline at the samples; without any it is not determined


@dataclass(frozen=True, eq=False)
class CubicSpline:
    """A cubic in each interval.

    Attributes:
        x: Increasing places between the intervals, (m,).
        y: Values there, (m, k).
        bend: Second derivatives there, (m, k).
    """

    x: Floats
    y: Floats
    bend: Floats

    def __call__(self, at: Floats, order: int = 0) -> Floats:
        """Values, or first or second derivatives, at places (n,), (n, k); beyond the ends it goes
        on.

        y = (1 - t) y0 + t y1 - h²/6 ((1 - t) - (1 - t)³) y0'' - h²/6 (t - t³) y1''
        """
        left = np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, len(self.x) - 2)
        h = (self.x[left + 1] - self.x[left])[:, None]
        t = (at - self.x[left])[:, None] / h
        sides = ((1 - t, left, -1.0), (t, left + 1, 1.0))
        found = np.zeros((len(t), self.y.shape[1]))
        for share, end, sign in sides:
            y, bend = self.y[end], self.bend[end]
            if order == 0:
                found += share * y - h**2 / 6 * (share - share**3) * bend
            elif order == 1:
                found += sign * (y / h - h / 6 * (1 - 3 * share**2) * bend)
            else:
                found += share * bend
        return found


def interpolate_cubic(x: Floats, values: Floats) -> CubicSpline:
    """The spline through values (m, k) at increasing x (m,), without a knot next to either end.

        h0 y0'' + 2 (h0 + h1) y1'' + h1 y2'' = 6 ((y2 - y1) / h1 - (y1 - y0) / h0)

    With the bends of both ends unknown, those between follow from three right sides.
    """
    if len(x) < 4:
        degree = len(x) - 1
        powers = np.vander(x - x[0], degree + 1, increasing=True)
        c = np.linalg.solve(powers, values)
        bend = np.broadcast_to(2 * c[2] if degree == 2 else 0 * c[0], values.shape)
        return CubicSpline(x, values, bend)
    h = np.diff(x)
    m, inner = len(x), len(x) - 2
    bands = np.zeros((inner, 4))
    bands[:, 0] = 2 * (h[:-1] + h[1:])
    bands[1:, 1] = h[1:-1]
    right = np.zeros((inner, values.shape[1] + 2))
    right[:, :-2] = 6 * np.diff(np.diff(values, axis=0) / h[:, None], axis=0)
    right[0, -2], right[-1, -1] = -h[0], -h[-1]
    solve_banded(bands, right)
    # bends of three neighbours at each end lie on a line: no knot between their intervals
    whole = np.zeros((m, right.shape[1]))
    whole[1:-1] = right
    whole[0, -2] = whole[-1, -1] = 1.0
    first, last = (np.diff(whole[side], axis=0) for side in (slice(0, 3), slice(m - 3, m)))
    bent = np.stack([first[0] / h[0] - first[1] / h[1], last[0] / h[-2] - last[1] / h[-1]])
    ends = np.linalg.solve(bent[:, -2:], -bent[:, :-2])
    return CubicSpline(x, values, whole[:, :-2] + whole[:, -2:] @ ends)


@dataclass(frozen=True, eq=False)
class EvenSpline:
    """A cubic in each of equal intervals from 0 on, a sum of B-splines.

    Attributes:
        step: Length of an interval.
        c: Coefficients, (intervals + 3, k).
    """

    step: float
    c: Floats

    def __call__(self, at: Floats) -> Floats:
        """Values at places (n,) within it, (n, k)."""
        left, weights = _shares(self.step, len(self.c) - 3, at)
        return np.asarray(sum(weights[:, k, None] * self.c[left + k] for k in range(4)))


def fit_cubic(x: Floats, values: Floats, length: float, intervals: int) -> EvenSpline:
    """The spline from 0 to a length with the least squares of values (m, k) at x (m,) there."""
    step, count = length / intervals, intervals + 3
    left, weights = _shares(step, intervals, x)
    bands, c = np.zeros((count, 4)), np.zeros((count, values.shape[1]))
    for i in range(4):
        for j in range(i + 1):
            product = weights[:, i] * weights[:, j]
            bands[:, i - j] += np.bincount(left + i, product, count)
        for column, wanted in zip(c.T, values.T, strict=True):
            column += np.bincount(left + i, weights[:, i] * wanted, count)
    empty = bands[:, 0] < LEAST
    if empty.any():
        place = step * np.clip(empty.argmax() - 1.0, 0.0, intervals)
        raise ArmtwinError(
            f"values must be known in every interval of {step:.3g}, got none at {place:.4g}"
        )
    solve_banded(bands, c)
    return EvenSpline(step, c)


def _shares(step: float, intervals: int, at: Floats) -> tuple[Integers, Floats]:
    """Intervals of places, and what the four B-splines of each have there, (n, 4)."""
    place = at / step
    left = np.clip(np.floor(place), 0, intervals - 1).astype(np.int64)
    t = place - left
    rest = 1 - t
    middle = 2 / 3 - t**2 * (1 - t / 2), 2 / 3 - rest**2 * (1 - rest / 2)
    return left, np.stack([rest**3 / 6, *middle, t**3 / 6], axis=1)
