"""Oil compliance, leakage and viscous friction of a cylinder from its resonance with weights.

    ω² = (1 + B c_h) / (c_o M),    2 β ω = B / M + c_h / c_o

c_o is the compliance, c_h the leakage, B the viscous friction. Two ways:

    document   c_o = mean of 1/(M ω²), which drops B c_h; then the damping is linear in the others,
               β = ½ √(M/c_o) c_h + ½ √(c_o/M) B
    exact      all three together, from frequencies and dampings, by least squares

Ref: [Machielsen 1983, section 6.1.4]
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.files.comma_table import comma_table
from armtwin.files.opening import RESONANCES, read_text
from armtwin.files.schema import Schema
from armtwin.maths.batch import Floats, checked
from armtwin.maths.quantities import Frequency, Mass, Positive

HELD = 0.9  # probability that an interval holds the number


@dataclass(frozen=True)
class Resonance:
    """A row of a table of resonances.

    Attributes:
        mass: The weight on the cylinder [kg].
        frequency: Its natural frequency [Hz].
        damping: Its relative damping.
    """

    mass: Mass
    frequency: Frequency
    damping: Positive


@dataclass(frozen=True)
class _File:
    resonance: tuple[Resonance, ...]


_SCHEMA = Schema(_File, "table of resonances")


def read_resonances(path: str | Path) -> tuple[Resonance, ...]:
    """A table of resonances: mass, frequency, damping, one row for each weight (.csv)."""
    origin = str(path)
    rows = comma_table(read_text(Path(path), RESONANCES), "a row for each weight", origin)
    found: _File = _SCHEMA.read({"resonance": rows}, origin)
    return found.resonance


@dataclass(frozen=True, eq=False)
class OilEstimate:
    """Oil of a cylinder from resonances.

    Attributes:
        compliance: c_o [m/N].
        leakage: c_h [m/(N s)].
        viscous: B [N s/m].
        std: Their standard deviations, from how well the resonances agree, (3,); NaN where as many
            numbers as resonances leave nothing to judge by.
        frequency: Resonances of the fit, (m,) [Hz].
        damping: Dampings of the fit, (m,).
        freedom: Degrees of freedom that the deviations rest on.
    """

    compliance: float
    leakage: float
    viscous: float
    std: Floats
    frequency: Floats
    damping: Floats
    freedom: int

    @property
    def values(self) -> Floats:
        """Compliance, leakage and viscous friction, (3,)."""
        return np.array([self.compliance, self.leakage, self.viscous])

    @property
    def half_width(self) -> Floats:
        """Half widths of intervals that hold the numbers with probability HELD, (3,).

        Student's distribution with the degrees of freedom that the deviations rest on.
        """
        from scipy.stats import t

        return np.asarray(t.ppf(0.5 + 0.5 * HELD, max(self.freedom, 1)) * self.std)


def resonance(
    compliance: float, leakage: float, viscous: float, mass: Floats
) -> tuple[Floats, Floats]:
    """Frequencies [Hz] and relative dampings of weights on a cylinder, (m,) each."""
    omega = np.sqrt((1 + viscous * leakage) / (compliance * mass))
    damping = (viscous / mass + leakage / compliance) / (2 * omega)
    return omega / (2 * np.pi), damping


def _table(
    mass: ArrayLike, frequency: ArrayLike, damping: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    masses = np.asarray(mass, dtype=np.float64)
    if masses.ndim != 1 or len(masses) < 2:
        raise ArmtwinError(f"resonances of at least 2 weights are needed, got {masses.size}")
    shape = (len(masses),)
    columns = []
    for name, values in (("mass", mass), ("frequency", frequency), ("damping", damping)):
        column = checked(name, values, shape, "one for each weight")
        if not (column > 0).all():
            raise ArmtwinError(f"{name} must be greater than 0, got {column.min():g}")
        columns.append(column)
    first, second, third = columns
    return first, second, third


def compliance_of_each(mass: ArrayLike, frequency: ArrayLike) -> Floats:
    """1 / (M ω²) of each weight, (m,) [m/N]."""
    masses, frequencies = np.asarray(mass, float), np.asarray(frequency, float)
    return np.asarray(1 / (masses * (2 * np.pi * frequencies) ** 2))


def by_document(mass: ArrayLike, frequency: ArrayLike, damping: ArrayLike) -> OilEstimate:
    """The document's way: mean compliance, then a linear regression of the dampings.

    Args:
        mass: Weights, (m,) [kg].
        frequency: Their resonances, (m,) [Hz].
        damping: Their relative dampings, (m,).
    """
    M, f, beta = _table(mass, frequency, damping)
    each = compliance_of_each(M, f)
    compliance = float(each.mean())
    columns = np.stack([0.5 * np.sqrt(M / compliance), 0.5 * np.sqrt(compliance / M)], axis=1)
    (leakage, viscous), *_ = np.linalg.lstsq(columns, beta, rcond=None)
    left = beta - columns @ [leakage, viscous]
    spread = np.full(3, np.nan)
    if len(M) > 2:
        variance = left @ left / (len(M) - 2)
        spread[1:] = np.sqrt(variance * np.diag(np.linalg.inv(columns.T @ columns)))
        spread[0] = each.std(ddof=1) / np.sqrt(len(M))
    fitted = resonance(compliance, float(leakage), float(viscous), M)
    freedom = len(M) - 2
    return OilEstimate(compliance, float(leakage), float(viscous), spread, *fitted, freedom)


def exactly(mass: ArrayLike, frequency: ArrayLike, damping: ArrayLike) -> OilEstimate:
    """All three numbers together, from relative errors of frequencies and dampings.

    Args:
        mass: Weights, (m,) [kg].
        frequency: Their resonances, (m,) [Hz].
        damping: Their relative dampings, (m,).
    """
    from scipy.optimize import least_squares

    M, f, beta = _table(mass, frequency, damping)
    start = by_document(M, f, beta)
    guess = [start.compliance, max(start.leakage, 1e-9), max(start.viscous, 1e-3)]

    def off(logs: Floats) -> Floats:
        compliance, leakage, viscous = np.exp(logs)
        fitted, dampings = resonance(compliance, leakage, viscous, M)
        return np.concatenate([fitted / f - 1, dampings / beta - 1])

    found = least_squares(off, np.log(guess), method="lm", xtol=1e-14, ftol=1e-14)
    values = np.exp(found.x)
    spread = np.full(3, np.nan)
    freedom = 2 * len(M) - 3
    if freedom > 0:
        covariance = np.linalg.inv(found.jac.T @ found.jac) * (2 * found.cost / freedom)
        spread = values * np.sqrt(np.diag(covariance))
    compliance, leakage, viscous = (float(x) for x in values)
    fitted = resonance(compliance, leakage, viscous, M)
    return OilEstimate(compliance, leakage, viscous, spread, *fitted, freedom)
