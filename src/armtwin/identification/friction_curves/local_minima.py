"""Local minima of the residual sum of squares over the shapes of friction laws.

    min over x  ‖y - A(x) c(x)‖²,   c(x) = argmin over c >= 0 of ‖y - A(x) c‖²

The linear parameters c of the laws follow from the logarithms x of their shape parameters, so that
only shapes are searched (variable projection). The sum has several local minima; all are kept.

Ref: [Golub-Pereyra 2003], [Kaufman 1975]
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from armtwin.identification.fitting.separable import LinearSolution, ShapeParameters, search, solve
from armtwin.identification.friction_curves.shapes import shape_names, sort_shape, starts
from armtwin.identification.friction_curves.torque_rows import TorqueRows
from armtwin.maths.batch import Floats, TwoArrays

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


_depth = attrgetter("left")


class FixedParameter(NamedTuple):
    """A parameter that is fixed.

    Attributes:
        place: Index among all coefficients, then all shape parameters.
        value: Its fixed value.
    """

    place: int
    value: float


def coefficients_at(rows: TorqueRows, x: Floats) -> LinearSolution:
    """Coefficients at the logarithms of shapes, none below zero."""
    return solve(rows.over_noise(rows.columns(x)), rows.target, positive=True)


def _residual_squares(rows: TorqueRows, x: Floats) -> float:
    return float((coefficients_at(rows, x).residual ** 2).sum())


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
    low, high = rows.limits
    x = np.clip(start, low + 1e-9, high - 1e-9)
    moving, sought = np.ones(len(x), dtype=bool), np.ones(rows.coefficients, dtype=bool)
    held = np.zeros(rows.coefficients)
    if pin is not None and pin.place < rows.coefficients:
        sought[pin.place] = False
        held[pin.place] = pin.value
    elif pin is not None:
        moving[pin.place - rows.coefficients] = False
        x[pin.place - rows.coefficients] = np.log(pin.value)

    def whole(moving_x: Floats) -> Floats:
        place = x.copy()
        place[moving] = moving_x
        return place

    def model(moving_x: Floats) -> TwoArrays:
        A = rows.over_noise(rows.columns(whole(moving_x)))
        return A[:, sought], rows.target - A @ held

    def slopes(moving_x: Floats, values: Floats) -> Floats:
        coefficients = held.copy()
        coefficients[sought] = values
        return rows.bends(whole(moving_x), coefficients)[:, moving]

    close = CLOSE if pin is None else NEAR
    shapes = ShapeParameters(x[moving], low[moving], high[moving], close=close, slopes=slopes)
    found, here = search(model, shapes, positive=True)
    return LocalMinimum(float((here.residual**2).sum()), _in_order(rows, whole(found)))


def _in_order(rows: TorqueRows, x: Floats) -> Floats:
    """Logarithms of shapes, interchangeable ones in the law's order."""
    return np.log(np.concatenate(list(map(sort_shape, rows.kinds, rows.shapes_of(x)))))
