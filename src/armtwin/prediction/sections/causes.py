"""Where the error of a prediction is largest, and why."""

from dataclasses import asdict

from armtwin.maths.batch import Floats, Record
from armtwin.notebook.numbers import MILLIMETRES, PERCENT
from armtwin.notebook.sampling import sample_at
from armtwin.notebook.sections import PAGE_ONLY, Blocks, Data, Table, Text, list_columns
from armtwin.prediction.causes import Cause, Explanation
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.headline import PLACE, number_of, peak_size
from armtwin.prediction.verdict import Span

SHOWN = 12  # rows of a table in the terminal
REASONS = {  # what happens at a place, by its cause; others are named as they are
    "friction reversal": "{} reverses there: without its friction",
    "friction": "friction of {}: without it",
    "inertia": "inertia at {}: without it",
    "coupling": "other joints' motion loads {}: without it",
    "speed feed-forward": "the servo of {} lags in speed: without that lag",
    "torque limit": "{} is at its torque limit: without it",
    "elasticity": "{} is elastic: with a rigid gear",
}


def state_place(p: Prediction, worst: Explanation | None) -> str:
    """Where the error is largest in the nominal run, as a sentence; "" where none was judged."""
    verdict, length = p.verdict, PLACE.with_unit(p.job.seam.length)
    if verdict.stopped is not None:
        stop = PLACE.with_unit(verdict.stopped_at_m or 0.0)
        return f"The robot stops at {stop} of {length} ({verdict.stopped.joint})."
    if not verdict.ratios:
        return ""
    direction = verdict.worst if worst is None else worst.span.direction
    place = p.place_of_peak(direction) if worst is None else worst.span.peak_at_m
    number = number_of(direction)
    size = number.with_unit(verdict.peaks[direction])
    allowed = number.with_unit(getattr(verdict.tolerance, direction))
    share = PERCENT.with_unit(verdict.worst_ratio)
    out = f"{MILLIMETRES.with_unit(verdict.out_of_tolerance_m)} of the seam are out of tolerance"
    if verdict.within:
        out = f"it uses {share} of the tolerance"
    if verdict.outside_window:
        out += f", tool speed outside its process window {len(verdict.outside_window)} times"
    at = f"At {PLACE.with_unit(place)} of {length}"
    return f"{at}: {size} {direction}, {allowed} allowed; {out}."


def state_cause(worst: Explanation | None) -> str:
    """Why the error is largest there, as a sentence; "" where causes were not sought."""
    if worst is None:
        return ""
    if not worst.causes:
        return "No single cause explains more than 10 % of it."
    first, *others = worst.causes
    reason = REASONS.get(first.cause, f"{first.cause} {{}}: without it").format(_name(first.joint))
    reason = " ".join(reason.split()).replace(" :", ":")
    sentence = f"{reason} the error would be {PERCENT.with_unit(first.share)} smaller"
    if others:
        also = f"{others[0].cause} of {_name(others[0].joint)}".removesuffix(" of ")
        sentence += f" (without {also} alone {PERCENT.with_unit(others[0].share)})"
    return f"{sentence[0].upper()}{sentence[1:]}."


def _name(joint: str) -> str:
    """The name of a joint as words, as "joint 2"."""
    return joint.replace("_", " ")


def cause_blocks(
    spans: tuple[Span, ...], explanations: tuple[Explanation, ...], times: Floats
) -> Blocks:
    """Spans out of tolerance and the largest peaks within, each with its causes.

    Args:
        spans: Where the error is out of tolerance.
        explanations: What explains these spans and the peaks.
        times: Times of the samples that are shown, (k,) [s].
    """
    yield Data(
        {
            "spans": [_span(span, explanations) for span in spans],
            "peaks": [_peak(x) for x in explanations if x.within],
        }
    )
    if not explanations:
        yield Text("Causes were not computed.", "soft")
    records = [_record_explanation(x) for x in explanations]
    samples: list[int | None] = [sample_at(times, x.time) for x in explanations]
    explained = [x.span for x in explanations]
    for span in spans:
        if span not in explained:
            records.append(_row(span, "out", "not computed"))
            samples.append(None)
    if not records:
        return
    columns = list_columns(
        peak_at_m=("at", MILLIMETRES),
        place=("span mm", None, PAGE_ONLY),
        direction="direction",
        peak="peak",
        state="tolerance",
        causes="causes (error reduction without it)",
    )
    bad = frozenset(k for k, record in enumerate(records) if record["state"] == "out")
    yield Table(columns, records, bad=bad, samples=tuple(samples), most=SHOWN)
    yield Text(
        "Each cause was removed from the simulation by itself; the percentage is how much smaller "
        "the error would be without it, 1 - |error without it| / |error| over the span. Effects "
        "interact through the servo, so the percentages need not sum to 100 %.",
        "soft",
    )


def _record_explanation(x: Explanation) -> Record:
    causes = "; ".join(_cause(cause) for cause in x.causes)
    return _row(x.span, "within" if x.within else "out", causes or "none above 10 %")


def _row(span: Span, state: str, causes: str) -> Record:
    """A span as it is shown."""
    return {
        "peak_at_m": span.peak_at_m,
        "place": f"{MILLIMETRES.text(span.from_m)} to {MILLIMETRES.text(span.to_m)}",
        "direction": span.direction,
        "peak": peak_size(span),
        "state": state,
        "causes": causes,
    }


def _cause(cause: Cause) -> str:
    joint = f" ({cause.joint})" if cause.joint else ""
    return f"{cause.cause}{joint} {PERCENT.with_unit(cause.share)}"


def _span(span: Span, explanations: tuple[Explanation, ...]) -> Record:
    """A span out of tolerance with its causes, as plain values."""
    causes: tuple[Cause, ...] = ()
    for x in explanations:
        if not x.within and x.span == span:
            causes = x.causes
    return {**asdict(span), "causes": [asdict(cause) for cause in causes]}


def _peak(x: Explanation) -> Record:
    """A peak within tolerance with its causes, as plain values."""
    return {**_span(x.span, ()), "time_s": x.time, "causes": [asdict(cause) for cause in x.causes]}
