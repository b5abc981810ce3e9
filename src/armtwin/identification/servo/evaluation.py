"""Evaluation of a fitted servo on runs: explained variance and residual, at the flange too.

The size of the error that fitted laws leave in other motions, by how the joints move.

    log rms = log f_j + log(r² + (s rms(v_ref))² + (b rms(a_ref))²) / 2

One controller leaves errors of one kind on all its joints: r, s and b are theirs together, a factor
f_j each joint's own. All are fitted to logarithms, so that small errors count as large ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.identification.servo.selection import are_pooled, scored_samples
from armtwin.identification.servo.servo_fit import LEAST_TRAVEL, ServoFit
from armtwin.identification.servo.signals import PARTS, Signals
from armtwin.maths.batch import Flags, Floats, Names
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import ErrorSize

LEFT_OUT = "left-out parts"
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class PathResidual:
    """Errors of the flange across its path, rms [m].

    Attributes:
        lateral: Measured error to the side.
        vertical: Measured error upwards.
        lateral_left: Residual to the side.
        vertical_left: Residual upwards.
    """

    lateral: float
    vertical: float
    lateral_left: float
    vertical_left: float


@dataclass(frozen=True, eq=False)
class ServoEvaluation:
    """Evaluation of a fit on runs, joint by joint, means removed.

    Attributes:
        judged_on: Names of the logs, or "left-out parts".
        feedforward: Where the torque came from.
        share: Share of the variance of q_ref - q that is explained, (n,); NaN of a joint at rest.
        correlation: Correlation of measured and predicted error, (n,).
        left: Residual, rms, (n,) [rad].
        error: Measured error, rms, (n,) [rad].
        delay_only: Share that the best pure delay explains, (n,).
        lag_only: Share that the best lag proportional to the speed explains, (n,).
        time: Times of the samples that are shown, (m,) [s].
        measured: Errors as logged in the first run, (m, n) [rad].
        predicted: Predicted errors there, (m, n) [rad].
        path: Errors at the flange in the first run.
    """

    judged_on: Names
    feedforward: str
    share: Floats
    correlation: Floats
    left: Floats
    error: Floats
    delay_only: Floats
    lag_only: Floats
    time: Floats
    measured: Floats
    predicted: Floats
    path: PathResidual


def evaluate_on(
    robot: Robot, fit: ServoFit, without: Sequence[Sequence[Signals]], unseen: Sequence[Signals]
) -> ServoEvaluation:
    """Evaluate a fit on unseen runs, or without any on left-out parts of its own logs.

    Args:
        robot: The robot.
        fit: The fit.
        without: The logs for each part, with a torque that is known without the part.
        unseen: The runs.
    """
    if unseen:
        measured = [_centre(run.raw) for run in unseen]
        predicted = [_centre(fit.predicted(run)) for run in unseen]
        names = tuple(run.name for run in unseen)
        return _evaluate(robot, fit, unseen, measured, predicted, names)
    runs, measured, predicted = [], [], []
    for log, part, rows in left_out_of_each(fit, without):
        error = _centre((log.error @ fit.inverse.T)[rows])
        runs.append(log.rows(rows))
        measured.append(error)
        predicted.append(error - part[rows])
    return _evaluate(robot, fit, runs, measured, predicted, (LEFT_OUT,))


def left_out_of_each(
    fit: ServoFit, without: Sequence[Sequence[Signals]]
) -> Iterator[tuple[Signals, Floats, Flags]]:
    """Each log with its left-out residual and the samples that count in it."""
    logs = without[0]
    ends = np.cumsum([len(log.time) for log in logs])[:-1]
    residuals = np.split(fit.left_out(without), ends)
    scored = np.split(scored_samples(logs), ends)
    yield from zip(logs, residuals, scored, strict=True)


def _evaluate(
    robot: Robot,
    fit: ServoFit,
    runs: Sequence[Signals],
    measured: list[Floats],
    predicted: list[Floats],
    names: Names,
) -> ServoEvaluation:
    error = np.concatenate(measured)
    expected = np.concatenate(predicted)
    residual = error - expected
    delayed = np.concatenate([_centre(fit.predict_by_delay(run)) for run in runs])
    lagging = np.concatenate([_centre(fit.predict_by_lag(run)) for run in runs])
    first = runs[0]
    travel = np.max([np.ptp(run.q @ fit.inverse.T, axis=0) for run in runs], axis=0)
    return ServoEvaluation(
        judged_on=names,
        feedforward=fit.feedforward,
        share=np.where(travel > LEAST_TRAVEL, _share(error, expected), np.nan),
        correlation=_correlation(error, expected),
        left=np.sqrt((residual**2).mean(axis=0)),
        error=np.sqrt((error**2).mean(axis=0)),
        delay_only=_share(error, delayed),
        lag_only=_share(error, lagging),
        time=first.time,
        measured=measured[0],
        predicted=predicted[0],
        path=_path(robot, first.q @ fit.inverse.T, measured[0], predicted[0]),
    )


def _centre(values: Floats) -> Floats:
    return values - values.mean(axis=0)


def _share(error: Floats, expected: Floats) -> Floats:
    """Share of the variance of each column that is explained, (n,)."""
    spread = np.maximum((error**2).sum(axis=0), 1e-300)
    return 1 - ((error - expected) ** 2).sum(axis=0) / spread


def _correlation(error: Floats, expected: Floats) -> Floats:
    sizes = np.sqrt((error**2).sum(axis=0) * (expected**2).sum(axis=0))
    return (error * expected).sum(axis=0) / np.maximum(sizes, 1e-300)


def _path(robot: Robot, q_ref: Floats, measured: Floats, predicted: Floats) -> PathResidual:
    """Errors across the path of the flange (of the last link where there is none)."""
    frame = "flange" if robot.description.flange is not None else robot.description.link[-1].name
    asked = robot.forward_kinematics(q_ref, frame)[:, :3, 3]
    was = robot.forward_kinematics(q_ref - measured, frame)[:, :3, 3]
    would_be = robot.forward_kinematics(q_ref - predicted, frame)[:, :3, 3]
    along = np.gradient(asked, axis=0)
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    upwards = UP - along * (along @ UP)[:, None]
    upwards = upwards / np.maximum(np.linalg.norm(upwards, axis=1, keepdims=True), 1e-12)
    sideways = np.cross(upwards, along)
    return PathResidual(
        lateral=_rms((was - asked) * sideways),
        vertical=_rms((was - asked) * upwards),
        lateral_left=_rms((was - would_be) * sideways),
        vertical_left=_rms((was - would_be) * upwards),
    )


def _rms(products: Floats) -> float:
    """Root mean square of the sums of rows."""
    return float(np.sqrt((products.sum(axis=1) ** 2).mean()))


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
    rows = []
    for log, residual, used in left_out_of_each(fit, without):
        pieces = 1 if are_pooled(without[0]) else PARTS - 1
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
