"""Local minima of the residual sum of squares over the shapes of friction laws.

    min over x  ‖y - A(x) c(x)‖²,   c(x) = argmin over c >= 0 of ‖y - A(x) c‖²

The linear parameters c of the laws follow from the logarithms x of their shape parameters, so that
only shapes are searched (variable projection). The sum has several local minima; all are kept.

Ref: [Golub-Pereyra 2003], [Kaufman 1975]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armtwin.identification.friction_curves.shapes import shape_names, sort_shape, starts
from armtwin.identification.friction_curves.torque_rows import TorqueRows
from armtwin.maths.batch import Flags, Floats

REFINED = 3  # best starts from which the search goes on
FAR = 1.0  # of the logarithm of a shape parameter between starts that may lead elsewhere
SAME = 0.05  # of the logarithms of shapes within which two minima are one
CLOSE = 1e-8  # relative change at which a search ends
NEAR = 1e-4  # as above where a parameter is fixed, to see how far the sum rises


class LocalMinimum(NamedTuple):
    """A local minimum of the residual sum of squares.

    Attributes:
        left: The sum.
        x: Logarithms of all shape parameters.
    """

    left: float
    x: Floats


class FixedParameter(NamedTuple):
    """A parameter that is fixed.

    Attributes:
        place: Index among all coefficients, then all shape parameters.
        value: Its fixed value.
    """

    place: int
    value: float


class Solution(NamedTuple):
    """Coefficients that follow from shapes.

    Attributes:
        A: Columns over the noise, (k, p).
        coefficients: None of them below zero, (p,).
        left: Residual over the noise, (k,).
        free: Coefficients that are neither fixed nor zero, (p,).
    """

    A: Floats
    coefficients: Floats
    left: Floats
    free: Flags


def solve(rows: TorqueRows, x: Floats, pin: FixedParameter | None = None) -> Solution:
    """Coefficients at the logarithms of shapes."""
    from scipy.optimize import nnls

    A = rows.over_noise(rows.columns(x))
    target = rows.target
    coefficients, sought = np.zeros(A.shape[1]), np.ones(A.shape[1], dtype=bool)
    if pin is not None and pin.place < len(sought):
        sought[pin.place] = False
        coefficients[pin.place] = pin.value
        target = target - A[:, pin.place] * pin.value
    size = np.linalg.norm(A[:, sought], axis=0)
    size[size == 0] = 1.0
    coefficients[sought] = nnls(A[:, sought] / size, target)[0] / size
    residual = rows.target - A @ coefficients
    return Solution(A, coefficients, residual, sought & (coefficients > 0))


def _residual_slopes(rows: TorqueRows, x: Floats, here: Solution) -> Floats:
    """Jacobian of the residual by the logarithms x, coefficients eliminated, (k, shapes).

    By Kaufman: -P dA/dx c, with P the projection away from the columns that are free. The term it
    neglects lies in the span of these columns, to which the residual is orthogonal.
    """
    A = here.A[:, here.free]
    span, _ = np.linalg.qr(A / np.maximum(np.linalg.norm(A, axis=0), 1e-300))
    bends = rows.bends(x, here.coefficients)
    return np.asarray(span @ (span.T @ bends) - bends)


def _residual_squares(rows: TorqueRows, x: Floats) -> float:
    return float((solve(rows, x).left ** 2).sum())


def find_minima(rows: TorqueRows, first: Sequence[Floats | None] | None) -> list[LocalMinimum]:
    """Local minima of the residual sum of squares, the lowest first.

    There are several, as elements may explain parts of each other's friction, and asperities that
    of the shear. Starts are a grid over each element's shape; once all elements are at a minimum,
    each one's grid is tried again with the others there.
    """
    low, high = rows.limits
    if not len(low):
        return [refine(rows, low)]
    ends = np.cumsum([0, *(len(shape_names(kind)) for kind in rows.kinds)])
    x = 0.5 * (low + high)
    for e, given in enumerate(first or ()):
        if given is not None:
            x[ends[e] : ends[e + 1]] = np.log(given)
    options = [LocalMinimum(_residual_squares(rows, x), np.clip(x, low, high))]
    if len(rows.kinds) == 1:
        options += _try_starts(rows, x, 0, 0)
        return distinct([refine(rows, start) for start in _apart(options)])
    for _ in range(2):
        for e in range(len(rows.kinds)):
            options += _try_starts(rows, x, e, ends[e])
            x = min(options, key=_depth).x
    found = [refine(rows, x)]
    for e in range(len(rows.kinds)):
        around = _try_starts(rows, min(found, key=_depth).x, e, ends[e])
        found += [refine(rows, start) for start in _apart(around)]
    return distinct(found)


def _depth(valley: LocalMinimum) -> float:
    return valley.left


def distinct(valleys: list[LocalMinimum]) -> list[LocalMinimum]:
    """Minima at different shapes, the lowest first."""
    kept: list[LocalMinimum] = []
    for valley in sorted(valleys, key=_depth):
        if all(np.abs(valley.x - other.x).max(initial=0.0) > SAME for other in kept):
            kept.append(valley)
    return kept


def _try_starts(rows: TorqueRows, x: Floats, e: int, begin: int) -> list[LocalMinimum]:
    """Residual sums with each start of an element's shape in place of that in x."""
    found = []
    for start in starts(rows.kinds[e], *rows.span(e)):
        other = x.copy()
        other[begin : begin + len(start)] = np.log(start)
        found.append(LocalMinimum(_residual_squares(rows, other), other))
    return found


