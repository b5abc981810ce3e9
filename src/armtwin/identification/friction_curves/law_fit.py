"""Friction laws fitted to torques at constant speeds: separable least squares.

Where the size of the noise is not given, it is one size or grows with the torque, as the rows find
more likely.

Ref: [Golub-Pereyra 2003], [Waiboer 2007, eq. 3.53-3.64]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.intervals import deviations, free_numbers, intervals
from armtwin.identification.friction_curves.shapes import coefficient_names, law_of, shape_names
from armtwin.identification.friction_curves.torque_rows import TorqueRows
from armtwin.identification.friction_curves.valleys import (
    Valley,
    distinct,
    refined,
    solved,
    valleys_of,
)
from armtwin.maths.batch import Floats

ROUNDS = 3  # times that the weights follow the fitted torque
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
        known = TorqueRows(curves, rows, tuple(kinds), curves.std)
        return _estimate(known, valleys_of(known, first))
    one_size = TorqueRows(curves, rows, tuple(kinds), even)
    growing = TorqueRows(curves, rows, tuple(kinds), _with_torque(curves.torque))
    places = valleys_of(growing, first)
    for _ in range(ROUNDS):
        sigma = _with_torque(_fitted(growing, places[0].x))
        growing = TorqueRows(curves, rows, tuple(kinds), sigma)
        places = distinct([refined(growing, place.x) for place in places])
    plain = valleys_of(one_size, first)
    if _unlikely(growing, places[0].left) < _unlikely(one_size, plain[0].left):
        return _estimate(growing, places)
    return _estimate(one_size, plain)


def _with_torque(torque: Floats) -> Floats:
    """Size of noise that grows with the torque, (k,)."""
    size = np.abs(torque)
    return np.maximum(size, FAINTEST * size.max())


def _fitted(fitting: TorqueRows, x: Floats) -> Floats:
    """Torque of the fit, (k,); the measured one where an element stands and holds any torque."""
    moving = fitting.columns(x) @ solved(fitting, x).coefficients
    return np.where(fitting.at_rest.any(axis=1), fitting.curves.torque, moving)


def _unlikely(fitting: TorqueRows, misfit: float) -> float:
    """Minus twice the logarithm of the likelihood, the size of the noise by what is left."""
    rows = len(fitting.sigma) - fitting.lost
    size = max(misfit, 1e-30) / rows
    return rows * float(np.log(size)) + 2 * float(np.log(fitting.sigma).sum())


def _estimate(fitting: TorqueRows, valleys: list[Valley]) -> LawFit:
    """The laws with standard deviations from the slopes of the fit."""
    x = valleys[0].x
    here = solved(fitting, x)
    coefficients, left = here.coefficients, here.left
    values = np.concatenate([coefficients, np.exp(x)])
    used = int(free_numbers(fitting, x, coefficients).sum())
    rows = len(left) - fitting.lost
    freedom = max(rows - used, 1)
    misfit = max(float(left @ left), 1e-30)
    spread = deviations(fitting, x, misfit / freedom)
    low, high = intervals(fitting, valleys, misfit / freedom, freedom)
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
    unlikely = _unlikely(fitting, misfit)
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


def _in_order(fitting: TorqueRows) -> list[tuple[int, tuple[int, str]]]:
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
