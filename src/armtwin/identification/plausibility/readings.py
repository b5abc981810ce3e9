"""Other readings of a log's columns: each is one mistake that people make, undone."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from armtwin.identification.plausibility.evidence import SHOWN_TORQUE, TRAVEL
from armtwin.identification.plausibility.samples import TorqueSamples
from armtwin.identification.plausibility.single_joints import estimate_weight
from armtwin.identification.rigid_body.data.clean_log import Motion
from armtwin.logs.channels import channel_kind
from armtwin.logs.plausibility import FAST
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot

QUARTERS = (90, -90, 180)  # turns by which zeros are mistaken [deg]
STRETCHES = (0.1, 0.2, 0.5, 2.0, 5.0, 10.0)  # of time that are tried
JOINT_FACTORS = (0.01, 0.1, 10.0, 100.0)  # of one joint's torque that are tried
TURN = 2 * np.pi  # beyond which no joint is taken to be, whatever its limits are [rad]
BESIDE = 0.1  # by which a joint may be beyond them [rad, m]
LITTLE = 0.3  # weight over the file's, below which it may have been taken off
SAME_RATIO = 0.1  # relative difference of gear ratios that cannot be told apart
# logarithm of odds: columns are exchanged, times wrong and robots confused more seldom than signs
# and zeros are mistaken
SELDOM = -6.0
LESS_OFTEN = -3.0  # zeros, of which three are tried at each joint
# the same of a lateness on which joints agree: slow samples hardly show it, and must only not be
# clearly against it
SEEN_OTHERWISE = 24.0
# factor that a number must be multiplied by, and what it then was
UNITS = {
    1000.0: 'Is the torque in kN m|say unit.tau = "kN m" in a columns file',
    100.0: "Is the torque a share of a limit, or its unit 100 N m|correct the column",
    0.1: "Is the torque in kgf cm, or ten times too large|correct the column",
    0.01: 'Is the torque in N cm|say unit.tau = "N cm" in a columns file',
    0.001: 'Is the torque in N mm|say unit.tau = "mNm" in a columns file',
}
# the same where all of a torque shows it
FINE_UNITS = {
    1.35582: "Is the torque in lbf ft|multiply it by 1.356",
    0.00706155: "Is the torque in ozf in|multiply it by 0.00706",
    np.sqrt(2.0): "Is the torque a root mean square where peaks are due|multiply it by 1.414",
    np.sqrt(0.5): "Is the torque a peak value where root mean squares are due|multiply it by 0.707",
    0.11298: "Is the torque in lbf in|multiply it by 0.113",
    9.80665: "Is the torque in kgf m|multiply it by 9.807",
    **UNITS,
}
TORQUE = "Is the torque "
ABOUT, EXACTLY = 3.0, 1.04  # factors within which a unit is meant, by masses and by all of a torque
# factor that angles must be multiplied by, and what they then were
ANGLES = {
    np.pi / 180: 'Are the positions in degrees|say unit.q = "deg" in a columns file',
    2 * np.pi: "Are the positions in revolutions|multiply them by 6.2832",
    180 / np.pi: "Were the positions turned into radians twice|leave unit.q out, or correct it",
}
OTHER_SCALE = (
    "Is the torque in another unit, at the motor in place of the joint, or of another robot|"
    "give motor torque as tau_m, a current as current, or correct unit.tau in a columns file"
)


@dataclass(frozen=True, eq=False)
class Reading:
    """Another reading of the columns.

    Attributes:
        words: The mistake as a question, and after a | what corrects it.
        motion: The motion as read.
        tau: The torques as read, (m, n).
        odds: Logarithm of how much more often than others this happens.
    """

    words: str
    motion: Motion
    tau: Floats
    odds: float = 0.0


def list_readings(samples: TorqueSamples, shows: Flags) -> Iterator[Reading]:
    """Readings that change signs, zeros, columns, times, one joint's torque or take its weight.

    Args:
        samples: The samples.
        shows: Joints whose rigid torque is large enough to show its scale, (n,).
    """
    motion, tau, robot = samples.motion, samples.torque(), samples.robot
    yield from _signs(motion, tau, robot)
    yield from _zeros(motion, tau, robot)
    yield from _exchanges(motion, tau, robot)
    for factor in STRETCHES:
        yield read_at_other_time(motion, tau, factor, SELDOM)
    if not samples.has_gains:
        yield from _joint_scales(motion, tau, robot, shows)
        if estimate_weight(samples) < LITTLE:
            words = "Was the weight of the arm taken off the torque|log the torque with it"
            yield Reading(words, motion, tau + robot.gravity(motion.q), SELDOM)


def _list(values: Floats) -> str:
    """Numbers as they stand in a columns file."""
    return "[" + ", ".join(f"{value:g}" for value in values) + "]"


def _signs(motion: Motion, tau: Floats, robot: Robot) -> Iterator[Reading]:
    everywhere = -np.ones(robot.n)
    words = "Are the torques of all joints counted the other way|say torque_sign = {} {}"
    where = "in a columns file"
    yield Reading(words.format(_list(everywhere), where), motion, -tau)
    for j, name in enumerate(robot.joint_names):
        sign = np.ones(robot.n)
        sign[j] = -1
        turned = Motion(*(sign * x for x in motion))
        signs = _list(sign)
        for words, moved, torque in (
            (f"Is the sign of {name}'s torque reversed|say torque_sign = {signs}", motion, True),
            (f"Does {name} count the other way|say sign = {signs}", turned, True),
            (
                f"Do the positions of {name} count the other way, and not its torque|"
                f"say sign = {signs} and torque_sign = {signs}",
                turned,
                False,
            ),
        ):
            yield Reading(f"{words} {where}", moved, sign * tau if torque else tau)


def _zeros(motion: Motion, tau: Floats, robot: Robot) -> Iterator[Reading]:
    for j, name in enumerate(robot.joint_names):
        if robot.assembly.free_joints[j].type == "prismatic":
            continue
        for degrees in QUARTERS:
            offset = np.zeros(robot.n)
            offset[j] = degrees
            words = (
                f"Is the zero of {name} off by {abs(degrees)}°|say offset = "
                f"{[f'{x:g} deg' for x in offset]} in a columns file"
            )
            moved = motion._replace(q=motion.q + np.radians(offset))
            yield Reading(words, moved, tau, LESS_OFTEN)


def _exchanges(motion: Motion, tau: Floats, robot: Robot) -> Iterator[Reading]:
    """Columns of two joints that move and show a torque, exchanged."""
    size = np.linalg.norm(tau, axis=0)
    shown = size > SHOWN_TORQUE * size.max()
    moving = np.ptp(motion.q, axis=0) > TRAVEL
    for i, k in combinations(np.flatnonzero(moving & shown), 2):
        order = np.arange(robot.n)
        order[[i, k]] = k, i
        moved = Motion(*(x[:, order] for x in motion))
        pair = f"{robot.joint_names[i]} and {robot.joint_names[k]}"
        for what, own, torque in (
            ("torque", motion, tau[:, order]),
            ("position", moved, tau),
            ("position and torque", moved, tau[:, order]),
        ):
            words = (
                f"Are the columns of {what} of {pair} swapped|name the columns in a columns file"
            )
            yield Reading(words, own, torque, SELDOM)


def read_other_angles(motion: Motion, tau: Floats, robot: Robot) -> Iterator[Reading]:
    """Readings with angles in other units that take no joint beyond its limits."""
    low, high = robot.position_limits.clip(-TURN, TURN)
    for factor, words in ANGLES.items():
        moved = Motion(*(factor * x for x in motion))
        within = (moved.q >= low - BESIDE).all() and (moved.q <= high + BESIDE).all()
        if within and (np.abs(moved.v) <= FAST * robot.limits.velocity).all():
            yield Reading(words, moved, tau)


def read_at_other_time(motion: Motion, tau: Floats, factor: float, odds: float) -> Reading:
    """The reading with a time that is shorter by a factor."""
    speed = "slow" if factor > 1 else "fast"
    words = (
        f"Does time run {max(factor, 1 / factor):.3g} times too {speed}|correct the unit of time, "
        "as unit.time in a columns file, or the rate of the log"
    )
    moved = Motion(motion.q, factor * motion.v, factor**2 * motion.a)
    return Reading(words, moved, tau, odds)


def read_in_time(samples: TorqueSamples, lateness: float) -> Reading:
    """The reading with a torque that was logged later by a time [s]."""
    word = "later" if lateness > 0 else "earlier"
    words = (
        f"Was the torque logged {1e3 * abs(lateness):.0f} ms {word} than the positions|"
        "shift its columns in time"
    )
    return Reading(words, samples.motion, samples.torque(lateness), SEEN_OTHERWISE)


def read_by_drives(samples: TorqueSamples) -> Iterator[Reading]:
    """Readings of numbers that only the drives make torques."""
    motion, tau, robot = samples.motion, samples.torque(), samples.robot
    limit, gear = robot.limits.torque, robot.assembly.motor_rows
    if np.isfinite(limit).all() and (limit > 0).all():
        words = "Is the torque a percentage of each joint's limit|multiply it by that limit / 100"
        yield Reading(words, motion, tau * limit / 100)
    if gear.shape != (robot.n, robot.n) or np.allclose(gear, np.eye(robot.n)):
        return
    if channel_kind(samples.source) == "tau":  # which no gear of the file has touched
        words = "Is it the torque of the motors|name its columns tau_m"
        yield Reading(words, motion, tau @ gear)
        return
    words = "Are the gear ratios of the robot file inverted, or the torques already at the joints|"
    words += "correct gear in the robot file, or name the columns tau"
    yield Reading(words, motion, tau @ np.linalg.inv(gear))


def read_other_scale(samples: TorqueSamples, scale: float, whole: float | None) -> Reading:
    """The reading with all torques as large as the robot file's.

    Args:
        samples: The samples.
        scale: Size of the logged torques over the file's, by its masses.
        whole: The same by all of the torque, where joints agree on it.
    """
    exact = name_exact_factor(1 / whole) if whole else ""
    near = min(UNITS, key=lambda unit: abs(np.log(unit * scale)))
    by_masses = UNITS[near] if abs(np.log(near * scale)) < np.log(ABOUT) else ""
    words = exact or by_masses or OTHER_SCALE
    return Reading(words, samples.motion, samples.torque() / scale)


def name_exact_factor(factor: float) -> str:
    """Words of the mistakes, the nearer first, that take a factor known to some per cent."""
    off = {abs(np.log(unit / factor)): words for unit, words in FINE_UNITS.items()}
    near = [off[x] for x in sorted(off) if x < np.log(EXACTLY)]
    if not near:
        return ""
    mistakes, remedies = zip(
        *(words.removeprefix(TORQUE).split("|") for words in near), strict=True
    )
    return f"{TORQUE}{', or '.join(mistakes)}|{', or '.join(remedies)}"


def _joint_scales(motion: Motion, tau: Floats, robot: Robot, shows: Flags) -> Iterator[Reading]:
    """Readings with one joint's torque by another factor, or by another joint's gear ratio."""
    ratios = robot.assembly.gear_ratios
    for j in np.flatnonzero(shows):
        name = robot.joint_names[j]
        factors = dict.fromkeys(JOINT_FACTORS, "Is the torque of {} in another unit")
        for k, other in enumerate(robot.joint_names):
            if abs(ratios[j] / ratios[k] - 1) > SAME_RATIO:
                factors[ratios[j] / ratios[k]] = f"Is {{}} geared by the ratio of {other}"
        for factor, words in factors.items():
            gain = np.ones(robot.n)
            gain[j] = factor
            remedy = f"multiply it by {factor:.3g}, or correct the gear ratio"
            yield Reading(f"{words.format(name)}|{remedy}", motion, tau * gain, 2 * SELDOM)
