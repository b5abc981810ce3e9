"""The laws of all drives from logs, with the torque from one source.

The torque of a velocity law is computed along the reference. A torque loop carries the load of its
own motion: its laws and the friction of the motion that they predict are iterated until both
settle.

Baselines: the error as a pure delay, or as a lag proportional to the speed.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.servo import estimator, friction_in_loop, selection
from armtwin.identification.servo.estimator import EncoderOffset, estimate_encoder_offset
from armtwin.identification.servo.signals import PARTS, Signals
from armtwin.identification.servo.structure import SPEED, DriveSignals
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.blas import one_blas_thread
from armtwin.maths.smoothing import low_pass
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import Side

DELAYS = np.linspace(-0.06, 0.12, 46)  # that are tried [s]


def fit_baselines(logs: Sequence[DriveSignals]) -> Pair:
    """The pure delay and the lag of one drive of the least residual sum of squares [s]."""
    speed = np.concatenate([log.v - log.v.mean() for log in logs])
    error = np.concatenate([log.error - log.error.mean() for log in logs])
    lag = float(speed @ error) / max(float(speed @ speed), 1e-300)
    squares = []
    for delay in DELAYS.tolist():
        residuals = [log.error - _delayed(log, delay) for log in logs]
        squares.append(sum(float(np.var(x)) * len(x) for x in residuals))
    return float(DELAYS[np.argmin(squares)]), lag


def _delayed(drive: DriveSignals, delay: float) -> Floats:
    """Error of a pure delay, (m,)."""
    return drive.q - np.interp(drive.time - delay, drive.time, drive.q)


LEAST_TRAVEL = 1e-3  # of a joint, below which its servo is not identifiable [rad]
LEAST_SPEED = 0.01  # that friction is tabulated for [rad/s]
# Share of the largest speed over which a sign changes: a faster one is a jump of the reference that
# no log shows, and a torque of many times the drive's own.
SLOW = 0.1
UNEXPLAINED = 0.5  # share of a log's error that is not explained by the law of all logs ...
OWN = 0.9  # ... but by its own law: the log is of another servo
CLEARLY = 0.95  # of a residual sum of squares, below which another one is lower
ROUNDS = 6  # of laws and friction in turn; three are usual
SETTLED = 2e-3  # relative change of all poles and of 1 / k_v that ends them

Prediction = Callable[[DriveSignals], Floats]


@dataclass(frozen=True, eq=False)
class ServoFit:
    """The laws of all drives.

    Attributes:
        feedforward: Where the torque came from: "logged" or "model".
        laws: The law of each drive.
        chosen: The structure of each drive.
        baselines: The trivial rivals of each drive: its best pure delay and its best lag [s].
        inverse: Joints per drive side, (n, drives).
        friction: Friction of torque loops in their own motion; None where the torque is that of
            the reference.
        at_rest: Drives that no log moves; their law is the middle of the others'.
        unexplained: Drives of which no law explains a left-out part; theirs is to have no error.
    """

    feedforward: str
    laws: tuple[estimator.DriveLaw, ...]
    chosen: tuple[selection.ChosenLaw, ...]
    baselines: tuple[Pair, ...]
    inverse: Floats
    friction: friction_in_loop.LoopFriction | None = None
    at_rest: frozenset[int] = frozenset()
    unexplained: frozenset[int] = frozenset()

    def predicted(self, log: Signals) -> Floats:
        """Predicted joint errors q_ref - q on a log's reference, (m, n) [rad]."""
        return self._by_laws(self.in_motion(log)) @ self.inverse.T

    def _by_laws(self, log: Signals) -> Floats:
        """Predicted errors from reference and torque, (m, drives) [rad]."""
        return self._of_drives(log, [law.predicted for law in self.laws])

    def _of_drives(self, log: Signals, predict: Sequence[Prediction]) -> Floats:
        """Errors of all drives by the prediction of each, (m, drives) [rad]."""
        found = [of(of_drive(log, k, self)) for k, of in enumerate(predict)]
        return np.stack(found, axis=1)

    def in_motion(self, log: Signals, *, smooth: bool = False) -> Signals:
        """A log with the model's torque in the motion that the laws predict.

        Args:
            log: Its reference is used, not its measurement.
            smooth: Smooth the friction as the log's signals are, for a comparison with them.
        """
        if self.friction is None:
            return log
        free = self._by_laws(replace(log, model=log.load))
        speed = log.v - np.gradient(free, 1 / log.rate, axis=0)
        loops = np.array([law.loop for law in self.laws]).T
        torque = friction_in_loop.friction_of_motion(self.friction, loops, speed, log.rate)
        if smooth and log.cutoff is not None:
            torque = low_pass(torque, log.rate, log.cutoff)
        return replace(log, model=log.load + torque)

    def predict_by_delay(self, log: Signals) -> Floats:
        """Joint errors of pure delays, (m, n) [rad]."""
        rivals = [partial(_delayed, delay=delay) for delay, _ in self.baselines]
        return self._of_drives(log, rivals) @ self.inverse.T

    def predict_by_lag(self, log: Signals) -> Floats:
        """Joint errors of lags behind the speed, (m, n) [rad]."""
        lags = np.array([lag for _, lag in self.baselines])
        return (lags * log.v) @ self.inverse.T

    def left_out(self, without: Sequence[Sequence[Signals]]) -> Floats:
        """Residual of each left-out part by a fit to all others, (m, n) [rad].

        Args:
            without: The logs for each part, with a torque that is known without the part.
        """
        seen = []
        for logs in without:
            seen.append([self.in_motion(log, smooth=True) for log in logs])
        found = []
        for k, (law, chosen) in enumerate(zip(self.laws, self.chosen, strict=True)):
            if k in self.at_rest | self.unexplained:
                found.append(np.concatenate([log.error[:, k] for log in seen[0]]))
                continue
            drives = [[of_drive(log, k, self) for log in logs] for logs in seen]
            found.append(estimator.cross_validate(drives, chosen, law))
        return np.stack(found, axis=1) @ self.inverse.T


