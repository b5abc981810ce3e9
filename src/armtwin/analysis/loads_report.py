"""What is shown of bearing loads: the peak on each bearing, in each link and rod, and when."""

from __future__ import annotations

import numpy as np

from armtwin.analysis.bearing_loads import BearingLoads
from armtwin.maths.batch import Floats
from armtwin.notebook.numbers import NEWTON_METRES, SECONDS, Number
from armtwin.notebook.sections import Block, Column, Record, Report, Section, Table, Text

NEWTONS = Number(1.0, "N", digits=4)


def loads_report(loads: BearingLoads) -> Report:
    """Peaks of the moments on bearings and of the forces in links."""
    title = f"{loads.robot}: loads on bearings and links"
    subtitle = "at one posture"
    if len(loads.time) > 1:
        length = SECONDS.with_unit(float(np.ptp(loads.time)))
        subtitle = f"along {length} of motion, {len(loads.time)} states"
    sections = [Section("Drives, without friction", (_drives(loads),))]
    return Report(title, subtitle, (*sections, Section("Loads", load_blocks(loads))))


def load_blocks(loads: BearingLoads) -> tuple[Block, ...]:
    """Peaks on bearings, in links and in rods."""
    blocks: list[Block] = [_bearings(loads), _links(loads)]
    if loads.rods:
        blocks.append(_rods(loads))
    return (*blocks, _note(loads))


def _note(loads: BearingLoads) -> Text:
    words = (
        "Links are rigid, and the body of each acts at its joint: a link shows what it carries for "
        "others. Moments about a joint's own axis are its torque and not shown with its bearing."
    )
    values = (loads.moments, loads.axial, loads.bending, loads.torsion)
    if any(np.isnan(value).any() for value in values):
        words += " Where nothing stands, more than one part could carry it."
    return Text(words)


def _peak(values: Floats, time: Floats) -> tuple[float | None, float | None]:
    """Largest size and its time; none where it is not determined."""
    if np.isnan(values).all():
        return None, None
    at = int(np.nanargmax(np.abs(values)))
    return float(values[at]), float(time[at])


def _mean(values: Floats) -> float | None:
    """Root mean square."""
    return None if np.isnan(values).all() else float(np.sqrt(np.mean(values**2)))


def _drives(loads: BearingLoads) -> Table:
    records: list[Record] = []
    for name, torque in zip(loads.drives, loads.torque.T, strict=True):
        peak, when = _peak(torque, loads.time)
        records.append({"joint": name, "torque_nm": peak, "rms_nm": _mean(torque), "time_s": when})
    columns = (
        Column("joint", "drive"),
        Column("torque_nm", "peak torque", NEWTON_METRES),
        Column("rms_nm", "rms", NEWTON_METRES),
        Column("time_s", "at", SECONDS),
    )
    return Table(columns, records, key="drives")


def _bearings(loads: BearingLoads) -> Table:
    records: list[Record] = []
    for name, moment in zip(loads.joints, loads.moments.T, strict=True):
        peak, when = _peak(moment, loads.time)
        records.append({"joint": name, "moment_nm": peak, "rms_nm": _mean(moment), "time_s": when})
    columns = (
        Column("joint", "bearing"),
        Column("moment_nm", "peak moment", NEWTON_METRES),
        Column("rms_nm", "rms", NEWTON_METRES),
        Column("time_s", "at", SECONDS),
    )
    return Table(columns, records, key="bearings")


def _links(loads: BearingLoads) -> Table:
    records: list[Record] = []
    parts = zip(loads.links, loads.axial.T, loads.bending.T, loads.torsion.T, strict=True)
    for name, axial, bending, torsion in parts:
        bent, when = _peak(bending, loads.time)
        record: dict[str, object] = {"link": name, "bending_nm": bent, "time_s": when}
        record["axial_n"] = _peak(axial, loads.time)[0]
        record["torsion_nm"] = _peak(torsion, loads.time)[0]
        records.append(record)
    columns = (
        Column("link", "link"),
        Column("bending_nm", "bending", NEWTON_METRES),
        Column("axial_n", "axial", NEWTONS),
        Column("torsion_nm", "torsion", NEWTON_METRES),
        Column("time_s", "bending at", SECONDS),
    )
    return Table(columns, records, key="links")


def _rods(loads: BearingLoads) -> Table:
    records: list[Record] = []
    for name, pull in zip(loads.rods, loads.pull.T, strict=True):
        peak, when = _peak(pull, loads.time)
        records.append({"rod": name, "pull_n": peak, "time_s": when})
    columns = (
        Column("rod", "strut or rod"),
        Column("pull_n", "pull", NEWTONS),
        Column("time_s", "at", SECONDS),
    )
    return Table(columns, records, key="rods")
