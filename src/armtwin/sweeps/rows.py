"""What is kept of a run: a row of the table of results."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from armtwin.maths.batch import Record
from armtwin.prediction.band.band import Band
from armtwin.prediction.predict import Prediction

HOLDS, MAY_HOLD, HOLDS_NOT = "holds", "may hold", "does not hold"
STOPS, REFUSED, FAILED = "stops", "cannot be run", "failed"


@dataclass(frozen=True)
class ResultRow:
    """What became of a run; None where there is no such number.

    Attributes:
        outcome: "holds", "may hold" (with an interval), "does not hold", "stops", "cannot be run",
            or "failed" for an error of armtwin itself.
        ratio: Largest error over its tolerance in the nominal run.
        lateral_m: Largest lateral error with the process on [m].
        vertical_m: Largest vertical error [m].
        orientation_rad: Largest error of orientation [rad].
        lag_m: Largest lag along the seam [m].
        out_of_tolerance_m: Length of the seam that is out of tolerance [m].
        probability: How likely the seam holds, with a 90 % interval.
        ratio_low: Largest error over its tolerance, quantile 5 %.
        ratio_high: As above, quantile 95 %.
        duration_s: Time of the job with its standstills [s].
        stopped_at_m: Where on the seam a run stopped [m].
        sentence: Why it stops, cannot be run or failed; "" else.
        cpu_s: What it cost [s]; the only number that is not the same when it is run again.
    """

    outcome: str
    ratio: float | None = None
    lateral_m: float | None = None
    vertical_m: float | None = None
    orientation_rad: float | None = None
    lag_m: float | None = None
    out_of_tolerance_m: float | None = None
    probability: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    duration_s: float | None = None
    stopped_at_m: float | None = None
    sentence: str = ""
    cpu_s: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the seam holds, with 95 % confidence where there is an interval."""
        return self.outcome == HOLDS

    @property
    def words(self) -> str:
        """What became of it, in a few words."""
        words = self.outcome
        if self.ratio is not None:
            words += f", {100 * self.ratio:.1f} % of tolerance"
        if self.probability is not None:
            words += f", P = {self.probability:.2f}"
        return words


OUTCOMES = (HOLDS, MAY_HOLD, HOLDS_NOT, STOPS, REFUSED, FAILED)
COLUMNS = tuple(f.name for f in fields(ResultRow))
COST = "cpu_s"


def row_of(prediction: Prediction, band: Band | None, cpu_s: float) -> ResultRow:
    """The row of a run that was run."""
    verdict = prediction.verdict
    segments = verdict.segments
    found: Record = {
        "outcome": HOLDS if verdict.within else HOLDS_NOT,
        "ratio": _finite(verdict.worst_ratio),
        "lateral_m": _largest(x.lateral_peak_m for x in segments),
        "vertical_m": _largest(x.vertical_peak_m for x in segments),
        "orientation_rad": _largest(x.orientation_rad for x in segments),
        "lag_m": _largest(x.lag_m for x in segments),
        "out_of_tolerance_m": float(verdict.out_of_tolerance_m),
        "duration_s": float(prediction.job.seam.duration),
        "cpu_s": cpu_s,
    }
    if verdict.stopped is not None:
        found["outcome"] = STOPS
        found["stopped_at_m"] = verdict.stopped_at_m
        found["sentence"] = verdict.stopped.text
    elif verdict.outside_window:
        found["sentence"] = "the tool speed is outside its process window"
    if band is not None:
        low, _, high = band.ratio
        found["outcome"] = band.outcome
        found["probability"] = float(band.probability)
        found["ratio_low"], found["ratio_high"] = _finite(low), _finite(high)
    return ResultRow(**found)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _largest(values: Iterable[float]) -> float | None:
    """The largest of the values that are numbers."""
    known = [float(value) for value in values if np.isfinite(value)]
    return max(known, default=None)
