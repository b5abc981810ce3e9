"""Friction laws fitted to torques at constant speeds: separable least squares.

    τ_k = Σ_e s_e[j] L_e(s_e · v_k) + noise        for a row k of joint j

Every element e has a row s_e of the joints and a law; joints of a coupled wrist share elements. The
linear numbers of the laws follow from the shape numbers by least squares, none below zero, so that
only shapes are sought. An element that stands while its joint is measured holds any torque: what it
may hold is taken out of the rows of its plateau, which leaves their differences.

Ref: [Golub-Pereyra 2003], [Waiboer 2007, eq. 3.53-3.64]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.shapes import (
    bounds,
    coefficient_names,
    law_of,
    shape_names,
    starts,
)
from armtwin.maths.batch import Flags, Floats

HELD = 0.95  # probability that an interval holds the number
AT_REST = 1e-6  # share of the fastest speed below which an element stands
REFINED = 3  # best starts that are refined
FAR = 1.0  # of the logarithm of some shape number between starts that may lead elsewhere
ROUNDS = 3  # times that the weights follow the fitted torque
FAINTEST = 0.02  # of the largest torque: relative noise is not taken to be less than of this
SAME = 0.05  # of the logarithms of shapes within which two valleys are one
CLOSE = 1e-8  # relative change at which a search ends
STEP = 1e-5  # of the logarithm of a shape number, for slopes
LEAST = 1e-12  # of the largest coefficient below which one is at its bound


@dataclass(frozen=True, eq=False)
class Fitting:
    """Rows of torques, and the elements that shall explain them.

    Attributes:
        curves: The rows, friction alone.
        rows: s of each element, (elements, n).
        kinds: Law of each element.
        sigma: Relative size of each row's noise, (k,).
    """

    curves: FrictionCurves
    rows: Floats
    kinds: tuple[type[Law], ...]
    sigma: Floats

    @cached_property
    def speeds(self) -> Floats:
        """Speed of each element in each row, (k, elements)."""
        return np.asarray(self.curves.speeds @ self.rows.T)

    @cached_property
    def acting(self) -> Floats:
        """Lever of each element on the joint of each row, (k, elements)."""
        return self.rows[:, self.curves.joint].T

    @cached_property
    def at_rest(self) -> Flags:
        """Elements that stand and act on the joint of a row, (k, elements)."""
        slow = np.abs(self.speeds) <= AT_REST * np.abs(self.speeds).max()
        return np.asarray(slow & (self.acting != 0))

    def shapes_of(self, x: Floats) -> list[Floats]:
        """Shape numbers of each element from all of their logarithms."""
        numbers, found, begin = np.exp(x), [], 0
        for kind in self.kinds:
            end = begin + len(shape_names(kind))
            found.append(numbers[begin:end])
            begin = end
        return found

    def element(self, e: int, shape: Floats) -> Floats:
        """Torque per coefficient of an element with some shape, (k, its coefficients)."""
        kind = self.kinds[e]
        unit = law_of(kind, np.ones(len(coefficient_names(kind))), shape)
        return np.asarray(unit.columns(self.speeds[:, e]) * self.acting[:, e : e + 1])

    def columns(self, x: Floats) -> Floats:
        """Torque per coefficient at the logarithms x of the shapes, (k, p)."""
        found = [self.element(e, shape) for e, shape in enumerate(self.shapes_of(x))]
        return np.concatenate(found, axis=1)

    @cached_property
    def target(self) -> Floats:
        """Torques over the noise, without what standing elements may hold, (k,)."""
        return self.over_noise(self.curves.torque)

    def over_noise(self, values: Floats) -> Floats:
        """Rows (k, ...) over the noise, without what standing elements may hold."""
        scaled = (values.T / self.sigma).T
        if self._held.shape[1]:
            scaled = scaled - self._held @ (self._held.T @ scaled)
        return np.asarray(scaled)

    def bends(self, x: Floats, coefficients: Floats) -> Floats:
        """Slopes of the torques over the noise with the logarithms x, (k, shapes)."""
        ends = np.cumsum([len(coefficient_names(kind)) for kind in self.kinds])
        found = [np.zeros((len(self.sigma), 0))]
        parts = zip(self.shapes_of(x), np.split(coefficients, ends[:-1]), strict=True)
        for e, (shape, own) in enumerate(parts):
            for i in range(len(shape)):
                factor = np.ones(len(shape))
                factor[i] = np.exp(STEP)
                ahead, behind = self.element(e, shape * factor), self.element(e, shape / factor)
                found.append(((ahead - behind) @ own / (2 * STEP))[:, None])
        return self.over_noise(np.concatenate(found, axis=1))

    @cached_property
    def _held(self) -> Floats:
        """Orthonormal directions of the rows that standing elements may take, (k, directions)."""
        found = [np.zeros((len(self.sigma), 0))]
        rest = self.at_rest
        for plateau in np.unique(self.curves.plateau[rest.any(axis=1)]):
            rows = np.flatnonzero(self.curves.plateau == plateau)
            standing = np.flatnonzero(rest[rows].any(axis=0))
            levers = self.acting[np.ix_(rows, standing)] / self.sigma[rows, None]
            span, size, _ = np.linalg.svd(levers, full_matrices=False)
            told = span[:, size > 1e-9 * size[0]]
            direction = np.zeros((len(self.sigma), told.shape[1]))
            direction[rows] = told
            found.append(direction)
        return np.concatenate(found, axis=1)

    @property
    def lost(self) -> int:
        """Rows that standing elements cost."""
        return self._held.shape[1]


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
        residual: What is left of each row where no element stands, nan elsewhere, (k,) [N m].
        rms: Root mean square of what is left [N m].
        misfit: Squares left over their noise of size 1, for comparisons.
        freedom: Rows less numbers.
        unlikely: Minus twice the logarithm of the likelihood, up to a constant of the rows.
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
    unlikely: float
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

    Where rows have no standard deviation, noise is taken to be of one size or to grow with the
    torque, as the rows find more likely.

    Args:
        curves: The rows, friction alone.
        rows: s of each element, (elements, n).
        kinds: Law of each element.
        first: Shape numbers of each element to start from as well.
    """
    numbers = sum(len(shape_names(kind)) + len(coefficient_names(kind)) for kind in kinds)
    if len(curves.torque) <= numbers:
        raise ArmtwinError(
            f"{len(curves.torque)} torques cannot tell the {numbers} numbers of the laws; measure "
            "at more speeds"
        )
    even = np.full(len(curves.torque), float(np.abs(curves.torque).max()) or 1.0)
    if np.isfinite(curves.std).all():
        known = Fitting(curves, rows, tuple(kinds), curves.std)
        return _estimate(known, _valleys(known, first))
    one_size = Fitting(curves, rows, tuple(kinds), even)
    growing = Fitting(curves, rows, tuple(kinds), _with_torque(curves.torque))
    places = _valleys(growing, first)
    for _ in range(ROUNDS):
        sigma = _with_torque(_fitted(growing, places[0].x))
        growing = Fitting(curves, rows, tuple(kinds), sigma)
        places = _distinct([_refined(growing, place.x) for place in places])
    plain = _estimate(one_size, _valleys(one_size, first))
    relative = _estimate(growing, places)
    return relative if relative.unlikely < plain.unlikely else plain


