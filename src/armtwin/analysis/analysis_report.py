"""What is shown of an analysis: torques by causes, coupling, effective inertia."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from armtwin.analysis.coupling import Coupled, Coupling
from armtwin.analysis.inertia import EffectiveInertia
from armtwin.analysis.states import States
from armtwin.analysis.torques import CAUSES, SEEN, Shares, TorqueShares
from armtwin.analysis.workspace import ALONG_EDGE, BOUNDARY
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import PERCENT, PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Record, Report, Section, Table, Text
from armtwin.robot.robot import Robot

FORCE = Number(digits=3)
HEADS = {
    "inertial": "inertial",
    "coupling": "coupling",
    "centripetal": "centrip.",
    "coriolis": "Coriolis",
    "gravity": "gravity",
    "spin": "spin",
    "friction": "friction",
    "total": "total",
    "square": "v²",
    "viscous": "viscous",
    "external": "external",
}


def torques_report(result: TorqueShares) -> Report:
    """Torques of a robot by what causes them."""
    title = f"{result.robot.name}: torques by what causes them"
    sections = []
    groups = {"joint": result.joints, "drive": result.drives}
    for what, shares in groups.items():
        if shares is not None:
            sections.append(_share_section(what, shares, result.states))
    if result.drives is None:
        why = Text("Its drives do not determine its joints: torques are those of the joints.")
        sections.append(Section("", (why,)))
    return Report(title, _where(result.robot, result.states), tuple(sections), (_largest(result),))


def _largest(result: TorqueShares) -> Text:
    """Which cause is the largest on most joints."""
    causes = (*CAUSES, "friction")
    sizes = np.array([result.joints.rms(name) for name in causes])
    sums = sizes.sum(axis=0)
    shares = sizes / np.where(sums > 0, sums, 1.0)
    words = []
    for name, share in sorted(zip(causes, shares.mean(axis=1), strict=True), key=lambda x: -x[1]):
        if share >= 0.005:
            words.append(f"{name} {100 * share:.0f} %")
    return Text(f"Of the joint torques, mean share of the joints: {', '.join(words) or 'none'}.")


def _share_section(what: str, shares: Shares, states: States) -> Section:
    blocks: list[Block] = []
    kind = "at the posture" if states.alone else "root mean square along the motion"
    units = sorted(set(shares.axes.force_units))
    measure = f"Numbers in {units[0]} are" if len(units) == 1 else "Numbers are"
    blocks.append(Text(f"{measure} {kind}; friction is not in the total."))
    blocks.append(_share_table(what, shares, states, (*CAUSES, "friction", "total"), "causes"))
    blocks.append(Text("As a controller of one axis sees them:"))
    blocks.append(_share_table(what, shares, states, (*SEEN, "total"), "seen"))
    if not states.alone:
        blocks.append(_share_charts(shares, states))
    return Section(f"{what.capitalize()}s", tuple(blocks))


def _share_table(
    what: str, shares: Shares, states: States, names: Sequence[str], key: str
) -> Table:
    shown = [name for name in names if name != "spin" or _spins(shares)]
    columns = [Column("axis", what)]
    if len(set(shares.axes.force_units)) > 1:
        columns.append(Column("unit", ""))
    columns += [Column(name, HEADS[name], FORCE) for name in shown]
    records = []
    for i, (axis, unit) in enumerate(zip(shares.axes.names, shares.axes.force_units, strict=True)):
        record: dict[str, object] = {"axis": axis, "unit": unit}
        for name in names:
            values = getattr(shares, name)[:, i]
            record[name] = float(values[0] if states.alone else np.sqrt(np.mean(values**2)))
        records.append(record)
    return Table(tuple(columns), records, f"{what}s.{key}")


def _spins(shares: Shares) -> bool:
    """Whether rotors' gyroscopic coupling is more than rounding."""
    size = np.abs(shares.total).max()
    return bool(np.abs(shares.spin).max() > 1e-9 * max(size, 1.0))


def _share_charts(shares: Shares, states: States) -> Multiples:
    charts = []
    names = [name for name in (*CAUSES, "friction") if name != "spin" or _spins(shares)]
    for i, (axis, unit) in enumerate(zip(shares.axes.names, shares.axes.force_units, strict=True)):
        layers = []
        for name in names:
            layers.append(Curve(name, states.time, getattr(shares, name)[:, i]))
        quantity = "force" if unit == "N" else "torque"
        charts.append(Chart(axis, Axis("time", "s"), Axis(quantity, unit), tuple(layers)))
    return Multiples(tuple(charts), columns=2, shared="x", title="Over time")


def coupling_report(result: Coupling) -> Report:
    """Inertial coupling of a robot's joints and drives."""
    title = f"{result.robot.name}: inertial coupling"
    sections = []
    groups = {"joint": result.joints, "drive": result.drives}
    for what, found in groups.items():
        if found is not None:
            section = Section(f"{what.capitalize()}s", tuple(_coupled(what, found, result.states)))
            sections.append(section)
    verdict = _coupling_sentence(result)
    return Report(title, _where(result.robot, result.states), tuple(sections), (verdict,))


def _coupling_sentence(result: Coupling) -> Text:
    largest = f"{100 * result.joints.factor.max():.0f} % at most between the joints"
    if result.drives is not None:
        largest += f", {100 * result.drives.factor.max():.0f} % between the drives"
    return Text(f"Inertial coupling: {largest}.")


