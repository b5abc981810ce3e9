"""From a robot, logs and a recipe to data: checked, filtered, with friction terms.

The cut-off comes first, as the checks of the torque depend on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.plausibility.suspect import (
    TorqueEvidence,
    refuse_mistakes,
    weigh_torques,
)
from armtwin.identification.rigid_body.data.cutoff import Cutoff, Say, choose_cutoff
from armtwin.identification.rigid_body.data.experiment import (
    IdentificationData,
    LowPassFilter,
    prepare_data,
)
from armtwin.identification.rigid_body.data.log_checks import check_logs
from armtwin.identification.rigid_body.friction.selection import (
    FrictionSelection,
    select_friction_terms,
)
from armtwin.identification.rigid_body.gravity.gravity_direction import (
    GravityDirection,
    estimate_gravity_direction,
)
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.averaging import average_runs
from armtwin.logs.cleaning import choices
from armtwin.logs.joints import in_order_of, torque_channel
from armtwin.logs.log import Log, as_logs
from armtwin.maths.heap import keep_freed_memory
from armtwin.robot.defaults.assumed_drives import lacks_drives, with_assumed_drives
from armtwin.robot.robot import Robot

CUTOFF, MOUNTING, FRICTION = 0.4, 0.5, 0.9  # shares of the work after which each is chosen


@dataclass(frozen=True, eq=False)
class TorqueDoubt:
    """What speaks against the torque of the logs; a check that is overridden costs nothing.

    Attributes:
        weighed: The evidence of the logs.
        direction: The direction of gravity by the logs, None where it was not estimated.
    """

    weighed: TorqueEvidence
    direction: GravityDirection | None

    @cached_property
    def sentence(self) -> str:
        """Why the logs cannot be of the robot as it is mounted, "" where they can."""
        try:
            self._refuse_mounting()
            refuse_mistakes(self.weighed)
        except ArmtwinError as error:
            return str(error)
        return ""

    def _refuse_mounting(self) -> None:
        """Refuse a base that is mounted otherwise, where that explains the torque best."""
        direction = self.direction
        if direction is None or not direction.wrong_mounting:
            return
        gain = self.weighed.gain_of(self.weighed.robot.with_gravity(direction.logs))
        others = self.weighed.hypotheses
        if not others or gain > others[0].strength:
            raise ArmtwinError(direction.wrong_mounting)


@dataclass(frozen=True, eq=False)
class Preparation:
    """The data of an identification and the choices behind them.

    Attributes:
        given: The robot as its file has it, with assumed drives where it had none.
        experiment: The data that are fitted.
        cutoff: The cut-off and what was tried.
        friction: The friction terms and what was tried.
        fall: The direction of gravity by the logs, None where it was not estimated.
        doubt: What the plausibility check of the torque says.
    """

    given: Robot
    experiment: IdentificationData
    cutoff: Cutoff
    friction: FrictionSelection
    fall: GravityDirection | None
    doubt: TorqueDoubt


def prepare_identification(
    robot: Robot,
    logs: Log | Sequence[Log],
    *,
    torque: str | None,
    cutoff: float | None,
    recipe: Recipe,
    progress: Say | None = None,
) -> Preparation:
    """Check and clean the logs, and choose cut-off, gravity direction and friction terms."""
    say = progress or silent
    keep_freed_memory()
    given = _check_arguments(robot, logs, cutoff)
    prior = with_assumed_drives(robot) if lacks_drives(robot) else robot
    recipe.check(prior)
    ordered = tuple(in_order_of(log, prior.joint_names) for log in given)
    used = (average_runs(ordered),) if recipe.average else ordered
    check_logs(prior, used, recipe.position_channel)
    source = torque_channel(used[0], torque)
    tried = _cutoff(prior, used, source, cutoff, recipe, lambda share: say(CUTOFF * share))
    say(CUTOFF)
    how = LowPassFilter(tried.cutoff, cutoff is not None, recipe)
    experiment = prepare_data(prior, used, source, how)
    direction = None if recipe.tilt == "file" else estimate_gravity_direction(experiment)
    doubt = TorqueDoubt(weigh_torques(prior, used, source, recipe), direction)
    if not recipe.trust and doubt.sentence:
        raise ArmtwinError(f"{doubt.sentence}; use trust to override this check")
    say(MOUNTING)
    if direction is not None and direction.base_is_tilted:
        tilted = prior.with_gravity(direction.logs)
        experiment = replace(experiment, prior=tilted)
    experiment = experiment.with_width()
    friction = select_friction_terms(experiment)
    experiment = replace(experiment, carried=friction.carried).with_terms(friction.terms)
    if experiment.has_presliding:
        experiment = experiment.with_all_rows()
    say(FRICTION)
    return Preparation(prior, experiment, tried, friction, direction, doubt)


def silent(_: float) -> None:
    """Report no progress."""


def _check_arguments(
    robot: Robot, logs: Log | Sequence[Log], cutoff: float | None
) -> tuple[Log, ...]:
    """The logs; arguments of another type than robot, logs and cut-off are refused."""
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
    """The cut-off as given, else the one that predicts best; of whole periods by spectrum."""
    if asked is not None:
        return Cutoff(asked, {})
    best = None
    if recipe.period is None:
        best = choose_cutoff(prior, logs, source, recipe, progress)
    return best or Cutoff(_by_spectrum(logs, recipe), {})


def _by_spectrum(logs: Sequence[Log], recipe: Recipe) -> float:
    """One cut-off for all logs: the median by their spectra [Hz]."""
    wanted = []
    for log in logs:
        q = getattr(log, recipe.position_channel)
        if np.ptp(q, axis=0).any():
            wanted.append(choices(Log.of(log.time, q=q)).cutoff)
    return float(np.median(wanted))