class Valley(NamedTuple):
    """A least sum of squares among its neighbours.

    Attributes:
        left: The sum.
        x: Logarithms of all shape numbers.
    """

    left: float
    x: Floats


def _with_torque(torque: Floats) -> Floats:
    """Size of noise that grows with the torque, (k,)."""
    size = np.abs(torque)
    return np.maximum(size, FAINTEST * size.max())


def _limits(fitting: Fitting) -> tuple[Floats, Floats]:
    """Logarithms of the least and largest shape numbers."""
    low, high = [np.zeros(0)], [np.zeros(0)]
    for e, kind in enumerate(fitting.kinds):
        least, most = bounds(kind, *_span(fitting, e))
        low.append(np.log(least))
        high.append(np.log(most))
    return np.concatenate(low), np.concatenate(high)


def _span(fitting: Fitting, e: int) -> tuple[float, float]:
    """Slowest and fastest speed of an element that moves."""
    w = np.abs(fitting.speeds[:, e])
    moving = w[(w > AT_REST * w.max()) & (fitting.acting[:, e] != 0)]
    if not len(moving):
        raise ArmtwinError("an element of the joint's friction never moves in these rows")
    return float(moving.min()), float(moving.max())


class Solved(NamedTuple):
    """Coefficients that follow from shapes.

    Attributes:
        A: Columns over the noise, (k, p).
        coefficients: None of them below zero, (p,).
        left: What is left over the noise, (k,).
    """

    A: Floats
    coefficients: Floats
    left: Floats


def _solved(fitting: Fitting, x: Floats) -> Solved:
    """Coefficients at the logarithms of shapes."""
    from scipy.optimize import nnls

    A = fitting.over_noise(fitting.columns(x))
    size = np.linalg.norm(A, axis=0)
    size[size == 0] = 1.0
    found, _ = nnls(A / size, fitting.target)
    return Solved(A, found / size, fitting.target - A @ (found / size))


