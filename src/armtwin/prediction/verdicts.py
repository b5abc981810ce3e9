"""The verdicts of all results: in one sentence each, what they rest on, and as plain values."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from armtwin.logs.recording import Event
from armtwin.notebook.numbers import (
    FINE_PERCENT,
    MICROMETRES,
    MILLIMETRES,
    PERCENT,
    SIGNED_DEGREES,
    SIGNED_MICROMETRES,
    Number,
)
from armtwin.notebook.sections import Record, Text, Tone
from armtwin.prediction.predict import Prediction
from armtwin.prediction.servo_basis import ServoBasis
from armtwin.prediction.verdict import Span, Verdict

if TYPE_CHECKING:
    from armtwin.identification.completion.complete import Completion
    from armtwin.identification.rigid_body.judgement import Identification
    from armtwin.prediction.compare import Comparison
    from armtwin.prediction.compare_reference import ReferenceComparison

GROUPS_NAMED = 5
BETTER = 0.9  # of the error of the robot file, up to which an estimate is called better
LITTLE = 0.02  # of the tolerance to spare, which is told to a tenth of a percent
NOTHING = 0.01  # share of the variance of an error below which nothing of it is explained
EXPLAINED = 0.8  # share of the variance of an error from which on it counts as explained
ALLOWED = Number(1e3, "mm", digits=4)
ROUGH = Number(1e3, "mm", digits=2)


def verdict_sentence(p: Prediction, *, logged: bool = False) -> str:
    """Whether the predicted seam holds, by what margin, and what that rests on.

    Args:
        p: The prediction.
        logged: Whether a logged run stands beside it.
    """
    sentence = _predicted(p)
    if logged:
        servo = p.servo.summary
        beside = f" ({servo})" if servo else ""
        return f"Predicted{beside}: {_in_midst(sentence)}"
    return _by_servo(p.servo, sentence)


def _by_servo(basis: ServoBasis, sentence: str) -> str:
    """A sentence behind what the servo rests on, where that is worth saying."""
    servo = basis.summary
    if not servo:
        return sentence
    return f"{servo[0].upper()}{servo[1:]}: {_in_midst(sentence)}"


def _in_midst(sentence: str) -> str:
    """A sentence as it stands behind a colon."""
    return sentence[0].lower() + sentence[1:]


def _predicted(p: Prediction) -> str:
    """Whether the predicted seam holds, by what margin, and how many numbers are assumed."""
    verdict = p.verdict
    count = len(p.assumed)
    basis = f"this rests on {count} assumed numbers" if count else "no number behind it is assumed"
    if verdict.within:
        share = 1 - verdict.worst_ratio
        spare = (PERCENT if share > LITTLE else FINE_PERCENT).with_unit(share)
        return f"The seam holds with {spare} of its tolerance to spare; {basis}."
    return f"The seam does not hold: {'; '.join(_failures(verdict))}; {basis}."


def _failures(verdict: Verdict) -> list[str]:
    """Everything that keeps a seam from holding."""
    parts = []
    if verdict.stopped is not None:
        place = MILLIMETRES.with_unit(verdict.stopped_at_m or 0.0)
        parts.append(f"the robot stops at {place} ({verdict.stopped.joint})")
    if verdict.spans:
        length = MILLIMETRES.with_unit(verdict.out_of_tolerance_m)
        worst = max(verdict.spans, key=lambda span: abs(span.peak_m))
        place = MILLIMETRES.with_unit(worst.peak_at_m)
        peak = f"{peak_size(worst)} {worst.direction} at {place}"
        parts.append(f"{length} of it are out of tolerance, the largest error is {peak}")
    if verdict.outside_window:
        times = len(verdict.outside_window)
        parts.append(f"the tool speed leaves its process window {times} times")
    return parts


def peak_size(span: Span) -> str:
    """The largest error of a span with its sign and unit."""
    number = SIGNED_DEGREES if span.direction == "orientation" else SIGNED_MICROMETRES
    return number.with_unit(span.peak_m)


def tolerance_use(verdict: Verdict) -> str:
    """How much of each tolerance is used."""
    parts = []
    for name, allowed in (
        ("lateral", verdict.tolerance.lateral),
        ("vertical", verdict.tolerance.vertical),
    ):
        peaks = [getattr(segment, f"{name}_peak_m") for segment in verdict.segments]
        largest = float(np.nanmax(peaks)) if np.isfinite(peaks).any() else None
        used = MICROMETRES.with_unit(largest)
        parts.append(f"{name} at most {used} of ±{MICROMETRES.with_unit(allowed)}")
    return f"While the process is on: {', '.join(parts)}."


def basis_sentence(p: Prediction) -> str:
    """The assumed numbers behind a verdict, by group."""
    groups = Counter(origin.path.partition(".")[0] for origin in p.assumed)
    if not groups:
        return "No number of the robot file that this rests on is assumed."
    named = ", ".join(f"{group} {count}" for group, count in groups.most_common(GROUPS_NAMED))
    more = " and others" if len(groups) > GROUPS_NAMED else ""
    robot = p.job.description.robot
    return (
        f"It rests on {groups.total()} assumed numbers of the robot file ({named}{more}): "
        f"see armtwin check {robot}."
    )


def comparison_sentence(comparison: Comparison) -> str:
    """Whether the logged and the predicted run kept the tolerance."""
    from armtwin.prediction.compare import COMPLETE

    if comparison.covered < COMPLETE and not comparison.verdict.spans:
        share = PERCENT.with_unit(comparison.covered)
        held = f"holds only {share} of the judged seam, where it kept the tolerance"
    elif comparison.verdict.within:
        held = "kept the tolerance"
    else:
        held = f"did not keep the tolerance ({'; '.join(_failures(comparison.verdict))})"
    predicted = "keeps" if comparison.prediction.verdict.within else "does not keep"
    return f"The logged run {held}; the predicted one {predicted} it."


def reference_verdict(c: ReferenceComparison) -> Text:
    """How well the twin explains a logged run on its own reference."""
    worst = c.worst
    if worst is None:
        return Text("No joint moves in this log, so there is nothing to explain.", "bad")
    joint = worst.name.removesuffix(" error")
    share = PERCENT.with_unit(worst.variance_explained)
    explained = f"explains at least {share} of each joint's error ({joint} least)"
    if worst.variance_explained < NOTHING:
        explained = f"explains nothing of the error of {joint}"
    lateral, vertical = c.row("lateral"), c.row("vertical")
    left = float(np.hypot(lateral.rms_difference, vertical.rms_difference))
    whole = float(np.hypot(lateral.rms_measured, vertical.rms_measured))
    sentence = (
        f"The twin {explained}; at the tool {ROUGH.with_unit(left)} rms of "
        f"{ROUGH.with_unit(whole)} are left."
    )
    tone: Tone = "good" if worst.variance_explained >= EXPLAINED else "bad"
    return Text(_by_servo(c.servo, sentence), tone)


def completion_verdict(result: Completion) -> Text:
    """What a completed robot is worth."""
    if result.still:
        return Text("The robot cannot be predicted: no rule gives all that it lacks.", "bad")
    if not result.table:
        return Text("Nothing was lacking: the robot can be predicted as it is.", "good")
    count = len(result.table)
    guessed = result.robot.description.servo != result.given.description.servo
    servo = "; its servo is a guess" if guessed else ""
    return Text(f"The robot can be predicted: rules gave {count} numbers{servo}.")


def identification_verdict(result: Identification) -> Text:
    """What an identified robot is worth."""
    errors = result.errors
    if errors is None:
        why = f" ({result.unjudged})" if result.unjudged else ""
        mean = float(np.nanmean(result.fit.nrmse))
        return Text(
            f"Fitted, not validated{why}: {mean:.1f} % of the first log's torque is not explained, "
            "mean of joints."
        )
    own, prior = (float(np.nanmean(x)) for x in errors)
    j = int(np.nanargmax(errors[0]))
    worst = result.estimate.prior.joint_names[j]
    beside = (
        f"on {_unseen(result)} it misses {own:.1f} % of the torque (mean of joints), "
        f"the robot file missed {prior:.1f} %; {worst} is missed most, {errors[0][j]:.1f} %"
    )
    sentence, tone = _worth(result, own, prior)
    return Text(f"{sentence}: {beside}.", tone)


def _unseen(result: Identification) -> str:
    """What an estimate was judged on."""
    if result.log is not None:
        return "a log it never saw"
    if len(result.estimate.logs) == 1:
        return "parts of the log left out in turn"
    return "logs left out in turn"


def _worth(result: Identification, own: float, prior: float) -> tuple[str, Tone]:
    if result.worse:
        return "The identified robot is no better than its file", "bad"
    if result.misses_half:
        return "The identified robot does not predict its torque", "bad"
    if own > BETTER * prior:
        return "The identified robot predicts hardly better or worse than its file", ""
    return "The identified robot predicts better than its file", "good"


def verdict_record(verdict: Verdict) -> Record:
    """A verdict as plain values."""
    tolerance = verdict.tolerance
    stopped = None
    if verdict.stopped is not None:
        stopped = {**event_record(verdict.stopped), "at_m": verdict.stopped_at_m}
    return {
        "within": verdict.within,
        "tolerance_m": {"lateral": tolerance.lateral, "vertical": tolerance.vertical},
        "tolerance_orientation_rad": tolerance.orientation,
        "stopped": stopped,
    }


def event_record(event: Event) -> Record:
    """An event as plain values."""
    return {
        "time_s": event.time,
        "kind": event.kind,
        "joint": event.joint,
        "text": event.text,
    }


def segment_records(verdict: Verdict) -> list[Record]:
    """Errors of the segments as plain values."""
    return [asdict(segment) for segment in verdict.segments]
