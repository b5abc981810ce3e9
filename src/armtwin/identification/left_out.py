"""Judge an identification without a second log: each log, or each part of a single one, predicted from the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.estimate import Estimate, Validation
from armtwin.identification.identify import identify
from armtwin.logs.averaging import chosen_periods
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

PARTS = 4  # of a single log
SHORTEST = 200  # samples of a part


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What each part was predicted to be by a fit that never saw it.

    Attributes:
        names: Names of the parts.
        parts: Predicted against measured torque of each.
        prior: The same with the robot as it was before.
    """

    names: tuple[str, ...]
    parts: tuple[Validation, ...]
    prior: tuple[Validation, ...]

    @property
    def nrmse(self) -> Floats:
        """NRMSE of each joint over all parts, (n,) [%]."""
        return pooled(self.parts)


def pooled(parts: Sequence[Validation]) -> Floats:
    """NRMSE of each joint over several comparisons as one, (n,) [%]."""
    gap = np.sum([((p.tau - p.tau_hat) ** 2).sum(axis=0) for p in parts], axis=0)
    size = np.sum([(p.tau**2).sum(axis=0) for p in parts], axis=0)
    return np.asarray(100 * np.sqrt(gap / np.where(size > 0, size, np.nan)))


def leave_one_out(
    robot: Robot, found: Estimate, progress: Callable[[float], None] | None = None
) -> LeftOut:
    """Predict each log of an estimate from the others.

    Args:
        robot: The robot that the estimate started from.
        found: The estimate, whose choices are kept.
        progress: Called with the share that is done.
    """
    logs, names = _parts(found)
    recipe = replace(found.recipe, average=False, periods=None)
    told, before = [], []
    for k, left in enumerate(logs):
        others = [log for i, log in enumerate(logs) if i != k]
        fit = identify(
            robot, others, torque=found.torque_source, cutoff=found.cutoff, recipe=recipe
        )
        told.append(fit.validate(left))
        before.append(fit.validate(left, robot=fit.prior))
        if progress is not None:
            progress((k + 1) / len(logs))
    return LeftOut(names, tuple(told), tuple(before))


def _parts(found: Estimate) -> tuple[list[Log], tuple[str, ...]]:
    """The logs, or a single one cut into parts; of a periodic motion into its periods."""
    recipe = found.recipe
    logs = list(found.logs)
    if recipe.period is not None and recipe.periods is not None:
        logs = [chosen_periods(log, recipe.period, *recipe.periods) for log in logs]
    if len(logs) > 1:
        return logs, tuple(log.origin or f"log {k}" for k, log in enumerate(logs, 1))
    (log,) = logs
    if recipe.period is not None:
        rate = (len(log.time) - 1) / (log.time[-1] - log.time[0])
        count = int((len(log.time) + 0.5) / (recipe.period * rate))
        if count < 2:
            raise ArmtwinError("a log of one period leaves nothing to fit when it is left out")
        parts = [chosen_periods(log, recipe.period, k, 1) for k in range(count)]
    else:
        if len(log.time) < PARTS * SHORTEST:
            raise ArmtwinError(f"a log of {len(log.time)} samples is too short to leave a part out")
        cuts = np.array_split(np.arange(len(log.time)), PARTS)
        parts = [
            Log.of(log.time[k], (), **{name: x[k] for name, x in log.channels.items()})
            for k in cuts
        ]
    return parts, tuple(f"{p.time[0]:.4g} to {p.time[-1]:.4g} s" for p in parts)
