"""The report of friction curves: the laws taken, those compared, temperature, the curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armtwin.drives.friction.curves import coefficients
from armtwin.files.digests import file_name
from armtwin.identification.friction_curves.document_steps import means_of_series
from armtwin.identification.friction_curves.fit_friction import FrictionFit, FrictionGroup
from armtwin.identification.friction_curves.presliding import PreslidingFit
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Layer, Points
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Record, Report, Section, Table, Text

DRAWN = 200  # points of a fitted curve
SI = Number(digits=4)
KELVIN = Number(1.0, "K", digits=4)
WAYS = {
    "directions": "weight taken out by half the difference of the directions",
    "file": "weight taken out by the robot file",
    "pose": "torques taken as friction alone: the axis along gravity",
}


def friction_report(result: FrictionFit, bending: PreslidingFit | None = None) -> Report:
    """The report of friction laws fitted to curves, with the presliding where it was looked at."""
    sections = [
        Section("", tuple(_numbers(result))),
        Section("Laws compared", tuple(_compared(result))),
    ]
    if any(group.temperature is not None for group in result.groups):
        sections.append(Section("Temperature", tuple(_temperature(result))))
    if bending is not None:
        sections.append(Section("Before sliding", tuple(_presliding(bending))))
    for group in result.groups:
        title = ", ".join(element.name for element in group.elements)
        sections.append(Section(title, tuple(_charts(result, group)), page_only=True))
    how = WAYS[result.gravity]
    if result.curves.bare:
        how = "half the difference of the ways there and back at each place"
    return Report(
        title=f"{result.prior.name}: friction from {_source(result)}",
        subtitle=f"{len(result.curves.torque)} torques at constant speed; {how}",
        sections=tuple(sections),
        verdict=(Text(_verdict(result)),),
    )


def _source(result: FrictionFit) -> str:
    names = [file_name(name.strip(), "") for name in result.curves.origin.split(",")]
    shown = [name for name in names if name]
    if len(shown) > 2:
        return f"{len(shown)} logs"
    return ", ".join(shown) or "given points"


def _verdict(result: FrictionFit) -> str:
    parts = []
    for group in result.groups:
        names = ", ".join(element.name for element in group.elements)
        law = "the laws of the file" if group.chosen == "file" else group.chosen
        size = float(np.abs(group.curves.torque).max())
        parts.append(f"{names}: {law}, {100 * group.fit.rms / size:.2g} % of the largest missed")
    vague = [f"{n.element}.{n.name}" for n in result.table if not n.told]
    sentence = "; ".join(parts) + "."
    if vague:
        sentence += f" Not told by these curves: {', '.join(vague[:6])}"
        sentence += f" and {len(vague) - 6} more." if len(vague) > 6 else "."
    return sentence


def _numbers(result: FrictionFit) -> Iterator[Block]:
    columns = (
        Column("element", "element"),
        Column("law", "law"),
        Column("name", "number"),
        Column("value", "value", SI),
        Column("std", "std", Number(digits=2)),
        Column("low", "95 % from", SI),
        Column("high", "to", SI),
    )
    yield Table(columns, [vars(number) for number in result.table], "numbers")
    if result.curves.unit != "N m":
        yield Text(
            "Torques are in amperes: the robot file has no torque constants, so that no robot file "
            "is written.",
            "bad",
        )
    yield Data("unit", result.curves.unit)
    yield Data("gravity", result.gravity)
    yield Data("joints", list(_records(result)))


def _records(result: FrictionFit) -> Iterator[dict[str, Any]]:
    """What result.json says of each friction element."""
    for group in result.groups:
        for e, element in enumerate(group.elements):
            laws = []
            for name, fit in group.candidates.items():
                own = [k for k, (number, _) in enumerate(fit.names) if number == e]
                keys = [fit.names[k][1] for k in own]
                record: dict[str, Any] = {"law": fit.laws[e].law, "taken": name == group.chosen}
                record["parameters"] = dict(zip(keys, fit.values[own].tolist(), strict=True))
                record["std"] = dict(zip(keys, fit.std[own].tolist(), strict=True))
                pairs = zip(fit.low[own].tolist(), fit.high[own].tolist(), strict=True)
                record["interval"] = dict(zip(keys, pairs, strict=True))
                record["rms_nm"] = fit.rms
                record["criterion"] = fit.criterion
                laws.append(record)
            steps = None
            if group.steps is not None:
                steps = {k: v for k, v in vars(group.steps).items() if k != "law"}
            yield {"name": element.name, "laws": laws, "linear_steps": steps}


def _compared(result: FrictionFit) -> Iterator[Block]:
    records: list[Record] = []
    for group in result.groups:
        names = ", ".join(element.name for element in group.elements)
        least = min(fit.criterion for fit in group.candidates.values())
        for name, fit in sorted(group.candidates.items(), key=lambda pair: pair[1].criterion):
            size = float(np.abs(group.curves.torque).max())
            records.append(
                {
                    "elements": names,
                    "law": name,
                    "count": fit.count,
                    "rms": fit.rms,
                    "share": 100 * fit.rms / size,
                    "behind": fit.criterion - least,
                    "taken": "taken" if name == group.chosen else "",
                }
            )
    columns = (
        Column("elements", "friction"),
        Column("law", "law"),
        Column("count", "numbers", Number()),
        Column("rms", f"missed {result.curves.unit}", Number(digits=3)),
        Column("share", "% of largest", Number(digits=2)),
        Column("behind", "behind", Number(digits=3)),
        Column("taken", ""),
    )
    yield Table(columns, records, "compared")
    yield Text(
        "Behind: Akaike's criterion, corrected for few points, less the best one; 2 is little, 10 "
        "decides. More numbers must gain more than they are worth.",
        "soft",
    )


def _temperature(result: FrictionFit) -> Iterator[Block]:
    records: list[Record] = []
    for group in result.groups:
        warm = group.temperature
        if warm is None:
            continue
        for kelvin, law in zip(warm.temperatures, warm.laws, strict=True):
            numbers = coefficients(law)
            dry = sum(value for name, value in numbers.items() if name in law.dry)
            record = {"element": group.elements[0].name, "temperature": float(kelvin)}
            records.append({**record, "dry": dry, "viscous": numbers[warm.thermal]})
        yield Text(
            f"{group.elements[0].name}: viscosity coefficient {warm.viscosity:.4g} ± "
            f"{1.96 * warm.viscosity_std:.2g} K (95 %), the shape of the law kept."
        )
    columns = (
        Column("element", "element"),
        Column("temperature", "temperature", KELVIN),
        Column("dry", "dry", PLAIN),
        Column("viscous", "viscous", PLAIN),
    )
    yield Table(columns, records, "temperature.curves")
    found = []
    for group in result.groups:
        warm = group.temperature
        if warm is not None:
            name = group.elements[0].name
            found.append({"name": name, "viscosity_k": warm.viscosity, "std": warm.viscosity_std})
    yield Data("temperature.viscosity", found)


def _presliding(bending: PreslidingFit) -> Iterator[Block]:
    if bending.refused:
        yield Text(bending.refused, "bad")
    else:
        yield Text(
            f"{bending.joint}: stiffness {bending.stiffness:.3g} ± {1.96 * bending.std:.2g} "
            f"N m/rad (95 %), break-away {bending.level:.4g} N m, from {bending.way}; the encoder "
            f"has {bending.steps:.0f} steps in the elastic travel."
        )
    yield Data("presliding", bending.record())


def presliding_report(result: PreslidingFit) -> Report:
    """The report of what comes before sliding."""
    order = np.argsort(result.displacement)
    x, torque = result.displacement[order], result.torque[order]
    layers: list[Layer] = [Points("measured", 1e6 * x, torque)]
    if not result.refused:
        share = -np.expm1(-x / result.travel)
        layers.append(Curve("exponential", 1e6 * x, result.level * share))
    axes = Axis("displacement", "µrad"), Axis("rise of the torque", "N m")
    chart = Chart("From rest or a reversal", *axes, tuple(layers))
    return Report(
        title=f"{result.joint}: friction before sliding",
        subtitle=f"from {result.way}",
        sections=(
            Section("", tuple(_presliding(result))),
            Section("Torque over displacement", (chart,), page_only=True),
        ),
    )


def _of_elements(result: FrictionFit, group: FrictionGroup) -> Multiples:
    """Laws of elements that share joints, over their own speeds."""
    speeds = np.abs(group.curves.speeds @ group.rows.T)
    layers: list[Layer] = []
    for e, (element, law) in enumerate(zip(group.elements, group.fit.laws, strict=True)):
        moving = speeds[:, e][speeds[:, e] > 0]
        even = np.geomspace(moving.min(), moving.max(), DRAWN)
        values = np.array(list(coefficients(law).values()))
        layers.append(Curve(f"{element.name}, {law.law}", even, law.columns(even) @ values))
    unit = result.curves.unit
    charts = []
    for title, logarithmic in (("linear", False), ("logarithmic", True)):
        x = Axis("speed of the element", "rad/s", logarithmic=logarithmic)
        y = Axis("friction", unit, logarithmic=logarithmic)
        charts.append(Chart(title, x, y, tuple(layers)))
    return Multiples(tuple(charts), columns=2, shared="")


def _charts(result: FrictionFit, group: FrictionGroup) -> Iterator[Block]:
    if len(group.elements) > 1:
        yield _of_elements(result, group)
    for j in np.unique(group.curves.joint).tolist():
        rows = group.curves.joint == j
        name = group.curves.joint_names[j]
        if len(group.elements) > 1:
            yield _fit_against_rows(result, group, rows, name)
            continue
        v, tau = group.curves.speed[rows], group.curves.torque[rows]
        means = means_of_series(v, tau)
        spread = np.nan_to_num(means.spread)
        even = np.geomspace(means.speed.min(), means.speed.max(), DRAWN)
        layers: list[Layer] = [
            Points("mean of the series", means.speed, means.torque, y_error=spread)
        ]
        best = sorted(group.candidates, key=lambda law: group.candidates[law].criterion)[:3]
        for law in dict.fromkeys([group.chosen, *best]):
            layers.append(Curve(law, even, _law_at(group, law, even, j)))
        torque = Axis("friction", result.curves.unit)
        level = Axis("speed", "rad/s")
        logarithms = (
            Axis("speed", "rad/s", logarithmic=True),
            Axis("friction", result.curves.unit, logarithmic=True),
        )
        charts = (
            Chart(f"{name}, linear", level, torque, tuple(layers)),
            Chart(f"{name}, logarithmic", *logarithms, tuple(layers)),
        )
        caption = "Bars: standard deviation of the series (squares over their number less one)."
        yield Multiples(charts, columns=2, shared="", caption=caption)


def _law_at(group: FrictionGroup, name: str, speed: Floats, j: int) -> Floats:
    """Friction of the group's one element on joint j at its speeds."""
    law = group.candidates[name].laws[0]
    lever = group.rows[0, j]
    values = np.array(list(coefficients(law).values()))
    return np.asarray(law.columns(lever * speed) @ values * lever)


def _fit_against_rows(
    result: FrictionFit, group: FrictionGroup, rows: np.ndarray, name: str
) -> Chart:
    whole = rows & np.isfinite(group.fit.residual)
    tau, fitted = group.curves.torque[whole], group.fit.fitted[whole]
    span = np.array([float(tau.min()), float(tau.max())])
    layers = (Curve("equal", span, span, colour=6), Points("", tau, fitted))
    unit = result.curves.unit
    return Chart(f"{name}", Axis("measured", unit), Axis("fitted", unit), layers)
