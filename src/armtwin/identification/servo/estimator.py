"""Separable output error: poles searched, everything else by linear least squares.

The error is compared as a whole with what the law makes of the reference, so that neither a
derivative of the measurement nor a closed-loop bias enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.servo.choice import PARTS, Chosen
from armtwin.identification.servo.encoder_offset import EncoderOffset
from armtwin.identification.servo.structure import (
    LOAD,
    NO_POLE,
    TERMS,
    DriveSignals,
    Poles,
    columns,
    free_columns,
    seen_by_loop,
)
from armtwin.maths.batch import Floats
from armtwin.robot.servo import Side

ROUNDS = 60  # of a simplex
NEAR = 1e-3  # relative change of a pole that ends it
STEP = 1e-3  # relative step of a pole's derivative
INERTIA_ROUNDS = 2  # in which the lag of the inertia settles
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
        std: Deviations of p1, p0 and theta, (9,).
        interval: Half widths of 90 % of p1, p0 and theta, (9,).
    """

    poles: Poles
    side: Side
    terms: tuple[int, ...]
    theta: Floats
    sign_speed: float
    offset: EncoderOffset | None
    interval: Floats

    def predicted(self, drive: DriveSignals) -> Floats:
        """The error q_ref - q that the law makes of a reference, but for a constant, (m,)."""
        error = columns(drive, self.poles, self.sign_speed) @ self.theta
        if self.side == "link" and self.offset is not None:
            twist = self.offset.lateness * drive.v + self.offset.compliance * drive.torque
            error = error - seen_by_loop(self.poles, twist - twist[0], drive.rate)
        return np.asarray(error)

    def coefficient(self, term: int) -> float:
        """The coefficient of a term, 0 where it is not in use."""
        return float(self.theta[term])


def estimate(
    logs: Sequence[DriveSignals],
    chosen: Chosen,
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
    poles = fit.searched(chosen.start)
    theta, _ = fit.solved(poles)
    if inertia is not None and chosen.order == 2:
        for _ in range(INERTIA_ROUNDS):
            lag = max(float(theta[0]) * inertia, 0.0)
            poles = fit.searched(replace(poles, lag=_bounded(lag, poles)))
            theta, _ = fit.solved(poles)
    whole = np.zeros(len(TERMS))
    whole[list(chosen.terms)] = theta[: len(chosen.terms)]
    interval = fit.interval(poles)
    return DriveLaw(poles, chosen.side, chosen.terms, whole, sign_speed, offset, interval)


def _bounded(lag: float, poles: Poles) -> float:
    """A lag with which the loop is still stable, λ p0 < p1."""
    return min(lag, 0.5 * poles.p1 / poles.p0)


class _Fit:
    """Least squares of one drive in one structure."""

    def __init__(self, logs: Sequence[DriveSignals], chosen: Chosen, sign_speed: float) -> None:
        self.logs, self.chosen, self.sign_speed = logs, chosen, sign_speed

    def table(self, poles: Poles) -> tuple[Floats, Floats]:
        """Columns in use, those that are free last, (m, k), and what they explain, (m,)."""
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
        return log.error + seen_by_loop(poles, twist, log.rate)

    def solved(self, poles: Poles) -> tuple[Floats, Floats]:
        """Coefficients and residual."""
        table, target = self.table(poles)
        sizes = np.linalg.norm(table, axis=0)
        sizes[sizes == 0] = 1.0
        scaled, *_ = np.linalg.lstsq(table / sizes, target, rcond=1e-10)
        theta = scaled / sizes
        return theta, target - table @ theta

    def squares(self, poles: Poles) -> float:
        """Squared residual."""
        _, left = self.solved(poles)
        return float(left @ left)

    def searched(self, start: Poles) -> Poles:
        """The poles that fit best near a start."""
        from scipy.optimize import minimize

        if start.p0 == 0:
            return self._one_pole(start)
        size = self.squares(start)

        def cost(x: Floats) -> float:
            return self.squares(_two(x, start.lag)) / size

        first = np.log([start.p1, start.p0])
        corners = first + np.array([[0.0, 0.0], [0.2, 0.2], [-0.1, 0.3]])
        how = {"xatol": NEAR, "fatol": 1e-7, "maxiter": ROUNDS, "initial_simplex": corners}
        found = minimize(cost, first, method="Nelder-Mead", options=how)
        return _two(found.x, start.lag)

    def _one_pole(self, start: Poles) -> Poles:
        from scipy.optimize import minimize_scalar

        high = 2.2 * start.p1 if start.p1 > 0 else 0.02
        low = 0.45 * start.p1
        found = minimize_scalar(
            lambda p: self.squares(Poles(float(p))),
            bounds=(low, high),
            method="bounded",
            options={"xatol": NEAR * high},
        )
        if found.fun < self.squares(start):
            return Poles(float(found.x))
        return start

    def interval(self, poles: Poles) -> Floats:
        """Half widths of 90 % of p1, p0 and all terms, (9,), by the law made linear.

        The larger of two: with as many independent samples as the residual's autocorrelation
        leaves, and by leaving out parts of the logs in turn.
        """
        table, _ = self.table(poles)
        _, left = self.solved(poles)
        slopes = self._slopes(poles)
        whole = np.column_stack([slopes, table])
        sizes = np.linalg.norm(whole, axis=0)
        sizes[sizes == 0] = 1.0
        whole = whole / sizes
        spread = np.linalg.pinv(whole.T @ whole, rcond=1e-12)
        variance = float(left @ left) / max(len(left) - whole.shape[1], 1)
        std = np.sqrt(np.maximum(np.diag(spread), 0) * variance * _dependence(left))
        by_parts = _jackknife(whole, left, PARTS * len(self.logs))
        half = np.maximum(NORMAL_90 * std, STUDENT_90 * by_parts) / sizes
        found = np.zeros(2 + len(TERMS))
        found[:2] = half[:2]
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
            theta, _ = self.solved(poles)
            before, beside = self.table(poles)
            after, later = self.table(replace(poles, **{name: value + step}))
            slopes.append(((after - before) @ theta - (later - beside)) / step)
        return np.stack(slopes, axis=1)


def _two(x: Floats, lag: float) -> Poles:
    p1, p0 = np.exp(np.clip(x, -7.0, 14.0))
    poles = Poles(float(p1), float(p0))
    return replace(poles, lag=_bounded(lag, poles)) if lag > 0 else poles


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
    for block, left in blocks:
        kept = whole - block.T @ block
        changes.append(-np.linalg.pinv(kept, rcond=1e-12) @ (block.T @ left))
    deviations = np.array(changes)
    spread = ((deviations - deviations.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt((parts - 1) / parts * spread))


def no_position_feedback(law: DriveLaw) -> bool:
    """Whether the error does not decay, as far as the logs tell."""
    return law.poles.p0 == 0 and law.poles.p1 - law.interval[0] <= NO_POLE


def is_torque_loop(law: DriveLaw) -> bool:
    """Whether load lets the drive lag, as in a torque loop, and does not drive it ahead."""
    return law.coefficient(LOAD) > 0
