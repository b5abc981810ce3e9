"""Log of a clamped joint: motor angle and motor torque, on the motor side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Pair

LEAST_SAMPLES = 20
LEAST_CHANGE = 1e-9  # of a torque or an angle, against its size
GAP = 10.0  # times the median step of time that counts as a gap of the log


@dataclass(frozen=True, eq=False)
class ClampingRecord:
    """Angle and torque of the motor of a clamped joint, both on the motor side.

    Attributes:
        time: Times of the samples, (m,) [s].
        q: Motor angle, (m,) [rad].
        tau: Motor torque, (m,) [N m].
        gear_ratio: Motor angle per joint angle; None where it is not known.
        position_from: Channel of the angle.
        torque_from: Channel of the torque.
        origin: The file of the log, or "".
    """

    time: Floats
    q: Floats
    tau: Floats
    gear_ratio: float | None
    position_from: str
    torque_from: str
    origin: str = ""

    @property
    def turn(self) -> float:
        """The whole turn of the motor, from one end to the other [rad]."""
        return float(np.ptp(self.q))

    @property
    def gaps(self) -> list[Pair]:
        """Where the log pauses: the time at which, and for how long [s]."""
        steps = np.diff(self.time)
        usual = np.median(steps)
        long = steps > GAP * usual
        return list(zip(self.time[:-1][long].tolist(), steps[long].tolist(), strict=True))


def clamping_record(
    log: Log, gear_ratio: float | None = None, joint: int | None = None
) -> ClampingRecord:
    """The record of a log with q_m or q, and tau_m or tau.

        q_m = N q,   tau_m = tau / N        where a channel is on the joint side

    Args:
        log: The log.
        gear_ratio: N, motor angle per joint angle; needed where a channel is on the joint side.
        joint: Which column, from 1; not needed where there is one.
    """
    _check_ratio(gear_ratio)
    position, torque = _channel(log, "q_m", "q"), _channel(log, "tau_m", "tau")
    column = _column(log, position, torque, joint)
    q = log.channels[position][:, column]
    tau = log.channels[torque][:, column]
    on_joint = [name for name in (position, torque) if name in ("q", "tau")]
    if on_joint and gear_ratio is None:
        raise ArmtwinError(
            f"clamping log: {on_joint[0]} is on the joint side; give the gear ratio (motor angle "
            "per joint angle, --gear-ratio), or log q_m and tau_m"
        )
    ratio = 1.0 if gear_ratio is None else gear_ratio
    q_m = q * ratio if position == "q" else q
    tau_m = tau / ratio if torque == "tau" else tau
    record = ClampingRecord(log.time, q_m, tau_m, gear_ratio, position, torque, log.origin)
    _check(record)
    return record


def _check_ratio(gear_ratio: float | None) -> None:
    if gear_ratio is not None and not (np.isfinite(gear_ratio) and gear_ratio != 0):
        raise ArmtwinError(f"gear ratio must be a number other than 0, got {gear_ratio}")


def _channel(log: Log, motor: str, joint: str) -> str:
    """The channel on the motor side, else the one on the joint side."""
    for name in (motor, joint):
        if name in log:
            return name
    held = ", ".join(log.channels) or "none"
    raise ArmtwinError(f"clamping log: needs {motor} or {joint}, it has {held}")


def _column(log: Log, position: str, torque: str, joint: int | None) -> int:
    columns = {name: log.channels[name].shape[1] for name in (position, torque)}
    fewest = min(columns.values())
    if joint is None:
        if fewest > 1:
            raise ArmtwinError(
                f"clamping log: has {fewest} joints; say which one was moved, 1 to {fewest} "
                "(--joint)"
            )
        return 0
    if not 1 <= joint <= fewest:
        raise ArmtwinError(f"clamping log: joint must be 1 to {fewest}, got {joint}")
    return joint - 1


def _check(record: ClampingRecord) -> None:
    """Refuse logs without a clamping curve."""
    samples = len(record.q)
    if samples < LEAST_SAMPLES:
        raise ArmtwinError(
            f"clamping log: must have at least {LEAST_SAMPLES} samples, got {samples}"
        )
    for name, values in ((record.torque_from, record.tau), (record.position_from, record.q)):
        if np.ptp(values) <= LEAST_CHANGE * (1 + np.abs(values).max()):
            raise ArmtwinError(f"clamping log: {name} must vary, got {values[0]:.4g} throughout")
    together = float(np.corrcoef(record.q, record.tau)[0, 1])
    if together < 0:
        raise ArmtwinError(
            "clamping log: the torque must rise as the motor turns forward, it decreases "
            f"(correlation {together:.2f}); one of the two has the opposite sign: set torque_sign "
            "= [-1] in the columns file"
        )
