"""Friction laws fitted to torques at constant speeds: separable least squares.

Where the standard deviation of the noise is not given, it is constant or proportional to the
torque, whichever is more likely.

Ref: [Golub-Pereyra 2003], [Waiboer 2007, eq. 3.53-3.64]

Local minima of the residual sum of squares over the shapes of friction laws.

    min over x  ‖y - A(x) c(x)‖²,   c(x) = argmin over c >= 0 of ‖y - A(x) c‖²

The linear parameters c of the laws follow from the logarithms x of their shape parameters, so that
only shapes are searched (variable projection). The sum has several local minima; all are kept.

Ref: [Golub-Pereyra 2003], [Kaufman 1975]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.fitting import estimate as fits
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.torque_rows import (
    TorqueRows,
    coefficient_names,
    law_of,
    shape_names,
    sort_shape,
    starts,
)
from armtwin.maths.batch import Flags, Floats, Pair, TwoArrays

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


def coefficients_at(rows: TorqueRows, x: Floats) -> fits.LinearSolution:
    """Coefficients at the logarithms of shapes, none below zero."""
    return fits.solve(rows.over_noise(rows.columns(x)), rows.target, positive=True)


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
    shapes = fits.ShapeParameters(x[moving], low[moving], high[moving], close=close, slopes=slopes)
    found, here = fits.search(model, shapes, positive=True)
    return LocalMinimum(float((here.residual**2).sum()), _sort_shapes(rows, whole(found)))


def _sort_shapes(rows: TorqueRows, x: Floats) -> Floats:
    """Logarithms of shapes, interchangeable ones in the law's order."""
    return np.log(np.concatenate(list(map(sort_shape, rows.kinds, rows.shapes_of(x)))))


LEAST = 1e-12  # of the largest coefficient below which one is at its bound
STRAIGHT = 1e-3  # relative width up to which the linearised interval is used
STRONG = 0.1  # relative difference from the rise that is sought which asks for a second fit
UNIDENTIFIABLE = 4.0  # logarithm from which on a parameter is not identifiable: linearised interval
WIDEST = 3.0  # times by which an end may lie farther than the linearised one


def deviations(rows: TorqueRows, x: Floats) -> Floats:
    """Standard deviations of coefficients and shapes, (p,); nan for one at its bound."""
    here = coefficients_at(rows, x)
    slopes = _slopes(rows, x, here.values)
    free = free_numbers(rows, x, here.values)
    found = np.full(len(free), np.nan)
    noise = fits.RowNoise(independent=1 - rows.rows_lost / len(rows.sigma))
    J, e = slopes[:, None, free], here.residual[:, None]
    found[free] = fits.assess(np.zeros(J.shape[2]), J, e, noise).std
    return found


def intervals(
    rows: TorqueRows, valleys: list[LocalMinimum], variance: float, freedom: int
) -> TwoArrays:
    """Ends of the intervals of coefficients and shapes, (p,) each; nan for one at its bound.

    Args:
        rows: The rows.
        valleys: All local minima, the lowest first.
        variance: Of the noise, by the residuals.
        freedom: Rows less numbers.
    """
    reach = float(fits.student(freedom))
    lows, highs = [], []
    for valley in valleys:
        room = reach**2 - (valley.left - valleys[0].left) / variance
        if room < 0:
            break
        values = np.concatenate([coefficients_at(rows, valley.x).values, np.exp(valley.x)])
        spread = deviations(rows, valley.x) / np.maximum(values, 1e-300)
        if valley is not valleys[0]:
            spread = np.nan_to_num(spread)
        ends = []
        for place, value in enumerate(values.tolist()):
            profile = _Profile(rows, valley, FixedParameter(place, value), variance)
            ends.append(_ends(profile, float(spread[place]), float(np.sqrt(room))))
        low, high = np.array(ends).T
        lows.append(low)
        highs.append(high)
    return np.min(lows, axis=0), np.max(highs, axis=0)


@dataclass(frozen=True, eq=False)
class _Profile:
    """Profile of the residual sum of squares over one fixed parameter, about a minimum.

    Attributes:
        rows: The rows.
        valley: The minimum.
        number: The parameter at the minimum.
        variance: Of the noise.
    """

    rows: TorqueRows
    valley: LocalMinimum
    number: FixedParameter
    variance: float

    def rise(self, change: float) -> Pair:
        """Root ζ of the rise at a change of the parameter's logarithm, and that change's size.

        The change is less where a shape parameter would leave its limits.
        """
        inside = self._inside(change)
        held = FixedParameter(self.number.place, self.number.value * float(np.exp(inside)))
        rise = (refine(self.rows, self.valley.x, held).left - self.valley.left) / self.variance
        return float(np.sqrt(max(rise, 0.0))), abs(inside)

    def _inside(self, change: float) -> float:
        shape = self.number.place - self.rows.coefficients
        if shape < 0:
            return change
        low, high = self.rows.limits
        here = np.log(self.number.value)
        return float(np.clip(here + change, low[shape] + 1e-6, high[shape] - 1e-6) - here)


