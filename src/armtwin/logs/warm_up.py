"""Is the robot warm? The mean absolute torque of a repeated motion, cycle by cycle.

The mean is that of the absolute torque: the signed mean of a cycle is zero.

Ref: [Memar-Esfahani 2015, section II]
"""

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats


@dataclass(frozen=True, eq=False)
class WarmUpState:
    """Mean absolute torque of each cycle, and when it stopped falling.

    Attributes:
        time: End of each cycle, (cycles,) [s].
        mean_torque: Mean absolute torque of the cycle, (cycles, n) [N m].
        warm_at: For each joint the end of the first cycle from which on the relative change from
            cycle to cycle stays below the limit; nan where it never does, (n,) [s].
    """

    time: Floats
    mean_torque: Floats
    warm_at: Floats


def warm_up_state(log: Log, period: float, limit: float = 1e-3) -> WarmUpState:
    """Mean torques of the cycles of a repeated motion.

    Args:
        log: A log with tau.
        period: Duration of a cycle [s].
        limit: Relative change of the mean torque from cycle to cycle of a joint that is warm.
    """
    since = log.time - log.time[0]
    cycle = np.floor(since / period + 1e-9).astype(int)
    full = int(cycle[-1])
    if full < 2:
        raise ArmtwinError(
            f"a warm-up needs at least two whole cycles of {period:g} s, got {full} in the log"
        )
    tau = np.abs(log.tau)
    joints = tau.shape[1]
    means = np.empty((full, joints))
    for k in range(full):
        means[k] = tau[cycle == k].mean(axis=0)
    before = np.maximum(np.abs(means[:-1]), 1e-300)
    change = np.abs(np.diff(means, axis=0)) / before
    ends = log.time[0] + period * np.arange(1, full + 1)
    return WarmUpState(ends, means, _warm_at(change >= limit, ends))


def _warm_at(restless: Flags, ends: Floats) -> Floats:
    """For each joint the end of the cycle after its last restless one, (n,); nan without any.

    Args:
        restless: Whether the torque changed from a cycle to the next, (cycles - 1, n).
        ends: Ends of the cycles, (cycles,) [s].
    """
    changes, joints = restless.shape
    warm = np.full(joints, np.nan)
    for j in range(joints):
        numbers = np.flatnonzero(restless[:, j])
        first = int(numbers[-1]) + 1 if len(numbers) else 0
        if first < changes:
            warm[j] = ends[first + 1]
    return warm
