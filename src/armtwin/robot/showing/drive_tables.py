"""Friction and hydraulic drives of a robot as tables of its report."""

from collections.abc import Sequence

import numpy as np

from armtwin.maths.batch import Record
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.sections import Column, Section, Table, list_columns
from armtwin.robot.dynamics.assembly import Assembly
from armtwin.robot.schema.drive_groups import FrictionElement, Hydraulic, On

SPEEDS = (0.1, 1.0)  # at which friction is shown [rad/s or m/s]


def friction_section(assembly: Assembly) -> Section:
    """Friction of each row at two speeds; forces and speeds in m where a row slides."""
    slides = [assembly.slides(row) for _, row in assembly.friction]
    records = []
    for (element, _), is_line in zip(assembly.friction, slides, strict=True):
        records.append({**_element(element), "unit": "N" if is_line else "N m"})
    name = list_columns(name="friction", on="acts on", law="law")
    if not any(slides):
        at_speeds = [Column(f"at {x:g}", f"at {x:g} rad/s", PLAIN) for x in SPEEDS]
        table = Table((*name, *at_speeds), records, "friction")
        return Section("Friction (N m on its row)", (table,))
    at_speeds = [Column(f"at {x:g}", f"at {x:g}", PLAIN) for x in SPEEDS]
    table = Table((*name, *at_speeds, Column("unit", "")), records, "friction")
    return Section("Friction (on its row, at speeds in m/s for N, in rad/s for N m)", (table,))


def row_words(on: On) -> str:
    """What an element acts on: the name of a joint or drive, or a sum of joints."""
    if isinstance(on, str):
        return on
    return " + ".join(f"{weight:g} {joint}" for joint, weight in on.items())


def _element(element: FrictionElement) -> Record:
    torque = element.law.sliding_torque(np.array(SPEEDS)) + (element.offset or 0.0)
    at_speeds = {f"at {speed:g}": x for speed, x in zip(SPEEDS, torque, strict=True)}
    return {"name": element.name, "on": row_words(element.on), "law": element.law.law, **at_speeds}


def hydraulic_section(drives: Sequence[Hydraulic]) -> Section:
    """Oil, no-load speeds and valve of each hydraulic drive."""
    columns = list_columns(
        name="drive",
        compliance=("compliance", PLAIN),
        leakage=("leakage", PLAIN),
        slowest=("from", PLAIN),
        fastest=("to", PLAIN),
        frequency=("valve", Number(1 / (2 * np.pi), "Hz", digits=4)),
        damping=("damping", PLAIN),
        delay=("delay", Number(1e3, "ms", digits=4)),
    )
    title = "Hydraulic drives (m/N, m/(N s), m/s of a cylinder; rad and N m of a motor)"
    records = [_circuit(drive) for drive in drives]
    return Section(title, (Table(columns, records, "hydraulic"),))


def _circuit(drive: Hydraulic) -> Record:
    oil, valve = drive.circuit.oil, drive.circuit.valve
    currents, speeds = oil.flow.T
    limit = valve.current_limit
    slowest, fastest = np.interp([-limit, limit], currents, speeds)
    return {
        "name": drive.name,
        "compliance": oil.compliance,
        "leakage": oil.leakage,
        "slowest": float(slowest),
        "fastest": float(fastest),
        "frequency": valve.frequency,
        "damping": valve.damping,
        "delay": valve.delay,
    }
