"""Each log, or each part of a single one, predicted from the others by a fit that never saw it."""

from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.resampling import rate_of
from armtwin.identification.rigid_body.data.clean_log import cut, cut_middle
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.identification.rigid_body.evaluation.validation import Validation, pool_nrmse
from armtwin.identification.rigid_body.identify import identify
from armtwin.logs.averaging import select_periods
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Names, OnProgress
from armtwin.robot.robot import Robot

PARTS = 4  # of a single log
SHORTEST = 200  # samples of a part
SAMPLES = 100_000  # of the others from which a part is predicted, at most


@dataclass(frozen=True, eq=False)
class LeftOutPredictions:
    """Predictions of each part by a fit that never saw it.

    Attributes:
        names: Names of the parts.
        parts: Predicted against measured torque of each.
        prior: Predictions of each by the robot as it was before.
        share: Share of the samples of the others that each fit was made from.
    """

    names: Names
    parts: tuple[Validation, ...]
    prior: tuple[Validation, ...]
    share: float = 1.0

    @property
    def nrmse(self) -> Floats:
        """NRMSE of each joint over all parts, (n,) [%]."""
        return pool_nrmse(self.parts)


def leave_one_out(
    robot: Robot, found: Estimate, progress: OnProgress | None = None
) -> LeftOutPredictions:
    """Predict each log of an estimate from the others, of long ones from their middle.

    Args:
        robot: The robot that the estimate started from.
        found: The estimate, whose choices are kept.
        progress: Called with the share of the work that is done.
    """
    logs, names = _parts(found)
    # the logs were checked as a whole, of which a part shows less
    recipe = replace(found.recipe, average=False, periods=None, trust=True)
    if recipe.motion == "simulated":  # the logs of the estimate hold the simulated motion
        recipe = replace(recipe, motion="measured")
    source, cutoff = found.torque_source, found.cutoff
    parts, prior = [], []
    samples = sum(len(log.time) for log in logs) * (1 - 1 / len(logs))
    share = 1.0 if recipe.period is not None else min(1.0, SAMPLES / samples)
    middles = [log if share == 1 else cut_middle(log, share) for log in logs]
    for k, log in enumerate(logs):
        others = [*middles[:k], *middles[k + 1 :]]
        fit = identify(robot, others, torque=source, cutoff=cutoff, recipe=recipe)
        parts.append(fit.validate(log))
        prior.append(fit.validate(log, robot=fit.prior))
        if progress is not None:
            progress((k + 1) / len(logs))
    return LeftOutPredictions(names, tuple(parts), tuple(prior), share)


def _parts(found: Estimate) -> tuple[list[Log], Names]:
    """The logs, or a single one cut into parts, and their names."""
    period, periods = found.recipe.period, found.recipe.periods
    logs = list(found.logs)
    if period is not None and periods is not None:
        logs = [select_periods(log, period, *periods) for log in logs]
    if len(logs) > 1:
        return logs, tuple(log.origin or f"log {k}" for k, log in enumerate(logs, 1))
    (log,) = logs
    parts = _stretches(log) if period is None else _single_periods(log, period)
    names = []
    for part in parts:
        first, last = part.time[0], part.time[-1]
        names.append(f"{first:.4g} to {last:.4g} s")
    return parts, tuple(names)


def _single_periods(log: Log, period: float) -> list[Log]:
    """The periods of a log, one by one."""
    count = int((len(log.time) + 0.5) / (period * rate_of(log.time)))
    if count < 2:
        raise ArmtwinError("a log of one period leaves nothing to fit when it is left out")
    return [select_periods(log, period, k, 1) for k in range(count)]


def _stretches(log: Log) -> list[Log]:
    """A log cut into a few parts of equal length."""
    samples = len(log.time)
    if samples < PARTS * SHORTEST:
        raise ArmtwinError(f"a log of {samples} samples is too short to leave a part out")
    return [cut(log, rows) for rows in np.array_split(np.arange(samples), PARTS)]
