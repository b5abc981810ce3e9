"""The report of a warm-up: is the robot warm, how far its friction falls and how fast."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from armtwin.files.digests import file_name
from armtwin.identification.warm_up import WarmUpIdentification
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Layer, Points
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Record, Report, Section, Table, Text

SECONDS = Number(1.0, "s", digits=4)
DRAWN = 60  # cycles that are drawn


def warm_up_report(result: WarmUpIdentification) -> Report:
    """The report of the warm-up of a log."""
    columns = (
        Column("joint", "joint", Number()),
        Column("first", f"first {result.unit}", Number(digits=4)),
        Column("last", f"last {result.unit}", Number(digits=4)),
        Column("decay", "falls by", Number(100.0, "%", digits=3)),
        Column("time_constant", "time constant", SECONDS),
        Column("time_constant_std", "±", Number(1.0, "s", digits=2)),
        Column("warm_at", "warm at", SECONDS),
    )
    records: list[Record] = [{**asdict(row), "warm": row.warm} for row in result.table]
    blocks: list[Block] = [Table(columns, records, "joints")]
    for row in result.table:
        if row.refused:
            blocks.append(Text(f"joint {row.joint}: no time constant, as {row.refused}."))
    blocks.append(
        Text(
            f"Warm: friction changes by less than {100 * result.limit:g} % from cycle to cycle, "
            "by the fall through all cycles, or the mean absolute torque does where there is none. "
            "Friction is the work of a cycle over its way, where the cycle closes. The time "
            "constant is that of its end; cold oil makes friction fall faster at first.",
            "soft",
        )
    )
    blocks += [Data("period_s", result.period), Data("limit", result.limit)]
    blocks += [Data("warm", result.warm), Data("unit", result.unit)]
    return Report(
        title=f"{file_name(result.origin, 'log')}: warm-up",
        subtitle=f"{len(result.friction)} cycles of {result.period:.4g} s",
        sections=(
            Section("", tuple(blocks)),
            Section("Friction of the cycles", (_charts(result),), page_only=True),
        ),
        verdict=(_verdict(result),),
    )


def _verdict(result: WarmUpIdentification) -> Text:
    cold = [str(row.joint) for row in result.table if not row.warm]
    if not cold:
        last = max(row.warm_at for row in result.table)
        return Text(f"The robot is warm from {last:.4g} s on.", "good")
    told = f"joint {cold[0]} still changes"
    if len(cold) > 1:
        told = f"joints {', '.join(cold)} still change"
    return Text(f"The robot is not warm: {told}.", "bad")


def _charts(result: WarmUpIdentification) -> Multiples:
    step = max(1, len(result.state.time) // DRAWN)
    time = result.state.time[::step]
    charts = []
    for k, row in enumerate(result.table):
        layers: list[Layer] = [Points("cycle", time, result.friction[::step, k])]
        if np.isfinite(row.time_constant):
            layers.append(Curve("fall", time, result.fitted[::step, k]))
        torque = Axis("friction", result.unit)
        charts.append(Chart(f"joint {row.joint}", Axis("time", "s"), torque, tuple(layers)))
    return Multiples(tuple(charts), columns=2, shared="x")
