"""A statement of chapter 5 beside what was computed, and the words for its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CHOSEN = "the placement was chosen by it"


@dataclass(frozen=True)
class Statement:
    """A statement of the document beside what was computed.

    Attributes:
        section: Where the document makes it.
        text: The statement, in our words.
        figure: What armtwin gives.
        holds: Whether it holds: 1, in part: 0.5, or not: 0.
        why: What it depends on, or why it does not hold.
    """

    section: str
    text: str
    figure: str
    holds: float
    why: str = ""

    @property
    def verdict(self) -> str:
        """Whether it holds, in words."""
        if self.holds == 1:
            return "holds"
        return "holds in part" if self.holds > 0 else "does not hold"


def of_all(parts: Sequence[bool]) -> float:
    """1 if all parts of a statement hold, 0.5 if some do, else 0."""
    if all(parts):
        return 1.0
    return 0.5 if any(parts) else 0.0


def listed(values: Iterable[float], form: str = ".0f") -> str:
    """Numbers with commas between them."""
    return ", ".join(format(value, form) for value in values)


def percent(share: float, form: str = ".0f") -> str:
    """A share in percent."""
    return f"{format(100 * share, form)} %"


def um(length: float, form: str = ".0f") -> str:
    """A length [m] in micrometres."""
    return format(1e6 * length, form)


def all_um(lengths: Iterable[float], form: str = ".0f") -> str:
    """Lengths [m] in micrometres."""
    return ", ".join(um(length, form) for length in lengths)


def pairs_um(pairs: Iterable[tuple[float, float]]) -> str:
    """Lateral and vertical errors [m] in micrometres."""
    return "; ".join(f"{um(lateral)}/{um(vertical)}" for lateral, vertical in pairs)
