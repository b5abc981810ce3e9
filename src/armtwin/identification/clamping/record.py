"""Log of a clamped joint: motor angle and motor torque, on the motor side.

What contradicts a clamped transmission is refused by the mistake that would explain it: a torque
that gains work in a cycle, angles of both sides in another ratio than the gear's. Units that a log
does not show are doubted where no motor or gear has such sizes.

A transmission identified by one method from its clamping curve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.hypothesis import Hypothesis, refuse_by
from armtwin.identification.clamping.curves import line
from armtwin.identification.clamping.half_cycles import HalfCycle, select_whole
from armtwin.identification.fitting.estimate import ParameterEstimate
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Names, Pair
from armtwin.robot.robot import Robot


@dataclass(frozen=True)
class TransmissionEstimate:
    """Stiffness, backlash and friction of a transmission, on one side of its gear.

    Attributes:
        method: Name of the method.
        stiffness: Torsion stiffness K [N m/rad]; None where it was refused.
        backlash: Backlash b, from one flank to the other [rad]; None where not identifiable.
        friction: Friction torque F while sliding [N m].
        stiffness_std: Standard deviation [N m/rad].
        backlash_std: Standard deviation [rad].
        friction_std: Standard deviation [N m].
        stiffness_half: Half width of its 95 % interval [N m/rad].
        backlash_half: Half width [rad].
        friction_half: Half width [N m].
        explained: Share of the spring's torque that the log recreated with it explains; None where
            it was not recreated.
        refused: Why a number or all of them are missing, a sentence; "" where none is.
        notes: Steps of the method, a sentence each.
    """

    method: str
    stiffness: float | None = None
    backlash: float | None = None
    friction: float | None = None
    stiffness_std: float | None = None
    backlash_std: float | None = None
    friction_std: float | None = None
    stiffness_half: float | None = None
    backlash_half: float | None = None
    friction_half: float | None = None
    explained: float | None = None
    refused: str = ""
    notes: Names = ()

    def on_joint_side(self, gear_ratio: float) -> TransmissionEstimate:
        """The numbers of the motor side as the joint has them: N² K, b / N, N F."""
        N = abs(gear_ratio)
        changes: dict[str, Any] = {}
        for name, factor in (("stiffness", N**2), ("backlash", 1 / N), ("friction", N)):
            for key in (name, f"{name}_std", f"{name}_half"):
                value = getattr(self, key)
                changes[key] = None if value is None else factor * value
        return replace(self, **changes)


def named(name: str, found: ParameterEstimate) -> dict[str, Any]:
    """The first of estimated numbers as keys of a `TransmissionEstimate`."""
    numbers = (found.values[0], found.std[0], found.half_width[0])
    keys = (name, f"{name}_std", f"{name}_half")
    return dict(zip(keys, (float(x) for x in numbers), strict=True))


LEAST_SAMPLES = 20
LEAST_CHANGE = 1e-9  # of a torque or an angle, against its size
GAINED = 0.01  # of the whole torque: negative friction that noise or a late torque does not make
PROPORTIONAL = 1e-3  # of the whole turn: residual of angles of which one is computed of the other
OTHER_RATIO = 0.02  # by which a gear ratio differs from that of the angles
ROUNDED = 2e-3  # by which a gear ratio differs from that of a robot file
LARGEST_TURN = 2 * np.pi  # rad: gears wind up by less than a turn of their motor
HARDLY = 0.2  # correlation of angle and torque below which one has no sign
SMALLEST_TORQUE = 0.01  # N m: the friction of the smallest motors
LARGEST_TORQUE = 600.0  # N m: motors of the largest robots have a third of it
STIFFEST = 2e7  # N m/rad: three times the stiffest gears of robots, on the joint side
USUAL_TORQUE = 10.0  # N m: of motors, between 0.3 and 200
BEYOND_LIMIT = 2.0  # of the torque limit in a robot file: peaks of drives, and limits of a cell
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
        most: Torque that the motor may reach [N m], and whose it is.
    """

    time: Floats
    q: Floats
    tau: Floats
    gear_ratio: float | None
    position_from: str
    torque_from: str
    origin: str = ""
    most: tuple[float, str] = (LARGEST_TORQUE, "motors of robots have less than")

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
    log: Log,
    gear_ratio: float | None = None,
    joint: int | None = None,
    robot: Robot | None = None,
) -> ClampingRecord:
    """The record of a log with q_m or q, and tau_m or tau.

        q_m = N q,   tau_m = tau / N        where a channel is on the joint side

    Args:
        log: The log.
        gear_ratio: N, motor angle per joint angle; needed where a channel is on the joint side.
        joint: Which column, from 1; not needed where there is one.
        robot: The robot whose joint it is: its gear ratio, and what its motor can.
    """
    _check_ratio(gear_ratio)
    position, torque = _channel(log, "q_m", "q"), _channel(log, "tau_m", "tau")
    most = ClampingRecord.most
    if robot is not None:
        gear_ratio, most = _compare_robot(robot, gear_ratio, joint)
    is_alone = robot is not None and log.channels[position].shape[1] == 1
    column = _column(log, position, torque, 1 if is_alone else joint)
    q = log.channels[position][:, column]
    tau = log.channels[torque][:, column]
    on_joint = [name for name in (position, torque) if name in ("q", "tau")]
    if on_joint and gear_ratio is None:
        raise ArmtwinError(
            f"clamping log: {on_joint[0]} is on the joint side; give the gear ratio (motor angle "
            "per joint angle, --gear-ratio), or log q_m and tau_m"
        )
    ratio = 1.0 if gear_ratio is None else gear_ratio
    if gear_ratio is not None:
        refuse_by(_compare_sides(log, column, gear_ratio))
    q_m = q * ratio if position == "q" else q
    tau_m = tau / ratio if torque == "tau" else tau
    record = ClampingRecord(log.time, q_m, tau_m, gear_ratio, position, torque, log.origin, most)
    _check(record)
    return record


