"""What is shown of a robot's flexibility: how far the tool sinks and gives, and its vibrations."""

from __future__ import annotations

import numpy as np

from armtwin.analysis.flexibility import Flexibility
from armtwin.notebook.numbers import DEGREES, Number
from armtwin.notebook.sections import Column, Record, Report, Section, Table, Text

SINKS = Number(1e6, "µm", digits=4, signed=True)
GIVES = Number(1e6, "µm/N", digits=4, signed=True)
TURNS = Number(1e3, "mrad", digits=3, signed=True)
HERTZ = Number(1.0, "Hz", digits=4)
SHARE = Number(1.0, "", digits=3, signed=True)
AXES = "xyz"


def bending_report(found: Flexibility) -> Report:
    """Sag, compliance and modes of the tool."""
    angles = ", ".join(DEGREES.text(float(angle)) for angle in found.q)
    title = f"{found.robot}: how far it gives way"
    sections = (
        Section("", (Text(_what_gives(found)),)),
        Section("Sag and compliance of the tool, base axes", (_tool(found),)),
        Section("Vibrations with the brakes on", (_modes(found),)),
    )
    return Report(title, f"at q = ({angles})°", sections)


def _what_gives(found: Flexibility) -> str:
    joints = ", ".join(found.elastic) or "none"
    links = ", ".join(found.bending) or "none"
    return f"Joints that give way: {joints}. Links that bend: {links}."


def _tool(found: Flexibility) -> Table:
    records: list[Record] = []
    for i, axis in enumerate(AXES):
        record: dict[str, object] = {"axis": axis, "sag_m": float(found.sag[i])}
        record["turn_rad"] = float(found.turn[i])
        if found.force is not None:
            record["pushed_m"] = float(found.pushed[i])
        for j, other in enumerate(AXES):
            record[f"f{other}_m_n"] = float(found.compliance[i, j])
        records.append(record)
    columns = [Column("axis", "along"), Column("sag_m", "sag", SINKS)]
    columns.append(Column("turn_rad", "turn", TURNS))
    if found.force is not None:
        columns.append(Column("pushed_m", "by the force", SINKS))
    columns += [Column(f"f{axis}_m_n", f"per F{axis}", GIVES) for axis in AXES]
    return Table(tuple(columns), records, key="tool")


def _modes(found: Flexibility) -> Table:
    records: list[Record] = []
    for i, frequency in enumerate(found.frequencies):
        record: dict[str, object] = {"mode": i + 1, "frequency_hz": float(frequency)}
        size = float(np.linalg.norm(found.tool[i])) or 1.0
        for axis, motion in zip(AXES, found.tool[i], strict=True):
            record[f"tool_{axis}"] = float(motion) / size
        records.append(record)
    columns = [Column("mode", "mode", Number()), Column("frequency_hz", "frequency", HERTZ)]
    columns += [Column(f"tool_{axis}", f"tool {axis}", SHARE) for axis in AXES]
    return Table(tuple(columns), records, key="modes")
