"""Which one mistake would make a job make sense: units of places, speed, tolerance and times.

A seam lies within the arm's reach and outside its foot; a process has a speed, a tolerance and run
lengths of a known size. A job beyond that is read again with one number in another unit at a time;
what brings it back is named.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.hypothesis import Hypothesis
from armtwin.jobs.description import JobDescription
from armtwin.maths.batch import Floats, Pair
from armtwin.robot.proportions import proportions
from armtwin.robot.ranges import ODD, REFUSED, Range
from armtwin.robot.robot import Robot
from armtwin.robot.schema.mounting import STANDARD

SPEED = Range(3e-4, 1.5, 0.06, 0.5)  # of a tool along a seam [m/s]
TOLERANCE = Range(4e-6, 0.01, 3e-4, 0.5)  # from grinding to palletising [m]
NO_TOLERANCE = Range(9e-7, 0.05, 3e-4, 0.5)  # beyond which it is no seam's [m]
ACCELERATION = Range(0.0, 100.0, 1.0, 0.6)  # along a path [m/s²]
LONGEST_RAMP = 30.0  # s
LONGEST_STANDSTILL = 120.0  # s
LEAST_BLEND = 2e-4  # radius [m] that anything is rounded by
WITHIN = Range(0.08, 1.02, 0.55, 0.2)  # distance of a seam from the base over the arm's length
IN_FOOT = 0.04  # of the arm's length from its base: there is its foot
SMALLEST_SEAM = 2e-3  # m
FAR = 2.5  # arm lengths: a part of a seam so far away is not placed badly, it is in other units
MOST_FORCE = 3.0  # weights of the arm
FAST = 0.3  # tool speed [m/s] from which on run-in may be long by it
LEAST_JUDGED = 0.3  # part of the seam on which the process of a job as it was meant is on
# what a length may be in, and what brings it there
LENGTHS = {
    "mm, but read in m": 1e-3,
    "cm, but read in m": 1e-2,
    "cm, but read in mm": 10.0,
    "m, but read in mm": 1e3,
    "inches, but read in mm": 25.4,
    "mm, but read in cm": 0.1,
}
RARE = {"inches, but read in mm": 3.0, "mm, but read in cm": 1.0, "cm, but read in m": 1.0}


def find_mistakes(d: JobDescription) -> Iterator[Hypothesis]:
    """Mistakes in the numbers of a job by themselves; from `REFUSED` on it is refused."""
    yield from _speed_hypotheses(d)
    yield from _tolerance_hypotheses(d)
    yield from _time_hypotheses(d)
    for i, segment in enumerate(d.segment, 1):
        if segment.blend is not None and segment.blend < LEAST_BLEND:
            fact = f"segment.{i}.blend is {1e3 * segment.blend:.3g} mm"
            yield Hypothesis(fact, "Is it in m, but read in mm", "write its unit", ODD)


def refuse_mistakes(d: JobDescription, origin: str) -> None:
    """Refuse a job that one mistake explains and that no process can be."""
    found = [x.sentence for x in find_mistakes(d) if x.strength >= REFUSED]
    if found:
        raise FileError(origin, found)


def _speed_hypotheses(d: JobDescription) -> Iterator[Hypothesis]:
    """Tool speeds that no process has; only a run shows whether the robot could follow."""
    speeds = {"speed": d.speed}
    speeds |= {f"segment.{i}.speed": x.speed for i, x in enumerate(d.segment, 1) if x.speed}
    for key, speed in speeds.items():
        if not SPEED.excess(speed):
            continue
        fact = f"{key} is {1e3 * speed:.4g} mm/s"
        if speed < SPEED.low:
            question = "Is it in m/s, but read in mm/s"
        else:
            question = f"Is it in {likely_speed(speed)}"
        yield Hypothesis(fact, question, "write its unit beside it", ODD)


def likely_speed(speed: float) -> str:
    """The unit that a tool speed read in m/s may be in."""
    as_millimetres, as_minutes = speed * 1e-3, speed / 60
    units = {"mm/s": SPEED.surprise(as_millimetres), "m/min": SPEED.surprise(as_minutes)}
    first, second = sorted(units, key=lambda unit: units[unit])
    return f"{first} or {second}"


def _tolerance_hypotheses(d: JobDescription) -> Iterator[Hypothesis]:
    for key in ("lateral", "vertical"):
        value = getattr(d.tolerance, key)
        if not TOLERANCE.excess(value):
            continue
        fact = f"tolerance.{key} is {1e3 * value:.3g} mm"
        strength = REFUSED if NO_TOLERANCE.excess(value) else ODD
        unit = "mm, but read in um" if value < TOLERANCE.low else "mm, but read in m"
        yield Hypothesis(fact, f"Is it in {unit}", 'write it in mm, as "0.1 mm"', strength)


def _time_hypotheses(d: JobDescription) -> Iterator[Hypothesis]:
    """Accelerations, ramps and times at rest."""
    a = d.time_law.acceleration
    if a is not None and ACCELERATION.excess(a):
        fact = f"time_law.acceleration is {a:.4g} m/s²"
        yield Hypothesis(fact, "Is it in mm/s^2", "write its unit beside it", REFUSED + a)
    ramp = d.time_law.duration(d.speed)
    if ramp > LONGEST_RAMP:
        fact = f"the tool takes {ramp:.3g} s to reach {1e3 * d.speed:.4g} mm/s"
        key = "ramp in ms" if a is None else "acceleration in m/s^2, but read in mm/s^2"
        yield Hypothesis(fact, f"Is time_law.{key}", "write its unit beside it", ODD)
    for key in ("before", "after"):
        time = getattr(d.standstill, key)
        if time > LONGEST_STANDSTILL:
            fact = f"standstill.{key} is {time:.4g} s"
            yield Hypothesis(fact, "Is it in ms", "write its unit beside it", ODD)


class Places(NamedTuple):
    """Where the points of a seam come from.

    Attributes:
        name: What they are called in a question, as "points of seam.csv".
        points: They, in the workpiece's frame, (k, 3) [m].
    """

    name: str
    points: Floats


def find_misplaced(
    d: JobDescription, places: Sequence[Places], robot: Robot
) -> Iterator[Hypothesis]:
    """A seam far beyond what the arm could reach if it were straight, or in its foot."""
    own = proportions(robot.description)
    tool = robot.description.tool.get(robot.description.mounted.tool)
    reach = own.length() + (0.0 if tool is None else float(np.linalg.norm(tool.tcp.position)))
    yield from _force_hypotheses(d, float(own.bodies[:, 0].sum()))
    if not reach > 0 or not places:
        return
    X = d.workpiece.matrix()

    def distances(by_workpiece: float, by_place: Sequence[float]) -> Pair:
        points = [f * place.points for f, place in zip(by_place, places, strict=True)]
        away = np.vstack(points) @ X[:3, :3].T + by_workpiece * X[:3, 3]
        shares = np.linalg.norm(away, axis=1) / reach
        return float(shares.min()), float(shares.max())

    yield from _size_hypotheses(places)
    alike = [1.0] * len(places)
    least, most = distances(1.0, alike)
    if least >= IN_FOOT and WITHIN.low <= most <= FAR:
        return
    trials = {"the position of the workpiece": lambda f: distances(f, alike)}
    if len(places) > 1:
        trials["its points"] = lambda f: distances(1.0, [f] * len(places))
    for k, place in enumerate(places):
        trials[place.name] = _one_place(distances, k, len(places))
    fact = f"the seam is {reach * least:.4g} to {reach * most:.4g} m from the base"
    fact += f", the arm with its tool {reach:.3g} m long"
    found = _likeliest(trials)
    if found is not None:
        remedy = "write the unit beside the numbers, or in the header of the file"
        yield Hypothesis(fact, found, remedy, REFUSED + abs(np.log10(most)))


def _size_hypotheses(places: Sequence[Places]) -> Iterator[Hypothesis]:
    """A seam of no length."""
    points = np.vstack([place.points for place in places])
    size = float(np.ptp(points, axis=0).max())
    if 0 < size < SMALLEST_SEAM:
        fact = f"the seam is {1e3 * size:.3g} mm large"
        remedy = "write the unit beside the numbers, or in the header of the file"
        question = f"Are {places[0].name} in m, but read in mm"
        yield Hypothesis(fact, question, remedy, REFUSED + 1.0)


def _one_place(
    distances: Callable[[float, Sequence[float]], Pair], k: int, count: int
) -> Callable[[float], Pair]:
    """Distances with a factor on the points of one place."""
    return lambda f: distances(1.0, [f if i == k else 1.0 for i in range(count)])


def _likeliest(trials: dict[str, Callable[[float], Pair]]) -> str | None:
    """The question whose unit puts a seam into reach; None where none does."""
    best, question = np.inf, None
    for what, ends in trials.items():
        for unit, f in LENGTHS.items():
            least, most = ends(f)
            if least < IN_FOOT or WITHIN.excess(most):
                continue
            surprise = WITHIN.surprise(most) + RARE.get(unit, 0.0)
            if surprise < best - 1e-9:
                verb = "Are" if "points" in what else "Is"
                best, question = surprise, f"{verb} {what} in {unit}"
    return question


def _force_hypotheses(d: JobDescription, arm_mass: float) -> Iterator[Hypothesis]:
    """Forces on the tool that would lift the robot."""
    weight = STANDARD * arm_mass
    for i, force in enumerate(d.force, 1):
        size = float(np.linalg.norm(force.value or (0.0,)))
        if weight > 0 and size > MOST_FORCE * weight:
            fact = f"force.{i}.value is {size:.4g} N, the arm weighs {weight:.4g} N"
            yield Hypothesis(fact, "Is it in N, but read in kN", "write it in N", ODD)


def name_other_unit(first: Floats, here: Floats) -> str:
    """The question whether points are in a unit in which the first is where a seam begins."""
    for unit, f in LENGTHS.items():
        if np.linalg.norm(here) > 0 and np.allclose(f * first, here, rtol=1e-3, atol=1e-6):
            return f". Are its points in {unit}? If so, write the unit in its header"
    return ""


def explain_run_in(d: JobDescription, judged: Callable[[JobDescription], float]) -> str:
    """Why run-in, run-out and ramps take a whole seam: what is in another unit, as sentences.

    Args:
        d: The job.
        judged: Part of the seam of a job on which its process is on; refuses what is no job.
    """
    best, found = np.inf, ""
    for name in (segment.points for segment in d.segment if segment.points):
        taken = 1 - judged(d)  # of the seam; of a longer one as much less
        for unit, factor in LENGTHS.items():
            if 1 - taken / factor >= LEAST_JUDGED:
                return f". Are the points of {name} in {unit}? If so, write the unit in its header"
    for question, changed in _run_in_trials(d):
        try:
            share = judged(changed)
        except ArmtwinError:
            continue
        surprise = SPEED.surprise(_fastest(changed))
        if share >= LEAST_JUDGED and surprise < best:
            best, found = surprise, f". {question}? If so, write its unit beside it"
    return found


def _fastest(d: JobDescription) -> float:
    return max([d.speed, *(segment.speed or 0.0 for segment in d.segment)])


def _with_speeds(d: JobDescription, factor: float) -> JobDescription:
    """The job with those of its speeds scaled that no process has, all if there is none."""
    beyond = SPEED.excess(_fastest(d)) > 0

    def scale(speed: float | None) -> float | None:
        return speed if speed is None or (beyond and not SPEED.excess(speed)) else factor * speed

    segments = tuple(replace(x, speed=scale(x.speed)) for x in d.segment)
    return replace(d, speed=scale(d.speed) or d.speed, segment=segments)


def _run_in_trials(d: JobDescription) -> Iterator[tuple[str, JobDescription]]:
    """The job with one number in another unit at a time, and the question for it."""
    if _fastest(d) > FAST:
        yield "Is the speed in m/min", _with_speeds(d, 1 / 60)
        yield "Is the speed in mm/s", _with_speeds(d, 1e-3)
    for key, unit in (
        ("after_ramp", "ms"),
        ("before_ramp", "ms"),
        ("run_in", "mm, but read in m"),
        ("run_out", "mm, but read in m"),
    ):
        value = getattr(d.process, key)
        if value:
            process = replace(d.process, **{key: 1e-3 * value})
            yield f"Is process.{key} in {unit}", replace(d, process=process)
    law = d.time_law
    if law.ramp is not None:
        faster = replace(law, ramp=1e-3 * law.ramp)
        yield "Is time_law.ramp in ms", replace(d, time_law=faster)
    if law.acceleration is not None:
        faster = replace(law, acceleration=1e3 * law.acceleration)
        question = "Is time_law.acceleration in m/s^2, but read in mm/s^2"
        yield question, replace(d, time_law=faster)
