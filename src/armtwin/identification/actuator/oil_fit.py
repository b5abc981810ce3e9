"""`fit_oil`: the oil of a cylinder from a table of resonances, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.files.comma_table import comma_table
from armtwin.files.digests import file_name
from armtwin.files.opening import RESONANCES, read_text
from armtwin.files.schema import Schema
from armtwin.identification.fitting import estimate as fits
from armtwin.maths.batch import Floats, Record, TwoArrays, check_array
from armtwin.maths.quantities import Frequency, Mass, Positive
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import HERTZ, PLAIN, Number, list_estimates
from armtwin.report.result import Result


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
        std: Their standard deviations, from how well the resonances agree, (3,); NaN without
            degrees of freedom.
        half_width: Half widths of their 95 % intervals, (3,).
        frequency: Resonances of the fit, (m,) [Hz].
        damping: Dampings of the fit, (m,).
    """

    compliance: float
    leakage: float
    viscous: float
    std: Floats
    half_width: Floats
    frequency: Floats
    damping: Floats

    @property
    def values(self) -> Floats:
        """Compliance, leakage and viscous friction, (3,)."""
        return np.array([self.compliance, self.leakage, self.viscous])


def compute_resonance(compliance: float, leakage: float, viscous: float, mass: Floats) -> TwoArrays:
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
        column = check_array(name, values, shape, "one for each weight")
        if not (column > 0).all():
            raise ArmtwinError(f"{name} must be greater than 0, got {column.min():g}")
        columns.append(column)
    first, second, third = columns
    return first, second, third


def compliance_of_each(mass: ArrayLike, frequency: ArrayLike) -> Floats:
    """1 / (M ω²) of each weight, (m,) [m/N]."""
    masses, frequencies = np.asarray(mass, float), np.asarray(frequency, float)
    return 1 / (masses * (2 * np.pi * frequencies) ** 2)


def fit_by_document(mass: ArrayLike, frequency: ArrayLike, damping: ArrayLike) -> OilEstimate:
    """The document's method: mean compliance, then a linear regression of the dampings.

    Args:
        mass: Weights, (m,) [kg].
        frequency: Their resonances, (m,) [Hz].
        damping: Their relative dampings, (m,).
    """
    M, f, beta = _table(mass, frequency, damping)
    mean = fits.mean_of(compliance_of_each(M, f))
    compliance = mean.values[0]
    columns = np.stack([0.5 * np.sqrt(M / compliance), 0.5 * np.sqrt(compliance / M)], axis=1)
    return _oil(M, (mean, fits.fit(columns, beta)), len(M) - 2)


def _oil(M: Floats, parts: Sequence[fits.ParameterEstimate], freedom: int) -> OilEstimate:
    """The oil by parts of its parameters, and the resonances that follow."""
    values = np.concatenate([part.values for part in parts])
    std = np.concatenate([part.std for part in parts])
    half_width = np.concatenate([part.half_width for part in parts])
    if freedom < 1:
        std = half_width = np.full(3, np.nan)
    compliance, leakage, viscous = (float(x) for x in values)
    fitted = compute_resonance(compliance, leakage, viscous, M)
    return OilEstimate(compliance, leakage, viscous, std, half_width, *fitted)


def fit_exactly(mass: ArrayLike, frequency: ArrayLike, damping: ArrayLike) -> OilEstimate:
    """All three numbers together, from relative errors of frequencies and dampings.

    Args:
        mass: Weights, (m,) [kg].
        frequency: Their resonances, (m,) [Hz].
        damping: Their relative dampings, (m,).
    """
    M, f, beta = _table(mass, frequency, damping)
    start = fit_by_document(M, f, beta)
    guess = [start.compliance, max(start.leakage, 1e-9), max(start.viscous, 1e-3)]

    def model(logs: Floats) -> TwoArrays:
        compliance, leakage, viscous = np.exp(logs)
        fitted, dampings = compute_resonance(compliance, leakage, viscous, M)
        off = np.concatenate([fitted / f - 1, dampings / beta - 1])
        return np.zeros((len(off), 0)), off

    found = fits.fit_separable(model, fits.ShapeParameters(np.log(guess), close=1e-14))
    return _oil(M, (found.exponential(),), 2 * len(M) - 3)


