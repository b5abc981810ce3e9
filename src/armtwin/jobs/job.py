"""The noun Job: a seam on a workpiece, a robot with a tool, a speed and a tolerance."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.fields import bad_texts, groups_of
from armtwin.files.whole import write_file
from armtwin.jobs import display, files
from armtwin.jobs.description import JobDescription
from armtwin.jobs.groups import Segment, ToolSpeed, Window
from armtwin.jobs.points import Points, read_points
from armtwin.maths.batch import Floats
from armtwin.motion.orientations import Fixed, Following, Given, Orientations
from armtwin.motion.path import Move, build_path
from armtwin.motion.path import Path as Curve
from armtwin.motion.seam import Seam
from armtwin.motion.time_laws import build_profile
from armtwin.notebook import cards
from armtwin.robot.overrides import overridden
from armtwin.robot.provenance import missing
from armtwin.robot.robot import Robot

MEETS = 1e-6  # distance [m] within which points of a file continue the segment before


@dataclass(frozen=True)
class Job:
    """What a job file says, and the seam it describes; it never changes.

    Attributes:
        description: The file's keys.
        origin: Where it came from.
    """

    description: JobDescription
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        found = list(_problems(self.description))
        if found:
            raise FileError(self.origin or f"job '{self.description.name}'", found)

    @staticmethod
    def load(name_or_path: str | Path) -> Job:
        """A shipped job by its name, or a job file."""
        description, origin = files.load(name_or_path)
        return Job(description, origin)

    def save(self, path: str | Path) -> None:
        """Write a job file from which `load` makes an equal job; files it names must lie where it will look."""
        write_file(Path(path), self.to_toml())

    def to_toml(self) -> str:
        """The text of a job file from which `load` makes an equal job."""
        return files.to_text(self.description)

    def __repr__(self) -> str:
        d = self.description
        speed = f"{1e3 * d.speed:g} mm/s"
        return cards.line(
            "Job", repr(d.name), display.mounted(d), speed, display.allowed(d.tolerance)
        )

    def _repr_html_(self) -> str:
        return cards.table(repr(self), display.facts(self.description, self.origin))

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the seam in space, base frame, and where its process is on.

        Args:
            axes: Axes with three dimensions; new ones where none are given.
        """
        return display.draw_seam(self.seam, self.process_on(), axes)

    @property
    def name(self) -> str:
        """Short name."""
        return self.description.name

    def with_speed(self, speed: float | str) -> Job:
        """The job at another tool speed, as 0.1 or "100 mm/s"; speeds of single segments change in proportion."""
        try:
            value = ToolSpeed.__metadata__[0].read(speed)  # type: ignore[attr-defined]
        except ArmtwinError as error:
            raise ArmtwinError(f"speed {error}") from None
        share = value / self.description.speed

        def scaled(own: float | None) -> float | None:
            return None if own is None else own * share

        segments = tuple(
            replace(s, speed=scaled(s.speed), blend_speed=scaled(s.blend_speed))
            for s in self.description.segment
        )
        return Job(replace(self.description, speed=value, segment=segments), self.origin)

    def with_robot(self, robot: str, tool: str | None = None) -> Job:
        """The job for another robot, and another tool where one is given."""
        tool = self.description.tool if tool is None else tool
        return Job(replace(self.description, robot=robot, tool=tool), self.origin)

    def seen_from(self, folder: Path) -> Job:
        """The job with the files it names as seen from another folder, to be saved there."""

        def path(name: str) -> str:
            file = self._folder / name
            if not os.path.isfile(file):
                return name
            try:
                return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
            except ValueError:  # another drive
                return file.resolve().as_posix()

        d = self.description
        segments = tuple(
            s if s.points is None else replace(s, points=path(s.points)) for s in d.segment
        )
        return Job(replace(d, robot=path(d.robot), segment=segments), self.origin)

    @property
    def _folder(self) -> Path:
        return Path(self.origin).parent if self.origin else Path()

    def robot(self, robot: Robot | None = None) -> Robot:
        """The job's robot, or another one, with the job's tool, payload and overrides."""
        d = self.description
        if robot is None:
            beside = self._folder / d.robot
            try:
                robot = Robot.load(beside if beside.suffix and os.path.exists(beside) else d.robot)
            except FileError:
                raise
            except ArmtwinError as error:
                raise ArmtwinError(f"{self.where}: {error}") from None
        if d.override:
            changed = overridden(robot.description, d.override, self.where)
            Robot(
                changed, f"{self.where}: robot '{robot.name}' with its overrides"
            )  # refuses what cannot exist
            robot = Robot(changed, robot.origin)
        if d.posture is not None and len(d.posture) != robot.n:
            joints = f"the {robot.n} joints of '{robot.name}'"
            raise FileError(
                self.where, [f"posture must be the angles of {joints}, got {len(d.posture)}"]
            )
        return self._mounted(robot)

    def _mounted(self, robot: Robot) -> Robot:
        """The robot with the job's tool and payload; without these, all that it lacks is told."""
        d, refused = self.description, []
        for mount, name in ((Robot.with_tool, d.tool), (Robot.with_payload, d.payload)):
            try:
                robot = mount(robot, name) if name else robot
            except ArmtwinError as error:
                refused.append(str(error))
        if refused:
            lacking = missing(robot.description, d.model.wants, seam=True)
            also = [f"robot '{robot.name}' cannot be predicted: {x}" for x in lacking]
            raise FileError(self.where, [*refused, *also])
        return robot

    @property
    def where(self) -> str:
        """What the job is called in an error: its file, or its name."""
        return self.origin or f"job '{self.name}'"

    @cached_property
    def points(self) -> dict[int, Points]:
        """Points of the segments that name a file, by the number of the segment."""
        segments = enumerate(self.description.segment)
        return {
            i: read_points(self._folder / s.points, s.angles)
            for i, s in segments
            if s.points is not None
        }

    @cached_property
    def seam(self) -> Seam:
        """The seam in the base frame, with its time law."""
        d = self.description
        X = d.workpiece.matrix()
        try:
            path = build_path(X[:3, :3] @ self._start() + X[:3, 3], list(self._moves(X)))
            speeds = [_speed(d, d.segment[x.move], x.corner) for x in path.stretches]
            bounds = [0.0, *(x.stop for x in path.stretches)]
            profile = build_profile(
                *_merged(bounds, speeds, [x.name for x in path.stretches]), d.time_law
            )
            rule = self._orientations(path, X[:3, :3])
        except FileError:
            raise
        except ArmtwinError as error:
            raise FileError(self.where, [str(error)]) from None
        return Seam(path, rule, profile, (d.standstill.before, d.standstill.after))

    def _start(self) -> Floats:
        """Start of the seam in the workpiece's frame."""
        if self.description.start is not None:
            return np.array(self.description.start)
        if 0 in self.points:
            return self.points[0].p[0]
        raise ArmtwinError("start is missing: the point where the first segment begins")

    def _moves(self, X: Floats) -> Iterator[Move]:
        here = self._start()
        for i, segment in enumerate(self.description.segment):
            kind, points = _goals(segment)
            if i in self.points:
                points = self.points[i].p
                gap = float(np.linalg.norm(points[0] - here))
                if gap > MEETS:
                    raise ArmtwinError(
                        f"segment '{_name(segment, i)}': the first point of {segment.points} must be where the segment "
                        f"begins, but it is {1e3 * gap:.4g} mm away"
                    )
                points = points[1:]
            here = points[-1]
            yield Move(
                _name(segment, i), kind, points @ X[:3, :3].T + X[:3, 3], segment.blend or 0.0
            )

    def _orientations(self, path: Curve, R_WP: Floats) -> Orientations:
        rule = self.description.orientation
        if rule.mode != "given":
            if rule.tool is None:
                raise ArmtwinError(
                    f"orientation.tool is missing: how the tool is turned (mode {rule.mode})"
                )
            R = rule.tool.rotation()
            return Fixed(R_WP @ R) if rule.mode == "fixed" else Following(R, R_WP[:, 2])
        marks, turned = [], []
        first = self.points.get(0)
        if rule.tool is not None:
            marks, turned = [0.0], [rule.tool.rotation()]
        elif first is not None and first.R is not None:
            marks, turned = [0.0], [first.R[0]]
        for i, segment in enumerate(self.description.segment):
            read = self.points.get(i)
            if read is not None and read.R is not None:
                marks += list(path.marks[i])
                turned += list(read.R[1:])
            elif segment.orientation is not None:
                marks.append(path.marks[i][-1])
                turned.append(segment.orientation.rotation())
        if not marks or marks[0] > 0 or marks[-1] < path.length - 1e-9:
            raise ArmtwinError(
                "orientations are given at points, but not at the start (orientation.tool) or not at the seam's end"
            )
        return Given(np.array(marks), R_WP @ np.array(turned))

    def windows(self) -> Iterator[tuple[float, float, str, Window]]:
        """Stretches of the seam with a process window: from, to [m], name, window."""
        for x in self.seam.path.stretches:
            window = self.description.segment[x.move].window
            if window is not None:
                yield x.start, x.stop, x.name, window

    def process_on(self) -> list[tuple[float, float]]:
        """Stretches of the seam, from and to [m], on which the process is on."""
        d, seam = self.description.process, self.seam
        t_in, t_out = seam.profile.steady
        edges = seam.profile.at(
            np.array([t_in + (d.after_ramp or 0.0), t_out - (d.before_ramp or 0.0)])
        )[0]
        start = float(edges[0]) if d.run_in is None else d.run_in
        stop = float(edges[1]) if d.run_out is None else seam.length - d.run_out
        on: list[tuple[float, float]] = []
        for x in seam.path.stretches:
            a, b = max(x.start, start), min(x.stop, stop)
            if self.description.segment[x.move].process and a < b:
                on = [*on[:-1], (on[-1][0], b)] if on and on[-1][1] == a else [*on, (a, b)]
        if not on:
            raise FileError(self.where, ["process: it is nowhere on, so there is nothing to judge"])
        return on


