"""A logged run of a job over the predicted one, and what it shows of itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, NamedArrays, Record
from armtwin.notebook.numbers import PERCENT, Number
from armtwin.notebook.sections import Blocks, Data, Text
from armtwin.prediction.agreement import Agreement, agreement_table
from armtwin.prediction.path_error import PathError
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.headline import failures
from armtwin.prediction.verdict import Verdict
from armtwin.report.result import Result

COMPLETE = 0.999  # share of the judged seam that a log must hold for a verdict


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """A logged run of a job over the predicted one.

    Attributes:
        prediction: The predicted run.
        log: The logged run.
        shift: Time in the log at which the job's time begins [s].
        side: Where the measured positions come from: "q_link", "q" or "q_m".
        torque_source: Channel that the measured torque comes from, or "".
        time: Times of the compared samples in the job's time, (m,) [s].
        channels: Measured and predicted series by name, (2, m) each.
        rows: How well each quantity agrees.
        measured: Path error of the logged run.
        covered: Share of the judged seam that the log holds.
        verdict: Whether the logged run is within the tolerance; not within where the log does not
            hold the whole seam.
    """

    prediction: Prediction
    log: Log
    shift: float
    side: str
    torque_source: str
    time: Floats
    channels: NamedArrays
    rows: tuple[Agreement, ...]
    measured: PathError
    covered: float
    verdict: Verdict

    described_by = "armtwin.prediction.sections.overview:describe_comparison"
    drawn_by = "armtwin.prediction.sections.overview:draw_comparison"

    @property
    def verdict_text(self) -> Text:
        """Whether the logged and the predicted run were within the tolerance."""
        if self.covered < COMPLETE and not self.verdict.spans:
            share = PERCENT.with_unit(self.covered)
            held = f"covers only {share} of the judged seam, within the tolerance there"
        elif self.verdict.within:
            held = "was within the tolerance"
        else:
            held = f"exceeded the tolerance ({'; '.join(failures(self.verdict))})"
        predicted = "is within" if self.prediction.verdict.within else "exceeds"
        sentence = f"The logged run {held}; the predicted one {predicted} it."
        return Text(sentence, "good" if self.verdict.within else "bad")

    def blocks(self) -> Blocks:
        """Measured beside predicted: rms, peak and share explained of every quantity."""
        torque = f"torque from {self.torque_source}" if self.torque_source else "no torque logged"
        yield Text(
            f"Positions from {self.side}, {torque}, {len(self.time)} samples; the job begins at "
            f"{Number(places=3).text(self.shift)} s of the log."
        )
        yield Text("Measured lines are dashed in the plots.", "soft")
        yield agreement_table(self.rows, "pred.", "share_explained")
        yield Text(
            "Over the whole run, also while the process is off. Explained is "
            "1 - |measured - predicted| / |measured|."
        )
        yield Data(
            {
                "comparison.shift_s": self.shift,
                "comparison.positions": self.side,
                "comparison.torque": self.torque_source,
                "comparison.samples": len(self.time),
                "comparison.covered_share": self.covered,
                "comparison.measured": _record_verdict(self.verdict),
            }
        )


def _record_verdict(verdict: Verdict) -> Record:
    """The verdict on the logged run as plain values."""
    return {
        "verdict": verdict.record,
        "segments": [asdict(segment) for segment in verdict.segments],
        "spans": [{**asdict(span), "causes": []} for span in verdict.spans],
        "peaks": [],
        "outside_window": [asdict(span) for span in verdict.outside_window],
    }
