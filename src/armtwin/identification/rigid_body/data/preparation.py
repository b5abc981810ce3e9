"""From a robot, logs and a recipe to an experiment: checked, filtered, with terms and widths.

The cut-off comes first, as the checks of the torque rest on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.data.cutoff import Cutoff, Say, best_cutoff
from armtwin.identification.rigid_body.data.experiment import (
    IdentificationData,
    LowPassFilter,
    prepare_data,
)
from armtwin.identification.rigid_body.data.log_checks import check_logs
from armtwin.identification.rigid_body.data.plausibility import refuse_impossible, suspect
from armtwin.identification.rigid_body.friction.selection import Chosen, chosen_terms
from armtwin.identification.rigid_body.gravity.gravity_direction import Fall, fall
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.averaging import averaged
from armtwin.logs.cleaning import choices
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log, as_logs
from armtwin.logs.torque import torque_channel
from armtwin.maths.heap import keep_freed_memory
from armtwin.robot.defaults.assumed_drives import lacks_drives, with_assumed_drives
from armtwin.robot.robot import Robot

CUTOFF, MOUNTING, FRICTION = 0.4, 0.5, 0.9  # shares of the work after which each is chosen


@dataclass(frozen=True, eq=False)
class Preparation:
    """An experiment and how it came about.

    Attributes:
        given: The robot as its file has it, with assumed drives where it had none.
        experiment: What is fitted.
        cutoff: The cut-off and what was tried.
        friction: The friction terms and what was tried.
        fall: The direction of gravity by the logs, None where it was not looked for.
        distrusted: What a check of the torque said that was not heeded, "" where none spoke.
    """

    given: Robot
    experiment: IdentificationData
    cutoff: Cutoff
    friction: Chosen
    fall: Fall | None
    distrusted: str


def prepare_identification(
    robot: Robot,
    logs: Log | Sequence[Log],
    *,
    torque: str | None,
    cutoff: float | None,
    recipe: Recipe,
    progress: Say | None = None,
) -> Preparation:
    """The logs checked and clean, with what may change."""
    say = progress or _silent
    keep_freed_memory()
    given = _checked(robot, logs, cutoff)
    prior = with_assumed_drives(robot) if lacks_drives(robot) else robot
    recipe.check(prior)
    ordered = tuple(in_order_of(log, prior.joint_names) for log in given)
    used = (averaged(ordered),) if recipe.average else ordered
    check_logs(prior, used, recipe.position_channel)
    source = torque_channel(used[0], torque)
    tried = _cutoff(prior, used, source, cutoff, recipe, lambda share: say(CUTOFF * share))
    say(CUTOFF)
    how = LowPassFilter(tried.cutoff, cutoff is not None, recipe)
    experiment = prepare_data(prior, used, source, how)
    falls = None if recipe.tilt == "file" else fall(experiment)
    distrusted = _distrusted(experiment, tried, falls)
    say(MOUNTING)
    if falls is not None and falls.leans:
        leaning = prior.with_gravity(falls.logs)
        experiment = replace(experiment, prior=leaning)
    experiment = experiment.with_width()
    friction = chosen_terms(experiment)
    experiment = replace(experiment, carried=friction.carried).with_terms(friction.terms)
    if experiment.remembers:
        experiment = experiment.with_all_rows()
    say(FRICTION)
    return Preparation(prior, experiment, tried, friction, falls, distrusted)


def _silent(_: float) -> None:
    """Say nothing."""


def _checked(robot: Robot, logs: Log | Sequence[Log], cutoff: float | None) -> tuple[Log, ...]:
    """The logs, or an error that says what was given in place of robot, logs or cut-off."""
    if not isinstance(robot, Robot):
        kind = type(robot).__name__
        raise ArmtwinError(f"identify needs a robot, got a {kind}; load it by at.Robot.load")
    given = as_logs(logs, "identify")
    if isinstance(cutoff, bool) or not isinstance(cutoff, Real | None):
        raise ArmtwinError(f"cutoff must be a number in Hz, got {cutoff!r}")
    return given


def _cutoff(
    prior: Robot,
    logs: tuple[Log, ...],
    source: str,
    asked: float | None,
    recipe: Recipe,
    progress: Say,
) -> Cutoff:
    """The cut-off as asked for, else the one that predicts best; of whole periods by spectrum."""
    if asked is not None:
        return Cutoff(asked, {})
    best = None
    if recipe.period is None:
        best = best_cutoff(prior, logs, source, recipe, progress)
    return best or Cutoff(_by_spectrum(logs, recipe), {})


def _by_spectrum(logs: Sequence[Log], recipe: Recipe) -> float:
    """One cut-off for all logs: the median of what their spectra ask for [Hz]."""
    wanted = []
    for log in logs:
        q = getattr(log, recipe.position_channel)
        if np.ptp(q, axis=0).any():
            wanted.append(choices(Log.of(log.time, q=q)).cutoff)
    return float(np.median(wanted))


def _distrusted(experiment: IdentificationData, tried: Cutoff, falls: Fall | None) -> str:
    """What a check of the torque says where the recipe goes on in spite of it; else it is raised.

    The sentence names the cut-off that it rests on.
    """
    try:
        refuse_impossible(experiment.prior, experiment.clean)
        _check_mounting(experiment, falls)
        suspect(experiment.prior, experiment.clean)
    except ArmtwinError as error:
        chosen = "chosen by predicting left-out parts" if tried.errors else "as given"
        rests = f"judged at a cut-off of {experiment.cutoff:.3g} Hz, {chosen}"
        sentence = f"{error} ({rests})"
        if experiment.recipe.trust:
            return sentence
        raise ArmtwinError(f"{sentence}; trust the log to go on in spite of it") from None
    return ""


def _check_mounting(experiment: IdentificationData, falls: Fall | None) -> None:
    """Refuse a base that is mounted otherwise, where the torque is then above suspicion."""
    if falls is None or not falls.wrong:
        return
    try:
        suspect(experiment.prior.with_gravity(falls.logs), experiment.clean)
    except ArmtwinError:
        return  # something else is wrong, and is said of the mounting in the file
    raise ArmtwinError(falls.wrong)