def _compare_robot(
    robot: Robot, gear_ratio: float | None, joint: int | None
) -> tuple[float, tuple[float, str]]:
    """Gear ratio of a joint by its robot file, and the torque that its motor may reach."""
    if joint is None or not 1 <= joint <= robot.n:
        raise ArmtwinError(f"--joint must be one of '{robot.name}', 1 to {robot.n}, got {joint}")
    ratios, name = robot.assembly.gear_ratios, robot.joint_names[joint - 1]
    own = float(ratios[joint - 1])
    if gear_ratio is not None and abs(abs(gear_ratio) / own - 1) > ROUNDED:
        nearest = int(np.argmin(np.abs(np.log(ratios / abs(gear_ratio)))))
        other = robot.joint_names[nearest]
        is_other = abs(abs(gear_ratio) / ratios[nearest] - 1) < ROUNDED
        evidence = f"the gear ratio is {gear_ratio:.6g}, {name} of '{robot.name}' has {own:.6g}"
        mistake = f"Is it that of {other}" if is_other else "Is it that of another robot"
        refuse_by([Hypothesis(evidence, mistake, "leave --gear-ratio out")])
    limit = BEYOND_LIMIT * float(robot.limits.torque[joint - 1]) / own
    return own, (limit, f"twice the limit of {name} of '{robot.name}' is")


def _check_ratio(gear_ratio: float | None) -> None:
    if gear_ratio is not None and not (np.isfinite(gear_ratio) and gear_ratio != 0):
        raise ArmtwinError(f"gear ratio must be a number other than 0, got {gear_ratio}")
    if gear_ratio is not None and abs(gear_ratio) < 1:
        evidence = f"gear ratio must be motor angle per joint angle, at least 1, got {gear_ratio:g}"
        remedy = f"say --gear-ratio {1 / gear_ratio:.6g}"
        refuse_by([Hypothesis(evidence, "Is it joint angle per motor angle", remedy)])


def _compare_sides(log: Log, column: int, gear_ratio: float) -> Iterator[Hypothesis]:
    """Mistakes that explain why channels of both sides are in another ratio than the gear's.

    Only channels that are computed of each other have one ratio; the angle of a joint that a second
    encoder measures has not.
    """
    for motor, joint, inverse in (("q_m", "q", False), ("tau", "tau_m", True)):
        if motor not in log or joint not in log:
            continue
        both = [log.channels[name] for name in (motor, joint)]
        if min(values.shape[1] for values in both) <= column:
            continue
        x, y = both[1][:, column], both[0][:, column]
        slope, start = line(x, y)
        if np.std(y - start - slope * x) > PROPORTIONAL * np.ptp(y) or slope == 0:
            continue
        if abs(abs(slope / gear_ratio) - 1) > OTHER_RATIO:
            number = column + 1
            sides = (joint, motor) if inverse else (motor, joint)
            evidence = (
                f"clamping log: {motor}{number} is {slope:.6g} times {joint}{number}, the gear "
                f"ratio is {gear_ratio:.6g}"
            )
            mistake = f"Is it the gear ratio of another joint, or {sides[0]} in other units"
            yield Hypothesis(evidence, mistake, f"say --gear-ratio {slope:.6g}")


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
    if -HARDLY < together < 0:
        evidence = f"clamping log: the torque follows no angle (correlation {together:.2f})"
        remedy = "log both with their signs"
        refuse_by([Hypothesis(evidence, "Did one of them lose its sign", remedy)])
    if together < 0:
        raise ArmtwinError(
            "clamping log: the torque must rise as the motor turns forward, it decreases "
            f"(correlation {together:.2f}); one of the two has the opposite sign: set torque_sign "
            "= [-1] in the columns file"
        )


