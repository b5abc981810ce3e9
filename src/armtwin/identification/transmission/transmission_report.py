"""The report of transmissions identified from two encoders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from armtwin.files.digests import file_name
from armtwin.identification.transmission.identify_transmission import TransmissionIdentification
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Record, Report, Section, Table, Text

DRAWN = 2500
STIFFNESS = Number(1e-6, "MN m/rad", digits=3)
MICRORADIANS = Number(1e6, "µrad", places=0)


def transmission_report(result: TransmissionIdentification) -> Report:
    """The report of transmissions identified from two encoders."""
    logs = ", ".join(file_name(name, "a log") for name in result.logs)
    return Report(
        title=f"Transmissions of {result.prior.name} from two encoders",
        subtitle=f"{logs}; {len(result.table)} joints with a link encoder",
        sections=(
            Section("", tuple(_numbers(result))),
            Section("Twist, measured and explained", (_charts(result),), page_only=True),
        ),
        verdict=(Text(_verdict(result)),),
    )


def _verdict(result: TransmissionIdentification) -> str:
    told = [row for row in result.table if row.stiffness is not None]
    late = (
        f"The link encoders are {1e3 * result.offset:.2f} ± {2e3 * result.offset_std:.2f} ms late."
    )
    if not told:
        return f"No stiffness is told by these logs. {late}"
    parts = [f"{row.name} {STIFFNESS.text(row.stiffness)}" for row in told]
    return f"Stiffness in MN m/rad: {', '.join(parts)}. {late}"


def _numbers(result: TransmissionIdentification) -> Iterator[Block]:
    columns = [
        Column("name", "joint"),
        Column("stiffness", "stiffness", STIFFNESS),
        Column("interval", "95 %", words=_interval),
        Column("prior", "file", Number(1e-6, digits=3)),
        Column("rms", "left", MICRORADIANS),
        Column("rms_offset_only", "offset only", MICRORADIANS),
    ]
    if result.unseen:
        columns.append(Column("rms_unseen", "unseen", MICRORADIANS))
    columns += [
        Column("motor_share", "friction at motor", Number(places=2), page_only=True),
        Column("lost_motion", "lost motion", MICRORADIANS, page_only=True),
    ]
    yield Table(tuple(columns), [asdict(row) for row in result.table])
    yield Text(
        "Left: rms of q - q_link that is not explained, each log's constant removed; offset only: "
        "what the encoders' time offset alone leaves."
    )
    for row in result.table:
        yield Text(f"{row.name}: {row.sentence}.")
    yield Data("joints", [_record(asdict(row)) for row in result.table])
    yield Data("encoder_offset_s", result.offset)
    yield Data("std", {"encoder_offset_s": result.offset_std})
    yield Data("robot", result.prior.name)
    yield Data("logs", result.logs)
    yield Data("validation", result.unseen or None)


def _interval(record: Record) -> str:
    interval = record["interval"]
    if interval is None:
        return "-"
    return f"{1e-6 * interval[0]:.3g} to {1e-6 * interval[1]:.3g}"


def _record(row: Record) -> Record:
    return {
        "name": row["name"],
        "stiffness_nm_rad": row["stiffness"],
        "interval_nm_rad": row["interval"],
        "prior_nm_rad": row["prior"],
        "motor_share": row["motor_share"],
        "motor_share_std": row["motor_share_std"],
        "lost_motion_rad": row["lost_motion"],
        "lost_motion_std_rad": row["lost_motion_std"],
        "rms_rad": row["rms"],
        "rms_offset_only_rad": row["rms_offset_only"],
        "rms_unseen_rad": row["rms_unseen"],
        "told": row["stiffness"] is not None,
        "sentence": row["sentence"],
    }


def _charts(result: TransmissionIdentification) -> Multiples:
    rows, fit = result.rows, result.fit
    step = max(1, len(rows.twist) // DRAWN)
    sample = np.arange(0, len(rows.twist), step).astype(np.float64)
    without_offset = rows.twist - fit.offset * rows.late
    without_offset -= without_offset.mean(axis=0)
    explained = fit.compliance * rows.load + fit.gap * rows.side
    explained -= explained.mean(axis=0)
    charts = []
    for j, row in enumerate(result.table):
        layers = (
            Curve("twist without the offset", sample, 1e6 * without_offset[::step, j]),
            Curve("explained by the load", sample, 1e6 * explained[::step, j]),
        )
        charts.append(Chart(row.name, Axis("sample"), Axis("twist", "µrad"), layers))
    return Multiples(tuple(charts), columns=1, shared="x")