def of_drive(log: Signals, k: int, fit: ServoFit | str) -> DriveSignals:
    """The signals of one drive with the torque from a source."""
    feedforward = fit if isinstance(fit, str) else fit.feedforward
    torque = log.torque(feedforward)
    columns = (log.q, log.v, log.a, torque, log.error, log.twist)
    q, v, a, torque, error, twist = (values[:, k] for values in columns)
    return DriveSignals(log.rate, log.time, q, v, a, torque, error, twist, log.parts)


@one_blas_thread()
def fit_servo(
    robot: Robot, logs: Sequence[Signals], feedforward: str, like: ServoFit | None = None
) -> ServoFit:
    """The laws of all drives from logs of one robot.

    Args:
        robot: The robot.
        logs: Its logs.
        feedforward: Where the torque comes from: "logged" or "model".
        like: A fit whose structure is taken; by default the best one is.
    """
    structure = None if like is None else like.chosen
    fit = _fit(robot, logs, feedforward, structure)
    if feedforward == "model" and is_all_torque_loops(fit):
        fit = _settle(robot, logs, fit, choose_anew=like is None)
    if len(logs) > 1 and not selection.are_pooled(logs):
        _refuse_other_servos(robot, logs, fit)
    if is_all_torque_loops(fit) or selection.are_pooled(logs):
        return fit
    return _drop_unexplained(fit, logs)


def _fit(
    robot: Robot,
    logs: Sequence[Signals],
    feedforward: str,
    structure: Sequence[selection.ChosenLaw] | None,
) -> ServoFit:
    """The laws of all drives, of a given structure or of the best one."""
    count = len(robot.assembly.motor_rows)
    at_rest = find_drives_at_rest(robot, logs)
    moving = [k for k in range(count) if k not in at_rest]
    drives = [_candidate(logs, k, feedforward) for k in range(count)]
    some = [drives[k] for k in moving]
    if structure is None:
        best = selection.keep_plain_laws(some, selection.select_structure(some))
        selected = [_better_side(drive, one) for drive, one in zip(some, best, strict=True)]
    else:
        selected = selection.with_structure(some, [structure[k] for k in moving])
    chosen = [selected[moving.index(k)] if k in moving else selected[0] for k in range(count)]
    laws = _laws(logs, feedforward, drives, chosen, at_rest)
    trivial = tuple(fit_baselines(drive.logs) for drive in drives)
    inverse = robot.assembly.motor_inverse
    return ServoFit(feedforward, laws, tuple(chosen), trivial, inverse, at_rest=at_rest)


