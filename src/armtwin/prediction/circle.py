"""The circle test: how round a programmed circle comes, where it has glitches, and what makes them.

    r(θ) = |p - c| - R,  the eccentricity of the circle taken off

A joint turns back twice in a circle. There friction turns round, which its servo has to make up
for, and the other flank of its gear is loaded: the tool leaves the circle by a glitch.

Ref: [Soder-Hoorn 2015, section 7.6], [ISO 230-4]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from armtwin.jobs.job import Job
from armtwin.maths.batch import Flags, Floats, Record
from armtwin.maths.reversals import measure_turn, turning_samples
from armtwin.notebook import sections as show
from armtwin.notebook.charts import Chart
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import MICROMETRES, Number
from armtwin.notebook.sampling import thin_out
from armtwin.notebook.scales import Axis
from armtwin.prediction.path_error import PathError
from armtwin.prediction.predict import Prediction, predict
from armtwin.report.result import Result

PLACES = 200  # of a path at which it is compared with a circle
ROUND = 1e-6  # of the radius: farther from a circle a path is none
WHOLE = 0.95  # of a turn that a circle test needs
WINDOW = 1 / 24  # of a turn to either side of a reversal
SHOWN = 2000  # samples of the plot
LARGEST = 0.25  # of the radius that the largest deviation is drawn as
MICRORADIANS = Number(1e6, "µrad", places=0)
ANGLE = Number(180 / np.pi, "°", places=0)


class ProgrammedCircle(NamedTuple):
    """A circle.

    Attributes:
        centre: Its centre, (3,) [m].
        radius: Its radius [m].
        axes: Two unit vectors in its plane, (2, 3), the first towards the start.
    """

    centre: Floats
    radius: float
    axes: Floats


@dataclass(frozen=True)
class Reversal:
    """Where a joint turns back on a circle.

    Attributes:
        joint: The joint.
        angle: Where on the circle [rad].
        glitch: Range of the radial error about it, beside what is smooth [m].
        servo: Lost motion of the motor, which friction makes [rad].
        gear: Lost motion between motor and link: backlash, and friction behind the gear [rad].
    """

    joint: str
    angle: float
    glitch: float
    servo: float
    gear: float


@dataclass(frozen=True, eq=False, repr=False)
class CircleTest(Result):
    """A circle as a robot runs it.

    Attributes:
        circle: What was commanded.
        angle: Angles on it, unwrapped, (m,) [rad].
        deviation: Radial error, (m,) [m].
        reversals: Where joints turn back.
        without: Circular deviation and largest glitch without each cause [m].
    """

    circle: ProgrammedCircle
    angle: Floats
    deviation: Floats
    reversals: tuple[Reversal, ...]
    without: dict[str, tuple[float, float]]

    @property
    def size(self) -> float:
        """Circular deviation: range of the radial error [m]."""
        return float(np.ptp(self.deviation))

    @property
    def largest(self) -> float:
        """The largest glitch [m]."""
        return max((one.glitch for one in self.reversals), default=0.0)

    def sections(self) -> show.Report:
        """The circle, its reversals, what it would be without each cause."""
        radius = MICROMETRES.with_unit(self.size)
        glitch = MICROMETRES.with_unit(self.largest)
        verdict = show.Text(f"Circular deviation {radius}; the largest glitch is {glitch}.")
        return show.Report("Circle test", "", (show.Section("", self.blocks()),), (verdict,))

    def blocks(self) -> show.Blocks:
        """The table of reversals, what each cause makes, and the plot."""
        records = [vars(one) for one in self.reversals]
        columns = show.list_columns(
            joint="turns back",
            angle=("at", ANGLE),
            glitch=("glitch", MICROMETRES),
            servo=("lost by the servo", MICRORADIANS),
            gear=("lost in the gear", MICRORADIANS),
        )
        yield show.Table(columns, records, "circle.reversals")
        parts: list[Record] = [{"without": "-", "size_m": self.size, "glitch_m": self.largest}]
        for cause, (size, glitch) in self.without.items():
            parts.append({"without": cause, "size_m": size, "glitch_m": glitch})
        columns = show.list_columns(
            without="without",
            size_m=("circular deviation", MICROMETRES),
            glitch_m=("largest glitch", MICROMETRES),
        )
        yield show.Table(columns, parts, "circle.causes")
        yield _chart(self)


def circle_test(p: Prediction, *, causes: bool = True) -> CircleTest | None:
    """How round a predicted circle is; None of a job whose seam is no whole circle.

    Args:
        p: The prediction.
        causes: Whether it is run again without friction, backlash and elasticity.
    """
    circle = find_circle(p.job)
    if circle is None or p.verdict.stopped is not None:
        return None
    found = _measure(p, circle)
    if not causes:
        return found
    without = {}
    for cause, other in _without(p):
        then = _measure(other, circle)
        without[cause] = then.size, then.largest
    return replace(found, without=without)


def find_circle(job: Job) -> ProgrammedCircle | None:
    """The circle that a job runs with the process on; None where it is another path."""
    stretches = job.process_on()
    if len(stretches) != 1:
        return None
    start, stop = stretches[0]
    p = job.seam.path.at(np.linspace(start, stop, PLACES)).p
    one, other = p[PLACES // 3] - p[0], p[2 * PLACES // 3] - p[0]
    normal = np.cross(one, other)
    square = float(normal @ normal)
    if square < ROUND * float(one @ one) * float(other @ other):
        return None
    away = np.cross((one @ one) * other - (other @ other) * one, normal) / (2 * square)
    centre, radius = p[0] + away, float(np.linalg.norm(away))
    apart = np.abs(np.linalg.norm(p - centre, axis=1) - radius).max()
    flat = np.abs((p - centre) @ normal).max() / np.sqrt(square)
    if max(apart, flat) > ROUND * radius or stop - start < WHOLE * 2 * np.pi * radius:
        return None
    x = -away / radius
    y = np.cross(normal / np.sqrt(square), x)
    if (p[1] - p[0]) @ y < 0:
        y = -y
    return ProgrammedCircle(centre, radius, np.stack([x, y]))


def _measure(p: Prediction, circle: ProgrammedCircle) -> CircleTest:
    """Radial error and reversals of a run."""
    error = p.path_error
    start, stop = p.job.process_on()[0]
    on = (error.s >= start) & (error.s <= stop) & (error.speed_ref > 0)
    angle, radial = _radial(p, error, circle, on)
    reversals = tuple(_reversals(p, error.time[on], angle, radial))
    return CircleTest(circle, angle, radial, reversals, {})


def _radial(
    p: Prediction, error: PathError, circle: ProgrammedCircle, on: Flags
) -> tuple[Floats, Floats]:
    """Angles on the circle, and the radial error there less the eccentricity, (m,)."""
    jet, frames, _ = p.job.seam.frames(error.place[on])
    outwards = (jet.p - circle.centre) / circle.radius
    across = np.einsum("mi,mij->mj", outwards, frames)
    radial = error.lateral[on] * across[:, 1] + error.vertical[on] * across[:, 2]
    x, y = circle.axes @ outwards.T
    columns = np.column_stack([x, y])
    eccentric = columns @ np.linalg.lstsq(columns, radial - radial.mean(), rcond=None)[0]
    return np.unwrap(np.arctan2(y, x)), radial - eccentric


def _reversals(p: Prediction, time: Floats, angle: Floats, radial: Floats) -> Iterator[Reversal]:
    """Where joints turn back while the tool is on the circle, in their order."""
    motion, run = p.motion.trajectory, p.run
    half = WINDOW * 2 * np.pi * np.ptp(time) / float(np.ptp(angle))
    wanted, _, _ = motion.at(run.trace_time)
    found = []
    for j, name in enumerate(p.robot.joint_names):
        for sample in turning_samples(motion.q[:, j]):
            at = sample / motion.rate
            after = float(
                np.sign(motion.q[min(sample + 1, len(motion.q) - 1), j] - motion.q[sample, j])
            )
            servo = run.motor_side[:, j] - wanted[:, j]
            gear = run.link_side[:, j] - run.motor_side[:, j]
            turns = [measure_turn(run.trace_time, x, at, half, after) for x in (servo, gear)]
            seen = measure_turn(time, radial, at, half, 1.0)
            if seen is None or turns[0] is None or turns[1] is None:
                continue
            place = float(np.mod(np.interp(at, time, angle), 2 * np.pi))
            found.append(
                (at, Reversal(name, place, seen.glitch, turns[0].lost_motion, turns[1].lost_motion))
            )
    for _, reversal in sorted(found, key=lambda pair: pair[0]):
        yield reversal


def _without(p: Prediction) -> Iterator[tuple[str, Prediction]]:
    """The same circle without friction, backlash, elastic gears."""
    d = p.job.description
    if d.model.friction != "off":
        model = replace(d.model, friction="off")
        yield "friction", predict(Job(replace(d, model=model), p.job.origin), p.robot)
    gears = p.robot.description.transmission
    if d.model.joints != "elastic":
        return
    if any(gear.backlash for gear in gears):
        tight = tuple(replace(gear, backlash=None) for gear in gears)
        robot = p.robot.with_description(replace(p.robot.description, transmission=tight))
        yield "backlash", predict(p.job, robot)
    model = replace(d.model, joints="rigid")
    yield "elastic gears", predict(Job(replace(d, model=model), p.job.origin), p.robot)


def _chart(test: CircleTest) -> Chart:
    """The circle as a ballbar draws it: the radial error, magnified, about the circle."""
    radius = test.circle.radius
    largest = max(float(np.abs(test.deviation).max()), 1e-12)
    times = float(f"{LARGEST * radius / largest:.1g}")
    thin = thin_out(np.arange(len(test.angle)), SHOWN)
    angle, size = test.angle[thin], radius + times * test.deviation[thin]
    round_ = np.linspace(0, 2 * np.pi, PLACES)
    layers = (
        Curve(
            "circle", 1e3 * radius * np.cos(round_), 1e3 * radius * np.sin(round_), dash="dashed"
        ),
        Curve("run", 1e3 * size * np.cos(angle), 1e3 * size * np.sin(angle)),
    )
    caption = f"Radial error magnified {times:.0f} times; the programmed circle is dashed."
    axes = Axis("from the centre", "mm"), Axis("from the centre", "mm")
    return Chart("Ballbar", *axes, layers, caption=caption, tall=True)
