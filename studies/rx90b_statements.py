"""How well a robot agrees with what its document says: a likelihood, sentence by sentence.

Each sentence is read as numbers that the twin computes, each with a width. "About x" is log-normal
about x; "below x" costs nothing below x and falls off as a normal above it; what a figure shows is
read wrongly once in 20 times. All terms are at most 0: a sum that is too low before its end need
not be completed. What placements were chosen by and what compares methods is left out: it holds at
every sample, or says nothing of the robot.

Ref: [Waiboer 2007, sections 2.1, 4.4.1 and 5.4 to 5.6]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

import armtwin as at
from armtwin.analysis.flexible import elastic_coordinates, flexible
from armtwin.analysis.modes import find_locked_modes
from chapter_5_corner import FIXED_RADII, FOLLOWED_RADII
from chapter_5_line import SPEEDS, joint_6_peak, path_peak
from chapter_5_placements import FIXED, FOLLOWING, LINE, Placement, placed
from chapter_5_runs import between, peaks, peaks_in_corner, reversals, rms, share_within
from rx90b_numbers import Sample, corners, lines, middle_posture

WRONG = -3.0  # logarithm of 1 in 20: a figure is read wrongly
SLIGHT = 0.03  # width of a comparison of two errors that the document makes itself
REFUSED = -300.0  # a seam that the document ran stops, or is refused
STOPS = 0.05  # radius of the corner that stops with following head [m]
FAST = 0.25  # speed from which the straight seam is out of tolerance [m/s]
NO_LENGTH = 1e-3  # of a seam out of tolerance, below which it counts as this [m]
Term = tuple[str, float]

RUNS = "5.5: the robot runs all seams"
BALANCE = "2.1: the spring balances the unloaded arm"
TRACKING = "4.4.1: the trajectory error is of the order of 0.1 %"
MODE = "5.4.1: the lowest natural frequency is about 10 Hz"
ORDER = "5.4.1: torques are of the order of 10 % of the maximum"
RUBBED = "5.4.1: most of the torque is friction"
ACCELERATED = "5.4.1: acceleration takes only a small part of the torque"
PEAKS = "5.4.1: the path error peaks at the reversal and in the ramps"
PEAK_6 = "5.4.1: joint 6 peaks at the reversal of joint 5"
FASTER = "5.5.1: the error grows with speed"
OUT = "5.5.1: in tolerance below 300 mm/s, from there about 8 mm are out"
WIDE = "5.5.2: following, r = 100 mm at 100 mm/s: just out of tolerance"
SLOW = "5.5.2: following, r = 40 mm at 50 mm/s: just out of tolerance"
SHARPER = "5.5.2: following: the error grows as the radius falls"
STOP = "5.5.2: following, r = 50 mm: emergency stop by joint 4, and no other"
IN_CORNER = "5.5.3: fixed: both errors peak in the corner"
MAJOR = "5.5.3: fixed: within 0.1 mm on the major part"
VERTICAL = "5.5.3: fixed: the vertical error grows from 0.2 to 0.3 mm"
LATERAL = "5.5.3: fixed: the lateral error stays more or less within 0.1 mm"


def about(value: float, target: float, width: float) -> float:
    """Log-likelihood of a number that is said to be about another."""
    return -0.5 * float((np.log(max(value, 1e-9) / target) / width) ** 2)


def below(value: float, bound: float, width: float) -> float:
    """Log-likelihood of a number that is said to be below another."""
    return -0.5 * max(0.0, float(np.log(max(value, 1e-9) / bound)) / width) ** 2


def above(value: float, bound: float, width: float) -> float:
    """Log-likelihood of a number that is said to be above another."""
    return below(bound, max(value, 1e-9), width)


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of a sample.

    Attributes:
        sample: The sample.
    """

    sample: Sample

    @cached_property
    def robot(self) -> at.Robot:
        """The robot, without a tool."""
        return self.sample.robot()

    def line(self, speed: float) -> at.Prediction:
        """The straight seam at a speed [m/s]."""
        return self._predict(LINE, lines()[self.sample.line], None, speed)

    def following(self, radius: float, speed: float = 0.1) -> at.Prediction:
        """The corner of a radius [m] with following head."""
        place = corners()[self.sample.corner].following
        return self._predict(FOLLOWING, place, radius, speed)

    def fixed(self, radius: float) -> at.Prediction:
        """The corner of a radius [m] with fixed head."""
        return self._predict(FIXED, corners()[self.sample.corner].fixed, radius, 0.1)

    def _predict(
        self, name: str, place: Placement, radius: float | None, speed: float
    ) -> at.Prediction:
        p = at.predict(planned(name, place, radius, speed), robot=self.robot)
        if p.verdict.stopped and radius != STOPS:
            raise Stopped
        return p


class Stopped(Exception):
    """A run that the document ran to its end stops."""


@cache
def planned(name: str, place: Placement, radius: float | None, speed: float) -> at.Job:
    """The job of a seam at a placement."""
    return placed(name, place, radius, speed)


def terms(sample: Sample) -> Iterator[Term]:
    """Sentences with parts of their log-likelihoods, what decides quickly first.

    A robot that cannot run what the document ran has a term of its own.
    """
    try:
        runs = Runs(sample)
        yield BALANCE, balance_term(runs.robot)
        yield MODE, mode_term(runs.robot)
        first = runs.line(SPEEDS[0])
        yield from torque_terms(first)
        yield TRACKING, about(tracking(runs.robot), 1e-3, 0.7)
        yield from peak_terms(first)
        yield from fixed_terms(runs)
        yield from speed_terms(runs, first)
        yield from following_terms(runs)
    except (Stopped, at.ArmtwinError):
        yield RUNS, REFUSED