def _coupled(what: str, found: Coupled, states: States) -> Iterator[Block]:
    yield Text("Factor: √(Σ M_ij² over the others) / M_ii, of axes of the same kind.")
    columns: tuple[Column, ...] = (Column("axis", what), Column("factor", "factor", PERCENT))
    if not states.alone:
        columns = (
            Column("axis", what),
            Column("smallest", "smallest", PERCENT),
            Column("factor", "mean", PERCENT),
            Column("largest", "largest", PERCENT),
        )
    records = []
    for i, name in enumerate(found.axes.names):
        factor = found.factor[:, i]
        records.append(
            {
                "axis": name,
                "smallest": float(factor.min()),
                "factor": float(factor.mean()),
                "largest": float(factor.max()),
            }
        )
    yield Table(columns, records, f"{what}s.coupling")
    if states.alone:
        yield Text(f"Inertia matrix of the {what}s:")
        yield _matrix(found.axes.names, found.M[0], f"{what}s.inertia")
    else:
        yield _factor_chart(found, states)


def _matrix(names: Sequence[str], M: Floats, key: str) -> Table:
    columns = [Column("axis", ""), *(Column(name, name, Number(digits=6)) for name in names)]
    records: list[Record] = []
    for name, row in zip(names, M, strict=True):
        records.append({"axis": name, **dict(zip(names, map(float, row), strict=True))})
    return Table(tuple(columns), records, key)


def _factor_chart(found: Coupled, states: States) -> Chart:
    layers = []
    for i, name in enumerate(found.axes.names):
        layers.append(Curve(name, states.time, 100 * found.factor[:, i]))
    return Chart(
        "Coupling factors over time", Axis("time", "s"), Axis("factor", "%"), tuple(layers)
    )


def inertia_report(result: EffectiveInertia) -> Report:
    """Effective inertia of each drive, its extremes and natural frequencies."""
    title = f"{result.robot.name}: what each drive has to move"
    subtitle = f"effective inertia {result.chosen}"
    if result.load_name:
        subtitle += f"; with load: {result.load_name}"
    blocks = tuple(_inertia_blocks(result))
    sections = [Section("", blocks)]
    if result.swings is not None:
        sections.append(Section("On their oil", tuple(_swing_blocks(result))))
    ratios = result.values.max(axis=0) / result.values.min(axis=0)
    worst = int(np.argmax(ratios))
    verdict = Text(
        f"Effective inertia changes most at {result.axes.names[worst]}: by a factor of "
        f"{PLAIN.text(ratios[worst])}."
    )
    return Report(title, subtitle, tuple(sections), (verdict,))


def _inertia_blocks(result: EffectiveInertia) -> Iterator[Block]:
    columns = [
        Column("axis", "drive"),
        Column("unit", ""),
        Column("smallest", "least", PLAIN),
        Column("largest", "most", PLAIN),
        Column("ratio", "ratio", PLAIN),
    ]
    if result.load is not None:
        columns += [
            Column("smallest_loaded", "least, load", PLAIN),
            Column("largest_loaded", "most, load", PLAIN),
            Column("ratio_loaded", "ratio", PLAIN),
            Column("ratio_overall", "overall", PLAIN),
        ]
    yield Table(tuple(columns), result.table, "drives.inertia")
    yield Data("postures", len(result.q))
    yield Data("chosen", result.chosen)
    if result.chosen == BOUNDARY:
        last = 1 + 4 * ALONG_EDGE
        yield Text(
            f"Posture 1 is home, up to {last} go the four edges of r and z from the inner lower "
            f"corner outwards, then {ALONG_EDGE} each go through φ, γ and ψ.",
            "soft",
        )
    if len(result.q) > 1:
        yield _inertia_charts(result)


def _inertia_charts(result: EffectiveInertia) -> Multiples:
    place = np.arange(1.0, len(result.q) + 1)
    charts = []
    units = result.axes.inertia_units
    for i, (name, unit) in enumerate(zip(result.axes.names, units, strict=True)):
        layers = [Curve("without load", place, result.values[:, i])]
        if result.load is not None:
            layers.append(Curve(result.load_name, place, result.load[:, i]))
        charts.append(Chart(name, Axis("posture"), Axis("inertia", unit), tuple(layers)))
    return Multiples(tuple(charts), columns=2, shared="x", title="Effective inertia")


def _swing_blocks(result: EffectiveInertia) -> Iterator[Block]:
    swings = result.swings
    assert swings is not None
    where = "home" if result.chosen == BOUNDARY else "the first posture"
    yield Text(f"Natural frequencies at {where}, valves shut.")
    columns = (
        Column("axis", "drive"),
        Column("frequency_hz", "alone", Number(1.0, "Hz", digits=4)),
        Column("damping", "damping", Number(digits=3)),
    )
    yield Table(columns, result.table)
    coupled = ", ".join(f"{x:.4g}" for x in swings.coupled)
    yield Text(f"All drives together: {coupled} Hz.")
    yield Data("coupled_hz", swings.coupled)
    yield Data("coupled_damping", swings.coupled_damping)


def _where(robot: Robot, states: States) -> str:
    """The states in words."""
    mounted = robot.description.mounted
    held = " and ".join(name for name in (mounted.tool, mounted.payload) if name)
    carrying = f", carrying {held}" if held else ""
    if states.alone:
        return f"at one posture{carrying}"
    length = states.time[-1] - states.time[0]
    return f"along {length:.4g} s of motion, {len(states.time)} states{carrying}"
