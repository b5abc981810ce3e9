"""From a robot, logs and a recipe to data: checked, filtered, with friction terms.

The cut-off comes first, as the checks of the torque depend on it.

The cut-off with which parts left out of the logs are predicted best, torque as measured.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.comparison import estimate_gain
from armtwin.identification.fitting.regularisation import estimate_scales
from armtwin.identification.fitting.squares import prepare_left_out_parts
from armtwin.identification.plausibility import suspect as plausibility
from armtwin.identification.resampling import rate_of
from armtwin.identification.rigid_body.data import experiment as data
from armtwin.identification.rigid_body.data.clean_log import cut_middle
from armtwin.identification.rigid_body.data.log_checks import check_logs
from armtwin.identification.rigid_body.friction import selection as friction_selection
from armtwin.identification.rigid_body.friction.terms import Terms, find_hosts
from armtwin.identification.rigid_body.friction.trials import build_presliding_terms
from armtwin.identification.rigid_body.gravity.gravity_direction import (
    GravityDirection,
    estimate_gravity_direction,
)
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.averaging import average_runs
from armtwin.logs.cleaning import LEAST_PERIODS, choices
from armtwin.logs.joints import in_order_of, torque_channel, torque_or_current
from armtwin.logs.log import Log, as_logs
from armtwin.maths.batch import Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.maths.heap import keep_freed_memory
from armtwin.robot.defaults.assumed_drives import lacks_drives, with_assumed_drives
from armtwin.robot.robot import Robot

CUTOFFS = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, 40.0, 60.0, 80.0, 160.0)  # tried [Hz]
FIRST = (3.0, 10.0, 40.0, 160.0)  # tried first [Hz]
MOST_BEHIND = 0.06  # of ln of the squares that still predict alike: 3 % of the error
FAR = 0.2  # of ln of the squares above the least, beyond which no cut-off further off is tried
ROWS = 12_000  # of all logs on which cut-offs are compared
LEAST_RATE = 3.0  # rate of a log over the highest cut-off that is tried
DISTANCES = (1e-4, 1e-3)  # pre-sliding distances tried with every cut-off [rad]
WEIGHT = 1e-3  # of the prior
MEDIAN = 0.455  # of the square of a normal variable
LEAST_SHARE = 0.01  # of squares that are not noise's, as these are not known better

Say = Callable[[float], None]


@dataclass(frozen=True)
class Cutoff:
    """The cut-off of an identification.

    Attributes:
        cutoff: Cut-off frequency [Hz].
        errors: Relative error of the left-out torque with each that was tried, mean of the joints;
            empty where none was.
    """

    cutoff: float
    errors: dict[float, float]


class LeftOutSquares(NamedTuple):
    """Residual squares of left-out parts with one cut-off.

    Attributes:
        error: Mean over the joints of ln of the squares over those of the torque, at most 0.
        without_noise: The same mean without the squares of noise.
        squares: The squares of each part and joint over those of the torque, (parts, n).
    """

    error: float
    without_noise: float
    squares: Floats


@one_blas_thread()
def choose_cutoff(
    robot: Robot, logs: tuple[Log, ...], source: str, recipe: Recipe, progress: Say | None
) -> Cutoff | None:
    """The highest cut-off that predicts left-out parts best, None where none can be tried.

    Args:
        robot: The robot, with drives.
        logs: Its logs.
        source: Channel of the torque.
        recipe: The other choices.
        progress: Called with the share of the work that is done.
    """
    stretches = _stretches(logs)
    possible = _possible(stretches)
    found: dict[float, LeftOutSquares] = {}

    def try_cutoff(cutoff: float) -> float:
        if progress is not None:
            progress(len(found) / len(possible))
        try:
            work = data.prepare_data(
                robot, stretches, source, data.LowPassFilter(cutoff, True, recipe)
            )
            found[cutoff] = _predict_left_out(work)
        except (ArmtwinError, np.linalg.LinAlgError):
            return np.inf  # a filter that leaves too little is no candidate
        return found[cutoff].without_noise

    _search(possible, try_cutoff)
    if not found:
        return None
    tried = dict(sorted(found.items()))
    errors = {cutoff: float(np.exp(0.5 * squares.error)) for cutoff, squares in tried.items()}
    duration = sum(float(np.ptp(log.time)) for log in stretches)
    return Cutoff(choose_highest_alike(tried, duration), errors)


def _search(possible: Sequence[float], try_cutoff: Callable[[float], float]) -> None:
    """Try a few cut-offs far apart, then others from the best as far as errors stay near its own.

    Of short logs one cut-off may be far worse than both beside it.
    """
    first = [cutoff for cutoff in possible if cutoff in FIRST] or possible
    errors = {cutoff: try_cutoff(cutoff) for cutoff in first}
    best = min(errors, key=lambda cutoff: errors[cutoff], default=0.0)
    higher = [cutoff for cutoff in possible if cutoff > best]
    lower = [cutoff for cutoff in reversed(possible) if cutoff < best]
    for side in (higher, lower):
        for cutoff in side:
            if cutoff not in errors:
                errors[cutoff] = try_cutoff(cutoff)
            least = min(errors.values())
            if np.isfinite(least) and errors[cutoff] > least + FAR:
                break


def choose_highest_alike(tried: Mapping[float, LeftOutSquares], duration: float) -> float:
    """The highest cut-off that predicts left-out parts as well as the best one.

    Chance alone decides within a standard error of the difference, up to 3 % of the error, or half
    of that of a mean square of as many independent samples as the best cut-off leaves, √(2 / N);
    inertias show in what a lower cut-off takes away.

    Args:
        tried: Squares with each cut-off.
        duration: That of all logs [s].
    """
    least = min(tried, key=lambda cutoff: tried[cutoff].error)
    best = tried[least].squares
    by_chance = 0.5 * np.sqrt(2 / (2 * least * duration * best.shape[1]))
    alike = []
    for cutoff, here in tried.items():
        behind = estimate_gain(here.squares, best)
        if behind.fall <= max(min(behind.error, MOST_BEHIND), by_chance):
            alike.append(cutoff)
    return max(alike)


def _stretches(logs: tuple[Log, ...]) -> tuple[Log, ...]:
    """The middle of each log, so that all have few enough rows."""
    samples = sum(len(log.time) for log in logs)
    share = min(1.0, ROWS / samples)
    return tuple(cut_middle(log, share) for log in logs)


def _possible(logs: tuple[Log, ...]) -> list[float]:
    """Cut-offs that every log's length and rate allow [Hz]."""
    least, most = 0.0, np.inf
    for log in logs:
        least = max(least, LEAST_PERIODS / float(np.ptp(log.time)))
        most = min(most, rate_of(log.time) / LEAST_RATE)
    return [cutoff for cutoff in CUTOFFS if least <= cutoff <= most]


