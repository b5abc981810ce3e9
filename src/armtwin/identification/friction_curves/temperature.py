"""Friction over temperature: the shape of the law kept, its linear numbers refitted.

    c_v ~ exp(β/T)        ln c_v = β / T + constant, T in kelvin

Asperity friction is expected to stay; what it does is shown beside.

Ref: [Waiboer 2007, section 3.7, eq. 3.66-3.67]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.maths.batch import Floats

SAME = 2.0  # temperatures closer than this are one [K]
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

    Shapes are told by it; of equals the coldest.
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
    laws, deviations = [], []
    for rows in parts:
        chosen = np.zeros(len(curves.torque), dtype=bool)
        chosen[rows] = True
        found, std = _linear(curves.rows(chosen), row, law)
        laws.append(found)
        deviations.append(std)
    name = law.thermal[0]
    place = list(coefficients(law)).index(name)
    values = np.array([float(getattr(found, name)) for found in laws])
    if not (values > 0).all():
        raise ArmtwinError(
            f"{name} must be above 0 at every temperature to tell the viscosity, got "
            f"{values.min():.3g}"
        )
    relative = np.array(deviations)[:, place] / values
    beta, beta_std = _slope(1 / means, np.log(values), relative)
    return TemperatureFit(means, tuple(laws), np.array(deviations), reference, beta, beta_std, name)


def _linear(curves: FrictionCurves, row: Floats, law: Law) -> tuple[Law, Floats]:
    """The law with linear numbers of some rows, its shape kept, and their deviations."""
    acting = row[curves.joint]
    A = law.columns(curves.speeds @ row) * acting[:, None]
    size = np.maximum(np.abs(curves.torque), 0.02 * np.abs(curves.torque).max())
    W, y = A / size[:, None], curves.torque / size
    values, _, rank, _ = np.linalg.lstsq(W, y, rcond=None)
    if rank < A.shape[1]:
        raise ArmtwinError("a curve has too few speeds to tell the linear numbers of its law")
    left = y - W @ values
    freedom = max(len(y) - len(values), 1)
    spread = np.linalg.inv(W.T @ W) * float(left @ left) / freedom
    changes: Any = dict(zip(coefficients(law), values.tolist(), strict=True))
    return replace(law, **changes), np.sqrt(np.diag(spread))


def _slope(x: Floats, y: Floats, sigma: Floats) -> tuple[float, float]:
    """Slope of a line through points with deviations, and its own.

    It is widened where the points lie farther from the line than their deviations say.
    """
    weight = 1 / np.maximum(sigma, 1e-12)
    A = np.column_stack([x - x.mean(), np.ones(len(x))]) * weight[:, None]
    found = np.linalg.lstsq(A, y * weight, rcond=None)[0]
    left = y * weight - A @ found
    freedom = len(x) - 2
    widened = max(1.0, float(left @ left) / freedom) if freedom > 0 else 1.0
    variance = np.linalg.inv(A.T @ A)[0, 0] * widened
    return float(found[0]), float(np.sqrt(variance))
