"""Frequency response of each joint of a log, from one of its channels to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.frequency_response import FrequencyResponse, frequency_response
from armtwin.notebook import cards
from armtwin.report.figures import Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KNOWN = 0.6  # coherence from which a frequency counts
STILL = 1e-12  # range of a channel that does not move
HALF_POWER = np.sqrt(0.5)


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
        """The part at which coherence is good; None where it nowhere is."""
        r = self.response
        kept = r.coherence >= KNOWN
        if not kept.any():
            return None
        return r.where(kept)

    @property
    def record(self) -> dict[str, float | int | None]:
        """Gain at low frequency, peak, bandwidth, delay, largest coherent frequency."""
        known = self.known
        record: dict[str, float | int | None] = {"joint": self.joint}
        empty = dict.fromkeys(("gain", "peak_hz", "peak", "bandwidth_hz", "delay_s", "known_to_hz"))
        if known is None:
            return {**record, **empty}
        gain = float(known.magnitude[0])
        top = int(np.argmax(known.magnitude))
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


@dataclass(frozen=True, eq=False)
class LogResponse:
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

    def __repr__(self) -> str:
        count = cards.counted(len(self.joints), "joint")
        return cards.line("LogResponse", f"{self.given} to {self.answer}", count)

    def _repr_html_(self) -> str:
        rows = []
        heads: tuple[str, ...] = ()
        for record in self.table:
            heads = tuple(record)
            cells = ["-" if value is None else f"{value:.4g}" for value in record.values()]
            rows.append(tuple(cells))
        return cards.table(repr(self), rows, heads)

    @property
    def table(self) -> list[dict[str, float | int | None]]:
        """A record for each joint."""
        return [joint.record for joint in self.joints]

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw magnitude, phase and coherence over frequency.

        Args:
            axes: Three of them; new ones where none are given.
        """
        panels = []
        first = self.joints[0].response.frequency
        for label, name in (("|H|", "magnitude"), ("phase [rad]", "phase"), ("γ²", "coherence")):
            lines = {f"joint {j.joint}": getattr(j.response, name) for j in self.joints}
            panels.append(Panel(label, lines))
        return draw_panels(first, "frequency [Hz]", panels, axes)


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
        moves = np.ptp(u[:, k]) > STILL
        if (joint is None and moves) or joint == k + 1:
            response = frequency_response(log.time, u[:, k], y[:, k], window)
            found.append(JointResponse(k + 1, response))
    if not found:
        raise ArmtwinError(f"no joint moves in channel '{given}' of the log")
    return LogResponse(log.origin, given, answer, tuple(found))