def _predict_left_out(work: data.IdentificationData) -> LeftOutSquares:
    """Each part of the torque as measured, predicted by a fit to the others."""
    work = work.with_width().with_all_rows().with_terms(_terms(work))
    parts, judged = work.squares(), work.raw_squares(ROWS)
    noise = _estimate_noise(work)
    gains = work.gains(parts.whole())
    if gains is not None:
        parts, judged, noise = parts.scaled(gains), judged.scaled(gains), noise * gains
    sigma = estimate_scales(parts.whole(), work.free)
    count = work.free.count
    left_out = prepare_left_out_parts(parts, work.free, sigma, WEIGHT, always=count, judged=judged)
    squares = left_out.missed(())
    of_model = np.maximum(squares - judged.count * noise**2, LEAST_SHARE * squares)
    without_noise = np.minimum(np.log(of_model.sum(axis=0) / left_out.power), 0.0)
    # a joint that a short log hardly excites must not decide by how far its prediction runs away
    relative = squares / np.maximum(left_out.power, squares.sum(axis=0))
    error = np.log(relative.sum(axis=0)).mean()
    return LeftOutSquares(float(error), float(without_noise.mean()), relative)


def _estimate_noise(work: data.IdentificationData) -> Floats:
    """Standard deviation of white noise of the torque as measured, (n,).

    By fourth differences, in which a motion hardly shows: those of noise have 70 times its power.
    """
    powers = []
    for log in work.logs:
        torque = torque_or_current(work.prior, log, torque_channel(log, work.source))
        powers.append(np.median(np.diff(torque, 4, axis=0) ** 2, axis=0) / (70 * MEDIAN))
    return np.sqrt(np.mean(powers, axis=0))


def _terms(work: data.IdentificationData) -> Terms:
    """Pre-sliding friction of two distances on every element; none where none is looked for."""
    recipe = work.recipe
    if not recipe.chooses_friction or friction_selection.is_command(work.source):
        return ()
    hosts = find_hosts(work.prior, recipe, data.find_highest_speeds(work.clean))
    return build_presliding_terms(hosts, DISTANCES)


CUTOFF, MOUNTING, FRICTION = 0.4, 0.5, 0.9  # shares of the work after which each is chosen


@dataclass(frozen=True, eq=False)
class TorqueDoubt:
    """What speaks against the torque of the logs; a check that is overridden costs nothing.

    Attributes:
        weighed: The evidence of the logs.
        direction: The direction of gravity by the logs, None where it was not estimated.
    """

    weighed: plausibility.TorqueEvidence
    direction: GravityDirection | None

    @cached_property
    def sentence(self) -> str:
        """Why the logs cannot be of the robot as it is mounted, "" where they can."""
        try:
            self._refuse_mounting()
            plausibility.refuse_mistakes(self.weighed)
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
    experiment: data.IdentificationData
    cutoff: Cutoff
    friction: friction_selection.FrictionSelection
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
    how = data.LowPassFilter(tried.cutoff, cutoff is not None, recipe)
    experiment = data.prepare_data(prior, used, source, how)
    direction = None if recipe.tilt == "file" else estimate_gravity_direction(experiment)
    doubt = TorqueDoubt(plausibility.weigh_torques(prior, used, source, recipe), direction)
    if not recipe.trust and doubt.sentence:
        raise ArmtwinError(f"{doubt.sentence}; use trust to override this check")
    say(MOUNTING)
    if direction is not None and direction.base_is_tilted:
        tilted = prior.with_gravity(direction.logs)
        experiment = replace(experiment, prior=tilted)
    experiment = experiment.with_width()
    friction = friction_selection.select_friction_terms(experiment)
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
