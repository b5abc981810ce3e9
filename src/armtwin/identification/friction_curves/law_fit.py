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
ROUNDS = 3  # times that the weights follow the fitted torque
FAINTEST = 0.02  # of the largest torque: relative noise is not taken to be less than of this
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
        ends = np.cumsum([len(shape_names(kind)) for kind in self.kinds])
        return np.split(np.exp(x), ends[:-1])

    def columns(self, x: Floats) -> Floats:
        """Torque per coefficient at the logarithms x of the shapes, (k, p)."""
        w, s = self.speeds, self.acting
        found = []
        for e, (kind, shape) in enumerate(zip(self.kinds, self.shapes_of(x), strict=True)):
            unit = law_of(kind, np.ones(len(coefficient_names(kind))), shape)
            found.append(unit.columns(w[:, e]) * s[:, e : e + 1])
        return np.concatenate(found, axis=1)

    def whitened(self, x: Floats) -> tuple[Floats, Floats]:
        """Columns and torques over the noise, without what standing elements may hold."""
        A = self.columns(x) / self.sigma[:, None]
        y = self.curves.torque / self.sigma
        if self._held.shape[1]:
            A -= self._held @ (self._held.T @ A)
            y -= self._held @ (self._held.T @ y)
        return A, y

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
        return _estimate(known, _best(known, first))
    one_size = Fitting(curves, rows, tuple(kinds), even)
    x = _best(one_size, first)
    growing, x_growing = one_size, x
    for _ in range(ROUNDS):
        torque = np.abs(_fitted(growing, x_growing))
        sigma = np.maximum(torque, FAINTEST * torque.max())
        growing = Fitting(curves, rows, tuple(kinds), sigma)
        x_growing, _ = _refined(growing, x_growing)
    plain, relative = _estimate(one_size, x), _estimate(growing, x_growing)
    return relative if relative.unlikely < plain.unlikely else plain


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


def _solved(fitting: Fitting, x: Floats) -> tuple[Floats, Floats]:
    """Coefficients at the logarithms of shapes, none below zero, and what is left over σ."""
    from scipy.optimize import nnls

    A, y = fitting.whitened(x)
    size = np.linalg.norm(A, axis=0)
    size[size == 0] = 1.0
    found, _ = nnls(A / size, y)
    return found / size, y - A @ (found / size)


def _left(fitting: Fitting, x: Floats) -> float:
    return float((_solved(fitting, x)[1] ** 2).sum())


def _best(fitting: Fitting, first: Sequence[Floats | None] | None) -> Floats:
    """Logarithms of the best shapes: element by element over a grid, then all together."""
    low, high = _limits(fitting)
    if not len(low):
        return low
    ends = np.cumsum([0, *(len(shape_names(kind)) for kind in fitting.kinds)])
    x = 0.5 * (low + high)
    for e, given in enumerate(first or ()):
        if given is not None:
            x[ends[e] : ends[e + 1]] = np.log(given)
    x = np.clip(x, low, high)
    options: list[tuple[float, Floats]] = [(_left(fitting, x), x)]
    rounds = 1 if len(fitting.kinds) == 1 else 2
    for _ in range(rounds):
        for e, kind in enumerate(fitting.kinds):
            tried = []
            for start in starts(kind, *_span(fitting, e)):
                other = x.copy()
                other[ends[e] : ends[e + 1]] = np.log(start)
                tried.append((_left(fitting, other), other))
            options += tried
            x = min(options, key=lambda option: option[0])[1]
    options.sort(key=lambda option: option[0])
    refined = [_refined(fitting, start) for _, start in options[:REFINED]]
    return min(refined, key=lambda option: option[1])[0]


def _refined(fitting: Fitting, x: Floats) -> tuple[Floats, float]:
    """Logarithms of shapes at a least sum of squares near x, and that sum."""
    from scipy.optimize import least_squares

    low, high = _limits(fitting)
    if not len(x):
        return x, _left(fitting, x)
    inside = np.clip(x, low + 1e-9, high - 1e-9)
    found = least_squares(
        lambda place: _solved(fitting, place)[1],
        inside,
        bounds=(low, high),
        xtol=1e-10,
        ftol=1e-10,
        gtol=1e-10,
    )
    return np.asarray(found.x), float(2 * found.cost)


def _fitted(fitting: Fitting, x: Floats) -> Floats:
    return fitting.columns(x) @ _solved(fitting, x)[0]


def _estimate(fitting: Fitting, x: Floats) -> LawFit:
    """The laws with standard deviations from the slopes of the fit."""
    from scipy.stats import t

    coefficients, left = _solved(fitting, x)
    J = _slopes(fitting, x, coefficients)
    values = np.concatenate([coefficients, np.exp(x)])
    free = _free(fitting, x, coefficients)
    used = int(free.sum())
    rows = len(left) - fitting.lost
    freedom = max(rows - used, 1)
    misfit = max(float(left @ left), 1e-30)
    spread = np.full(len(values), np.nan)
    spread[free] = _deviations(J[:, free], misfit / freedom)
    width = t.ppf(0.5 + 0.5 * HELD, freedom) * spread / np.maximum(values, 1e-300)
    with np.errstate(over="ignore"):
        low, high = values * np.exp(-width), values * np.exp(width)
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
    """Slopes of the whitened torques with coefficients and shapes, (k, p)."""
    A, _ = fitting.whitened(x)
    slopes = [A]
    for i in range(len(x)):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += STEP
        behind[i] -= STEP
        rise = (fitting.whitened(ahead)[0] - fitting.whitened(behind)[0]) @ coefficients
        slopes.append((rise / (2 * STEP) / np.exp(x[i]))[:, None])
    return np.concatenate(slopes, axis=1)


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