def _apart(options: list[LocalMinimum]) -> list[Floats]:
    """The best starts that are far from each other."""
    chosen: list[Floats] = []
    for _, x in sorted(options, key=_depth):
        if all(np.abs(x - other).max() > FAR for other in chosen):
            chosen.append(x)
        if len(chosen) == REFINED:
            break
    return chosen


def refine(rows: TorqueRows, start: Floats, pin: FixedParameter | None = None) -> LocalMinimum:
    """Search the local minimum near given logarithms of shapes.

    Args:
        rows: The rows.
        start: Where to begin, (shapes,).
        pin: A parameter that is fixed.
    """
    from scipy.optimize import least_squares

    low, high = rows.limits
    close = CLOSE if pin is None else NEAR
    x = np.clip(start, low + 1e-9, high - 1e-9)
    moving = np.ones(len(x), dtype=bool)
    shape = -1 if pin is None else pin.place - rows.coefficients
    if pin is not None and shape >= 0:
        moving[shape] = False
        x[shape] = np.log(pin.value)
    if not moving.any():
        return LocalMinimum(float((solve(rows, x, pin).left ** 2).sum()), x)
    last: dict[bytes, Solution] = {}  # slopes are asked for where the sum was

    def whole(moving_x: Floats) -> Floats:
        place = x.copy()
        place[moving] = moving_x
        return place

    def residual(moving_x: Floats) -> Floats:
        last.clear()
        last[moving_x.tobytes()] = solve(rows, whole(moving_x), pin)
        return last[moving_x.tobytes()].left

    def slopes(moving_x: Floats) -> Floats:
        place = whole(moving_x)
        here = last.get(moving_x.tobytes()) or solve(rows, place, pin)
        return _residual_slopes(rows, place, here)[:, moving]

    found = least_squares(
        residual,
        x[moving],
        jac=slopes,
        bounds=(low[moving], high[moving]),
        xtol=close,
        ftol=close,
        gtol=1e-14,
    )
    return LocalMinimum(float(2 * found.cost), _in_order(rows, whole(found.x)))


def _in_order(rows: TorqueRows, x: Floats) -> Floats:
    """Logarithms of shapes, interchangeable ones in the law's order."""
    parts = zip(rows.kinds, rows.shapes_of(x), strict=True)
    found = [np.zeros(0)]
    for kind, shape in parts:
        found.append(np.log(sort_shape(kind, shape)))
    return np.concatenate(found)
