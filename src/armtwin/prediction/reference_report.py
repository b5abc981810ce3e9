"""The report of a logged run beside the twin's run on the same reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from armtwin.files.digests import digest_of, file_name
from armtwin.files.versions import versions
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import MILLIDEGREES, PERCENT, SECONDS
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Record, Report, Section, Table, Text
from armtwin.prediction.agreement import Agreement
from armtwin.prediction.compare_reference import PATH, ReferenceComparison
from armtwin.prediction.comparison_report import NUMBERS, agreement_name, agreement_number
from armtwin.prediction.verdicts import event_record, reference_verdict


def reference_report(c: ReferenceComparison) -> Report:
    """The report of a comparison on a log's own reference."""
    log = file_name(c.log.origin, "a log")
    robot = c.robot.description.title or c.robot.name
    model = f"{c.model.joints} joints, friction {c.model.friction}, servo {c.model.servo}"
    joints = [row.name for row in c.errors]
    torques = [row.name for row in c.rows[len(joints) + len(PATH) :]]
    drawn = [_charts(c, joints, "Errors of the joints"), _charts(c, PATH, "Errors of the tool")]
    if torques:
        drawn.append(_charts(c, torques, "Torques"))
    sections = [
        Section("", tuple(_outcome(c))),
        Section("Measured and predicted", tuple(drawn), page_only=True),
        Section("", tuple(_data(c))),
    ]
    return Report(
        title=f"{c.robot.name} on the reference of {log}",
        subtitle=f"{robot}{_carried(c)}, {model}",
        sections=tuple(sections),
        verdict=(reference_verdict(c),),
    )


def _carried(c: ReferenceComparison) -> str:
    mounted = c.robot.description.mounted
    names = [name for name in (mounted.tool, mounted.payload) if name]
    return f" with {' and '.join(names)}" if names else ""


def _outcome(c: ReferenceComparison) -> Iterator[Block]:
    """How well every quantity agrees."""
    torque = f"torque from {c.torque_source}" if c.torque_source else "no torque logged"
    fed = f"logged ({c.reference.source})" if c.reference.source else "by the model"
    yield Text(
        f"Positions from {c.side}, {torque}, {len(c.time)} samples; torque fed forward {fed}."
    )
    for event in c.run.log.events:
        yield Text(f"At {SECONDS.with_unit(event.time)}: {event.text}", "bad")
    columns = (
        Column("name", "", words=agreement_name),
        agreement_number("rms_measured", "rms log"),
        agreement_number("rms_predicted", "rms twin"),
        agreement_number("peak_measured", "peak log"),
        agreement_number("peak_predicted", "peak twin"),
        agreement_number("rms_difference", "rms diff."),
        Column("variance_explained", "explained", PERCENT),
    )
    yield Table(columns, [asdict(row) for row in c.rows], "comparison.rows")
    yield Text(
        "Explained is 1 - var(measured - predicted) / var(measured). Errors are q - q_ref; at the "
        "tool they are beside the path of the reference."
    )
    yield Text(_offsets(c))


def _offsets(c: ReferenceComparison) -> str:
    """What was taken off the measured positions."""
    offsets = ", ".join(MILLIDEGREES.text(x) for x in c.offset)
    return f"Taken off the measured positions, the joints' mean differences: {offsets} mdeg."


def _charts(c: ReferenceComparison, names: Sequence[str], title: str) -> Multiples:
    """Measured over predicted series over time."""
    rows = {row.name: row for row in c.rows}
    charts = [_chart(c, rows[name]) for name in names]
    caption = "Dashed: logged. Solid: the twin on the same reference."
    return Multiples(tuple(charts), columns=3, shared="x", title=title, caption=caption)


def _chart(c: ReferenceComparison, row: Agreement) -> Chart:
    number = NUMBERS[row.unit]
    measured, predicted = number.scale * c.channels[row.name]
    layers = (
        Curve("logged", c.time, measured, colour=6, dash="dashed"),
        Curve("twin", c.time, predicted, colour=0, dash="solid"),
    )
    return Chart(row.name, Axis("time", "s"), Axis("", number.unit), layers)


def _data(c: ReferenceComparison) -> Iterator[Block]:
    """What only result.json shows."""
    mounted = c.robot.description.mounted
    yield Data("robot", c.robot.name)
    yield Data("tool", mounted.tool)
    yield Data("payload", mounted.payload)
    yield Data("model", asdict(c.model))
    yield Data("servo", asdict(c.servo))
    yield Data("comparison.positions", c.side)
    yield Data("comparison.torque", c.torque_source)
    yield Data("comparison.feedforward", c.reference.source)
    yield Data("comparison.samples", len(c.time))
    yield Data("comparison.offset_rad", _by_joint(c))
    yield Data("events", [event_record(event) for event in c.run.log.events])
    files = {"robot file": c.robot.origin, "log": c.log.origin}
    digests = {name: digest_of(path) for name, path in files.items()}
    yield Data("provenance.inputs_sha256", digests)
    yield Data("provenance.versions", versions())


def _by_joint(c: ReferenceComparison) -> Record:
    return dict(zip(c.robot.joint_names, c.offset.tolist(), strict=True))