# at rest


def balance_term(robot: at.Robot) -> float:
    """How well the spring takes the weight of the stretched arm at 30, 60 and 90 degrees."""
    off = [about(share, 1.0, 0.1) for share in balance(robot)]
    return sum(off) / len(off)


def balance(robot: at.Robot) -> np.ndarray:
    """Share of the unloaded arm's weight that the spring takes at 30, 60 and 90 degrees."""
    q = np.zeros((3, 6))
    q[:, 1] = np.radians([30, 60, 90])
    free = robot.with_numbers(replace(robot.description, balancer=()))
    return 1 - robot.gravity(q)[:, 1] / free.gravity(q)[:, 1]


def mode_term(robot: at.Robot) -> float:
    """How near the lowest natural frequency is to 10 Hz, with the head and rotors locked."""
    return about(lowest_mode(robot), 10.0, 0.15)


def lowest_mode(robot: at.Robot) -> float:
    """Lowest natural frequency in the middle of the straight seam, rotors locked [Hz]."""
    elastic = elastic_coordinates(robot.with_tool("laser_head"))
    return find_locked_modes(flexible(elastic, middle_posture()))[0].frequency


# runs


@cache
def excitation() -> at.Trajectory:
    """The identification run of the arm alone."""
    log = at.run_experiment(at.Experiment.load("rx90b_identification")).log
    return at.Trajectory.sampled(1 / (log.time[1] - log.time[0]), log.q_ref, log.v_ref, log.a_ref)


def tracking(robot: at.Robot) -> float:
    """Largest error of the identification run over its amplitude, mean of the joints."""
    motion = excitation()
    log = at.simulate(robot, motion).log
    error = np.ptp(log.q - log.q_ref, axis=0)
    return float(np.mean(error / np.ptp(motion.q, axis=0)))


def torque_terms(p: at.Prediction) -> Iterator[Term]:
    """Torques on the straight seam."""
    moving = between(p.log.time, 1.0, 11.0)
    tau, friction = p.log.tau[moving], p.log.tau_friction[moving]
    q, v, a = p.log.q[moving], p.log.v[moving], p.log.a[moving]
    inertia = p.robot.inverse_dynamics(q, v, a) - p.robot.gravity(q)
    share = np.abs(tau).max(axis=0) / p.robot.limits.torque
    yield ORDER, below(float(share.max()), 0.18, 0.1)
    rubbed = rms(friction) / rms(tau)
    yield RUBBED, sum(above(float(part), 0.5, 0.7) for part in rubbed)
    accelerated = float((rms(inertia) / rms(tau)).max())
    yield ACCELERATED, below(accelerated, 0.2, 0.15)


def truth(flag: bool) -> float:
    """Log-likelihood of what a figure shows."""
    return 0.0 if flag else WRONG


def peak_terms(p: at.Prediction) -> Iterator[Term]:
    """Where errors of the straight seam peak."""
    reversal = float(np.concatenate(reversals(p)).mean())
    yield PEAKS, truth(path_peak(p, reversal).holds == 1)
    yield PEAK_6, truth(joint_6_peak(p, reversal, False).holds == 1)


def fixed_terms(runs: Runs) -> Iterator[Term]:
    """Errors in the corner with fixed head, the sharpest and the widest first."""
    found = {}
    for radius in (FIXED_RADII[-1], *FIXED_RADII[:-1]):
        p = runs.fixed(radius)
        lateral, vertical = peaks(p)
        found[radius] = lateral
        if radius == FIXED_RADII[-1]:
            yield VERTICAL, about(vertical, 3e-4, 0.1)
        if radius == FIXED_RADII[0]:
            yield VERTICAL, about(vertical, 2e-4, 0.12)
            yield LATERAL, below(found[FIXED_RADII[-1]] / lateral, 1.4, 0.05)
        yield LATERAL, below(lateral, 1.35e-4, 0.07)
        yield IN_CORNER, truth(peaks_in_corner(p))
        yield MAJOR, above(share_within(p), 0.7, 0.1)


def speed_terms(runs: Runs, first: at.Prediction) -> Iterator[Term]:
    """Errors of the straight seam over its speed, the fastest first."""
    found = {SPEEDS[0]: max(peaks(first))}
    yield OUT, below(found[SPEEDS[0]], 0.97e-4, 0.03)
    for speed in SPEEDS[:0:-1]:
        p = runs.line(speed)
        found[speed] = max(peaks(p))
        if speed < FAST:
            yield OUT, below(found[speed], 0.97e-4, 0.03)
        else:
            yield OUT, about(max(p.verdict.out_of_tolerance_m, NO_LENGTH), 8e-3, 0.3)
    errors = [found[speed] for speed in SPEEDS]
    yield FASTER, sum(above(b / a, 1.0, SLIGHT) for a, b in pairwise(errors))


def following_terms(runs: Runs) -> Iterator[Term]:
    """Errors in the corner with following head."""
    wide = runs.following(FOLLOWED_RADII[0])
    yield WIDE, about(max(peaks(wide)), 1.35e-4, 0.15)
    slow = runs.following(0.04, 0.05)
    yield SLOW, about(max(peaks(slow)), 1.35e-4, 0.15)
    before = peaks(wide)
    for radius in FOLLOWED_RADII[1:]:
        after = peaks(runs.following(radius))
        for a, b in zip(before, after, strict=True):
            yield SHARPER, above(b / a, 1.0, SLIGHT)
        before = after
    by = runs.following(STOPS).verdict.stopped
    yield STOP, truth(by is not None and by.joint == "motor_4")
