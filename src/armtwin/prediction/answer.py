"""The whole answer to a job: prediction, causes, advice, and a logged run beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armtwin.notebook import cards
from armtwin.prediction.causes import Explanation
from armtwin.prediction.predict import Prediction

if TYPE_CHECKING:
    from armtwin.analysis.bearing_loads import BearingLoads
    from armtwin.prediction.advice import Advice
    from armtwin.prediction.band.band import Band
    from armtwin.prediction.compare import Comparison


@dataclass(frozen=True, eq=False)
class Answer:
    """What is known about a job.

    Attributes:
        prediction: The predicted run.
        explanations: Causes of the spans out of tolerance and of the largest peaks.
        advice: What to change, where it was asked for.
        comparison: A logged run beside the predicted one, where there is one.
        band: What numbers that are not known exactly make of it; None for the nominal run alone.
        loads: What bearings and links carry along the commanded motion, where it was asked for.
    """

    prediction: Prediction
    explanations: tuple[Explanation, ...] = ()
    advice: Advice | None = None
    comparison: Comparison | None = None
    band: Band | None = None
    loads: BearingLoads | None = None

    @property
    def holds(self) -> bool:
        """Whether the seam surely holds, or does in the nominal run where that is all there is."""
        if self.band is not None:
            return self.band.outcome == "holds"
        return self.prediction.verdict.within

    def __repr__(self) -> str:
        p = self.prediction
        return cards.line(
            "Answer",
            f"{p.job.name!r}: {p.verdict.summary}",
            "" if self.band is None else f"{self.band.outcome}, P = {self.band.probability:.2f}",
            cards.counted(len(self.explanations), "explanation"),
            "" if self.advice is None else "with advice",
            "" if self.comparison is None else "with a comparison",
        )
