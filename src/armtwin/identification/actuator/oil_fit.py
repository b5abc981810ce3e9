"""`fit_oil`: the oil of a cylinder from a table of resonances, and what it shows of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from armtwin.files.digests import file_name
from armtwin.identification.actuator.oil import (
    OilEstimate,
    Resonance,
    by_document,
    exactly,
    read_resonances,
    resonance,
)
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Points
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Report, Section, Table, Text
from armtwin.report.result import Result

QUANTITIES = (("compliance", "m/N"), ("leakage", "m/(N s)"), ("viscous", "N s/m"))
DRAWN = 200  # points of a fitted curve
HERTZ = Number(1.0, "Hz", digits=4)


@dataclass(frozen=True, eq=False, repr=False)
class OilFit(Result):
    """Oil of a cylinder from a table of resonances, the document's way and exactly.

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
    def table(self) -> list[dict[str, float | str]]:
        """A record for each number: both ways, and the interval of the exact one."""
        records: list[dict[str, float | str]] = []
        widths = self.exact.half_width
        for k, (name, unit) in enumerate(QUANTITIES):
            records.append(
                {
                    "name": name,
                    "unit": unit,
                    "document": float(self.document.values[k]),
                    "value": float(self.exact.values[k]),
                    "half_width": float(widths[k]),
                    "std": float(self.exact.std[k]),
                }
            )
        return records

    def sections(self) -> Report:
        """The numbers both ways, and the resonances over the weights."""
        return Report(
            title=f"{file_name(self.origin, 'resonances')}: oil of a cylinder",
            subtitle=f"{len(self.resonances)} weights",
            sections=(
                Section("", _numbers(self)),
                Section("Weights", _weights(self)),
                Section("Resonances over the weight", _charts(self), page_only=True),
            ),
            verdict=(_verdict(self.exact),),
        )


def _verdict(exact: OilEstimate) -> Text:
    parts = []
    for (name, unit), value, width in zip(QUANTITIES, exact.values, exact.half_width, strict=True):
        parts.append(f"{name} {PLAIN.with_width(value, width)} {unit}")
    return Text(f"Oil: {', '.join(parts)} (90 %).")


def _numbers(result: OilFit) -> Iterator[Block]:
    columns = (
        Column("name", "number"),
        Column("unit", "unit"),
        Column("document", "document", PLAIN),
        Column("value", "exact", PLAIN),
        Column("half_width", "± 90 %", PLAIN),
    )
    yield Table(columns, result.table, "oil")
    dropped = 1 + result.exact.viscous * result.exact.leakage
    yield Text(
        "Document: the compliance is the mean of 1/(M ω²), then damping is linear in the "
        f"others; that takes 1 + B c_h for 1, which is {dropped:.3f} here. Exact: all three "
        "together; Student's intervals from how well the resonances agree.",
        "soft",
    )


def _weights(result: OilFit) -> Iterator[Block]:
    columns = (
        Column("mass", "mass", Number(1.0, "kg", digits=4)),
        Column("frequency", "frequency", HERTZ),
        Column("frequency_fit", "fit", HERTZ),
        Column("damping", "damping", Number()),
        Column("damping_fit", "fit", Number()),
    )
    exact = result.exact
    records = []
    for k, row in enumerate(result.resonances):
        fitted = {"frequency_fit": float(exact.frequency[k])}
        records.append({**asdict(row), **fitted, "damping_fit": float(exact.damping[k])})
    yield Table(columns, records, "weights")


def _charts(result: OilFit) -> Iterator[Block]:
    mass = np.array([row.mass for row in result.resonances])
    even = np.linspace(mass.min(), mass.max(), DRAWN)
    charts = []
    for k, (name, unit) in enumerate((("frequency", "Hz"), ("damping", ""))):
        measured = np.array([getattr(row, name) for row in result.resonances])
        points = Points("measured", mass, measured)
        curves = []
        for label, estimate in (("exact", result.exact), ("document", result.document)):
            compliance, leakage, viscous = estimate.values.tolist()
            fitted = resonance(compliance, leakage, viscous, even)
            curves.append(Curve(label, even, fitted[k]))
        charts.append(Chart(name, Axis("mass", "kg"), Axis(name, unit), (points, *curves)))
    yield Multiples(tuple(charts), columns=2, shared="x")


def fit_oil(resonances: str | Path | Sequence[Resonance]) -> OilFit:
    """Oil compliance, leakage and viscous friction of a cylinder from its resonances with weights.

    Args:
        resonances: A table (.csv) of mass, frequency and damping, or its rows.
    """
    origin = ""
    if isinstance(resonances, str | Path):
        origin, rows = str(resonances), read_resonances(resonances)
    else:
        rows = tuple(resonances)
    mass = [row.mass for row in rows]
    measured = [row.frequency for row in rows], [row.damping for row in rows]
    return OilFit(rows, by_document(mass, *measured), exactly(mass, *measured), origin)
