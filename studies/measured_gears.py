"""What measuring gears gives: `python studies/measured_gears.py [COUNT]`.

Virtual elastic robots: each has the KR300's file with all gears set to assumed stiffnesses, and is
itself another one: all that the file declares uncertain is off by its width, as docs/verdict.md has
them. It logs an excitation with both encoders, `identify_transmission` measures its gears, and its
first edge of kr300_frame is predicted with the file before and after. The servo counts as known, so
that gears decide.

Printed are how many robots' own largest errors lie within the 90 % interval of the measured file,
and by which share of its width the interval was said to narrow, over the share by which it does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline

import armtwin as at
from armtwin.jobs.uncertainty import Uncertainty
from armtwin.prediction.band.measuring import narrow_interval
from armtwin.robot.schema.groups import Orientation

RATE, SECONDS, LATE = 250.0, 16.0, 3e-3  # of the log, and of its link encoders
RULE = "assumed: nominal of the gears' maker, to 50 %"
SERVO = ("bandwidth", "damping", "integrator", "filters", "acceleration_feedforward")
NOISE = 2e-6  # of an encoder [rad]
# of a link encoder, smooth: what the best fit leaves of the KR300's own q - q_link is 46 to 75 µrad
LINK_ERROR, APART = 60e-6, 0.2  # [rad], [s]
TOOL = "spindle"
LOAD = "recorded"  # payload of the excitation, so that the wrist's gears carry something


# half widths of 90 % intervals of factors, by the source of a number
FRICTION = {"identified": 0.15, "public": 0.20, "assumed": 0.50}
VISCOSITY, PRESLIDING, GEARS, EACH_GEAR = 0.30, 1.0, 0.50, 0.50 / 3
LINKS, ROTORS, TOOL_MASS, TOOL_SIZE = 0.05, 0.10, 0.10, 0.20
PLACE, TURN = 0.01, np.radians(1.0)  # of the workpiece [m], [rad]
INERTIAS = ("xx", "yy", "zz", "xy", "xz", "yz")
NINE_OF_TEN = 1.6448536  # deviations to either side


@dataclass(frozen=True)
class Measured:
    """A robot before and after its gears were measured.

    Attributes:
        robot: What `identify_transmission` gave.
        before: The interval of its file as it was.
        after: The interval of the file with measured gears.
        promised: Logarithm of high over low that measuring was said to leave.
        ratio: The robot's own largest error over its tolerance.
        stiffnesses: Those of its gears [N m/rad].
    """

    robot: at.Robot
    before: at.Band
    after: at.Band
    promised: float
    ratio: float
    stiffnesses: tuple[float, ...]

    @property
    def is_within(self) -> bool:
        """Whether the robot's own error is within the interval after measuring."""
        low, _, high = self.after.ratio
        return low <= self.ratio <= high

    @property
    def obtained(self) -> float:
        """Logarithm of high over low after measuring."""
        return width_of(self.after)


def width_of(band: at.Band) -> float:
    """Logarithm of high over low of an interval."""
    return float(np.log(band.ratio[2] / band.ratio[0]))


def assumed_gears() -> at.Robot:
    """The KR300 with gears of which only a nominal stiffness is known."""
    robot = at.Robot.load("kr300")
    gears = []
    for gear in robot.description.transmission:
        gears.append(replace(gear, delay=0.0, uncertainty=None, source=RULE))
    return robot.with_description(replace(robot.description, transmission=tuple(gears)))


def short_job() -> at.Job:
    """The first edge of kr300_frame, its servo known."""
    job = at.Job.load("kr300_frame")
    d = job.description
    edge = replace(d.segment[0], blend=None)
    widths = {f"servo.{name}": 0.0 for name in SERVO}
    asked = Uncertainty(widths=widths)
    return at.Job(replace(d, segment=(edge,), uncertainty=asked), job.origin)


def log_of(truth: at.Robot, random: np.random.Generator) -> at.Log:
    """An excitation of all joints; link encoders are late and err, encoders have noise."""
    t = np.arange(0, SECONDS, 1 / RATE)[:, None]
    w = 2 * np.pi * np.array([0.31, 0.23, 0.37, 0.61, 0.53, 0.67])
    size = np.array([0.4, 0.2, 0.2, 0.5, 0.4, 0.6])
    x = np.clip(t, 0, 1)
    slow, fast = (np.sin(k * w * t + random.uniform(-3, 3, 6)) for k in (1.0, 2.7))
    q = size * (slow + 0.35 * fast) * x**2 * (3 - 2 * x)
    v = np.gradient(q, 1 / RATE, axis=0)
    a = np.gradient(v, 1 / RATE, axis=0)
    model = at.Model(joints="elastic")
    log = at.simulate(truth, at.Trajectory.sampled(RATE, q, v, a), model).log
    keep = slice(10, None)
    link = CubicSpline(log.time, log.q_link)(log.time - LATE)[keep]
    noise = NOISE * random.standard_normal((2, *link.shape))
    knots = np.arange(0.0, SECONDS + 2 * APART, APART)
    wrong = CubicSpline(knots, LINK_ERROR * random.standard_normal((len(knots), truth.n)))
    link += wrong(log.time[keep]) + noise[1]
    return at.Log.of(log.time[keep], q=log.q[keep] + noise[0], tau_m=log.tau_m[keep], q_link=link)