def _ends(profile: _Profile, spread: float, reach: float) -> Pair:
    """Where the sum has risen by reach² times the variance, below and above a parameter.

    Args:
        profile: The profile over the parameter.
        spread: Linearised relative deviation of the parameter.
        reach: Root ζ of the target rise.
    """
    value, width = profile.number.value, reach * spread
    if not STRAIGHT < width < UNIDENTIFIABLE:
        with np.errstate(over="ignore"):
            return value * float(np.exp(-width)), value * float(np.exp(width))
    below, above = _end(profile, -1.0, spread, reach), _end(profile, 1.0, spread, reach)
    return value * float(np.exp(-below)), value * float(np.exp(above))


def _end(profile: _Profile, side: float, spread: float, reach: float) -> float:
    """Change of a parameter's logarithm at which the root of the rise is at reach, on one side."""
    width = reach * spread
    first = profile.rise(side * width)
    end = _on_parabola(spread, first, reach, width)
    if abs(first[0] - reach) <= STRONG * reach:
        return end
    second = profile.rise(side * end)
    if abs(second[0] - first[0]) <= STRONG * reach:
        return end
    return _on_parabola(_slope_at_zero(first, second), second, reach, width)


def _slope_at_zero(first: Pair, second: Pair) -> float:
    """Slope at 0 of the parabola through 0 and two points (ζ, d)."""
    (z, d), (z2, d2) = first, second
    if not z > 0 or not z2 > 0:
        return 0.0
    return (d / z * z2 - d2 / z2 * z) / (z2 - z)


def _on_parabola(slope: float, point: Pair, reach: float, width: float) -> float:
    """Distance at ζ = reach on d = slope ζ + bend ζ² through a point (ζ, d), of width's order."""
    root, distance = point
    if not root > 0:
        return WIDEST * width
    bend = (distance - slope * root) / root**2
    end = slope * reach + bend * reach**2
    return float(np.clip(end, width / WIDEST, WIDEST * width))


def _slopes(rows: TorqueRows, x: Floats, coefficients: Floats) -> Floats:
    """Slopes of the torques over the noise with coefficients and shapes, (k, p)."""
    A = rows.over_noise(rows.columns(x))
    return np.concatenate([A, rows.bends(x, coefficients) / np.exp(x)], axis=1)


def free_numbers(rows: TorqueRows, x: Floats, coefficients: Floats) -> Flags:
    """Numbers that are not at a bound, (p,); a shape of a coefficient that is zero is not free."""
    low, high = rows.limits
    linear = coefficients > LEAST * max(float(coefficients.max(initial=0.0)), 1e-300)
    inside = (x > low + 1e-4) & (x < high - 1e-4)
    J = _slopes(rows, x, coefficients)
    felt = np.linalg.norm(J[:, len(coefficients) :], axis=0) > 0
    return np.concatenate([linear, inside & felt])


ROUNDS = 3  # reweighting iterations
FAINTEST = 0.02  # of the largest torque: relative noise is not taken to be less than of this


@dataclass(frozen=True, eq=False)
class LawFit:
    """Laws fitted to rows.

    Attributes:
        laws: Law of each element.
        names: Names of all numbers, element after element: coefficients, then shapes.
        values: The numbers, (p,).
        std: Their standard deviations, (p,); nan for one at its bound.
        low: Lower ends of their intervals, (p,).
        high: Upper ends, (p,).
        fitted: Torque of the fit in each row, (k,) [N m].
        residual: Residual of each row without elements at rest, nan elsewhere, (k,) [N m].
        rms: Root mean square of the residual [N m].
        misfit: Residual sum of squares over the relative noise.
        freedom: Rows less numbers.
        criterion: Akaike's, corrected for few rows; the law of the least one is preferred.
    """

    laws: tuple[Law, ...]
    names: tuple[tuple[int, str], ...]
    values: Floats
    std: Floats
    low: Floats
    high: Floats
    fitted: Floats
    residual: Floats
    rms: float
    misfit: float
    freedom: int
    criterion: float

    @property
    def count(self) -> int:
        """Number of the laws' numbers."""
        return len(self.values)


