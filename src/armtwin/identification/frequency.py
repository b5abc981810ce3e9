"""Frequency response of each joint of a log from one channel to another, and its report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.identification.fitting.estimate import student
from armtwin.logs.log import Log
from armtwin.logs.rest import STILL_RANGE
from armtwin.maths.batch import Record
from armtwin.maths.frequency_response import FrequencyResponse, frequency_response
from armtwin.notebook import cards, sections as show
from armtwin.notebook.numbers import HERTZ, PLAIN, Number
from armtwin.report.result import Result

KNOWN = 0.6  # coherence from which a frequency counts
HALF_POWER = np.sqrt(0.5)
TURN = 180 / np.pi


@dataclass(frozen=True, eq=False)
class JointResponse:
    """Frequency response of one joint.

    Attributes:
        joint: Number of the joint, from 1.
        response: The response.
    """

    joint: int
    response: FrequencyResponse

    @property
    def known(self) -> FrequencyResponse | None:
        """The frequencies of sufficient coherence; None where there are none."""
        r = self.response
        kept = r.coherence >= KNOWN
        if not kept.any():
            return None
        return r.where(kept)

    @property
    def record(self) -> Record:
        """Gain at low frequency, peak, bandwidth, delay, largest coherent frequency."""
        known = self.known
        record: Record = {"joint": self.joint}
        empty = dict.fromkeys(("gain", "peak_hz", "peak", "bandwidth_hz", "delay_s", "known_to_hz"))
        if known is None:
            return {**record, **empty}
        gain = float(known.magnitude[0])
        top = np.argmax(known.magnitude)
        below = np.flatnonzero(known.magnitude < HALF_POWER * gain)
        record |= {
            "gain": gain,
            "peak_hz": float(known.frequency[top]) if top > 0 else None,
            "peak": float(known.magnitude[top] / gain),
            "bandwidth_hz": float(known.frequency[below[0]]) if len(below) else None,
            "delay_s": _delay(known),
            "known_to_hz": float(known.frequency[-1]),
        }
        return record


def _delay(known: FrequencyResponse) -> float | None:
    """Delay that the phase shows up to half of the known frequencies [s], weighted by its error."""
    low = known.between(0.0, 0.5 * float(known.frequency[-1]))
    if len(low.frequency) < 2:
        return None
    omega = 2 * np.pi * low.frequency
    weight = 1 / np.maximum(low.std / low.magnitude, 1e-4) ** 2
    return float(-(weight * omega * low.phase).sum() / (weight * omega**2).sum())


@dataclass(frozen=True, eq=False, repr=False)
class LogResponse(Result):
    """Frequency responses of the joints of a log.

    Attributes:
        origin: The log's file.
        given: Channel of the input.
        answer: Channel of the output.
        joints: A response for each joint that moves.
    """

    origin: str
    given: str
    answer: str
    joints: tuple[JointResponse, ...]

    @property
    def table(self) -> list[Record]:
        """A record for each joint."""
        return [joint.record for joint in self.joints]

    def sections(self) -> show.Report:
        """Gain, peak, bandwidth and delay of each joint, and its curves."""
        sections = [show.Section("", _joints(self))]
        for joint in self.joints:
            sections.append(show.Section(f"Joint {joint.joint}", _charts(joint), page_only=True))
        name = file_name(self.origin, "log")
        return show.Report(
            title=f"{name}: frequency response, {self.given} to {self.answer}",
            subtitle=f"mean of {self.joints[0].response.windows:.0f} independent windows",
            sections=tuple(sections),
            verdict=(_verdict(self),),
        )


def _verdict(result: LogResponse) -> show.Text:
    """The least bandwidth, or how far the responses are known."""
    records = result.table
    what = f"{result.given} to {result.answer} of {cards.format_count(len(records), 'joint')}"
    known = [record for record in records if record["known_to_hz"] is not None]
    if not known:
        return show.Text(f"{what}: no frequency has a coherence of {KNOWN:g}.", "bad")
    highest = max(record["known_to_hz"] or 0.0 for record in known)
    sentence = f"{what}: known up to {HERTZ.with_unit(highest)}"
    bandwidths = [record["bandwidth_hz"] for record in known if record["bandwidth_hz"] is not None]
    if not bandwidths:
        return show.Text(f"{sentence}, no bandwidth of -3 dB below that.")
    return show.Text(f"{sentence}, least bandwidth {HERTZ.with_unit(min(bandwidths))} (-3 dB).")


def _joints(result: LogResponse) -> show.Blocks:
    columns = show.list_columns(
        joint=("joint", Number()),
        gain=("gain", PLAIN),
        peak_hz=("peak at", HERTZ),
        peak=("peak/gain", PLAIN),
        bandwidth_hz=("-3 dB at", HERTZ),
        delay_s=("delay", Number(1e3, "ms")),
        known_to_hz=("known to", HERTZ),
    )
    yield show.Table(columns, result.table, "joints")
    yield show.Data.of(
        given=result.given,
        answer=result.answer,
        curves=[_curve(joint) for joint in result.joints],
    )
    yield show.Text(f"Known: where the coherence is {KNOWN:g} or more. Bands hold 95 %.", "soft")


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


def _charts(joint: JointResponse) -> show.Blocks:
    r = joint.response
    hertz = show.Axis("frequency", "Hz", logarithmic=True)
    highest = joint.record["known_to_hz"]
    known = r if highest is None else r.where(r.frequency <= highest)
    width = student(np.inf) * known.std
    low = np.maximum(known.magnitude - width, 1e-3 * known.magnitude)
    high = known.magnitude + width
    size = show.Curve("", known.frequency, known.magnitude, colour=0, low=low, high=high)
    turned = TURN * width / np.maximum(known.magnitude, 1e-300)
    phase = TURN * known.phase
    turn = show.Curve("", known.frequency, phase, colour=0, low=phase - turned, high=phase + turned)
    share = show.Curve("", r.frequency, r.coherence, colour=0)
    charts = (
        show.Chart("Magnitude", hertz, show.Axis("|H|", logarithmic=True), (size,)),
        show.Chart("Phase", hertz, show.Axis("phase", "°"), (turn,)),
        show.Chart(
            "Coherence", hertz, show.Axis("γ²", span=(0.0, 1.0)), (share, show.Rule(KNOWN, "known"))
        ),
    )
    yield show.Multiples(charts, columns=1, shared="x")


def log_response(
    log: Log,
    given: str = "q_ref",
    answer: str = "q",
    *,
    window: float | None = None,
    joint: int | None = None,
) -> LogResponse:
    """Frequency response from one channel of a log to another, joint by joint.

    Args:
        log: The log, at even times.
        given: Channel of the input.
        answer: Channel of the output.
        window: Length of a window [s]; by default a record has 16 of them.
        joint: One joint, counted from 1; by default all whose input moves.
    """
    u, y = getattr(log, given, None), getattr(log, answer, None)
    if u is None or y is None:
        missing = given if u is None else answer
        raise ArmtwinError(
            f"the log has no channel '{missing}'. It has: {', '.join(log.channels)}."
        )
    joints = min(u.shape[1], y.shape[1])
    if joint is not None and not 1 <= joint <= joints:
        raise ArmtwinError(f"joint must be from 1 to {joints}, got {joint}")
    found = []
    for k in range(joints):
        moves = np.ptp(u[:, k]) > STILL_RANGE
        if (joint is None and moves) or joint == k + 1:
            response = frequency_response(log.time, u[:, k], y[:, k], window)
            found.append(JointResponse(k + 1, response))
    if not found:
        raise ArmtwinError(f"no joint moves in channel '{given}' of the log")
    return LogResponse(log.origin, given, answer, tuple(found))