def _problems(description: JobDescription) -> Iterator[str]:
    """What the groups find wrong with themselves, and what does not fit together."""
    for path, group in groups_of(description, by_name=False):
        for problem in (group.problem() if hasattr(group, "problem") else "", bad_texts(group)):
            if problem:
                yield f"{path} {problem}".strip()
    if not description.segment:
        yield "segment must have at least one entry, [[segment]]"
    elif description.segment[-1].blend is not None:
        yield f"segment.{len(description.segment)}.blend rounds the corner to the next segment, but there is none"
    for i, segment in enumerate(description.segment, 1):
        if (
            segment.points is not None
            and segment.angles is not None
            and description.orientation.mode != "given"
        ):
            mode = description.orientation.mode
            yield f'segment.{i}.angles are given by a file, but orientation.mode is "{mode}", not "given"'
    speed = ToolSpeed.__metadata__[0].broken(description.speed)  # type: ignore[attr-defined]
    if speed:
        yield f"speed {speed}, got {description.speed:g}"
    needs_power = any(
        s.window is not None and s.window.polygon is not None for s in description.segment
    )
    if needs_power and description.process.power is None:
        yield "process.power is missing, which a window of speed and power needs"


def _name(segment: Segment, i: int) -> str:
    return segment.name or f"segment {i + 1}"


def _goals(segment: Segment) -> tuple[str, Floats]:
    if segment.lin is not None:
        return "lin", np.array([segment.lin])
    if segment.circ is not None:
        return "circ", np.array([segment.circ.via, segment.circ.to])
    return "spline", np.array(segment.spline if segment.spline is not None else np.empty((0, 3)))


def _speed(description: JobDescription, segment: Segment, corner: bool) -> float:
    own = segment.blend_speed if corner else None
    return own or segment.speed or description.speed


def _merged(
    bounds: list[float], speeds: list[float], names: list[str]
) -> tuple[list[float], list[float], list[str]]:
    """Neighbouring stretches of one speed as one."""
    keep = [0, *(k for k in range(1, len(speeds)) if speeds[k] != speeds[k - 1])]
    return (
        [*(bounds[k] for k in keep), bounds[-1]],
        [speeds[k] for k in keep],
        [names[k] for k in keep],
    )