def _drop_unexplained(fit: ServoFit, logs: Sequence[Signals]) -> ServoFit:
    """The laws without those that explain nothing of left-out parts: no law is better there."""
    scored = selection.scored_samples(logs)
    residual = (fit.left_out([logs] * PARTS) @ np.linalg.inv(fit.inverse).T)[scored]
    error = np.concatenate([log.error for log in logs])[scored]
    numbers = np.repeat(np.arange(len(logs)), [len(log.time) for log in logs])[scored]
    for log in range(len(logs)):
        error[numbers == log] -= error[numbers == log].mean(axis=0)
    worse = (residual**2).sum(axis=0) >= (error**2).sum(axis=0)
    dropped = frozenset(np.flatnonzero(worse).tolist()) - fit.at_rest
    laws = tuple(estimator.null_law(law) if k in dropped else law for k, law in enumerate(fit.laws))
    return replace(fit, laws=laws, unexplained=dropped)


def find_drives_at_rest(robot: Robot, logs: Sequence[Signals]) -> frozenset[int]:
    """Drives that no log moves."""
    travel = np.max([np.ptp(log.q, axis=0) for log in logs], axis=0)
    per_joint = np.abs(robot.assembly.motor_rows).max(axis=1)
    return frozenset(np.flatnonzero(travel <= LEAST_TRAVEL * per_joint).tolist())


def _candidate(logs: Sequence[Signals], k: int, feedforward: str) -> selection.Candidate:
    """A drive with the encoders that its loop may close on."""
    of_logs = [of_drive(log, k, feedforward) for log in logs]
    fastest = max(float(np.abs(drive.v).max()) for drive in of_logs)
    sides: tuple[Side, ...] = ("motor",)
    if drive_offset(logs, k) is not None:
        sides = ("motor", "link")
    return selection.Candidate(of_logs, SLOW * fastest, sides)


def _laws(
    logs: Sequence[Signals],
    feedforward: str,
    drives: Sequence[selection.Candidate],
    chosen: Sequence[selection.ChosenLaw],
    at_rest: Collection[int] = (),
) -> tuple[estimator.DriveLaw, ...]:
    """The laws of a structure, from its starting poles."""
    inertia = np.mean([log.inertia for log in logs], axis=0)
    laws: dict[int, estimator.DriveLaw] = {}
    for k, (drive, one) in enumerate(zip(drives, chosen, strict=True)):
        if k in at_rest:
            continue
        felt = float(inertia[k]) if feedforward == "model" else None
        offset = drive_offset(logs, k)
        laws[k] = estimator.estimate(drive.logs, one, drive.sign_speed, offset=offset, inertia=felt)
    middle = estimator.middle_law(list(laws.values()))
    return tuple(laws.get(k, middle) for k in range(len(drives)))


def _settle(robot: Robot, logs: Sequence[Signals], fit: ServoFit, *, choose_anew: bool) -> ServoFit:
    """Laws of torque loops with the friction of their own motion.

    The first laws come from friction of the reference, whose errors may select wrong terms: the
    structure is chosen again with the friction of their motion, once. Where laws and friction do
    not settle, the laws of the lowest left-out error are taken.
    """
    fastest = np.max([np.abs(log.v @ fit.inverse.T).max(axis=0) for log in logs], axis=0)
    friction = friction_in_loop.loop_friction(robot, 2 * np.maximum(fastest, LEAST_SPEED))
    fit = replace(fit, friction=friction)
    tried: list[ServoFit] = []
    for _ in range(ROUNDS):
        seen = [fit.in_motion(log, smooth=True) for log in logs]
        again = _again(seen, fit)
        if choose_anew and not tried:
            other = replace(_fit(robot, seen, fit.feedforward, None), friction=friction)
            again = other if is_all_torque_loops(other) else again
        if not is_all_torque_loops(again):
            break
        tried.append(again)
        if _change(fit, again) < SETTLED:
            return again
        fit = again
    return min(tried, key=lambda one: cross_validation_error(one, logs)) if tried else fit


def is_all_torque_loops(fit: ServoFit) -> bool:
    """Whether load makes every drive lag."""
    return all(estimator.is_torque_loop(law) for law in fit.laws)