def another(file: at.Robot, random: np.random.Generator) -> at.Robot:
    """A robot that has the file: what the file declares uncertain is off by its width."""

    def off(width: float) -> float:
        return float((1 + width) ** (random.standard_normal() / NINE_OF_TEN))

    d = file.description
    viscosity, presliding, gears = off(VISCOSITY), off(PRESLIDING), off(GEARS)
    mass, size, rotors = off(LINKS), off(LINKS), off(ROTORS)
    rubbing, springs, links = [], [], []
    for element in d.friction:
        level = off(FRICTION[element.source["first"].partition(":")[0]])
        law, contact = element.law, element.presliding
        law = replace(
            law,
            first=law.first * level,
            second=law.second * level,
            viscous=law.viscous * level * viscosity,
        )
        contact = replace(contact, stiffness=contact.stiffness * level * presliding)
        rubbing.append(replace(element, law=law, offset=element.offset * level, presliding=contact))
    for gear in d.transmission:
        springs.append(replace(gear, stiffness=gear.stiffness * gears * off(EACH_GEAR)))
    for link in d.link:
        links.append(replace(link, body=resized(link.body, mass, size)))
    motors = [replace(one, rotor_inertia=one.rotor_inertia * rotors) for one in d.motor]
    tool = d.tool[TOOL]
    tool = replace(tool, body=resized(tool.body, off(TOOL_MASS), off(TOOL_SIZE)))
    return file.with_description(
        replace(
            d,
            friction=tuple(rubbing),
            transmission=tuple(springs),
            link=tuple(links),
            motor=tuple(motors),
            tool={**d.tool, TOOL: tool},
        )
    )


def resized(body, mass: float, size: float):
    """A body with another mass and size, its shape the same."""
    if body is None:
        return None
    own = {key: getattr(body.inertia, key) * mass * size**2 for key in INERTIAS}
    com = tuple(size * x for x in body.com)
    return replace(body, mass=mass * body.mass, com=com, inertia=replace(body.inertia, **own))


def elsewhere(job: at.Job, random: np.random.Generator) -> at.Job:
    """The job with its workpiece shifted, and turned about the middle of the edge."""
    shift = PLACE / NINE_OF_TEN * random.standard_normal(3)
    turn = TURN / NINE_OF_TEN * random.standard_normal()
    workpiece = job.description.workpiece
    middle = 0.5 * np.array(job.description.segment[0].lin)
    c, s = np.cos(turn), np.sin(turn)
    turned = np.array([c * middle[0] - s * middle[1], s * middle[0] + c * middle[1], middle[2]])
    position = np.array(workpiece.position) + middle - turned + shift
    orientation = Orientation(rpy=(0.0, 0.0, turn))
    moved = replace(workpiece, position=tuple(position.tolist()), orientation=orientation)
    return job.with_workpiece(moved)


def measure(seed: int, draws: int) -> Measured:
    """A robot that has the file, its gears measured by the command."""
    random = np.random.default_rng(seed)
    file, job = assumed_gears(), short_job()
    truth = another(file, random)
    place = elsewhere(job, random)
    log = log_of(truth.with_payload(LOAD), random)
    found = at.identify_transmission(file.with_payload(LOAD), [log])
    gears = found.robot.description.transmission
    robot = file.with_description(replace(file.description, transmission=gears))
    before = at.assess(at.predict(job, file), draws=draws, seed=seed)
    after = at.assess(at.predict(job, robot), draws=draws, seed=seed)
    peaks = at.predict(place, truth).verdict.peaks
    allowed = dict(zip(before.ensemble.directions, before.tolerances, strict=True))
    own = max(peaks[x] / allowed[x] for x in allowed)
    low, _, high = before.ratio
    left = [x.left for x in before.savings if "transmission" in x.way]
    promise = narrow_interval(low, high, left[0] if left else 1.0)
    springs = tuple(gear.stiffness for gear in truth.description.transmission)
    promised = float(np.log(promise[1] / promise[0]))
    return Measured(robot, before, after, promised, own, springs)


def measured_robots(count: int, draws: int) -> Iterator[Measured]:
    """Robots whose gears were measured."""
    for seed in range(count):
        yield measure(seed, draws)


def say(found: list[Measured], spent: float) -> Iterator[str]:
    """What became of the robots."""
    before = np.array([width_of(x.before) for x in found])
    promised = 1 - np.array([x.promised for x in found]) / before
    narrower = 1 - np.array([x.obtained for x in found]) / before
    ratios = promised / narrower
    within = np.array([x.is_within for x in found])
    yield f"{len(found)} robots, {spent:.0f} s of CPU time"
    yield f"within the 90 % interval of the measured file: {100 * within.mean():.0f} %"
    low, middle, high = 100 * np.percentile(narrower, (0, 50, 100))
    yield f"the interval narrows by {middle:.0f} % (median; {low:.0f} to {high:.0f} %)"
    low, middle, high = np.percentile(ratios, (0, 50, 100))
    yield f"promised over obtained narrowing: {middle:.2f} (median; {low:.2f} to {high:.2f})"


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    begun = time.process_time()
    robots = []
    for one in measured_robots(count, 32):
        robots.append(one)
        size = f"{width_of(one.before):.3f} -> {one.obtained:.3f}, promised {one.promised:.3f}"
        print(f"{len(robots) - 1}: {size}, within {one.is_within}", flush=True)
    for line in say(robots, time.process_time() - begun):
        print(line, flush=True)
