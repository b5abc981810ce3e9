"""Separable output error: poles searched, everything else by linear least squares.

The measured error is compared with the error simulated from the reference, so that neither a
derivative of the measurement nor a closed-loop bias enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.identification.servo.encoder_offset import EncoderOffset
from armtwin.identification.servo.selection import PARTS, ChosenLaw
from armtwin.identification.servo.structure import (
    LOAD,
    NO_POLE,
    TERMS,
    DriveSignals,
    Poles,
    columns,
    free_columns,
    respond_to_encoder,
)
from armtwin.maths.batch import Floats, Indices, TwoArrays
from armtwin.robot.schema.servo import Side

ROUNDS = 15  # of steps
NEAR = 1e-3  # relative change of a pole that ends them
LONGEST_STEP = 0.7  # of a pole's logarithm
HALVINGS = 6
STEP = 1e-3  # relative step of a pole's derivative
TIME_CONSTANTS = 4.0  # of a loop that a log must last to identify it
NORMAL_90, STUDENT_90 = 1.645, 2.132  # deviations of 90 %; of five parts


@dataclass(frozen=True, eq=False)
class DriveLaw:
    """The fitted law of one drive, motor side.

    Attributes:
        poles: The denominator.
        side: Encoder of the position loop.
        terms: Numbers of the terms in use.
        theta: Coefficients of all TERMS, 0 where not in use, (7,).
        sign_speed: Speed v_s of the sign term [rad/s].
        offset: How the link encoder differs; None where there is none.
        interval: Half widths of 90 % of p1, p0 and theta, (9,).
    """

    poles: Poles
    side: Side
    terms: Indices
    theta: Floats
    sign_speed: float
    offset: EncoderOffset | None
    interval: Floats

    def predicted(self, drive: DriveSignals) -> Floats:
        """Predicted error q_ref - q on a reference, up to a constant, (m,)."""
        error = columns(drive, self.poles, self.sign_speed) @ self.theta
        if self.side == "link" and self.offset is not None:
            twist = self.offset.lateness * drive.v + self.offset.compliance * drive.torque
            error = error - respond_to_encoder(self.poles, twist - twist[0], drive.rate)
        return np.asarray(error)

    def coefficient(self, term: int) -> float:
        """The coefficient of a term, 0 where it is not in use."""
        return float(self.theta[term])


def estimate(
    logs: Sequence[DriveSignals],
    chosen: ChosenLaw,
    sign_speed: float,
    *,
    offset: EncoderOffset | None,
    inertia: float | None,
) -> DriveLaw:
    """The law of one drive with its intervals.

    Args:
        logs: The drive in each log.
        chosen: The structure.
        sign_speed: Speed of the sign term [rad/s].
        offset: How the link encoder differs.
        inertia: Felt inertia in the unit of the torque; None where the torque's unit is not known.
    """
    fit = _Fit(logs, chosen, sign_speed)
    poles = chosen.start
    if poles.p1 > NO_POLE:
        poles = fit.searched(poles, inertia)
    theta, _ = fit.solve(poles)
    whole = np.zeros(len(TERMS))
    whole[list(chosen.terms)] = theta[: len(chosen.terms)]
    interval = fit.interval(poles)
    return DriveLaw(poles, chosen.side, chosen.terms, whole, sign_speed, offset, interval)


def _limit_lag(lag: float, poles: Poles) -> float:
    """A lag with which the loop is still stable, λ p0 < p1."""
    return min(lag, 0.5 * poles.p1 / poles.p0)


class _Fit:
    """Least squares of one drive in one structure."""

    def __init__(self, logs: Sequence[DriveSignals], chosen: ChosenLaw, sign_speed: float) -> None:
        self.logs, self.chosen, self.sign_speed = logs, chosen, sign_speed

    def table(self, poles: Poles) -> TwoArrays:
        """Columns in use, free ones last, (m, k), and the target, (m,)."""
        terms = list(self.chosen.terms)
        tables, targets, free = [], [], []
        for log in self.logs:
            tables.append(columns(log, poles, self.sign_speed)[:, terms])
            free.append(free_columns(log.time, poles))
            targets.append(self._target(log, poles))
        used = np.concatenate(tables)
        own = np.zeros((len(used), sum(x.shape[1] for x in free)))
        row, column = 0, 0
        for block in free:
            own[row : row + len(block), column : column + block.shape[1]] = block
            row, column = row + len(block), column + block.shape[1]
        return np.column_stack([used, own]), np.concatenate(targets)

    def _target(self, log: DriveSignals, poles: Poles) -> Floats:
        if self.chosen.side == "motor":
            return log.error
        twist = log.twist - log.twist[0]
        return log.error + respond_to_encoder(poles, twist, log.rate)

    def solve(self, poles: Poles) -> TwoArrays:
        """Coefficients and residual."""
        table, target = self.table(poles)
        sizes = np.linalg.norm(table, axis=0)
        sizes[sizes == 0] = 1.0
        scaled, *_ = np.linalg.lstsq(table / sizes, target, rcond=1e-10)
        theta = scaled / sizes
        return theta, target - table @ theta

    def squares(self, poles: Poles) -> float:
        """Residual sum of squares."""
        _, residual = self.solve(poles)
        return float(residual @ residual)

    def searched(self, start: Poles, inertia: float | None = None) -> Poles:
        """The poles that fit best near a start, by steps of Gauss and Newton in their logarithms.

        The coefficients are eliminated from each step, as they follow from the poles. A step is
        halved until it lowers the residual sum of squares.
        """
        poles = start
        theta, residual = self.solve(poles)
        for _ in range(ROUNDS):
            if inertia is not None and poles.p0 > 0:
                lag = _limit_lag(max(float(theta[0]) * inertia, 0.0), poles)
                poles = replace(poles, lag=lag)
                theta, residual = self.solve(poles)
            step = self._step(poles, residual)
            moved = self._moved(poles, step, float(residual @ residual))
            if moved is None:
                return poles
            poles = moved
            theta, residual = self.solve(poles)
            if np.abs(step).max() < NEAR:
                return poles
        return poles

    def _step(self, poles: Poles, residual: Floats) -> Floats:
        """Change of the logarithms of p1 and p0, (1,) or (2,)."""
        table, _ = self.table(poles)
        sizes = np.linalg.norm(table, axis=0)
        sizes[sizes == 0] = 1.0
        by_log = self._slopes(poles)[:, : poles.order] * _values(poles)
        eliminated, *_ = np.linalg.lstsq(table / sizes, by_log, rcond=1e-10)
        alone = by_log - (table / sizes) @ eliminated
        step, *_ = np.linalg.lstsq(alone, residual, rcond=1e-10)
        return np.clip(step, -LONGEST_STEP, LONGEST_STEP)

    def _moved(self, poles: Poles, step: Floats, squares: float) -> Poles | None:
        """Poles after a step that lowers the residual sum of squares; None where none does."""
        for halvings in range(HALVINGS):
            values = _values(poles) * np.exp(step / 2**halvings)
            tried = replace(poles, p1=float(values[0]))
            if poles.p0 > 0:
                tried = replace(tried, p0=float(values[1]))
                tried = replace(tried, lag=_limit_lag(poles.lag, tried))
            if self.squares(tried) < squares:
                return tried
        return None

    def left_out(self, poles: Poles) -> Floats:
        """Residual of each left-out part of each log by a fit to all others, (m,)."""
        table, target = self.table(poles)
        sizes = np.linalg.norm(table, axis=0)
        sizes[sizes == 0] = 1.0
        scaled = table / sizes
        residuals = []
        for part in _parts([len(log.time) for log in self.logs]):
            kept = np.ones(len(target), dtype=bool)
            kept[part] = False
            theta, *_ = np.linalg.lstsq(scaled[kept], target[kept], rcond=1e-10)
            residuals.append(target[part] - scaled[part] @ theta)
        return np.concatenate(residuals)

    def interval(self, poles: Poles) -> Floats:
        """Half widths of 90 % of p1, p0 and all terms, (9,), of the linearised law.

        The larger of two: with as many independent samples as the residual's autocorrelation
        leaves, and by leaving out parts of the logs in turn.
        """
        table, _ = self.table(poles)
        _, residual = self.solve(poles)
        slopes = self._slopes(poles)
        whole = np.column_stack([slopes, table])
        sizes = np.linalg.norm(whole, axis=0)
        sizes[sizes == 0] = 1.0
        whole = whole / sizes
        spread = np.linalg.pinv(whole.T @ whole, rcond=1e-12)
        variance = float(residual @ residual) / max(len(residual) - whole.shape[1], 1)
        std = np.sqrt(np.maximum(np.diag(spread), 0) * variance * _dependence(residual))
        by_parts = _jackknife(whole, residual, PARTS * len(self.logs))
        half = np.maximum(NORMAL_90 * std, STUDENT_90 * by_parts) / sizes
        found = np.zeros(2 + len(TERMS))
        found[:2] = half[:2]
        if self.chosen.order == 1:
            found[1] = 0.0
        found[2 + np.array(self.chosen.terms)] = half[2 : 2 + len(self.chosen.terms)]
        return found

    def _slopes(self, poles: Poles) -> Floats:
        """How the explained part changes with p1 and p0, (m, 2)."""
        slopes = []
        for name in ("p1", "p0"):
            value = getattr(poles, name)
            step = STEP * max(value, 0.01)
            fixed = name == "p0" and self.chosen.order == 1
            if fixed:
                slopes.append(np.zeros(sum(len(log.time) for log in self.logs)))
                continue
            theta, _ = self.solve(poles)
            before, beside = self.table(poles)
            after, later = self.table(replace(poles, **{name: value + step}))
            slopes.append(((after - before) @ theta - (later - beside)) / step)
        return np.stack(slopes, axis=1)


def residual_squares(logs: Sequence[DriveSignals], chosen: ChosenLaw, sign_speed: float) -> float:
    """Residual sum of squares of a structure with its best poles."""
    fit = _Fit(logs, chosen, sign_speed)
    poles = chosen.start
    if poles.p1 > NO_POLE:
        poles = fit.searched(poles)
    return fit.squares(poles)


def cross_validate(logs: Sequence[DriveSignals], chosen: ChosenLaw, law: DriveLaw) -> Floats:
    """Residual of each left-out part of each log by a fit to all others, (m,)."""
    return _Fit(logs, chosen, law.sign_speed).left_out(law.poles)


def _parts(lengths: Sequence[int]) -> list[Any]:
    """Samples of each part of each log."""
    found, first = [], 0
    for length in lengths:
        found += np.array_split(np.arange(first, first + length), PARTS)
        first += length
    return found


def _values(poles: Poles) -> Floats:
    """p1, and p0 where there is one."""
    return np.array([poles.p1, poles.p0][: poles.order])


def _dependence(residual: Floats) -> float:
    """Samples for each independent one, 1 + 2 Σ ρ_k up to the first ρ_k below 0."""
    centred = residual - residual.mean()
    size = len(centred)
    power = np.abs(np.fft.rfft(centred, 2 * size)) ** 2
    correlation = np.fft.irfft(power)[:size]
    if not correlation[0] > 0:
        return 1.0
    correlation = correlation / correlation[0]
    below = np.flatnonzero(correlation < 0)
    end = int(below[0]) if len(below) else size
    return float(1 + 2 * correlation[1:end].sum())


def _jackknife(table: Floats, residual: Floats, parts: int) -> Floats:
    """Deviations by leaving out parts in turn, (k,)."""
    changes = []
    whole = table.T @ table
    blocks = zip(np.array_split(table, parts), np.array_split(residual, parts), strict=True)
    for block, block_residual in blocks:
        kept = whole - block.T @ block
        changes.append(-np.linalg.pinv(kept, rcond=1e-12) @ (block.T @ block_residual))
    deviations = np.array(changes)
    spread = ((deviations - deviations.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt((parts - 1) / parts * spread))


def no_position_feedback(law: DriveLaw) -> bool:
    """Whether no decay of the error is identifiable."""
    return law.poles.p0 == 0 and law.poles.p1 - law.interval[0] <= NO_POLE


def is_torque_loop(law: DriveLaw) -> bool:
    """Whether load makes the drive lag, as in a torque loop, and not lead."""
    return law.coefficient(LOAD) > 0