def _again(logs: Sequence[Signals], fit: ServoFit) -> ServoFit:
    """The given structure on other signals, from its fitted poles."""
    chosen = []
    for one, law in zip(fit.chosen, fit.laws, strict=True):
        chosen.append(replace(one, start=law.poles))
    drives = [_candidate(logs, k, fit.feedforward) for k in range(len(chosen))]
    laws = _laws(logs, fit.feedforward, drives, chosen, fit.at_rest)
    return replace(fit, laws=laws, chosen=tuple(chosen))


def _change(one: ServoFit, other: ServoFit) -> float:
    """Largest relative change of poles and load coefficient."""
    largest = 0.0
    for before, after in zip(one.laws, other.laws, strict=True):
        was, is_now = np.array(before.loop[1:]), np.array(after.loop[1:])
        change = np.abs(is_now - was) / np.maximum(np.abs(was), 1e-12)
        largest = max(largest, float(change.max()))
    return largest


def cross_validation_error(fit: ServoFit, logs: Sequence[Signals]) -> float:
    """Mean logarithm of the left-out residual sum of squares, first parts of logs left aside."""
    residual = fit.left_out([logs] * PARTS)[selection.scored_samples(logs)]
    squares = (residual**2).sum(axis=0)
    return float(np.log(np.maximum(squares, 1e-300)).mean())


def _better_side(drive: selection.Candidate, chosen: selection.ChosenLaw) -> selection.ChosenLaw:
    """The structure with the link encoder where its residual is clearly lower, else the motor's."""
    if len(drive.sides) == 1:
        return chosen
    motor, link = replace(chosen, side="motor"), replace(chosen, side="link")
    of_motor = estimator.residual_squares(drive.logs, motor, drive.sign_speed)
    of_link = estimator.residual_squares(drive.logs, link, drive.sign_speed)
    return link if of_link < CLEARLY * of_motor else motor


def drive_offset(logs: Sequence[Signals], k: int) -> EncoderOffset | None:
    """How the link encoder of a drive differs from its motor encoder."""
    speeds, loads, twists = [], [], []
    for log in logs:
        measured = log.q[:, k] - log.error[:, k]
        speeds.append(np.gradient(measured, 1 / log.rate))
        loads.append(log.load[:, k])
        twists.append(log.twist[:, k])
    return estimate_encoder_offset(speeds, loads, twists)


def _refuse_other_servos(robot: Robot, logs: Sequence[Signals], fit: ServoFit) -> None:
    """Refuse logs that are not of one servo, or whose references mean different things."""
    names = [log.name for log in logs]
    seen = [fit.in_motion(log, smooth=True) for log in logs]
    for k, motor in enumerate(robot.description.motor):
        if k in fit.at_rest:
            continue
        drives = [of_drive(log, k, fit) for log in seen]
        _refuse_other_law(motor.name, names, drives, fit.laws[k], fit.chosen[k])


def _refuse_other_law(
    name: str,
    logs: list[str],
    drives: Sequence[DriveSignals],
    law: estimator.DriveLaw,
    chosen: selection.ChosenLaw,
) -> None:
    refit = partial(estimator.estimate, sign_speed=law.sign_speed, offset=law.offset, inertia=None)
    own = [refit([drive], chosen) for drive in drives]
    for drive, alone, log in zip(drives, own, logs, strict=True):
        if share_explained(drive, law) < UNEXPLAINED and share_explained(drive, alone) > OWN:
            raise ArmtwinError(
                f"{log}: {name} follows its reference by another law than in the other logs; "
                "give logs of one servo, or fit them apart"
            )
    delays = [alone.coefficient(SPEED) for alone in own]
    first, last = int(np.argmin(delays)), int(np.argmax(delays))
    doubt = own[first].interval[2 + SPEED] + own[last].interval[2 + SPEED]
    if delays[last] - delays[first] > doubt + 1 / drives[0].rate:
        raise ArmtwinError(
            f"{name} is {1e3 * delays[first]:.3g} ms behind its reference in {logs[first]} and "
            f"{1e3 * delays[last]:.3g} ms in {logs[last]}: q_ref means something else there, or "
            "the servo is another one"
        )


def share_explained(drive: DriveSignals, law: estimator.DriveLaw) -> float:
    """Share of the variance of a drive's error that a law explains, mean removed."""
    residual = drive.error - law.predicted(drive)
    return 1 - float(residual.var()) / max(float(drive.error.var()), 1e-300)
