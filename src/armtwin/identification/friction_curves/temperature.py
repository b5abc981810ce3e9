"""Friction over temperature: one shape of the law for all, its linear numbers fitted to each.

    c_v ~ exp(β/T)        ln c_v = β / T + constant, T in kelvin

Asperity friction is expected to stay; what it does is shown beside.

Ref: [Waiboer 2007, section 3.7, eq. 3.66-3.67]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.shapes import coefficient_names, law_of, shape_names
from armtwin.maths.batch import Floats, Pair

SAME = 2.0  # temperatures closer than this are one [K]
FAINTEST = 0.02  # of a curve's largest torque: noise is not taken to be less than of this
STEP = 1e-5  # of the logarithm of a shape number, for slopes
LEAST_SPAN = 4.0  # between the coldest and the warmest curve [K]


@dataclass(frozen=True, eq=False)
class TemperatureFit:
    """Linear numbers of a law at several temperatures, and the viscosity coefficient.

    Attributes:
        temperatures: Mean temperature of each curve, (t,) [K].
        laws: The law at each of them, its shape the same.
        std: Standard deviations of the linear numbers, (t, p).
        reference: Temperature at which the law of the fit holds [K].
        viscosity: Temperature-viscosity coefficient β [K].
        viscosity_std: Its standard deviation [K].
        thermal: Name of the linear number that β is of.
    """

    temperatures: Floats
    laws: tuple[Law, ...]
    std: Floats
    reference: float
    viscosity: float
    viscosity_std: float
    thermal: str


def temperatures_of(curves: FrictionCurves) -> list[Floats]:
    """Rows of each temperature, coldest first; none where temperatures are not known."""
    if np.isnan(curves.temperature).any():
        return []
    order = np.argsort(curves.temperature, kind="stable")
    steps = np.flatnonzero(np.diff(curves.temperature[order]) > SAME) + 1
    return [np.sort(rows) for rows in np.split(order, steps)]


def reference_rows(curves: FrictionCurves) -> tuple[FrictionCurves, float | None]:
    """The curve of the temperature with most rows, and that temperature [K]; all where not known.

    Shapes are identified from it; of equals the coldest.
    """
    parts = temperatures_of(curves)
    if not parts:
        return curves, None
    most = max(parts, key=len)
    chosen = np.zeros(len(curves.torque), dtype=bool)
    chosen[most] = True
    return curves.rows(chosen), float(curves.temperature[most].mean())


def fit_temperature(
    curves: FrictionCurves, row: Floats, law: Law, reference: float
) -> TemperatureFit | None:
    """The law's linear numbers at each temperature, and β; None where they are too few or alike.

    Args:
        curves: Rows of one joint at several temperatures, friction alone.
        row: The element's row of the joints, (n,).
        law: The law at the reference temperature.
        reference: That temperature [K].
    """
    parts = temperatures_of(curves)
    if len(parts) < 2 or not law.thermal:
        return None
    means = np.array([curves.temperature[rows].mean() for rows in parts])
    if np.ptp(means) < LEAST_SPAN:
        return None
    tables = []
    for rows in parts:
        chosen = np.zeros(len(curves.torque), dtype=bool)
        chosen[rows] = True
        tables.append(curves.rows(chosen))
    fitted = _fit_shared_shape(tables, row, law)
    laws = fitted.laws
    name = law.thermal[0]
    values = np.array([float(getattr(found, name)) for found in laws])
    if not (values > 0).all():
        raise ArmtwinError(
            f"{name} must be above 0 at every temperature to identify the viscosity, got "
            f"{values.min():.3g}"
        )
    count = len(coefficients(law))
    place = list(coefficients(law)).index(name) + count * np.arange(len(laws))
    relative = fitted.covariance[np.ix_(place, place)] / np.outer(values, values)
    beta, beta_std = _slope(1 / means, np.log(values), relative)
    deviations = np.sqrt(np.diag(fitted.covariance)[: count * len(laws)]).reshape(-1, count)
    return TemperatureFit(means, laws, deviations, reference, beta, beta_std, name)


class _SharedShapeFit(NamedTuple):
    """Laws of one shape at several temperatures, and the covariance of all of their numbers."""

    laws: tuple[Law, ...]
    covariance: Floats


def _fit_shared_shape(tables: Sequence[FrictionCurves], row: Floats, law: Law) -> _SharedShapeFit:
    """Linear numbers at each temperature with one shape that suits all, from that of a law on.

    Its covariance includes that an error of the shape shifts the parameters of all temperatures.
    """
    from scipy.optimize import least_squares

    kind = type(law)
    names = shape_names(kind)
    start = np.log([float(getattr(law, name)) for name in names])
    sizes = [_size(table) for table in tables]

    def block(x: Floats, k: int) -> Floats:
        unit = law_of(kind, np.ones(len(coefficient_names(kind))), np.exp(x))
        acting = row[tables[k].joint] / sizes[k]
        return np.asarray(unit.columns(tables[k].speeds @ row) * acting[:, None])

    def solve(x: Floats) -> tuple[list[Floats], Floats]:
        values, residual = [], []
        for k, table in enumerate(tables):
            A, y = block(x, k), table.torque / sizes[k]
            found, _, rank, _ = np.linalg.lstsq(A, y, rcond=None)
            if rank < A.shape[1]:
                raise ArmtwinError("a curve has too few speeds to identify the linear parameters")
            values.append(np.asarray(found, dtype=np.float64))
            residual.append(y - A @ found)
        return values, np.concatenate(residual)

    x = start
    if len(names):
        x = least_squares(lambda place: solve(place)[1], start).x
    values, residual = solve(x)
    slopes = _block_diagonal([block(x, k) for k in range(len(tables))])
    for i in range(len(names)):
        step = np.zeros(len(x))
        step[i] = STEP
        rise = []
        for k, found in enumerate(values):
            rise.append((block(x + step, k) - block(x - step, k)) @ found / (2 * STEP))
        slopes = np.column_stack([slopes, np.concatenate(rise)])
    freedom = max(len(residual) - slopes.shape[1], 1)
    covariance = np.linalg.pinv(slopes.T @ slopes) * float(residual @ residual) / freedom
    laws = tuple(law_of(kind, found, np.exp(x)) for found in values)
    return _SharedShapeFit(laws, np.asarray(covariance))


def _size(curves: FrictionCurves) -> Floats:
    """Size of the noise of each row, relative to the torque, (k,) [N m]."""
    size = np.abs(curves.torque)
    return np.maximum(size, FAINTEST * size.max())


def _block_diagonal(blocks: Sequence[Floats]) -> Floats:
    """Blocks along the diagonal of one matrix."""
    rows = sum(len(block) for block in blocks)
    columns = sum(block.shape[1] for block in blocks)
    found = np.zeros((rows, columns))
    row = column = 0
    for block in blocks:
        height, width = block.shape
        found[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return found


def _slope(x: Floats, y: Floats, covariance: Floats) -> Pair:
    """Slope of a line through points of a covariance, and its standard deviation.

    It is widened where the points lie farther from the line than their covariance says.
    """
    A = np.column_stack([x - x.mean(), np.ones(len(x))])
    weight = np.linalg.pinv(covariance)
    spread = np.linalg.inv(A.T @ weight @ A)
    found = spread @ A.T @ weight @ y
    residual = y - A @ found
    freedom = len(x) - 2
    widened = max(1.0, float(residual @ weight @ residual) / freedom) if freedom > 0 else 1.0
    return float(found[0]), float(np.sqrt(spread[0, 0] * widened))
