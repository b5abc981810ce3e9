"""Verdicts of a completion and of an identification, in one sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armtwin.notebook.sections import Text, Tone

if TYPE_CHECKING:
    from armtwin.identification.completion.complete import Completion
    from armtwin.identification.rigid_body.judgement import Identification

BETTER = 0.9  # of the error of the robot file, up to which an estimate is called better


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
