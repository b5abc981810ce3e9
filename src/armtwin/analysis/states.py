"""The states at which a robot is analysed: one posture, or a motion.

Charts of an analysis: curves along a motion, bars at one posture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, check_array
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook import sections as show
from armtwin.robot.robot import Robot

T = TypeVar("T")
MOST_STATES = 2000  # of a motion; more are thinned evenly
LEAST_SAMPLES = 4  # of a log whose speeds are found by splines


@dataclass(frozen=True, eq=False)
class States:
    """Positions, speeds and accelerations of the joints, (m, n) each, at times (m,) [s].

    A posture is one state, at time 0; `chosen` says what posture it is.
    """

    time: Floats
    q: Floats
    v: Floats
    a: Floats
    chosen: str = "one posture"

    @property
    def alone(self) -> bool:
        """Whether it is one posture."""
        return len(self.time) == 1

    def describe(self, robot: Robot, load: str = "") -> str:
        """Where a robot is, and what it carries, in words.

        Args:
            robot: The robot.
            load: What it carries in place of the payload of its file.
        """
        mounted = robot.description.mounted
        held = str(replace(mounted, payload=load) if load else mounted)
        carrying = f", carrying {held}" if held else ""
        if self.alone:
            return f"at {self.chosen}{carrying}"
        length = self.time[-1] - self.time[0]
        return f"along {length:.4g} s of motion, {len(self.time)} states{carrying}"

    def show_axes(
        self, blocks: Callable[[str, T, States], show.Blocks], joints: T, drives: T | None
    ) -> list[show.Section]:
        """A section of the joints, and one of the drives where they determine the joints."""
        sections = [show.Section("Joints", blocks("joint", joints, self))]
        if drives is not None:
            sections.append(show.Section("Drives", blocks("drive", drives, self)))
        return sections

    def thin(self, most: int) -> States:
        """At most `most` of the states, evenly."""
        step = -(-len(self.time) // most)
        kept = slice(None, None, step)
        return replace(self, time=self.time[kept], q=self.q[kept], v=self.v[kept], a=self.a[kept])

    def faster(self, factor: float) -> States:
        """The same path, faster by a factor: v times factor, a times its square."""
        if not np.isfinite(factor) or factor <= 0:
            raise ArmtwinError(f"faster must be a number greater than 0, got {factor}")
        return replace(self, time=self.time / factor, v=factor * self.v, a=factor**2 * self.a)


def posture(
    robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
) -> States:
    """One state of a robot; without speeds and accelerations at rest."""
    values = []
    for name, given in (("q", q), ("v", v), ("a", a)):
        what = f"one number for each of the {robot.n} joints of '{robot.name}'"
        array = check_array(name, np.zeros(robot.n) if given is None else given, (robot.n,), what)
        if array.ndim != 1:
            raise ArmtwinError(f"{name} must have shape ({robot.n},) ({what}), got {array.shape}")
        values.append(array[None])
    return States(np.zeros(1), values[0], values[1], values[2])


def along(robot: Robot, motion: Trajectory | Log) -> States:
    """The states of a motion, thinned to at most MOST_STATES.

    Speeds and accelerations that a log lacks are those of cubic splines through what it has.
    """
    if isinstance(motion, Trajectory):
        found = States(motion.time, motion.q, motion.v, motion.a)
    else:
        found = _of_log(motion)
    joints = found.q.shape[1]
    if joints != robot.n:
        raise ArmtwinError(
            f"the motion must move the {robot.n} joints of '{robot.name}', got {joints} joints"
        )
    return found.thin(MOST_STATES)


def _of_log(log: Log) -> States:
    from scipy.interpolate import CubicSpline

    if "v" in log and "a" in log:
        return States(log.time, log.q, log.v, log.a)
    if len(log.time) < LEAST_SAMPLES:
        raise ArmtwinError(f"a motion needs at least {LEAST_SAMPLES} samples, got {len(log.time)}")
    if "v" in log:
        return States(log.time, log.q, log.v, CubicSpline(log.time, log.v)(log.time, 1))
    curve = CubicSpline(log.time, log.q)
    return States(log.time, log.q, curve(log.time, 1), curve(log.time, 2))


TIME = show.Axis("time", "s")


def chart_values(
    title: str, y: show.Axis, values: Mapping[str, Floats], places: Floats, x: show.Axis = TIME
) -> show.Chart | show.Bars:
    """Values by name over the places of a motion, (m,) each; bars where there is one place."""
    if len(places) > 1:
        curves = [show.Curve(name, places, column) for name, column in values.items()]
        return show.Chart(title, x, y, tuple(curves))
    only = np.array([column[0] for column in values.values()])
    return show.Bars(title, y, list(values), np.zeros(len(only)), only)


def arrange(
    charts: Sequence[show.Chart | show.Bars], title: str
) -> Iterator[show.Multiples | show.Bars]:
    """Curves side by side under a title, bars one after another."""
    curves = tuple(chart for chart in charts if isinstance(chart, show.Chart))
    if curves:
        yield show.Multiples(curves, columns=2, shared="x", title=title)
    for chart in charts:
        if isinstance(chart, show.Bars):
            yield chart