def _slopes_left(fitting: Fitting, x: Floats, solved: Solved) -> Floats:
    """Slopes of what is left with the logarithms x, coefficients following, (k, shapes).

    By Kaufman: -P dA/dx c, with P the projection away from the columns that are not at zero. What
    it leaves out lies in the span of these columns, to which what is left is at right angles.
    """
    A = solved.A[:, solved.coefficients > 0]
    span, _ = np.linalg.qr(A / np.maximum(np.linalg.norm(A, axis=0), 1e-300))
    bends = fitting.bends(x, solved.coefficients)
    return np.asarray(span @ (span.T @ bends) - bends)


def _left(fitting: Fitting, x: Floats) -> float:
    return float((_solved(fitting, x).left ** 2).sum())


def _valleys(fitting: Fitting, first: Sequence[Floats | None] | None) -> list[Valley]:
    """Least sums of squares that were found, the least first.

    There are several, as elements may do parts of each other's work, and asperities that of the
    shear. Starts are a grid over each element's shape; once all elements are at the foot of a
    valley, each one's grid is tried again with the others there.
    """
    low, high = _limits(fitting)
    if not len(low):
        return [_refined(fitting, low)]
    ends = np.cumsum([0, *(len(shape_names(kind)) for kind in fitting.kinds)])
    x = 0.5 * (low + high)
    for e, given in enumerate(first or ()):
        if given is not None:
            x[ends[e] : ends[e + 1]] = np.log(given)
    options = [Valley(_left(fitting, x), np.clip(x, low, high))]
    if len(fitting.kinds) == 1:
        options += _tried(fitting, x, 0, 0)
        return _distinct([_refined(fitting, start) for start in _apart(options)])
    for _ in range(2):
        for e in range(len(fitting.kinds)):
            options += _tried(fitting, x, e, ends[e])
            x = min(options, key=_depth).x
    found = [_refined(fitting, x)]
    for e in range(len(fitting.kinds)):
        around = _tried(fitting, min(found, key=_depth).x, e, ends[e])
        found += [_refined(fitting, start) for start in _apart(around)]
    return _distinct(found)


def _depth(valley: Valley) -> float:
    return valley.left


def _distinct(valleys: list[Valley]) -> list[Valley]:
    """Valleys at different places, the least first."""
    kept: list[Valley] = []
    for valley in sorted(valleys, key=_depth):
        if all(np.abs(valley.x - other.x).max(initial=0.0) > SAME for other in kept):
            kept.append(valley)
    return kept


def _tried(fitting: Fitting, x: Floats, e: int, begin: int) -> list[Valley]:
    """What is left with each start of an element's shape in place of that in x."""
    found = []
    for start in starts(fitting.kinds[e], *_span(fitting, e)):
        other = x.copy()
        other[begin : begin + len(start)] = np.log(start)
        found.append(Valley(_left(fitting, other), other))
    return found


def _apart(options: list[Valley]) -> list[Floats]:
    """The best starts that are far from each other."""
    chosen: list[Floats] = []
    for _, x in sorted(options, key=_depth):
        if all(np.abs(x - other).max() > FAR for other in chosen):
            chosen.append(x)
        if len(chosen) == REFINED:
            break
    return chosen


def _refined(fitting: Fitting, x: Floats) -> Valley:
    """The least sum of squares near x."""
    from scipy.optimize import least_squares

    low, high = _limits(fitting)
    if not len(x):
        return Valley(_left(fitting, x), x)
    inside = np.clip(x, low + 1e-9, high - 1e-9)
    last: dict[bytes, Solved] = {}  # slopes are asked for where the sum was

    def left(place: Floats) -> Floats:
        last.clear()
        last[place.tobytes()] = _solved(fitting, place)
        return last[place.tobytes()].left

    def slopes(place: Floats) -> Floats:
        solved = last.get(place.tobytes()) or _solved(fitting, place)
        return _slopes_left(fitting, place, solved)

    found = least_squares(
        left,
        inside,
        jac=slopes,
        bounds=(low, high),
        xtol=CLOSE,
        ftol=CLOSE,
        gtol=CLOSE,
    )
    return Valley(float(2 * found.cost), np.asarray(found.x))


def _fitted(fitting: Fitting, x: Floats) -> Floats:
    """Torque of the fit, (k,); the measured one where an element stands and holds any torque."""
    moving = fitting.columns(x) @ _solved(fitting, x).coefficients
    return np.where(fitting.at_rest.any(axis=1), fitting.curves.torque, moving)


