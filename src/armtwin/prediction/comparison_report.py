"""What a report says of a logged run beside the predicted one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from armtwin.notebook.numbers import MICROMETRES, MILLIDEGREES, NEWTON_METRES, PERCENT, Number
from armtwin.notebook.sections import Block, Column, Data, Record, Table, Text
from armtwin.prediction.verdict import Verdict
from armtwin.prediction.verdicts import comparison_sentence, segment_records, verdict_record

if TYPE_CHECKING:
    from armtwin.prediction.compare import Comparison

NUMBERS = {
    "rad": MILLIDEGREES,
    "m": Number(MICROMETRES.scale, MICROMETRES.unit),
    "N m": NEWTON_METRES,
}


def logged_verdict(comparison: Comparison) -> Text:
    """Whether the logged run kept the tolerance."""
    sentence = f"Logged: {comparison_sentence(comparison)}"
    return Text(sentence, "good" if comparison.verdict.within else "bad")


def comparison_blocks(c: Comparison) -> Iterator[Block]:
    """Measured beside predicted: rms, peak and share explained of every quantity."""
    torque = f"torque from {c.torque_source}" if c.torque_source else "no torque logged"
    yield Text(
        f"Positions from {c.side}, {torque}, {len(c.time)} samples; the job begins at "
        f"{Number(places=3).text(c.shift)} s of the log."
    )
    yield Text("Measured lines are dashed in the plots.", "soft")
    columns = (
        Column("name", "", words=agreement_name),
        agreement_number("rms_measured", "rms log"),
        agreement_number("rms_predicted", "rms pred."),
        agreement_number("peak_measured", "peak log"),
        agreement_number("peak_predicted", "peak pred."),
        agreement_number("rms_difference", "rms diff."),
        Column("share_explained", "explained", PERCENT),
    )
    yield Table(columns, [asdict(row) for row in c.rows], "comparison.rows")
    yield Text(
        "Over the whole run, also while the process is off. Explained is "
        "1 - |measured - predicted| / |measured|."
    )
    yield Data("comparison.shift_s", c.shift)
    yield Data("comparison.positions", c.side)
    yield Data("comparison.torque", c.torque_source)
    yield Data("comparison.samples", len(c.time))
    yield Data("comparison.covered_share", c.covered)
    yield Data("comparison.measured", _measured(c.verdict))


def agreement_name(record: Record) -> str:
    """Name of a quantity with the unit it is shown in."""
    return f"{record['name']} [{NUMBERS[record['unit']].unit}]"


def agreement_number(key: str, head: str) -> Column:
    """A column whose numbers are written in the unit of their record."""
    return Column(key, head, Number(), words=lambda x: NUMBERS[x["unit"]].text(x[key]))


def _measured(verdict: Verdict) -> Record:
    """The verdict on the logged run as plain values."""
    return {
        "verdict": verdict_record(verdict),
        "segments": segment_records(verdict),
        "spans": [{**asdict(span), "causes": []} for span in verdict.spans],
        "peaks": [],
        "outside_window": [asdict(span) for span in verdict.outside_window],
    }
