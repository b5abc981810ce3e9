"""Ranges that the numbers of real arms keep to, and mistakes that bring numbers back into them."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from armtwin.files.hypothesis import Hypothesis
from armtwin.maths.batch import Floats
from armtwin.robot.proportions import UnitScale

REFUSED = 1.0  # strength from which on a reader refuses; weaker hypotheses are cautions
ODD = 0.5  # strength of a caution


class Range(NamedTuple):
    """What a number of a real arm keeps to, and what it usually is.

    Attributes:
        low: Least.
        high: Most.
        usual: Usual value.
        decades: Standard deviation of its decimal logarithm.
    """

    low: float
    high: float
    usual: float
    decades: float

    def excess(self, value: float) -> float:
        """By how many decades a number is beyond the range; 0 within it and for none."""
        if not value > 0:
            return 0.0
        nearest = min(max(value, self.low), self.high)
        return float(abs(np.log10(value / nearest)))

    def surprise(self, value: float) -> float:
        """Squared distance from what is usual, in standard deviations; 0 for none."""
        return float((np.log10(value / self.usual) / self.decades) ** 2) if value > 0 else 0.0


Features = list[tuple[Range, float]]  # ranges with the numbers that must be in them
TWO_LIKELY = 3.0  # surprise by which a second unit may be worse and still be named


def excess_of(features: Features) -> float:
    """Decades by which numbers are beyond their ranges, in all."""
    return sum(range_.excess(value) for range_, value in features)


def surprise_of(features: Features) -> float:
    """Squared distances of numbers from what is usual, in all."""
    return sum(range_.surprise(value) for range_, value in features)


def are_alike(values: Floats) -> bool:
    """Whether several numbers are one number, but for rounding."""
    return len(values) > 1 and bool(np.ptp(values) <= 1e-6 * np.abs(values).max())


def median_of(values: Floats) -> float:
    """Median of the numbers above 0; 0 where there is none."""
    known = values[np.isfinite(values) & (values > 0)]
    return float(np.median(known)) if len(known) else 0.0


class Mistake(NamedTuple):
    """A mistake and what undoes it.

    Attributes:
        question: Which numbers, as a question that a unit ends: "Are the lengths in".
        unit: The unit that they would be in.
        right: The unit to write them in.
        scale: What brings them to SI.
        rarity: How much less likely it is than the likeliest, as a surprise.
    """

    question: str
    unit: str
    right: str
    scale: UnitScale
    rarity: float = 0.0


def explain(
    mistakes: Iterable[Mistake],
    features: Callable[[Mistake], Features],
    excess: float,
    near_by: float = TWO_LIKELY,
) -> list[Mistake] | None:
    """The mistakes that undo an excess, the likeliest first; None where none undoes half of it."""
    ranked = []
    for mistake in mistakes:
        then = features(mistake)
        left = excess_of(then)
        if left < excess / 2:
            ranked.append((left, surprise_of(then) + mistake.rarity, mistake))
    if not ranked:
        return None
    ranked.sort(key=lambda item: item[:2])
    left, least, first = ranked[0]
    near = []
    for other, cost, mistake in ranked[1:]:
        if (other, mistake.question) == (left, first.question) and cost < least + near_by:
            near.append(mistake)
    return [first, *near[:1]]


def name_unit(evidence: str, found: Sequence[Mistake], strength: float) -> Hypothesis:
    """A fact of a file, the unit that its numbers may be in, and the unit to write them in."""
    first = found[0]
    units = " or ".join(mistake.unit for mistake in found)
    them = "them" if first.question.startswith("Are") else "it"
    remedy = f"write {them} in {first.right}"
    return Hypothesis(evidence, f"{first.question} {units}", remedy, strength)
