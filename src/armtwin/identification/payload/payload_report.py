"""The report of a payload, or of drives by a known payload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armtwin.identification.payload.drive_gain import DriveGain
from armtwin.identification.payload.identify_payload import PayloadIdentification
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import (
    Block,
    Column,
    Data,
    Facts,
    Record,
    Report,
    Section,
    Table,
    Text,
)

DRAWN = 1500
FOUR = Number(digits=4)
SURE = 0.01  # relative deviation of a torque constant that is well told
METHODS = {
    "difference": "the difference of two runs",
    "held": "one run, the arm as in its file",
}


def payload_report(result: PayloadIdentification) -> Report:
    """The report of a payload."""
    how = METHODS[result.method]
    sections = [Section("", tuple(_numbers(result)))]
    if result.gain is not None:
        sections.append(Section("Torque constants", tuple(_constants(result))))
    sections.append(Section("What it rests on", tuple(_basis(result))))
    sections.append(
        Section("What the payload adds, measured and explained", (_charts(result),), page_only=True)
    )
    return Report(
        title=f"Payload of {result.prior.name}",
        subtitle=f"{how}, torque from {result.torque_source}",
        sections=tuple(sections),
        verdict=tuple(_verdict(result)),
    )


def _verdict(result: PayloadIdentification) -> Iterator[Text]:
    if result.gain is not None:
        told = int(result.gain.told.sum())
        yield Text(
            f"{told} of {len(result.gain.told)} torque constants are told by "
            f"{result.gain.known:g} kg."
        )
        return
    if result.refused:
        yield Text(result.refused, "bad")
        return
    row = result.table[0]
    yield Text(f"{row.value:.4g} kg, with 95 % between {row.low:.4g} and {row.high:.4g} kg.")
    if result.impossible:
        yield Text(
            f"No real body has just these numbers ({result.impossible}); the robot file holds the "
            "nearest that can exist.",
            "bad",
        )


def _numbers(result: PayloadIdentification) -> Iterator[Block]:
    columns = (
        Column("name", "payload"),
        Column("value", "value", FOUR),
        Column("std", "deviation", Number(digits=2)),
        Column("interval", "95 %", words=_interval),
        Column("unit", "unit"),
    )
    records = [vars(row) for row in result.table]
    yield Table(columns, records)
    yield Text(
        "Centre in the flange's frame, inertia about the centre, axes of the flange.", "soft"
    )
    value = [row.value for row in result.table]
    std = [row.std for row in result.table]
    told = not result.refused
    yield Data("mass_kg", value[0] if told else None)
    yield Data("centre_m", value[1:4] if told else None)
    yield Data("inertia_kg_m2", _six(value[4:]) if told else None)
    if result.gain is None:
        yield Data("refused", result.refused or None)
    deviations: dict[str, Any] = {"mass_kg": std[0], "centre_m": std[1:4]}
    deviations["inertia_kg_m2"] = _six(std[4:])
    if result.gain is not None:
        deviations["torque_constant_nm_a"] = result.gain.std.tolist()
    yield Data("std", deviations)


def _six(values: list[float]) -> dict[str, float]:
    return dict(zip(("xx", "yy", "zz", "xy", "xz", "yz"), values, strict=True))


def _interval(record: Record) -> str:
    return f"{record['low']:.4g} to {record['high']:.4g}"


def _constants(result: PayloadIdentification) -> Iterator[Block]:
    gain = result.gain
    assert gain is not None
    motors = result.prior.description.motor
    names = [motor.name for motor in motors] or list(result.prior.joint_names)
    records: list[dict[str, Any]] = []
    for k, name in enumerate(names):
        file = motors[k].torque_constant if motors else None
        value = float(gain.constants[k])
        records.append(
            {
                "name": name,
                "value": value if gain.told[k] else None,
                "std": float(gain.std[k]),
                "low": float(gain.low[k]),
                "high": float(gain.high[k]),
                "file": file,
            }
        )
    columns = (
        Column("name", "motor" if motors else "joint"),
        Column("value", "constant N m/A", FOUR),
        Column("std", "deviation", Number(digits=2)),
        Column("interval", "95 %", words=_interval),
        Column("file", "in the file", FOUR),
    )
    yield Table(columns, records)
    yield from _longer(gain, names)
    refused = [record["name"] for record in records if record["value"] is None]
    sentence = ""
    if refused:
        sentence = (
            f"The payload hardly loads {', '.join(refused)}: no constant is told there. Move it "
            "further out, or let the motion be faster."
        )
        yield Text(sentence)
    yield Data("torque_constant_nm_a", [record["value"] for record in records])
    ends = np.column_stack([gain.low, gain.high])
    yield Data("torque_constant_interval_nm_a", ends.tolist())
    yield Data("refused", sentence or None)


def _longer(gain: DriveGain, names: list[str]) -> Iterator[Block]:
    """Constants that are told to more than a per cent, and what longer logs would do."""
    share = gain.std / gain.constants
    for k, name in enumerate(names):
        if gain.told[k] and share[k] > SURE:
            times = (share[k] / SURE) ** 2
            yield Text(
                f"{name} is told to {100 * share[k]:.2g} % only; logs {times:.2g} times as long "
                f"bring that to {100 * SURE:g} %, or a motion in which the payload loads it more.",
                "soft",
            )


def _basis(result: PayloadIdentification) -> Iterator[Block]:
    facts = [("robot", result.prior.name), ("cut-off", f"{result.rows.cutoff:.3g} Hz")]
    facts.append(("rows", f"{int(result.rows.used.sum())}, of all joints"))
    if result.runs is not None:
        shift = f"{1e3 * result.runs.shift:.1f} ms"
        facts.append(("clocks", f"the run with it is shifted by {shift}"))
        apart = 100 * result.runs.apart.max()
        facts.append(("motions", f"speeds differ by {apart:.2g} % at most"))
        share = _share(result.rows.arm, result.rows.Y @ result.fit.parameters)
        facts.append(
            ("arm", f"what the runs of the arm differ by is {share:.2g} % of what the load adds")
        )
    explained = ", ".join(f"{100 * share:.1f}" for share in result.fit.explained)
    facts.append(("explained", f"{explained} % of what the payload adds, joint by joint"))
    yield Facts(tuple(facts))
    if result.road is not None:
        yield Text(result.road.sentence, "" if result.road.is_independent else "bad")
    yield Data("robot", result.prior.name)
    yield Data("method", result.method)
    yield Data("cutoff_hz", result.rows.cutoff)
    yield Data("torque", result.torque_source)
    yield Data("explained", result.fit.explained)
    if result.road is not None:
        yield Data("truncated", {**vars(result.road), "sentence": result.road.sentence})


def _share(part: Floats, whole: Floats) -> float:
    return 100 * float(np.linalg.norm(part)) / max(float(np.linalg.norm(whole)), 1e-300)


def _charts(result: PayloadIdentification) -> Multiples:
    rows = result.rows
    step = max(1, len(rows.target) // DRAWN)
    number = np.arange(0, len(rows.target), step).astype(np.float64)
    explained = rows.Y @ result.fit.parameters
    measured, unit = rows.target - rows.arm, "N m"
    if result.gain is not None:
        from armtwin.identification.payload.identify_payload import motors_of

        at_motors = motors_of(result.prior)
        explained = (explained + rows.arm) @ at_motors / result.gain.constants
        measured, unit = rows.target, "A"
    charts = []
    for j, name in enumerate(result.prior.joint_names):
        layers = (
            Curve("measured", number, measured[::step, j]),
            Curve("explained", number, explained[::step, j]),
        )
        charts.append(Chart(name, Axis("row"), Axis("difference", unit), layers))
    return Multiples(tuple(charts), columns=2, shared="x")