def refuse_gained_work(record: ClampingRecord, found: list[HalfCycle]) -> None:
    """Refuse a log whose torque gains work in a cycle: friction only loses it.

    tau = K q + constant + s F,   F > 0        s = 1 where the motor turns forward, -1 back
    """
    whole = select_whole(record.q, found)
    if len({part.direction for part in whole}) < 2:
        return
    rows = np.concatenate([np.arange(part.start, part.stop) for part in whole])
    side = np.concatenate([np.full(part.stop - part.start, part.direction) for part in whole])
    columns = np.column_stack([record.q[rows], np.ones(len(rows)), side])
    friction = float(np.linalg.lstsq(columns, record.tau[rows], rcond=None)[0][2])
    if friction < -GAINED * float(np.ptp(record.tau)):
        evidence = (
            "clamping log: at an angle the torque must be higher where the motor turns forward "
            f"than back, as friction opposes it, it is lower by {-2 * friction:.3g} N m"
        )
        names = f"{record.position_from} and {record.torque_from}"
        remedy = "give each its header in the columns file"
        refuse_by([Hypothesis(evidence, f"Are {names} swapped", remedy)])


def doubt_sizes(record: ClampingRecord, found: TransmissionEstimate) -> Iterator[Hypothesis]:
    """Units in which a log would have sizes that motors and gears of robots have."""
    position, torque = record.position_from, record.torque_from
    if record.turn > LARGEST_TURN:
        evidence = (
            f"the motor turns by {record.turn:.3g} rad against the clamp, a gear winds up by less "
            f"than {LARGEST_TURN:.2g} rad"
        )
        remedy = f'say unit = {{ {position} = "deg" }} in a columns file'
        mistake = f"Is {position} in degrees, else in mrad or counts"
        yield Hypothesis(evidence, mistake, remedy, record.turn / LARGEST_TURN)
    largest = 0.5 * float(np.ptp(record.tau))
    stiffness = None
    if record.gear_ratio is not None:
        stiffness = found.on_joint_side(record.gear_ratio).stiffness
    most, whose = record.most
    if largest > most:
        evidence = f"the torque of the motor reaches {largest:.4g} N m, {whose} {most:.4g} N m"
        yield _doubt_torque(evidence, torque, largest, largest / most)
    elif largest < SMALLEST_TORQUE:
        evidence = f"the torque of the motor reaches {largest:.2g} N m alone"
        remedy = f'say unit = {{ {torque} = "kN m" }} in a columns file'
        yield Hypothesis(evidence, f"Is {torque} in kN m", remedy, SMALLEST_TORQUE / largest)
    elif stiffness is not None and stiffness > STIFFEST:
        evidence = (
            f"the stiffness on the joint side is {stiffness:.3g} N m/rad, gears of robots have "
            f"less than {STIFFEST:.0e} N m/rad"
        )
        yield _doubt_torque(evidence, torque, largest, stiffness / STIFFEST)


def _doubt_torque(evidence: str, channel: str, largest: float, strength: float) -> Hypothesis:
    """The unit that brings the torque of a motor nearest to the usual."""
    units = {"N mm": 1e-3, "N cm": 1e-2}
    first, second = sorted(
        units, key=lambda unit: abs(np.log(units[unit] * largest / USUAL_TORQUE))
    )
    side = " or of the joint side" if channel == "tau_m" else ""
    mistake = f"Is {channel} in {first}, else in {second}{side}"
    remedy = f'say unit = {{ {channel} = "{first}" }} in a columns file'
    return Hypothesis(evidence, mistake, remedy, strength)