QUANTITIES = (("compliance", "m/N"), ("leakage", "m/(N s)"), ("viscous", "N s/m"))
CURVE_POINTS = 200  # points of a fitted curve


@dataclass(frozen=True, eq=False, repr=False)
class OilFit(Result):
    """Oil of a cylinder from a table of resonances, by the document's method and exactly.

    Attributes:
        resonances: The table.
        document: By the mean compliance and a linear regression.
        exact: All numbers together.
        origin: The table's file, "" for none.
    """

    resonances: tuple[Resonance, ...]
    document: OilEstimate
    exact: OilEstimate
    origin: str = ""

    @property
    def table(self) -> list[Record]:
        """A record for each parameter: both methods, and the interval of the exact one."""
        names, units = zip(*QUANTITIES, strict=True)
        exact = self.exact
        return show.tabulate(
            name=names,
            unit=units,
            document=self.document.values,
            value=exact.values,
            half_width=exact.half_width,
            std=exact.std,
        )

    def sections(self) -> show.Report:
        """The parameters by both methods, and the resonances over the weights."""
        numbers = {name: Number(unit=unit, digits=4) for name, unit in QUANTITIES}
        found = list_estimates(numbers, self.exact.values, self.exact.half_width)
        return show.Report(
            title=f"{file_name(self.origin, 'resonances')}: oil of a cylinder",
            subtitle=f"{len(self.resonances)} weights",
            sections=(
                show.Section("", _numbers(self)),
                show.Section("Weights", _weights(self)),
                show.Section("Resonances over the weight", _charts(self), page_only=True),
            ),
            verdict=(show.Text(f"Oil: {found} (95 %)."),),
        )


def _numbers(result: OilFit) -> show.Blocks:
    columns = show.list_columns(
        name="parameter",
        unit="unit",
        document=("document", PLAIN),
        value=("exact", PLAIN),
        half_width=("± 95 %", PLAIN),
    )
    yield show.Table(columns, result.table, "oil")
    dropped = 1 + result.exact.viscous * result.exact.leakage
    yield show.Text(
        "Document: the compliance is the mean of 1/(M ω²), then damping is linear in the "
        f"others; that takes 1 + B c_h for 1, which is {dropped:.3f} here. Exact: all three "
        "together; Student's intervals from how well the resonances agree.",
        "soft",
    )


def _weights(result: OilFit) -> show.Blocks:
    rows, exact = result.resonances, result.exact
    yield show.Table.of(
        "weights",
        mass=([row.mass for row in rows], "mass", Number(1.0, "kg", digits=4)),
        frequency=([row.frequency for row in rows], "frequency", HERTZ),
        frequency_fit=(exact.frequency, "fit", HERTZ),
        damping=([row.damping for row in rows], "damping", Number()),
        damping_fit=(exact.damping, "fit", Number()),
    )


def _charts(result: OilFit) -> show.Blocks:
    mass = np.array([row.mass for row in result.resonances])
    even = np.linspace(mass.min(), mass.max(), CURVE_POINTS)
    charts = []
    for k, (name, unit) in enumerate((("frequency", "Hz"), ("damping", ""))):
        measured = np.array([getattr(row, name) for row in result.resonances])
        points = show.Points("measured", mass, measured)
        curves = []
        for label, estimate in (("exact", result.exact), ("document", result.document)):
            compliance, leakage, viscous = estimate.values.tolist()
            fitted = compute_resonance(compliance, leakage, viscous, even)
            curves.append(show.Curve(label, even, fitted[k]))
        charts.append(
            show.Chart(name, show.Axis("mass", "kg"), show.Axis(name, unit), (points, *curves))
        )
    yield show.Multiples(tuple(charts), columns=2, shared="x")


def fit_oil(resonances: str | Path | Sequence[Resonance]) -> OilFit:
    """Oil compliance, leakage and viscous friction of a cylinder from its resonances with weights.

    Args:
        resonances: A table (.csv) of mass, frequency and damping, or its rows.
    """
    origin = ""
    if isinstance(resonances, str | PathLike):
        origin, rows = str(resonances), read_resonances(resonances)
    else:
        rows = tuple(resonances)
    mass = [row.mass for row in rows]
    measured = [row.frequency for row in rows], [row.damping for row in rows]
    return OilFit(rows, fit_by_document(mass, *measured), fit_exactly(mass, *measured), origin)
