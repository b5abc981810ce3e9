"""Friction over temperature: one shape of the law for all, its linear numbers fitted to each.

    c_v ~ exp(β/T)        ln c_v = β / T + constant, T in kelvin

Asperity friction is expected to stay; what it does is shown beside.

Ref: [Waiboer 2007, section 3.7, eq. 3.66-3.67]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.fitting import estimate as fits
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.law_fit import grow_with_torque
from armtwin.identification.friction_curves.torque_rows import law_of, shape_names, unit_law
from armtwin.maths.batch import Floats, TwoArrays

SAME = 2.0  # temperatures closer than this are one [K]
UNIDENTIFIABLE = 1e10  # condition number from which a curve has too few speeds
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
        viscosity_half: Half width of its 95 % interval [K].
        thermal: Name of the linear number that β is of.
    """

    temperatures: Floats
    laws: tuple[Law, ...]
    std: Floats
    reference: float
    viscosity: float
    viscosity_std: float
    viscosity_half: float
    thermal: str


def temperatures_of(curves: FrictionCurves) -> list[NDArray[np.intp]]:
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
    return curves.rows(most), float(curves.temperature[most].mean())


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
    tables = [curves.rows(rows) for rows in parts]
    fitted = _fit_shared_shape(tables, row, law)
    count = len(coefficients(law))
    shapes = np.exp(fitted.values[len(tables) * count :])
    linear = fitted.values[: len(tables) * count].reshape(len(tables), -1)
    laws = tuple(law_of(type(law), own, shapes) for own in linear)
    name = law.thermal[0]
    values = np.array([float(getattr(found, name)) for found in laws])
    if not (values > 0).all():
        raise ArmtwinError(
            f"{name} must be above 0 at every temperature to identify the viscosity, got "
            f"{values.min():.3g}"
        )
    place = list(coefficients(law)).index(name) + count * np.arange(len(laws))
    relative = fitted.covariance[np.ix_(place, place)] / np.outer(values, values)
    root = np.linalg.cholesky(np.linalg.pinv(relative)).T
    A = root @ np.column_stack([1 / means - (1 / means).mean(), np.ones(len(means))])
    line = fits.fit(A, root @ np.log(values), fits.RowNoise(known=float(fitted.freedom[0])))
    deviations = fitted.std[: count * len(laws)].reshape(-1, count)
    numbers = (float(line.values[0]), float(line.std[0]), float(line.half_width[0]))
    return TemperatureFit(means, laws, deviations, reference, *numbers, name)


def _fit_shared_shape(
    tables: Sequence[FrictionCurves], row: Floats, law: Law
) -> fits.ParameterEstimate:
    """Linear numbers at each temperature with one shape that suits all, from that of a law on.

    Numbers of each temperature, then the logarithms of the shape: an error of the shape shifts the
    parameters of all temperatures.
    """
    kind = type(law)
    start = np.log([float(getattr(law, name)) for name in shape_names(kind)])
    sizes = [grow_with_torque(table.torque) for table in tables]
    target = np.concatenate(
        [table.torque / size for table, size in zip(tables, sizes, strict=True)]
    )

    def model(x: Floats) -> TwoArrays:
        unit = unit_law(kind, np.exp(x))
        blocks = []
        for table, size in zip(tables, sizes, strict=True):
            acting = row[table.joint] / size
            blocks.append(unit.columns(table.speeds @ row) * acting[:, None])
        return fits.block_diagonal(blocks), target

    found = fits.fit_separable(model, fits.ShapeParameters(start))
    if found.condition > UNIDENTIFIABLE:
        raise ArmtwinError("a curve has too few speeds to identify the linear parameters")
    return found
