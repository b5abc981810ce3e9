"""What is shown of a frequency response: gain, peak, bandwidth, delay, and the curves."""

from __future__ import annotations

import numpy as np

from armtwin.files.digests import file_name
from armtwin.identification.frequency import KNOWN, JointResponse, LogResponse
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Rule
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Report, Section, Table, Text

HERTZ = Number(1.0, "Hz", digits=4)
DEVIATIONS = 1.645  # of a normal distribution: 90 % lie within
TURN = 180 / np.pi


def frequency_report(result: LogResponse) -> Report:
    """Frequency responses of the joints of a log."""
    title = (
        f"{file_name(result.origin, 'log')}: frequency response, {result.given} to {result.answer}"
    )
    columns = (
        Column("joint", "joint", Number()),
        Column("gain", "gain", PLAIN),
        Column("peak_hz", "peak at", HERTZ),
        Column("peak", "peak/gain", PLAIN),
        Column("bandwidth_hz", "-3 dB at", HERTZ),
        Column("delay_s", "delay", Number(1e3, "ms", digits=3)),
        Column("known_to_hz", "known to", HERTZ),
    )
    blocks: list[Block] = [Table(columns, result.table, "joints")]
    blocks.append(Data("given", result.given))
    blocks.append(Data("answer", result.answer))
    blocks.append(Data("curves", [_curve(joint) for joint in result.joints]))
    blocks.append(
        Text(f"Known: where the coherence is {KNOWN:g} or more. Bands hold 90 %.", "soft")
    )
    sections = [Section("", tuple(blocks))]
    for joint in result.joints:
        sections.append(Section(f"Joint {joint.joint}", (_charts(joint),), page_only=True))
    windows = result.joints[0].response.windows
    return Report(title, f"mean of {windows:.0f} independent windows", tuple(sections))


def _curve(joint: JointResponse) -> dict[str, object]:
    r = joint.response
    return {
        "joint": joint.joint,
        "frequency_hz": r.frequency,
        "real": r.response.real,
        "imaginary": r.response.imag,
        "coherence": r.coherence,
        "std": r.std,
    }


def _charts(joint: JointResponse) -> Multiples:
    r = joint.response
    hertz = Axis("frequency", "Hz", logarithmic=True)
    highest = joint.record["known_to_hz"]
    known = r if highest is None else r.where(r.frequency <= highest)
    width = DEVIATIONS * known.std
    low = np.maximum(known.magnitude - width, 1e-3 * known.magnitude)
    high = known.magnitude + width
    size = Curve("", known.frequency, known.magnitude, colour=0, low=low, high=high)
    turned = TURN * width / np.maximum(known.magnitude, 1e-300)
    phase = TURN * known.phase
    turn = Curve("", known.frequency, phase, colour=0, low=phase - turned, high=phase + turned)
    share = Curve("", r.frequency, r.coherence, colour=0)
    charts = (
        Chart("Magnitude", hertz, Axis("|H|", logarithmic=True), (size,)),
        Chart("Phase", hertz, Axis("phase", "°"), (turn,)),
        Chart("Coherence", hertz, Axis("γ²", span=(0.0, 1.0)), (share, Rule(KNOWN, "known"))),
    )
    return Multiples(charts, columns=1, shared="x")
