"""The whole answer to a job: prediction, causes, advice, and a logged run beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armtwin.prediction.causes import Explanation
from armtwin.prediction.predict import Prediction
from armtwin.report.result import Result

if TYPE_CHECKING:
    from armtwin.analysis.bearing_loads import BearingLoads
    from armtwin.prediction.advice import Advice
    from armtwin.prediction.band.band import Band
    from armtwin.prediction.comparison import Comparison
    from armtwin.prediction.correction import Correction


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Result):
    """What is known about a job.

    Attributes:
        prediction: The predicted run.
        explanations: Causes of the spans out of tolerance and of the largest peaks; None where they
            are sought when they are first shown.
        advice: What to change, where it was asked for.
        comparison: A logged run beside the predicted one, where there is one.
        band: Its 90 % interval; None for the nominal run alone.
        loads: What bearings and links carry along the commanded motion, where it was asked for.
        correction: The job with corrected set-points, where the seam does not hold without.
        is_brief: Whether it is shown for a moment only, without the notes beside its verdict.
        remedy: How changes are searched where it is shown; "" for commands that do.
    """

    prediction: Prediction
    explanations: tuple[Explanation, ...] | None = ()
    advice: Advice | None = None
    comparison: Comparison | None = None
    band: Band | None = None
    loads: BearingLoads | None = None
    correction: Correction | None = None
    is_brief: bool = False
    remedy: str = ""

    described_by = "armtwin.prediction.sections.overview:describe_answer"

    @property
    def holds(self) -> bool:
        """Whether the seam holds with 95 % confidence, or in the nominal run where that is all."""
        if self.band is not None:
            return self.band.outcome == "holds"
        return self.prediction.verdict.within
