"""The verdict on a seam: a headline by its probability, and the sentence behind it."""

from collections.abc import Iterable

from armtwin.jobs.groups import Tolerance
from armtwin.notebook import numbers, sections as show
from armtwin.prediction.band.along import LIKELY
from armtwin.prediction.band.band import UNLIKELY, Band
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Direction, Span, Verdict

PLACE = numbers.Number(1e3, "mm", places=0)
LITTLE = 0.02  # of the tolerance to spare, which is written to a tenth of a percent
IN, OUT = "IN TOLERANCE", "OUT OF TOLERANCE"
WITHIN, EXCEEDS = "WITHIN TOLERANCE", "EXCEEDS TOLERANCE"
PROBABLE, IMPROBABLE = 0.7, 0.3  # from and up to which a seam probably is in or out of tolerance


def chart_along_seam(title: str, unit: str, layers: Iterable[show.Layer]) -> show.Chart:
    """Errors over the place on the seam."""
    return show.Chart(
        title, show.Axis("along the seam", "mm"), show.Axis("error", unit), tuple(layers)
    )


def verdict_text(p: Prediction, band: Band | None = None, beside: str = "") -> show.Text:
    """The verdict on a seam, its headline leading, in the colour of what it comes to.

    Args:
        p: The nominal prediction.
        band: Its 90 % interval; None for the nominal run alone.
        beside: What stands before it where another verdict leads.
    """
    headline, sentence = state_verdict(p, band)
    tone: show.Tone = "good" if p.verdict.within else "bad"
    if band is not None:
        tone = "bad" if band.probability <= IMPROBABLE else "fair"
        if headline == IN:
            tone = "good"
    lead = "" if beside else headline
    return show.Text(f"{beside}{headline} {sentence}", tone, lead)


def state_verdict(p: Prediction, band: Band | None = None) -> tuple[str, str]:
    """Headline and sentence on the seam of a prediction.

    Args:
        p: The nominal prediction.
        band: Its 90 % interval; None for the nominal run alone.
    """
    if band is not None:
        return _headline(band), _interval_sentence(band)
    headline = WITHIN if p.verdict.within else EXCEEDS
    if p.verdict.stopped is not None:
        headline = OUT
    parts = failures(p.verdict)
    if p.verdict.within:
        share = 1 - p.verdict.worst_ratio
        spare = (numbers.PERCENT if share > LITTLE else numbers.FINE_PERCENT).with_unit(share)
        parts = [f"{_nominal_peak(p, p.verdict.worst)}, {spare} to spare"]
    if p.servo.summary:
        parts.append(p.servo.summary)
    count = len(p.assumed)
    parts.append(f"{count} assumed numbers" if count else "no assumed number")
    return headline, f"(nominal run, no interval). {'; '.join(parts)}."


def _headline(band: Band) -> str:
    """The headline of a probability; one that is capped is never IN TOLERANCE."""
    probability = band.probability
    if probability >= LIKELY and not band.prediction.capped_by:
        return IN
    if probability >= PROBABLE:
        return f"PROBABLY {IN}"
    if probability > IMPROBABLE:
        return "UNDECIDED"
    if probability > UNLIKELY:
        return f"PROBABLY {OUT}"
    return OUT


def _interval_sentence(band: Band) -> str:
    """Probability, nominal peak, and the 90 % interval of the largest error."""
    number = number_of(band.direction)
    low, high = band.peak
    capped = ""
    if band.prediction.capped_by and band.probability >= LIKELY:
        capped = f", capped by {' and '.join(band.prediction.capped_by)}"
    stopped = ""
    if band.failures:
        stopped = f"; {band.failures} of {len(band.ensemble)} variants stop or cannot be run"
    return (
        f"({likelihood(band.probability)} likely to hold{capped}). "
        f"{_nominal_peak(band.prediction, band.direction)}; "
        f"90 % interval {number.text(low)} to {number.with_unit(high)}{stopped}."
    )


def likelihood(probability: float) -> str:
    """A probability in words."""
    if probability >= LIKELY:
        return "at least 95 %"
    if probability <= UNLIKELY:
        return "at most 5 %"
    return f"about {10 * max(1, round(10 * probability))} %"


def _nominal_peak(p: Prediction, direction: Direction) -> str:
    """The largest error of the nominal run in a direction."""
    tolerance = p.job.description.tolerance
    return _peak(direction, p.verdict.peaks[direction], p.place_of_peak(direction), tolerance)


def _peak(direction: Direction, size: float, place: float, tolerance: Tolerance) -> str:
    """A peak, where it is, and what is allowed, as "163 µm lateral at 430 mm, 100 µm allowed"."""
    number = number_of(direction)
    allowed = number.with_unit(getattr(tolerance, direction))
    return f"{number.with_unit(size)} {direction} at {PLACE.with_unit(place)}, {allowed} allowed"


def number_of(direction: str) -> numbers.Number:
    """How errors of a direction are written."""
    return numbers.DEGREES if direction == "orientation" else numbers.MICROMETRES


def failures(verdict: Verdict) -> list[str]:
    """Everything that keeps a seam from holding."""
    parts = []
    if verdict.stopped is not None:
        place = PLACE.with_unit(verdict.stopped_at_m or 0.0)
        parts.append(f"the robot stops at {place} ({verdict.stopped.joint})")
    if verdict.spans:
        length = numbers.MILLIMETRES.with_unit(verdict.out_of_tolerance_m)
        worst = max(verdict.spans, key=lambda span: abs(span.peak_m))
        peak = _peak(worst.direction, abs(worst.peak_m), worst.peak_at_m, verdict.tolerance)
        parts.append(f"{peak}, {length} of the seam out of tolerance")
    if verdict.outside_window:
        times = len(verdict.outside_window)
        parts.append(f"tool speed outside its process window {times} times")
    return parts


def peak_size(span: Span) -> str:
    """The largest error of a span with its sign and unit."""
    number = (
        numbers.SIGNED_DEGREES if span.direction == "orientation" else numbers.SIGNED_MICROMETRES
    )
    return number.with_unit(span.peak_m)