def _estimate(fitting: Fitting, valleys: list[Valley]) -> LawFit:
    """The laws with standard deviations from the slopes of the fit."""
    x = valleys[0].x
    _, coefficients, left = _solved(fitting, x)
    values = np.concatenate([coefficients, np.exp(x)])
    used = int(_free(fitting, x, coefficients).sum())
    rows = len(left) - fitting.lost
    freedom = max(rows - used, 1)
    misfit = max(float(left @ left), 1e-30)
    spread = _spread(fitting, x, misfit / freedom)
    low, high = _intervals(fitting, valleys, misfit / freedom, freedom)
    laws = []
    ends = np.cumsum([len(coefficient_names(kind)) for kind in fitting.kinds])
    for kind, own, shape in zip(
        fitting.kinds, np.split(coefficients, ends[:-1]), fitting.shapes_of(x), strict=True
    ):
        laws.append(law_of(kind, own, shape))
    fitted = fitting.columns(x) @ coefficients
    whole = ~fitting.at_rest.any(axis=1)
    residual = np.where(whole, fitting.curves.torque - fitted, np.nan)
    scaled = left * fitting.sigma
    numbers = len(values)
    places, names = zip(*_in_order(fitting), strict=True)
    order = list(places)
    unlikely = rows * float(np.log(misfit / rows)) + 2 * float(np.log(fitting.sigma).sum())
    correction = 2 * numbers * (numbers + 1) / max(rows - numbers - 1, 1)
    return LawFit(
        laws=tuple(laws),
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
        unlikely=unlikely,
        criterion=unlikely + 2 * numbers + correction,
    )


def _spread(fitting: Fitting, x: Floats, variance: float) -> Floats:
    """Standard deviations of coefficients and shapes, (p,); nan for one at its bound."""
    coefficients = _solved(fitting, x).coefficients
    free = _free(fitting, x, coefficients)
    found = np.full(len(free), np.nan)
    found[free] = _deviations(_slopes(fitting, x, coefficients)[:, free], variance)
    return found


def _intervals(
    fitting: Fitting, valleys: list[Valley], variance: float, freedom: int
) -> tuple[Floats, Floats]:
    """Ends of the intervals of coefficients and shapes, (p,) each; nan for one at its bound.

    The intervals t s of all valleys whose sums are within t² s² of the least one, each taken as a
    parabola over the logarithms of the numbers: what noise alone may have made the deepest one does
    not refute the others.
    """
    from scipy.stats import t

    reach = float(t.ppf(0.5 + 0.5 * HELD, freedom))
    lows, highs = [], []
    for valley in valleys:
        if valley.left - valleys[0].left > reach**2 * variance:
            break
        values = np.concatenate([_solved(fitting, valley.x).coefficients, np.exp(valley.x)])
        spread = _spread(fitting, valley.x, variance)
        if valley is not valleys[0]:
            spread = np.nan_to_num(spread)
        width = reach * spread / np.maximum(values, 1e-300)
        with np.errstate(over="ignore"):
            lows.append(values * np.exp(-width))
            highs.append(values * np.exp(width))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _in_order(fitting: Fitting) -> list[tuple[int, tuple[int, str]]]:
    """For each number, element by element: its place among all coefficients and shapes."""
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


def _slopes(fitting: Fitting, x: Floats, coefficients: Floats) -> Floats:
    """Slopes of the torques over the noise with coefficients and shapes, (k, p)."""
    A = fitting.over_noise(fitting.columns(x))
    return np.concatenate([A, fitting.bends(x, coefficients) / np.exp(x)], axis=1)


def _free(fitting: Fitting, x: Floats, coefficients: Floats) -> Flags:
    """Numbers that are not at a bound, (p,); a shape of a coefficient that is zero is not free."""
    low, high = _limits(fitting)
    linear = coefficients > LEAST * max(float(coefficients.max(initial=0.0)), 1e-300)
    inside = (x > low + 1e-4) & (x < high - 1e-4)
    J = _slopes(fitting, x, coefficients)
    felt = np.linalg.norm(J[:, len(coefficients) :], axis=0) > 0
    return np.concatenate([linear, inside & felt])


def _deviations(J: Floats, variance: float) -> Floats:
    """Standard deviations from slopes, by singular values; large where a direction is not told."""
    size = np.linalg.norm(J, axis=0)
    size[size == 0] = 1.0
    _, values, Vt = np.linalg.svd(J / size, full_matrices=False)
    least = 1e-12 * values[0]
    parts = (Vt.T / np.maximum(values, least)) ** 2
    return np.asarray(np.sqrt(variance * parts.sum(axis=1)) / size)
