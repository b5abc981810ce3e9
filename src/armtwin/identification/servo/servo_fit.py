"""The laws of all drives from some logs, with the torque from one source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.servo.choice import Candidate, Chosen, choose, with_structure
from armtwin.identification.servo.encoder_offset import EncoderOffset, encoder_offset
from armtwin.identification.servo.estimator import (
    TIME_CONSTANTS,
    DriveLaw,
    estimate,
    left_out,
    no_position_feedback,
    squares_left,
)
from armtwin.identification.servo.rivals import Rivals, rivals
from armtwin.identification.servo.signals import Signals
from armtwin.identification.servo.structure import SPEED, DriveSignals
from armtwin.maths.batch import Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.robot import Robot
from armtwin.robot.servo import Side

SLOW = 0.01  # share of the largest speed that is the width of the sign term
LEAST_CONSTANTS = 3.0  # time constants of a loop below which logs are refused
STRANGER = 0.5  # share of a log's error that is not explained by the law of all logs ...
OWN = 0.9  # ... though by its own, with which it is not of the same servo


@dataclass(frozen=True, eq=False)
class ServoFit:
    """The laws of all drives.

    Attributes:
        feedforward: Where the torque came from: "logged" or "model".
        laws: The law of each drive.
        chosen: The structure of each drive.
        rivals: The trivial rivals of each drive.
        inverse: Joints per drive side, (n, drives).
    """

    feedforward: str
    laws: tuple[DriveLaw, ...]
    chosen: tuple[Chosen, ...]
    rivals: tuple[Rivals, ...]
    inverse: Floats

    def predicted(self, log: Signals) -> Floats:
        """Joint errors q_ref - q that the laws make of a log's reference, (m, n) [rad]."""
        found = [law.predicted(of_drive(log, k, self)) for k, law in enumerate(self.laws)]
        return np.stack(found, axis=1) @ self.inverse.T

    def delayed(self, log: Signals) -> Floats:
        """Joint errors of pure delays, (m, n) [rad]."""
        found = [rival.delayed(of_drive(log, k, self)) for k, rival in enumerate(self.rivals)]
        return np.stack(found, axis=1) @ self.inverse.T

    def lagging(self, log: Signals) -> Floats:
        """Joint errors of lags behind the speed, (m, n) [rad]."""
        found = [rival.lagging(of_drive(log, k, self)) for k, rival in enumerate(self.rivals)]
        return np.stack(found, axis=1) @ self.inverse.T

    def left_out(self, logs: Sequence[Signals]) -> Floats:
        """Joint errors that parts of the logs have beyond a fit to all others, (m, n) [rad]."""
        found = []
        for k, (law, chosen) in enumerate(zip(self.laws, self.chosen, strict=True)):
            drives = [of_drive(log, k, self) for log in logs]
            found.append(left_out(drives, chosen, law))
        return np.stack(found, axis=1) @ self.inverse.T


def of_drive(log: Signals, k: int, fit: ServoFit | str) -> DriveSignals:
    """The signals of one drive with the torque from a source."""
    feedforward = fit if isinstance(fit, str) else fit.feedforward
    return DriveSignals(
        rate=log.rate,
        time=log.time,
        q=log.q[:, k],
        v=log.v[:, k],
        a=log.a[:, k],
        torque=log.torque(feedforward)[:, k],
        error=log.error[:, k],
        twist=log.twist[:, k],
    )


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
    drives, offsets = [], []
    for k in range(len(robot.assembly.motor_rows)):
        of_logs = [of_drive(log, k, feedforward) for log in logs]
        offset = drive_offset(logs, k)
        fastest = max(float(np.abs(drive.v).max()) for drive in of_logs)
        sides: tuple[Side, ...] = ("motor",) if offset is None else ("motor", "link")
        drives.append(Candidate(of_logs, SLOW * fastest, sides))
        offsets.append(offset)
    chosen = choose(drives) if like is None else with_structure(drives, like.chosen)
    inertia = np.mean([log.inertia for log in logs], axis=0)
    laws = []
    for k, drive in enumerate(drives):
        felt = float(inertia[k]) if feedforward == "model" else None
        if like is None:
            chosen[k] = _better_side(drive, chosen[k])
        law = estimate(drive.logs, chosen[k], drive.sign_speed, offset=offsets[k], inertia=felt)
        laws.append(law)
    if like is None:
        _refuse_short(robot, laws, logs)
    if len(logs) > 1:
        names = [log.name for log in logs]
        motors = [motor.name for motor in robot.description.motor]
        for motor, drive, law, one in zip(motors, drives, laws, chosen, strict=True):
            _refuse_strangers(motor, names, drive.logs, law, one)
    trivial = tuple(rivals(drive.logs) for drive in drives)
    inverse = robot.assembly.motor_inverse
    return ServoFit(feedforward, tuple(laws), tuple(chosen), trivial, inverse)


def _better_side(drive: Candidate, chosen: Chosen) -> Chosen:
    """The structure with the encoder that leaves less; both have as many free numbers."""
    left = {}
    for side in drive.sides:
        one = replace(chosen, side=side)
        left[one] = squares_left(drive.logs, one, drive.sign_speed)
    return min(left, key=lambda one: left[one])


def drive_offset(logs: Sequence[Signals], k: int) -> EncoderOffset | None:
    """How the link encoder of a drive differs from its motor encoder."""
    speeds, loads, twists = [], [], []
    for log in logs:
        measured = log.q[:, k] - log.error[:, k]
        speeds.append(np.gradient(measured, 1 / log.rate))
        loads.append(log.load[:, k])
        twists.append(log.twist[:, k])
    return encoder_offset(speeds, loads, twists)


def _refuse_short(robot: Robot, laws: Sequence[DriveLaw], logs: Sequence[Signals]) -> None:
    """Refuse logs that end before the loops have shown their time constants.

    Loops without position feedback have none; what is refused is that some have, and that most
    are not told.
    """
    seen = sum(float(log.time[-1]) for log in logs)
    told = [law.poles.slowest * seen >= LEAST_CONSTANTS for law in laws]
    slow = []
    for motor, law, is_told in zip(robot.description.motor, laws, told, strict=True):
        if not is_told and not no_position_feedback(law):
            slow.append((1 / law.poles.slowest, motor.name))
    if not slow or 2 * sum(told) >= len(told):
        return
    constant, name = min(slow)
    raise ArmtwinError(
        f"the logs last {seen:.3g} s where the loop of {name} has a time constant of "
        f"{constant:.3g} s; about {TIME_CONSTANTS:g} of them are needed to tell it: log longer"
    )


def _refuse_strangers(
    name: str, logs: list[str], drives: Sequence[DriveSignals], law: DriveLaw, chosen: Chosen
) -> None:
    """Refuse logs that are not of one servo, or whose references mean different things."""
    own = []
    for drive in drives:
        found = estimate([drive], chosen, law.sign_speed, offset=law.offset, inertia=None)
        own.append(found)
    for drive, alone, log in zip(drives, own, logs, strict=True):
        if explained(drive, law) < STRANGER and explained(drive, alone) > OWN:
            raise ArmtwinError(
                f"{log}: {name} follows its reference in another way than in the other logs; "
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


def explained(drive: DriveSignals, law: DriveLaw) -> float:
    """Share of the variance of a drive's error that a law explains, a constant removed."""
    left = drive.error - law.predicted(drive)
    return 1 - float(left.var()) / max(float(drive.error.var()), 1e-300)
