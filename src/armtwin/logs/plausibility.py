"""Whether times and angles of a log can be those of an arm, and what they look like if not.

Speeds come from positions by the log's own time. Time in milliseconds makes an arm a thousand times
too slow and its samples as much too rare; time that runs too fast takes joints beyond their speed
limits; and where speeds were logged too, the positions must do them. A wrong unit is far off, so
the bounds are wide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.logs.outliers import without_outliers
from armtwin.logs.recording import Recording, Sampled
from armtwin.maths.batch import Flags, Floats, Names, Sentences
from armtwin.maths.narrow import largest, ranges
from armtwin.maths.smoothing import low_pass
from armtwin.robot.robot import Robot

TURN = 2 * np.pi  # [rad]
UNITS = {"ms": ("milliseconds", 1e3), "us": ("microseconds", 1e6), "ns": ("nanoseconds", 1e9)}
TURNS = (5.0, 25.0)  # speeds of a turning joint that are usual, and beyond those of any arm [rad/s]
SLIDES = (1.0, 10.0)  # speed as above of a prismatic joint [m/s]
SMOOTH = 20.0  # samples in a period of the filter before speeds are taken
SHORTEST = 21  # samples of a log whose speeds can be checked
GAP = 3.0  # times the usual step of time that parts a log
MOVED = 0.05  # travel of a joint from which on its speed is checked [rad, m]
RARE = 20.0  # samples in a second below which time may be stretched [Hz]
SLOW = 2e-3  # share of the usual speed below which it may be
USUAL_SHARE = 0.01  # of the speed limit that a motion worth logging reaches
FAST = 1.5  # times the speed limit beyond which time is compressed
QUICKEST = 5e4  # samples in a second of the fastest logs [Hz]
OFTEN = 0.98  # share of the samples below what is compared with it; noise is in the rest
NEAR_TURN = 0.5  # by which a jump may differ from whole turns [rad]
STEADY = 1.0  # step that nearly all samples must keep for a jump to be seen [rad]
DEGREES = 8 * np.pi  # angle beyond which a log alone is taken to be in degrees
SAME = 1.1  # factor between the stretches of single joints, and from 1, that is taken for noise
FITS = 0.995  # correlation from which on logged speeds are those of the positions
# factors of speeds in deg/s, in rpm, of rpm over deg/s, in mrad/s: they say nothing about time
OTHER_UNITS = (180 / np.pi, 30 / np.pi, 6.0, 1e3)
NEAR_UNIT = 0.02  # relative difference within which a factor is one of these


@dataclass(frozen=True, eq=False)
class Pace:
    """How fast the joints of an arm move.

    Attributes:
        names: Names of the joints, (n,).
        turns: Which joints turn; the others slide, (n,).
        usual: Speeds that a motion worth logging reaches some share of, (n,) [rad/s, m/s].
        most: Speeds that no joint exceeds much, (n,) [rad/s, m/s].
    """

    names: Names
    turns: Flags
    usual: Floats
    most: Floats

    @staticmethod
    def of_robot(robot: Robot) -> Pace:
        """By the speed limits of a robot, where its file has them."""
        turns = np.array([joint.type == "revolute" for joint in robot.assembly.free_joints])
        usual, most = np.where(turns[:, None], TURNS, SLIDES).T
        limit = robot.limits.velocity
        known = np.isfinite(limit) & (limit > 0)
        usual = np.where(known, limit, usual)
        most = np.where(known, limit, most)
        return Pace(robot.joint_names, turns, usual, most)

    @staticmethod
    def of_any(n: int) -> Pace:
        """Of any arm with n turning joints."""
        names = tuple(f"joint {j + 1}" for j in range(n))
        usual, most = np.tile(TURNS, (n, 1)).T
        return Pace(names, np.ones(n, dtype=bool), usual, most)

    @staticmethod
    def of_motion(robot: Robot, v: Floats) -> Pace:
        """By the speeds (m, n) that were commanded to a robot."""
        limits = Pace.of_robot(robot)
        commanded = np.abs(v).max(axis=0)
        usual = np.where(commanded > 0, commanded, np.inf)
        return Pace(limits.names, limits.turns, usual, limits.most)


def check_motion(log: Sampled, channel: str, pace: Pace) -> None:
    """Refuse a log whose angles or times cannot be those of an arm.

    Args:
        log: The log.
        channel: Its joint positions: "q", "q_ref", "q_link".
        pace: How fast the joints can be.
    """
    doubt = _plausibility_problem(log, channel, pace)
    if doubt:
        raise ArmtwinError(doubt)


def plausibility_problems(log: Sampled) -> Sentences:
    """What cannot be in a log, as far as it shows without a robot, one sentence each."""
    channel = next((name for name in ("q", "q_link", "q_ref") if name in log.channels), None)
    if channel is None or not len(log.time):
        return
    q = log.channels[channel]
    reached = np.abs(q).max(axis=0)
    most = reached.max()
    if most > DEGREES:
        name = f"{channel}{int(reached.argmax()) + 1}"
        remedy = f'If so, say unit.{channel} = "deg" in a columns file.'
        yield f"Angles look like degrees: {name} reaches {most:.4g} rad. {remedy}"
        log = Recording(log.time, {channel: np.radians(q)})
    doubt = _plausibility_problem(log, channel, Pace.of_any(q.shape[1]))
    if doubt:
        yield f"{doubt[0].upper()}{doubt[1:]}."


@np.errstate(over="ignore", invalid="ignore")
def _plausibility_problem(log: Sampled, channel: str, pace: Pace) -> str:
    """A sentence about what cannot be in a log, "" where all can; no number is too large for it."""
    return _describe_wraps(log.time, log.channels[channel], pace) or _time(log, channel, pace)


def other_pace(time: Floats, q: Floats, v_ref: Floats) -> str:
    """A clause about positions that do what was commanded, but at another pace; else "".

    Args:
        time: Times of the log, (m,).
        q: Its positions, (m, n).
        v_ref: Speeds that were commanded, (k, n).
    """
    commanded = np.abs(v_ref).max(axis=0)
    moved = (np.ptp(q, axis=0) > MOVED) & (commanded > 0)
    if len(q) < SHORTEST or moved.sum() < 2:
        return ""
    done = np.maximum(_speeds(time, q)[moved], 1e-300)
    factors = commanded[moved] / done
    factor = float(np.median(factors))
    joints_differ = factors.max() > SAME * factors.min()
    if joints_differ or 1 / SAME < factor < SAME:
        return ""
    return f"; time looks {describe_time_factor(factor)}, or the run was made at another speed"


def _describe_wraps(time: Floats, q: Floats, pace: Pace) -> str:
    """A sentence about angles that jump by whole turns, "" where none does."""
    step = np.diff(q[:, pace.turns], axis=0)
    if not len(step):
        return ""
    turns = np.round(step / TURN)
    whole = np.abs(step - TURN * turns) < NEAR_TURN
    jumps = (turns != 0) & whole
    if not jumps.any():
        return ""
    jumps &= np.quantile(np.abs(step), 0.95, axis=0) < STEADY
    count = int(jumps.sum())
    if not count:
        return ""
    k, j = np.argwhere(jumps)[0]
    name = np.array(pace.names)[pace.turns][j]
    more = f", the first of {count} such jumps" if count > 1 else ""
    return (
        f"the angle of {name} jumps by a whole turn at {time[k + 1]:.6g} s{more}: it is wrapped; "
        "say unwrap = true in a columns file"
    )


def _time(log: Sampled, channel: str, pace: Pace) -> str:
    """A sentence about time stamps that cannot be seconds, "" where they can."""
    q = log.channels[channel]
    if len(q) < SHORTEST:
        return ""
    moved = ranges(q) > MOVED
    if not moved.any():
        return ""
    speed = _speeds(log.time, q)
    if not speed[moved].any():
        return ""
    rate = 1 / float(np.median(np.diff(log.time)))
    share = float((speed / pace.usual)[moved].max())
    if rate <= RARE and share <= SLOW:
        return _too_slow(rate, share, float(speed.max()))
    over = np.where(moved, speed / pace.most, 0.0)
    if over.max() > FAST:
        return _too_fast(pace, speed, ranges(q), int(over.argmax()))
    return _beside_logged_speeds(log, channel, moved)


def _speeds(time: Floats, q: Floats) -> Floats:
    """Highest speed of each joint, (n,), smoothed, between gaps; 0 where all pieces are short."""
    whole, _ = without_outliers({"q": q})
    highest = np.zeros(q.shape[1])
    for piece in np.split(np.arange(len(time)), _gaps(time)):
        if len(piece) < SHORTEST:
            continue
        smooth = low_pass(whole["q"][piece], SMOOTH, 1.0)
        t = time[piece]
        way = smooth[2:] - smooth[:-2]
        duration = (t[2:] - t[:-2])[:, None]
        highest = np.maximum(highest, largest(way / duration))
    return highest


def _gaps(time: Floats) -> NDArray[np.int64]:
    """Numbers of the samples before which some are missing."""
    steps = np.diff(time)
    return np.flatnonzero(steps > GAP * np.median(steps)) + 1


def _too_slow(rate: float, share: float, fastest: float) -> str:
    """What time looks like that makes an arm so slow: the largest unit that makes none too fast."""
    pace = f"{rate:.3g} samples a second and no joint moves faster than {fastest:.3g} rad/s"
    looks, remedy = "stretched", "the unit of time as unit.time"
    for unit, (words, factor) in UNITS.items():
        if rate * factor <= QUICKEST and share * factor <= FAST:
            looks, remedy = f"like {words}", f'unit.time = "{unit}"'
    return f"time looks {looks}: in seconds the log has {pace}; say {remedy} in a columns file"


def _too_fast(pace: Pace, speed: Floats, travel: Floats, j: int) -> str:
    """What is said of a joint beyond its speed limit; degrees still travel, and not too slowly."""
    unit = "rad/s" if pace.turns[j] else "m/s"
    fact = (
        f"{pace.names[j]} would move at {speed[j]:.4g} {unit} where its limit is "
        f"{pace.most[j]:.4g} {unit}"
    )
    in_degrees = np.radians(speed[pace.turns]) / pace.most[pace.turns]
    still_travels = np.radians(travel[pace.turns]) > MOVED
    if pace.turns[j] and still_travels.any() and USUAL_SHARE < in_degrees.max() < 1:
        return (
            f'positions look like degrees: {fact}; say unit.q = "deg" in a columns file, or '
            "check the unit of time"
        )
    return (
        f"time looks compressed: {fact}; check the units of time and positions in the columns "
        "file, and the limit"
    )


def _beside_logged_speeds(log: Sampled, channel: str, moved: Flags) -> str:
    """A sentence about positions that do not do the logged speeds in time, "" where they do."""
    speeds = {"q": "v", "q_ref": "v_ref"}.get(channel, "")
    if speeds not in log.channels:
        return ""
    q, v = log.channels[channel], log.channels[speeds]
    if v.shape != q.shape or len(_gaps(log.time)):
        return ""
    found = []
    for j in np.flatnonzero(moved):
        stretch = _stretch(log.time, q[:, j], v[:, j])
        if stretch is not None:
            found.append(stretch)
    if not found or max(found) > SAME * min(found):
        return ""
    factor = float(np.median(found))
    size = max(factor, 1 / factor)
    if size < SAME or np.isclose(size, OTHER_UNITS, rtol=NEAR_UNIT).any():
        return ""
    fact = f"the logged speeds {speeds} are {factor:.3g} times those of the positions {channel}"
    if np.isclose(factor, TURN, rtol=NEAR_UNIT):
        return f"{fact}. Are the positions in revolutions? If so, multiply them by {TURN:.5g}"
    return (
        f"time looks {describe_time_factor(factor)}: {fact} in it; correct the time column, or say "
        f"the unit of {speeds} in a columns file"
    )


def _stretch(time: Floats, q: Floats, v: Floats) -> float | None:
    """By how much the travel of speeds is longer than that of positions; None without a fit."""
    steps = 0.5 * (v[1:] + v[:-1]) * np.diff(time)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    x = q - q.mean()
    y = way - way.mean()
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    if not np.isfinite(size) or not size > 0:
        return None
    product = float(x @ y)
    if product / size < FITS:
        return None
    return product / float(x @ x)


def describe_time_factor(factor: float) -> str:
    """A factor of time in words."""
    return f"stretched by {factor:.3g}" if factor > 1 else f"compressed by {1 / factor:.3g}"
