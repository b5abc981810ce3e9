"""The size of the error that fitted laws leave in other motions, by how the joints move.

    log rms = log f_j + log(r² + (s rms(v_ref))² + (b rms(a_ref))²) / 2

One controller leaves errors of one kind on all its joints: r, s and b are theirs together, a factor
f_j each joint's own. All are fitted to logarithms, so that small errors count as large ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armtwin.identification.servo.selection import are_pooled, scored_samples
from armtwin.identification.servo.servo_fit import LEAST_TRAVEL, ServoFit
from armtwin.identification.servo.signals import PARTS, Signals
from armtwin.maths.batch import Floats
from armtwin.robot.schema.servo import ErrorSize

OUTLIER = 0.5  # residual of a logarithm from which on a run counts less
OWN_FACTOR = 0.5  # weight of a joint's factor against one sample
WEAK = 0.1  # weight of what the sizes are where nothing else determines them
SPEED, ACCELERATION = 1e-3, 1e-4  # usual errors per speed [s] and per acceleration [s²]
LEAST_RUNS = 3  # joints in runs or parts of them that give a size
INTERVAL = 0.9
# Parts of one log share its kind of motion, its load and what it began with: on runs of two arms
# that no fit saw, one and a half to three times as much was left as on left-out parts.
OTHER_RUN = 2.0
# Friction, of which most of such errors are, changes by some 30 % with temperature and load.
ANOTHER_DAY = 0.3


class RunSizes(NamedTuple):
    """Root mean squares of joints that move, in one run or part of one, one row each.

    Attributes:
        joint: Number of the joint, (k,).
        whole: The measured error, (k,) [rad].
        law: What the law predicts, (k,) [rad].
        left: What it leaves, (k,) [rad].
        speed: Of the reference, (k,) [rad/s].
        acceleration: Of the reference, (k,) [rad/s²].
        time: Half the mean time between zeros of what the law leaves, (k,) [s].
    """

    joint: Floats
    whole: Floats
    law: Floats
    left: Floats
    speed: Floats
    acceleration: Floats
    time: Floats


def estimate_error_size(fit: ServoFit, without: Sequence[Sequence[Signals]]) -> ErrorSize | None:
    """The size of what laws leave on left-out parts; None where too few parts move.

    Args:
        fit: The laws.
        without: The logs for each part, with a torque that is known without the part.
    """
    from scipy.optimize import least_squares

    joints = len(fit.inverse)
    found = _sizes(fit, without)
    if len(found.joint) < LEAST_RUNS:
        return None
    number = found.joint.astype(int)
    usual = np.log([float(np.median(found.left)), SPEED, ACCELERATION])

    def residual(x: Floats) -> Floats:
        sizes, factors = x[:3], x[3:]
        error = np.log(found.left / _size(sizes, found)) - factors[number]
        return np.concatenate([error, WEAK * (sizes - usual), OWN_FACTOR * factors])

    start = np.concatenate([usual, np.zeros(joints)])
    best = least_squares(residual, start, loss="soft_l1", f_scale=OUTLIER).x
    factors = np.exp(best[3:]) * (1.0 if are_pooled(without[0]) else OTHER_RUN)
    left = factors[number] * _size(best[:3], found)
    apart = np.abs(np.log(found.whole / np.hypot(found.law, left)))
    within = float(np.quantile(apart, min(INTERVAL * (1 + 1 / len(apart)), 1.0)))
    width = float(np.hypot(within, ANOTHER_DAY))
    rest, speed, acceleration = np.outer(np.exp(best[:3]), factors).tolist()
    time = float(np.median(found.time))
    return ErrorSize(tuple(rest), tuple(speed), tuple(acceleration), width, time)


def _size(logarithms: Floats, found: RunSizes) -> Floats:
    rest, speed, acceleration = np.exp(logarithms)
    return np.asarray(
        np.sqrt(rest**2 + (speed * found.speed) ** 2 + (acceleration * found.acceleration) ** 2)
    )


def _sizes(fit: ServoFit, without: Sequence[Sequence[Signals]]) -> RunSizes:
    """Sizes in whole logs where there are many, else in parts of each."""
    logs = without[0]
    ends = np.cumsum([len(log.time) for log in logs])[:-1]
    residuals = np.split(fit.left_out(without), ends)
    scored = np.split(scored_samples(logs), ends)
    rows = []
    for log, residual, used in zip(logs, residuals, scored, strict=True):
        pieces = 1 if are_pooled(logs) else PARTS - 1
        error = log.error @ fit.inverse.T
        signals = [x - x[used].mean(axis=0) for x in (error, error - residual, residual)]
        signals += [log.v @ fit.inverse.T, log.a @ fit.inverse.T]
        zeros = np.abs(np.diff(np.sign(signals[2][used]), axis=0)).sum(axis=0) / 2
        between = used.sum() / log.rate / (2 * np.maximum(zeros, 1.0))
        for piece in np.array_split(np.flatnonzero(used), pieces):
            travel = np.ptp((log.q @ fit.inverse.T)[piece], axis=0)
            rms = [np.sqrt((x[piece] ** 2).mean(axis=0)) for x in signals]
            for j in np.flatnonzero(travel > LEAST_TRAVEL):
                rows.append((j, *(max(float(x[j]), 1e-12) for x in (*rms, between))))
    table = np.array(rows, dtype=float).reshape(-1, len(RunSizes._fields))
    return RunSizes(*table.T)
