"""The cut-off with which parts left out of the logs are predicted best, on torque as measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.least_squares import estimate_scales
from armtwin.identification.fitting.left_out import prepare_left_out_parts
from armtwin.identification.resampling import rate_of
from armtwin.identification.rigid_body.data.clean_log import cut_middle
from armtwin.identification.rigid_body.data.experiment import (
    IdentificationData,
    LowPassFilter,
    find_highest_speeds,
    prepare_data,
)
from armtwin.identification.rigid_body.friction.presliding_selection import build_presliding_terms
from armtwin.identification.rigid_body.friction.selection import is_command
from armtwin.identification.rigid_body.friction.terms import Terms, find_hosts
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.cleaning import LEAST_PERIODS
from armtwin.logs.log import Log
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.robot import Robot

CUTOFFS = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, 40.0, 60.0, 80.0, 160.0)  # tried [Hz]
ROWS = 20_000  # of all logs on which cut-offs are compared
LEAST_RATE = 3.0  # rate of a log over the highest cut-off that is tried
DISTANCES = (1e-4, 1e-3)  # pre-sliding distances tried with every cut-off [rad]
WEIGHT = 1e-3  # of the prior

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


@one_blas_thread()
def choose_cutoff(
    robot: Robot, logs: tuple[Log, ...], source: str, recipe: Recipe, progress: Say | None
) -> Cutoff | None:
    """The cut-off that predicts left-out parts best, None where none can be tried.

    Args:
        robot: The robot, with drives.
        logs: Its logs.
        source: Channel of the torque.
        recipe: The other choices.
        progress: Called with the share of the work that is done.
    """
    stretches = _stretches(logs)
    errors = {}
    possible = _possible(stretches)
    for k, cutoff in enumerate(possible):
        if progress is not None:
            progress(k / len(possible))
        try:
            work = prepare_data(robot, stretches, source, LowPassFilter(cutoff, True, recipe))
            errors[cutoff] = _evaluate_left_out(work)
        except (ArmtwinError, np.linalg.LinAlgError):
            continue  # a filter that leaves too little is no candidate
    if not errors:
        return None
    return Cutoff(min(errors, key=errors.__getitem__), errors)


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


def _evaluate_left_out(work: IdentificationData) -> float:
    """Relative error of the left-out torque, mean of the joints."""
    work = work.with_width().with_all_rows().with_terms(_terms(work))
    parts, judged = work.squares(), work.raw_squares(ROWS)
    gains = work.gains(parts.whole())
    if gains is not None:
        parts, judged = parts.scaled(gains), judged.scaled(gains)
    sigma = estimate_scales(parts.whole(), work.free)
    count = work.free.count
    squares = prepare_left_out_parts(parts, work.free, sigma, WEIGHT, always=count, judged=judged)
    return float(np.exp(0.5 * squares.error()))


def _terms(work: IdentificationData) -> Terms:
    """Pre-sliding friction of two distances on every element; none where none is looked for."""
    recipe = work.recipe
    if not recipe.chooses_friction or is_command(work.source):
        return ()
    hosts = find_hosts(work.prior, recipe, find_highest_speeds(work.clean))
    return build_presliding_terms(hosts, DISTANCES)
