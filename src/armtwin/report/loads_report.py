"""What is shown of bearing loads: the peak on each bearing and in each link, and when."""

from __future__ import annotations

import numpy as np

from armtwin.analysis.bearing_loads import BearingLoads
from armtwin.maths.batch import Floats
from armtwin.report.numbers import NEWTON_METRES, SECONDS, Number
from armtwin.report.sections import Column, Record, Report, Section, Table, Text

NEWTONS = Number(1.0, "N")


def loads_report(loads: BearingLoads) -> Report:
    """Peaks of the moments on bearings and of the forces in links."""
    title = f"{loads.robot}: loads on bearings and links"
    subtitle = f"{len(loads.time)} states, {SECONDS.with_unit(float(np.ptp(loads.time)))}"
    sections = (
        Section("Bearings", (_bearings(loads),)),
        Section("Links", (_links(loads), _note())),
    )
    return Report(title, subtitle, sections)


def _note() -> Text:
    return Text(
        "Links are rigid, and the body of each acts at its joint: a link shows what it carries for "
        "others. Moments about a joint's own axis are its torque and not shown here."
    )


def _peak(values: Floats, time: Floats) -> tuple[float, float]:
    """Largest size and its time."""
    at = int(np.argmax(np.abs(values)))
    return float(values[at]), float(time[at])


def _bearings(loads: BearingLoads) -> Table:
    records: list[Record] = []
    for name, moment in zip(loads.joints, loads.moments.T, strict=True):
        peak, when = _peak(moment, loads.time)
        mean = float(np.sqrt(np.mean(moment**2)))
        records.append({"joint": name, "moment_nm": peak, "rms_nm": mean, "time_s": when})
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
        record = {"link": name, "bending_nm": bent, "time_s": when}
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