def fit_laws(
    curves: FrictionCurves,
    rows: Floats,
    kinds: Sequence[type[Law]],
    first: Sequence[Floats | None] | None = None,
) -> LawFit:
    """Laws of elements by least squares on rows of friction torques.

    Where rows have no standard deviation, noise is taken as constant or as proportional to the
    torque, whichever is more likely.

    Args:
        curves: The rows, friction alone.
        rows: s of each element, (elements, n).
        kinds: Law of each element.
        first: Shape parameters of each element, as an additional start.
    """
    numbers = sum(len(shape_names(kind)) + len(coefficient_names(kind)) for kind in kinds)
    if len(curves.torque) <= numbers:
        raise ArmtwinError(
            f"{len(curves.torque)} torques cannot identify the {numbers} parameters of the laws; "
            "measure at more speeds"
        )
    over = partial(TorqueRows, curves, rows, tuple(kinds))
    if np.isfinite(curves.std).all():
        known = over(curves.std)
        return _estimate(known, find_minima(known, first))
    one_size = over(np.full(len(curves.torque), np.abs(curves.torque).max() or 1.0))
    growing = over(grow_with_torque(curves.torque))
    places = find_minima(growing, first)
    for _ in range(ROUNDS):
        growing = over(grow_with_torque(_predict_torque(growing, places[0].x)))
        places = distinct([refine(growing, place.x) for place in places])
    plain = find_minima(one_size, first)
    if _deviance(growing, places[0].left) < _deviance(one_size, plain[0].left):
        return _estimate(growing, places)
    return _estimate(one_size, plain)


def grow_with_torque(torque: Floats) -> Floats:
    """Size of noise that grows with the torque, (k,)."""
    size = np.abs(torque)
    return np.maximum(size, FAINTEST * size.max())


def _predict_torque(fitting: TorqueRows, x: Floats) -> Floats:
    """Torque of the fit, (k,); the measured one where an element at rest holds any torque."""
    moving = fitting.columns(x) @ coefficients_at(fitting, x).values
    return np.where(fitting.at_rest.any(axis=1), fitting.curves.torque, moving)


def _deviance(fitting: TorqueRows, misfit: float) -> float:
    """Minus twice the log-likelihood, noise variance from the residual."""
    rows = len(fitting.sigma) - fitting.rows_lost
    size = max(misfit, 1e-30) / rows
    return rows * float(np.log(size)) + 2 * float(np.log(fitting.sigma).sum())


def _estimate(fitting: TorqueRows, valleys: list[LocalMinimum]) -> LawFit:
    """The laws with standard deviations from the Jacobian of the fit."""
    x = valleys[0].x
    here = coefficients_at(fitting, x)
    coefficients, scaled_residual = here.values, here.residual
    values = np.concatenate([coefficients, np.exp(x)])
    used = int(free_numbers(fitting, x, coefficients).sum())
    rows = len(scaled_residual) - fitting.rows_lost
    freedom = max(rows - used, 1)
    misfit = max(float(scaled_residual @ scaled_residual), 1e-30)
    spread = deviations(fitting, x)
    low, high = intervals(fitting, valleys, misfit / freedom, freedom)
    parts = fitting.coefficients_of(coefficients), fitting.shapes_of(x)
    laws = tuple(map(law_of, fitting.kinds, *parts))
    fitted = fitting.columns(x) @ coefficients
    whole = ~fitting.at_rest.any(axis=1)
    residual = np.where(whole, fitting.curves.torque - fitted, np.nan)
    scaled = scaled_residual * fitting.sigma
    numbers = len(values)
    places, names = zip(*_in_order(fitting), strict=True)
    order = list(places)
    correction = 2 * numbers * (numbers + 1) / max(rows - numbers - 1, 1)
    return LawFit(
        laws=laws,
        names=names,
        values=np.array([float(getattr(laws[e], name)) for e, name in names]),
        std=spread[order],
        low=low[order],
        high=high[order],
        fitted=fitted,
        residual=residual,
        rms=float(np.sqrt((scaled**2).sum() / rows)),
        misfit=misfit,
        freedom=freedom,
        criterion=_deviance(fitting, misfit) + 2 * numbers + correction,
    )


def _in_order(fitting: TorqueRows) -> list[tuple[int, tuple[int, str]]]:
    """For each parameter, element by element: its index among all coefficients and shapes."""
    found = []
    linear = 0
    shape = sum(len(coefficient_names(kind)) for kind in fitting.kinds)
    for e, kind in enumerate(fitting.kinds):
        for name in coefficient_names(kind):
            found.append((linear, (e, name)))
            linear += 1
        for name in shape_names(kind):
            found.append((shape, (e, name)))
            shape += 1
    return found
