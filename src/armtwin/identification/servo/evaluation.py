"""Evaluation of a fitted servo on runs: explained variance and residual, at the flange too."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.servo.selection import scored_samples
from armtwin.identification.servo.servo_fit import LEAST_TRAVEL, ServoFit
from armtwin.identification.servo.signals import Signals
from armtwin.maths.batch import Floats, Names
from armtwin.robot.robot import Robot

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


def evaluate(robot: Robot, fit: ServoFit, runs: Sequence[Signals]) -> ServoEvaluation:
    """Evaluate a fit on unseen runs."""
    measured = [_centre(run.raw) for run in runs]
    predicted = [_centre(fit.predicted(run)) for run in runs]
    names = tuple(run.name for run in runs)
    return _evaluate(robot, fit, runs, measured, predicted, names)


def evaluate_by_parts(
    robot: Robot, fit: ServoFit, without: Sequence[Sequence[Signals]]
) -> ServoEvaluation:
    """Evaluate a fit by cross-validation on parts of its own logs.

    Args:
        robot: The robot.
        fit: The fit.
        without: The logs for each part, with a torque that is known without the part.
    """
    logs = without[0]
    residual = fit.left_out(without)
    ends = np.cumsum([len(log.time) for log in logs])[:-1]
    scored = np.split(scored_samples(logs), ends)
    runs, measured, predicted = [], [], []
    for log, part, rows in zip(logs, np.split(residual, ends), scored, strict=True):
        error = _centre((log.error @ fit.inverse.T)[rows])
        runs.append(log.rows(rows))
        measured.append(error)
        predicted.append(error - part[rows])
    return _evaluate(robot, fit, runs, measured, predicted, (LEFT_OUT,))


def evaluate_on(
    robot: Robot, fit: ServoFit, without: Sequence[Sequence[Signals]], runs: Sequence[Signals]
) -> ServoEvaluation:
    """Evaluate a fit on unseen runs, or without any on left-out parts of its own logs."""
    return evaluate(robot, fit, runs) if runs else evaluate_by_parts(robot, fit, without)


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
