"""Separable output error: poles searched, everything else by linear least squares.

The measured error is compared with the error simulated from the reference, so that neither a
derivative of the measurement nor a closed-loop bias enters.

The lateness of the link encoder behind the motor encoder, before any stiffness or servo.

    q - q_link = δ v + τ_load / c + constant        the law of `transmission.twist_rows`, one drive

Two encoders that are read or filtered at different times differ in proportion to speed, as much as
a soft gear would under viscous load. Only the load of the rigid body, which is not proportional to
speed, separates them: a stiffness that is fitted without the offset is an artefact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from armtwin.identification.fitting import estimate as fits
from armtwin.identification.servo import selection, structure as loops
from armtwin.identification.servo.signals import PARTS
from armtwin.maths.batch import Floats, Indices, TwoArrays, Values
from armtwin.robot.schema.servo import Side

LARGEST_DELAY = 0.05  # [s]; more is no offset between encoders


@dataclass(frozen=True)
class EncoderOffset:
    """How the link encoder of a drive differs from its motor encoder.

    Attributes:
        lateness: Time δ by which the link encoder is behind [s].
        compliance: Twist per load 1 / c, motor side [rad/(N m)].
    """

    lateness: float
    compliance: float


def estimate_encoder_offset(
    speed: Sequence[Floats], load: Sequence[Floats], twist: Sequence[Floats]
) -> EncoderOffset | None:
    """The offset of one drive from logs of its motor speed, load and encoder difference, (m,) each.

    None where a log has no link encoder, or where both encoders are one.
    """
    if any(np.isnan(x).any() for x in twist):
        return None
    parts = []
    for columns in zip(speed, load, twist, strict=True):
        part = np.column_stack(columns)
        parts.append(part - part.mean(axis=0))
    rows = np.concatenate(parts)
    apart = rows[:, 2]
    if not apart.any():
        return None
    delay, compliance = fits.fit(rows[:, :2], apart).values
    if compliance <= 0:  # no gear twists against its load
        delay, compliance = *fits.fit(rows[:, :1], apart).values, 0.0
    return EncoderOffset(float(np.clip(delay, -LARGEST_DELAY, LARGEST_DELAY)), float(compliance))


ROUNDS = 6  # of poles and lag in turn
NEAR = 1e-3  # relative change of a pole that ends them
FARTHEST = 8.0  # change of a pole's logarithm
MOST_STIFF = 1.0  # p0 / p1² of a loop in use; half of critical damping
LATEST = 0.05  # of a whole reference [s]; what is later no servo has, and is more than a delay
EARLIEST = -0.002  # of a whole reference, by the rounding of its clock [s]
STEP = 1e-3  # relative step of a pole's derivative
UNSEEN = 1e-6  # of a column's size below which rows do not show it
TIME_CONSTANTS = 4.0  # of a loop that a log must last to identify it


@dataclass(frozen=True, eq=False)
class DriveLaw:
    """The fitted law of one drive, motor side.

    Attributes:
        poles: The denominator.
        side: Encoder of the position loop.
        terms: Numbers of the terms in use.
        theta: LinearSolution of all TERMS, 0 where not in use, (7,).
        sign_speed: Speed v_s of the sign term [rad/s].
        offset: How the link encoder differs; None where there is none.
        interval: Half widths of 95 % intervals of p1, p0 and theta, (9,).
    """

    poles: loops.Poles
    side: Side
    terms: Indices
    theta: Floats
    sign_speed: float
    offset: EncoderOffset | None
    interval: Floats

    def predicted(self, drive: loops.DriveSignals) -> Floats:
        """Predicted error q_ref - q on a reference, up to a constant, (m,)."""
        error = loops.columns(drive, self.poles, self.sign_speed, self.late) @ self.theta
        if self.side == "link" and self.offset is not None:
            twist = self.offset.lateness * drive.v + self.offset.compliance * drive.torque
            error = error - loops.respond_to_encoder(self.poles, twist - twist[0], drive.rate)
        return error

    @property
    def late(self) -> float:
        """Time by which the speed of the reference is late, at least 0 [s]."""
        return max(self.coefficient(loops.SPEED), 0.0)

    @property
    def loop(self) -> Values:
        """Lag λ, p1, p0 and θ_I, speed per torque."""
        return self.poles.lag, self.poles.p1, self.poles.p0, self.coefficient(loops.LOAD)

    def coefficient(self, term: int) -> float:
        """The coefficient of a term, 0 where it is not in use."""
        return float(self.theta[term])


def estimate(
    logs: Sequence[loops.DriveSignals],
    chosen: selection.ChosenLaw,
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
    whole = np.zeros(len(loops.TERMS))
    for _ in range(ROUNDS):
        if poles.p1 > loops.NO_POLE:
            poles = fit.searched(poles, inertia)
        whole[list(chosen.terms)] = fit.solve(poles).values[: len(chosen.terms)]
        former, fit.late = fit.late, max(float(whole[loops.SPEED]), 0.0)
        if abs(fit.late - former) <= NEAR * fit.late:
            break
    interval = fit.interval(poles)
    return DriveLaw(poles, chosen.side, chosen.terms, whole, sign_speed, offset, interval)


def _limit_lag(lag: float, poles: loops.Poles) -> float:
    """A lag with which the loop is still stable, λ p0 < p1."""
    return min(lag, 0.5 * poles.p1 / poles.p0)


class _Fit:
    """Least squares of one drive in one structure."""

    def __init__(
        self, logs: Sequence[loops.DriveSignals], chosen: selection.ChosenLaw, sign_speed: float
    ) -> None:
        self.logs, self.chosen, self.sign_speed = logs, chosen, sign_speed
        self.late = 0.0
        self.blocks = fits.even_blocks([len(log.time) for log in logs], PARTS)
        self.parts = selection.part_numbers(logs)

    def table(self, poles: loops.Poles) -> TwoArrays:
        """Columns in use, free ones last, (m, k), and the target, (m,)."""
        terms = list(self.chosen.terms)
        pooled = selection.are_pooled(self.logs)
        tables, targets, free = [], [], []
        weights = selection.log_weights(self.logs)
        for log, weight in zip(self.logs, weights, strict=True):
            used = loops.columns(log, poles, self.sign_speed, self.late)[:, terms]
            own, target = loops.free_columns(log.time, poles), self._target(log, poles)
            if pooled:
                *rest, target = (
                    weight * selection.take_off_free(np.column_stack([used, target]), own).T
                )
                used, own = np.stack(rest, axis=1), own[:, :0]
            tables.append(used)
            free.append(own)
            targets.append(target)
        table = np.concatenate(tables)
        if not pooled:
            table = np.column_stack([table, fits.block_diagonal(free)])
        return table, np.concatenate(targets)

    def _target(self, log: loops.DriveSignals, poles: loops.Poles) -> Floats:
        if self.chosen.side == "motor":
            return log.error
        twist = log.twist - log.twist[0]
        return log.error + loops.respond_to_encoder(poles, twist, log.rate)

    def solve(self, poles: loops.Poles) -> fits.LinearSolution:
        """Coefficients and residual."""
        return fits.solve(*self.table(poles))

    def squares(self, poles: loops.Poles) -> float:
        """Residual sum of squares."""
        residual = self.solve(poles).residual
        return float(residual @ residual)

    def searched(self, start: loops.Poles, inertia: float | None = None) -> loops.Poles:
        """The poles that fit best near a start; the lag follows from the coefficient of the load.

        Poles are searched by their logarithms, with lag and poles in turn until both settle.
        """
        poles = start
        for _ in range(ROUNDS):
            lag = poles.lag
            if inertia is not None and poles.p0 > 0 and loops.LOAD in self.chosen.terms:
                load = float(self.solve(poles).values[self.chosen.terms.index(loops.LOAD)])
                lag = _limit_lag(max(load * inertia, 0.0), poles)
                poles = replace(poles, lag=lag)
            former = _values(poles)
            here = np.log(former)
            shapes = fits.ShapeParameters(here, here - FARTHEST, here + FARTHEST, close=NEAR**2)
            place, _ = fits.search(partial(self._at, lag), shapes)
            poles = _poles(place, lag)
            settled = np.abs(_values(poles) / former - 1).max() < NEAR
            if settled or inertia is None or poles.p0 == 0:
                break
        return poles

    def _at(self, lag: float, logs: Floats) -> TwoArrays:
        return self.table(_poles(logs, lag))

    def left_out(self, poles: loops.Poles, part: int) -> Floats:
        """Residual by a fit to all but one part of each log, (m,)."""
        table, target = self.table(poles)
        size = np.linalg.norm(table, axis=0)
        others = self.parts != part
        # a column that only the part shows, as what a log begins with, stays unused
        shown = np.linalg.norm(table[others], axis=0) > UNSEEN * size
        theta = fits.solve(table[others] * shown, target[others]).values
        return target - table @ theta

    def interval(self, poles: loops.Poles) -> Floats:
        """Half widths of 95 % of p1, p0 and all terms, (9,), of the linearised law."""
        here = self.solve(poles)
        poles_used = poles.order if self.chosen.order == 2 else 1
        J = np.column_stack([self._slopes(poles, here)[:, :poles_used], here.A])
        noise = fits.RowNoise(self.blocks, independent=None)
        values = np.concatenate([[poles.p1, poles.p0][:poles_used], here.values])
        half = fits.assess(values, J[:, None], here.residual[:, None], noise).half_width
        found = np.zeros(2 + len(loops.TERMS))
        found[:poles_used] = half[:poles_used]
        terms = np.array(self.chosen.terms)
        found[2 + terms] = half[poles_used : poles_used + len(terms)]
        return found

    def _slopes(self, poles: loops.Poles, here: fits.LinearSolution) -> Floats:
        """How the explained part changes with p1 and p0, (m, 2)."""
        slopes = []
        for p1, p0 in ((1.0, 0.0), (0.0, 1.0)):
            step = STEP * max(p1 * poles.p1 + p0 * poles.p0, 0.01)
            moved = replace(poles, p1=poles.p1 + p1 * step, p0=poles.p0 + p0 * step)
            A, y = self.table(moved) if p1 or poles.p0 else (here.A, here.A @ here.values)
            slopes.append((A @ here.values - y + here.residual) / step)
        return np.stack(slopes, axis=1)


def residual_squares(
    logs: Sequence[loops.DriveSignals], chosen: selection.ChosenLaw, sign_speed: float
) -> float:
    """Residual sum of squares of a structure with its best poles."""
    fit = _Fit(logs, chosen, sign_speed)
    poles = chosen.start
    if poles.p1 > loops.NO_POLE:
        poles = fit.searched(poles)
    return fit.squares(poles)


def cross_validate(
    without: Sequence[Sequence[loops.DriveSignals]], chosen: selection.ChosenLaw, law: DriveLaw
) -> Floats:
    """Residual of each left-out part of all logs by a fit to all others, (m,).

    Args:
        without: The logs for each part, with a torque that is known without the part.
        chosen: The structure.
        law: The law, whose poles are kept.
    """
    residual = np.empty(sum(len(log.time) for log in without[0]))
    weights = np.ones(len(residual))
    if selection.are_pooled(without[0]):
        weights = np.repeat(
            selection.log_weights(without[0]), [len(log.time) for log in without[0]]
        )
    for part, logs in enumerate(without):
        fit = _Fit(logs, chosen, law.sign_speed)
        fit.late = law.late
        rows = fit.parts == part
        residual[rows] = fit.left_out(law.poles, part)[rows]
    return residual / weights


def _values(poles: loops.Poles) -> Floats:
    """p1, and p0 where there is one."""
    return np.array([poles.p1, poles.p0][: poles.order])


def _poles(logs: Floats, lag: float) -> loops.Poles:
    """Poles of the logarithms of p1 and p0, damped, with a lag with which they are stable."""
    p1, *stiffness = np.exp(logs).tolist()
    found = loops.Poles(p1, *(min(p0, MOST_STIFF * p1**2) for p0 in stiffness))
    return replace(found, lag=_limit_lag(lag, found)) if found.p0 > 0 else found


def no_position_feedback(law: DriveLaw) -> bool:
    """Whether no decay of the error is identifiable, of which the reference is not all."""
    decays = law.poles.p0 > 0 or law.poles.p1 - law.interval[0] > loops.NO_POLE
    return not (decays or is_of_reference(law))


def is_of_reference(law: DriveLaw) -> bool:
    """Whether the error is what the reference is at the time, with nothing that it begins with."""
    has_pole = law.poles.p0 > 0 or law.poles.p1 > loops.NO_POLE
    return not (has_pole or law.coefficient(loops.LOAD) or law.coefficient(loops.REFERENCE))


def is_delay(law: DriveLaw) -> bool:
    """Whether the delay of the whole reference is one that a servo can have."""
    return EARLIEST <= law.coefficient(loops.DELAY) <= LATEST


def is_torque_loop(law: DriveLaw) -> bool:
    """Whether load makes the drive lag, as in a torque loop, and not lead."""
    return law.coefficient(loops.LOAD) > 0


def middle_law(laws: Sequence[DriveLaw]) -> DriveLaw:
    """The medians of laws, without their torques, whose units differ: of a drive not seen."""
    poles = loops.Poles(*np.median([(law.poles.p1, law.poles.p0) for law in laws], axis=0).tolist())
    table = np.array([law.theta for law in laws])
    theta = np.median(table, axis=0)
    theta[[loops.LOAD, loops.SIGN, loops.TORQUE]] = 0.0
    width = np.max([law.interval for law in laws], axis=0)
    width[2:] += np.ptp(table, axis=0)
    return replace(laws[0], poles=poles, side="motor", theta=theta, offset=None, interval=width)


def null_law(law: DriveLaw) -> DriveLaw:
    """The law of a drive that follows its reference, with the intervals of one that did not fit."""
    theta = np.zeros(len(loops.TERMS))
    return replace(law, poles=loops.Poles(0.0), theta=theta, offset=None, side="motor")
