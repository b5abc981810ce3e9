"""Samples of logs for hypotheses about them: few, and filtered so that noise does not decide."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armtwin.identification.fitting.estimate import solve
from armtwin.identification.rigid_body.data.clean_log import Integers, Motion, clean_log
from armtwin.identification.rigid_body.data.experiment import without_loads
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.cleaning import LEAST_PERIODS, choices
from armtwin.logs.joints import needs_gains
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

MOST_SAMPLES = 300  # of all logs
# highest cut-off: slow enough for accelerations of noisy encoders, and weight and the large
# inertias that show a mistake are slower [Hz]
CUTOFF = 10.0
ROOM = 4.0  # the same over the highest frequency of the positions, which have little noise
NEARLY_ALL = 0.99  # of their power
RESTING = 0.02  # share of its highest speed below which a joint is at rest
TINY_SPEED = 1e-9  # of a joint that never moves [rad/s]
LEAST_MOVING = 0.2  # share of the samples below which all are taken
EDGE = 0.15  # of a log at either end that is left out, so that torques can be shifted


@dataclass(frozen=True, eq=False)
class SampledLog:
    """Some samples of a clean log.

    Attributes:
        motion: All of its motion.
        tau: All of its torque, (k, n).
        rate: Samples in a second [Hz].
        chosen: Numbers of the samples, (m,).
    """

    motion: Motion
    tau: Floats
    rate: float
    chosen: Integers


@dataclass(frozen=True, eq=False)
class TorqueSamples:
    """Samples of motion and torque of all logs.

    Attributes:
        robot: The robot, with drives.
        logs: The samples of each log.
        source: Channel of the torque.
        gains: What the torques are multiplied by, (n,); the gains of drives that are not known.
        has_gains: Whether these were only guessed, so that no scale can be judged.
    """

    robot: Robot
    logs: tuple[SampledLog, ...]
    source: str
    gains: Floats
    has_gains: bool

    @cached_property
    def motion(self) -> Motion:
        """The motion at the samples, (m, n)."""
        return Motion.join([log.motion.at(log.chosen) for log in self.logs])

    def torque(self, later: float = 0.0) -> Floats:
        """The torque logged later than the motion by a time [s], (m, n)."""
        found = []
        for log in self.logs:
            at = log.chosen + round(later * log.rate)
            found.append(log.tau[at.clip(0, len(log.tau) - 1)])
        return self.gains * np.concatenate(found)


def sample_torques(robot: Robot, logs: Sequence[Log], source: str, recipe: Recipe) -> TorqueSamples:
    """Samples of logs with a torque.

    Args:
        robot: The robot, with drives.
        logs: Its logs, in the order of its joints.
        source: Channel of the torque.
        recipe: Where the motion comes from; no period.
    """
    sampled = []
    for log in logs:
        cutoff = _cutoff(log, recipe)
        torque = without_loads(robot, log, source, cutoff, recipe)
        clean = clean_log(log, cutoff, recipe, torque).clean
        count = len(clean.time)
        edge = int(EDGE * count)
        moving = _find_moving(clean.v, slice(edge, count - edge))
        step = max(1, len(moving) * len(logs) // MOST_SAMPLES)
        chosen = moving[::step]
        rate = (count - 1) / float(np.ptp(clean.time))
        motion = Motion(clean.q, clean.v, clean.a)
        sampled.append(SampledLog(motion, clean.tau, rate, chosen))
    plain_gains = TorqueSamples(robot, tuple(sampled), source, np.ones(robot.n), False)
    if not needs_gains(robot, source):
        return plain_gains
    return replace(plain_gains, gains=_guess_gains(plain_gains), has_gains=True)


def _find_moving(v: Floats, inside: slice) -> Integers:
    """Samples of a part at which any joint moves; at rest friction bears any torque."""
    speed = np.abs(v) / np.maximum(np.abs(v).max(axis=0), TINY_SPEED)
    every = np.arange(len(v))[inside]
    moving = every[speed[inside].max(axis=1) > RESTING]
    return moving if len(moving) > LEAST_MOVING * len(every) else every


def _cutoff(log: Log, recipe: Recipe) -> float:
    """Cut-off by the spectrum of a log's speeds, but not so high that noise decides [Hz]."""
    q = getattr(log, recipe.position_channel)
    wanted = choices(Log.of(log.time, q=q)).cutoff
    least = LEAST_PERIODS / float(np.ptp(log.time))
    most = max(CUTOFF, ROOM * _highest_frequency(log.time, q))
    return max(min(wanted, most), 1.01 * least)


def _highest_frequency(time: Floats, q: Floats) -> float:
    """Frequency below which nearly all of the positions' power lies [Hz]."""
    moved = q - np.linspace(q[0], q[-1], len(q))
    power = (np.abs(np.fft.rfft(moved, axis=0)) ** 2).sum(axis=1)
    share = np.cumsum(power) / max(power.sum(), 1e-300)
    return float(np.searchsorted(share, NEARLY_ALL)) / float(np.ptp(time))


def _guess_gains(samples: TorqueSamples) -> Floats:
    """Gains with which the robot file explains currents best, joint by joint, (n,) [N m/A]."""
    motion, current = samples.motion, samples.torque()
    rigid = samples.robot.inverse_dynamics(*motion)
    gains = np.ones(samples.robot.n)
    for j, own in enumerate(rigid.T):
        v = motion.v[:, j]
        columns = np.column_stack([own, friction_columns(v)])
        share = solve(columns, current[:, j], positive=True).values[0]
        size = np.linalg.norm(own) / np.maximum(np.linalg.norm(current[:, j]), 1e-300)
        gains[j] = 1 / share if share > 0 else size
    return gains


def friction_columns(v: Floats) -> Floats:
    """Dry and viscous friction and an offset of either sign, for factors of at least 0, (m, 4)."""
    one = np.ones(len(v))
    return np.column_stack([np.sign(v), v, one, -one])
