"""A hypothesis: the one mistake that would make a log, a file or a job make sense.

Readers ask which single mistake of an author explains what they find better than the text as it
is. The answer is given as a hypothesis with its numbers and with what corrects it, whoever asks.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from armtwin.errors import ArmtwinError


@dataclass(frozen=True)
class Hypothesis:
    """A mistake that would explain what was found.

    Attributes:
        evidence: The fact with its numbers, a clause without a full stop.
        mistake: The mistake as a question, as "Is the torque in N mm".
        remedy: What to do if it is so, as 'say unit.tau = "N mm" in a columns file'.
        strength: By how much it explains more than the text as it is; the larger is named first.
    """

    evidence: str
    mistake: str
    remedy: str
    strength: float = 1.0

    @property
    def sentence(self) -> str:
        """Fact, likely cause and remedy."""
        return f"{self.evidence}. {self.mistake}? If so, {self.remedy}"


def strongest(hypotheses: Iterable[Hypothesis]) -> Hypothesis | None:
    """The hypothesis that explains most, the first of equal ones; None of none."""
    return max(hypotheses, key=lambda hypothesis: hypothesis.strength, default=None)


def refuse_by(hypotheses: Iterable[Hypothesis]) -> None:
    """Refuse what a mistake explains, by the strongest hypothesis."""
    found = strongest(hypotheses)
    if found is not None:
        raise ArmtwinError(found.sentence)
