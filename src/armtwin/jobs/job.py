"""The dataclass Job: a seam on a workpiece, a robot with a tool, a speed and a tolerance."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, FileError, blame
from armtwin.files.atomic import write_file
from armtwin.files.fields import own_problems
from armtwin.files.hypothesis import Hypothesis
from armtwin.files.names import folder_of
from armtwin.files.reading import load_description
from armtwin.jobs import display, files, from_log, from_program, plausibility, program
from armtwin.jobs.description import JobDescription
from armtwin.jobs.from_points import (
    SMOOTH,
    Quantity,
    SeamPoints,
    describe_seam,
    read_points,
    read_quantity,
    read_tolerance,
    smooth_points,
)
from armtwin.jobs.groups import Process, Segment, Tolerance, ToolSpeed, Window
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Names, Pair, Record, Sentences
from armtwin.motion import path as paths
from armtwin.motion.curves import Fixed, Following, Given, Orientations
from armtwin.motion.look_ahead import LookAhead
from armtwin.motion.posture import ELBOWS
from armtwin.motion.recorded import RecordedProfile, Reference
from armtwin.motion.seam import Seam
from armtwin.motion.time_laws import Profile, build_profile
from armtwin.notebook import cards
from armtwin.notebook.sections import Report
from armtwin.programs.execution import SideValues
from armtwin.programs.table import ProgramFile, read_program, read_side_file
from armtwin.report.folder import seen_from
from armtwin.report.result import Result
from armtwin.robot.ranges import REFUSED
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Pose
from armtwin.robot.schema.overrides import apply_overrides
from armtwin.robot.schema.provenance import missing

AnyProfile = Profile | LookAhead | RecordedProfile
PLANNED = ("points", "seam", "splines", "_path", "_planner", "_reference", "_on")  # of a job
RECENT_OVERRIDES = 8  # robots with overrides that are cached
BETWEEN = 8  # parts of a line at which its distance from the base is looked at
MEETS = 1e-6  # distance [m] within which points of a file continue the segment before


class ProgramSource(NamedTuple):
    """The program that a job is from, its stretch from 0, its side file, and the robot."""

    read: ProgramFile
    stretch: int
    given: SideValues
    robot: Robot


@dataclass(frozen=True)
class Job(Result):
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
        job = Job(*load_description(name_or_path, "job", files.SCHEMA, files.list_shipped()))
        plausibility.refuse_mistakes(job.description, job.where)
        return job

    @staticmethod
    def line(
        robot: Robot | str | Path,
        start: ArrayLike,
        end: ArrayLike,
        *,
        speed: Quantity,
        tolerance: Quantity | tuple[Quantity, Quantity],
        name: str = "line",
    ) -> Job:
        """A job along a straight line.

        Args:
            robot: The robot, tool mounted, or the name or file of one.
            start: Position (3,) [m] or pose (4, 4) of the tool in the base frame where it starts.
                Without a pose its beam, the tool's z axis, points down, along the base's -z.
            end: Position or pose where it ends.
            speed: Tool speed, as 0.1 [m/s] or "100 mm/s".
            tolerance: Lateral and vertical, one number or both, as 1e-4 [m] or "0.1 mm".
            name: What the job is called.
        """
        return Job.from_points(robot, [start, end], speed=speed, tolerance=tolerance, name=name)

    @staticmethod
    def from_points(
        robot: Robot | str | Path,
        poses: ArrayLike | Sequence[ArrayLike],
        *,
        speed: Quantity,
        tolerance: Quantity | tuple[Quantity, Quantity],
        blend: Quantity | None = None,
        name: str = "points",
    ) -> Job:
        """A job through points: a smooth curve, or straight lines with blended corners.

        Args:
            robot: As of `line`.
            poses: Positions (k, 3) [m] or poses (k, 4, 4) of the tool in the base frame. Without
                poses the beam points down.
            speed: As of `line`.
            tolerance: As of `line`.
            blend: Radius of the corners between straight lines, as 0.01 [m] or "10 mm"; without it
                a smooth curve, which turns by 30 degrees at most at a point.
            name: What the job is called.
        """
        given = robot if isinstance(robot, Robot) else Robot.load(robot)
        job = Job(
            describe_seam(given, poses, speed=speed, tolerance=tolerance, blend=blend, name=name)
        )
        if not given.origin or job.robot() != given:
            raise ArmtwinError(
                f"robot '{given.name}' is not as in a file, and a job names a file: write it by "
                'robot.save("my.toml") and give at.Robot.load("my.toml")'
            )
        return job

    @staticmethod
    def from_log(
        robot: Robot | str | Path,
        log: Log | str | Path,
        *,
        tolerance: Quantity | tuple[Quantity, Quantity],
        seams: Sequence[Pair] = (),
        name: str = "",
    ) -> Job:
        """A job along the reference of a log, with the controller's own zones, stops and speeds.

        Args:
            robot: As of `line`.
            log: A log of a run from rest to rest with the commanded positions q_ref, or its file.
            tolerance: As of `line`.
            seams: Times from and to of each seam in the log [s]; by default the stretches between
                stops that are not run through the air or along the beam.
            name: What the job is called; by default as the log's file.
        """
        given = robot if isinstance(robot, Robot) else Robot.load(robot)
        file = log.origin if isinstance(log, Log) else str(log)
        if not file:
            raise ArmtwinError("a job names the log it is from: write it by log.write and read it")
        lateral, vertical = read_tolerance(tolerance)
        return Job(
            from_log.describe_log(
                given,
                Path(file),
                Tolerance(lateral, vertical),
                seams=tuple(seams),
                name=name or Path(file).stem,
            )
        )

    @staticmethod
    def from_program(
        program: str | Path,
        robot: Robot | str | Path,
        *,
        tolerance: Quantity | tuple[Quantity, Quantity] | None = None,
        frames: str | Path | None = None,
        stretch: int | None = None,
        speed: Quantity | None = None,
    ) -> Job:
        """A job from a robot program: RAPID, Fanuc LS, KRL, URScript, G-code or bare points.

        Args:
            program: Its file.
            robot: As of `line`.
            tolerance: As of `line`.
            frames: A side file with frames, tools and values that the program names and has not.
            stretch: Number of a stretch of known moves, from 1; by default that with the longest
                seams.
            speed: Tool speed of bare points.
        """
        given = robot if isinstance(robot, Robot) else Robot.load(robot)
        if tolerance is None:
            raise ArmtwinError(f"{program}: a program has no tolerance: give one, as 0.1 mm")
        lateral, vertical = read_tolerance(tolerance)
        known = read_side_file(None if frames is None else Path(frames))
        if speed is not None:
            values = {**known.values, "speed": read_quantity("speed", ToolSpeed, speed)}
            known = replace(known, values=values)
        read = read_program(Path(program), known, given)
        number = from_program.choose_stretch(read, stretch)
        with blame(str(program)):
            description = from_program.describe_stretch(
                read, number, given, Tolerance(lateral, vertical)
            )
        job = Job(description, str(program))
        job.__dict__["source"] = ProgramSource(read, number, known, given)
        return job

    def save(self, path: str | Path) -> None:
        """Write a job file from which `load` makes an equal job.

        Files that it names must lie where it will look for them.
        """
        write_file(Path(path), self.to_toml())

    def to_toml(self) -> str:
        """The text of a job file from which `load` makes an equal job."""
        return files.to_text(self.description)

    def to_toml_as_written(self) -> str:
        """The text of a job file in the units of the file that the job came from.

        Numbers that did not change keep their text; `load` makes the same job of it, to rounding.
        """
        return files.to_text_like(self.description, self.origin)

    def __repr__(self) -> str:
        d = self.description
        speed = f"{1e3 * d.speed:g} mm/s"
        return cards.line(
            "Job",
            repr(d.name),
            display.describe_equipment(d),
            speed,
            display.describe_tolerance(d.tolerance),
        )

    def sections(self) -> Report:
        """Robot, tolerance, speed, process and model, and the segments of the seam."""
        return display.describe_job(self.description, self.seam, self.process_on(), self.splines)

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the seam in space, base frame, and where its process is on.

        Args:
            axes: Axes with three dimensions; new ones where none are given.
        """
        return display.draw_seam(self.seam, self.process_on(), axes)

    @cached_property
    def source(self) -> ProgramSource | None:
        """The robot program that the job was made from, by `from_program`; None for another."""
        return None

    @property
    def name(self) -> str:
        """Short name."""
        return self.description.name

    def with_speed(self, speed: float | str) -> Job:
        """The job at another tool speed, as 0.1 or "100 mm/s"; segments' own change as well."""
        value = read_quantity("speed", ToolSpeed, speed)
        if self.description.reference:
            raise FileError(self.where, "speed is that of the recorded reference and cannot change")
        share = value / self.description.speed

        def scale(own: float | None) -> float | None:
            return None if own is None else own * share

        segments = tuple(
            replace(s, speed=scale(s.speed), blend_speed=scale(s.blend_speed))
            for s in self.description.segment
        )
        return Job(replace(self.description, speed=value, segment=segments), self.origin)

    def with_robot(self, robot: str, tool: str | None = None) -> Job:
        """The job for another robot, and another tool where one is given."""
        tool = self.description.tool if tool is None else tool
        return Job(replace(self.description, robot=robot, tool=tool), self.origin)

    def with_servo(self, servo: str) -> Job:
        """The job with another servo of its robot's file."""
        model = replace(self.description.model, servo=servo)
        return Job(replace(self.description, model=model), self.origin)

    def seen_from(self, folder: Path) -> Job:
        """The job with the files it names as seen from another folder, to be saved there."""

        def path(name: str) -> str:
            file = self._folder / name
            return seen_from(folder, str(file)) if os.path.isfile(file) else name

        d = self.description
        segments = tuple(
            s if s.points is None else replace(s, points=path(s.points)) for s in d.segment
        )
        forces = tuple(f if f.file is None else replace(f, file=path(f.file)) for f in d.force)
        changed = replace(d, robot=path(d.robot), segment=segments, force=forces)
        reference = path(d.reference) if d.reference else ""
        return Job(replace(changed, reference=reference), self.origin)

    def beside(self, name: str) -> Path:
        """Where a file lies that the job names."""
        return self._folder / name

    @property
    def _folder(self) -> Path:
        return folder_of(self.origin)

    def robot(self, robot: Robot | None = None) -> Robot:
        """The job's robot, or another one, with the job's tool, payload and overrides."""
        given = self.bare_robot() if robot is None else robot
        latest: tuple[Robot, Robot] | None = self.__dict__.get("_latest")
        if latest is None or latest[0] is not given:
            latest = given, self._equip(given)
            self.__dict__["_latest"] = latest  # variants of a run ask for it again and again
        return latest[1]

    def bare_robot(self) -> Robot:
        """The robot that the job names, as its file has it."""
        try:
            return load_robot(self.description.robot, self._folder)
        except FileError:
            raise
        except ArmtwinError as error:
            raise ArmtwinError(f"{self.where}: {error}") from None

    def _equip(self, robot: Robot) -> Robot:
        """A robot with the job's overrides, tool and payload, if posture and elbow fit it."""
        d = self.description
        if d.override:
            robot = override_robot(robot, d.override, self.where)
        if isinstance(d.posture, tuple) and len(d.posture) != robot.n:
            joints = f"the {robot.n} joints of '{robot.name}'"
            raise FileError(
                self.where, f"posture must be the angles of {joints}, got {len(d.posture)}"
            )
        mounted = self._mounted(robot)
        with blame(self.where):
            mounted.inverse.hold(d.elbow)
            found = [x for x in self._misplaced(mounted) if x.strength >= REFUSED]
        if found:
            raise FileError(self.where, found[0].sentence)
        return mounted

    def _misplaced(self, robot: Robot) -> Iterator[Hypothesis]:
        """What of the seam does not fit an arm, and which mistake would explain it."""
        found = []
        inline = [] if self.description.start is None else [np.array([self.description.start])]
        for i, segment in enumerate(self.description.segment):
            if i in self.points:
                name = f"the points of {segment.points}"
                found.append(plausibility.Places(name, self.points[i].p))
            else:
                inline.append(_goals(segment)[1])
        if sum(map(len, inline)):
            points = _along(np.vstack(inline))
            found.append(plausibility.Places("the points of the segments", points))
        return plausibility.find_misplaced(self.description, found, robot)

    def cautions_on(self, robot: Robot) -> Names:
        """What is odd about the job and a robot and one mistake would explain, as sentences."""
        found = (*plausibility.find_mistakes(self.description), *self._misplaced(robot))
        return (*(hypothesis.sentence for hypothesis in found), *robot.cautions)

    def _mounted(self, robot: Robot) -> Robot:
        """The robot with the job's tool and payload; the error lists all that it lacks."""
        d = self.description
        refused = []
        for mount, name in ((Robot.with_tool, d.tool), (Robot.with_payload, d.payload)):
            if not name:
                continue
            try:
                robot = mount(robot, name)
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

    @property
    def argument(self) -> str:
        """What a command line calls it: a shipped job by its name, others by their file."""
        shipped = files.list_shipped().get(self.name)
        return self.name if str(shipped) == self.origin else self.origin or self.name

    @cached_property
    def points(self) -> dict[int, SeamPoints]:
        """Points of the segments that name a file, by the number of the segment."""
        found = {}
        for i, segment in enumerate(self.description.segment):
            if segment.points is not None:
                points = read_points(self._folder / segment.points, segment.angles)
                smooth = segment.smooth
                found[i] = points if smooth is None else smooth_points(points, smooth)
        return found

    @cached_property
    def seam(self) -> Seam:
        """The seam in the base frame, with its time law."""
        d = self.description
        if self.is_program:
            return self._program_seam()
        if d.reference:
            with blame(self.where):
                return from_log.build_log_seam(d, self._reference, self.robot())
        with blame(self.where):
            profile = self._planned_profile()
            rule = self._orientations(self._path, d.workpiece.matrix()[:3, :3])
        standstill = d.standstill.before, d.standstill.after
        return Seam(self._path, rule, profile, standstill, d.elbow)

    @cached_property
    def _reference(self) -> Reference:
        """The reference of the log that the job is along."""
        return from_log.read_reference(self.beside(self.description.reference), self.robot())

    def _program_seam(self) -> Seam:
        """The seam of a program: its path by its moves, its profile by its robot's limits."""
        d = self.description
        planner = self.__dict__.get("_planner") or program.Planner(self.robot())
        with blame(self.where):
            smooth = None
            if any(segment.blend is not None for segment in d.segment):
                rule = self._orientations(self._path, d.workpiece.matrix()[:3, :3])
                smooth = self._path, rule
            moves = program.list_moves(d, self.points, self._start(), planner.robot)
            return program.build_program(d, moves, smooth, planner)

    def planned_for(self, robot: Robot) -> Job:
        """The job with the limits of an equipped robot in its profile, where they count."""
        planner = self.__dict__.get("_planner")
        if not self.is_program or (planner is not None and planner.robot is robot):
            return self
        return self._planned(self.description, program.Planner(robot))

    def with_workpiece(self, workpiece: Pose) -> Job:
        """The job with its workpiece elsewhere, and its time law."""
        moved = replace(self.description, workpiece=workpiece)
        if not self.is_program:
            found = list(own_problems(workpiece))
            if found:
                raise FileError(self.where, [f"workpiece.{problem}" for problem in found])
            job = object.__new__(Job)  # the rest was checked: samples move a workpiece by thousands
            vars(job).update(description=moved, origin=self.origin)
            vars(job).update((k, v) for k, v in vars(self).items() if k == "_reference")
            return job
        robot = (self.__dict__.get("_planner") or program.Planner(self.robot())).robot
        return self._planned(moved, program.Planner(robot, self.seam))

    def _planned(self, description: JobDescription, planner: program.Planner) -> Job:
        job = Job(description, self.origin)
        job.__dict__["_planner"] = planner
        return job

    def planned_as(self, other: Job) -> Job:
        """The job with the seam of another that is the same but for what no motion depends on."""
        job = copy(self)  # it was checked
        job.__dict__.update((k, v) for k, v in other.__dict__.items() if k in PLANNED)
        return job

    @property
    def is_program(self) -> bool:
        """Whether it is run by look-ahead: moves of any length, stops, zones, several seams."""
        return program.is_program(self.description)

    @cached_property
    def _path(self) -> paths.Path:
        """The path of the seam in the base frame."""
        X = self.description.workpiece.matrix()
        start = X[:3, :3] @ self._start() + X[:3, 3]
        return paths.build_path(start, list(self._moves(X)))

    def _planned_profile(self) -> Profile:
        """The time law along the seam; ramps that do not fit say which mistake would explain it."""
        path = self._path
        try:
            return self._profile(path)
        except ArmtwinError as error:
            why = plausibility.explain_run_in(self.description, self._judged_share)
            raise ArmtwinError(f"{error}{why}") from None

    @cached_property
    def splines(self) -> tuple[paths.SplineFit, ...]:
        """Deviation of each spline of the seam from the straight lines between its points."""
        return () if self.description.reference else self.seam.path.splines()

    def _profile(self, path: paths.Path) -> Profile:
        """The time law along a path; neighbouring stretches of one speed are one."""
        d = self.description
        bounds: list[float] = []
        speeds: list[float] = []
        names: list[str] = []
        for x in path.stretches:
            speed = self.speed_of(x)
            if not speeds or speed != speeds[-1]:
                bounds.append(x.start)
                speeds.append(speed)
                names.append(x.name)
        bounds.append(path.stretches[-1].stop)
        return build_profile(bounds, speeds, names, d.time_law)

    def _start(self) -> Floats:
        """Start of the seam in the workpiece's frame."""
        if self.description.start is not None:
            return np.array(self.description.start)
        if 0 in self.points:
            return self.points[0].p[0]
        raise ArmtwinError("start is missing: the point where the first segment begins")

    def _moves(self, X: Floats) -> Iterator[paths.Move]:
        """The moves in the base frame, X the pose of the workpiece's."""
        here = self._start()
        for i, segment in enumerate(self.description.segment):
            name = segment.name or f"segment {i + 1}"
            kind, points = _goals(segment)
            if i in self.points:
                first, points = self.points[i].p[0], self.points[i].p[1:]
                gap = float(np.linalg.norm(first - here))
                if gap > MEETS:
                    raise ArmtwinError(
                        f"segment '{name}': the first point of {segment.points} must be where the "
                        f"segment begins, but it is {1e3 * gap:.4g} mm away"
                        f"{plausibility.name_other_unit(first, here)}"
                    )
                file = f"segment '{name}': {segment.points}"
                paths.check_turns(file, self.points[i].p, segment.corner or SMOOTH)
            here = points[-1]
            yield paths.Move(name, kind, points @ X[:3, :3].T + X[:3, 3], segment.blend or 0.0)

    def _orientations(self, path: paths.Path, R_WP: Floats) -> Orientations:
        """How the tool is turned along a path, base frame; R_WP turns the workpiece's."""
        rule = self.description.orientation
        if rule.mode == "given":
            return self._read_orientations(path, R_WP)
        if rule.tool is None:
            raise ArmtwinError(
                f"orientation.tool is missing: how the tool is turned (mode {rule.mode})"
            )
        R = rule.tool.rotation()
        if rule.mode == "fixed":
            return Fixed(R_WP @ R)
        return Following(R, R_WP[:, 2])

    def _read_orientations(self, path: paths.Path, R_WP: Floats) -> Given:
        """Orientations at the points where the job gives them."""
        marks: list[float] = []
        turned: list[Floats] = []
        first = self._first_orientation()
        if first is not None:
            marks.append(0.0)
            turned.append(first)
        for i, segment in enumerate(self.description.segment):
            read = self.points.get(i)
            if read is not None and read.R is not None:
                marks += list(path.marks[i])
                turned += list(read.R[1:])
            elif segment.orientations is not None:
                marks += list(path.marks[i])
                turned += [orientation.rotation() for orientation in segment.orientations]
            elif segment.orientation is not None:
                marks.append(path.marks[i][-1])
                turned.append(segment.orientation.rotation())
        if not marks or marks[0] > 0 or marks[-1] < path.length - 1e-9:
            raise ArmtwinError(
                "orientations are given at points, but not at the start (orientation.tool) or not "
                "at the seam's end"
            )
        return Given(np.array(marks), R_WP @ np.array(turned))

    def _first_orientation(self) -> Floats | None:
        """Orientation at the start, by the job or by the first point of a file."""
        tool = self.description.orientation.tool
        if tool is not None:
            return tool.rotation()
        first = self.points.get(0)
        if first is None or first.R is None:
            return None
        return first.R[0]

    def speed_of(self, stretch: paths.Stretch) -> float:
        """Commanded tool speed on a stretch of the seam [m/s]."""
        segment = self.description.segment[stretch.move]
        own = segment.blend_speed if stretch.corner else None
        return own or segment.speed or self.description.speed

    def windows(self) -> Iterator[tuple[float, float, str, Window]]:
        """Stretches of the seam with a process window: from, to [m], name, window."""
        for x in self.seam.path.stretches:
            window = self.description.segment[x.move].window
            if window is not None:
                yield x.start, x.stop, x.name, window

    def process_on(self) -> list[Pair]:
        """Stretches of the seam, from and to [m], on which the process is on."""
        return [*self._on]

    @cached_property
    def _on(self) -> list[Pair]:
        on = self._stretches_on(*self._run_in_and_out())
        if not on:
            raise FileError(self.where, f"process: it is nowhere on, {self._why_never_on()}")
        return on

    @property
    def judged_length(self) -> float:
        """Length of the seam on which the process is on [m]."""
        return sum(stop - start for start, stop in self.process_on())

    @property
    def asked_length(self) -> float:
        """Length on which the job asks for the process, by its lengths and segments [m].

        What ramps and times about them leave out is asked for as well.
        """
        process = self.description.process
        start, stop = process.run_in or 0.0, self.seam.length - (process.run_out or 0.0)
        return sum(end - begin for begin, end in self._stretches_on(start, stop))

    def _stretches_on(self, start: float, stop: float) -> list[Pair]:
        """Stretches whose segments have the process on, between two arc lengths [m]."""
        on: list[Pair] = []
        for first, last in self._judged_stretches():
            begin, end = max(first, start), min(last, stop)
            if begin >= end:
                continue
            if on and on[-1][1] == begin:  # it goes on from the stretch before
                begin, _ = on.pop()
            on.append((begin, end))
        return on

    def _judged_stretches(self) -> Iterator[Pair]:
        """Stretches whose segments have the process on, from and to [m]."""
        if self.seam.judged is not None:
            yield from self.seam.judged
            return
        for x in self.seam.path.stretches:
            if self.description.segment[x.move].process:
                yield x.start, x.stop

    def _why_never_on(self) -> str:
        """Why there is nothing to judge."""
        start, stop = self._run_in_and_out()
        if start < stop:
            return "so there is nothing to judge"
        length, speed = 1e3 * self.seam.length, 1e3 * self.description.speed
        mistake = plausibility.explain_run_in(self.description, self._judged_share)
        return (
            f"so there is nothing to judge: at {speed:.4g} mm/s run-in and run-out take the whole "
            f"seam of {length:.4g} mm{mistake}"
        )

    def _judged_share(self, description: JobDescription) -> float:
        """Part of this seam between run-in and run-out, by other speeds and times."""
        profile = Job(description, self.origin)._profile(self._path)
        start, stop = _run_in_and_out(description.process, profile, self._path.length)
        return (stop - start) / self._path.length

    def _run_in_and_out(self) -> Pair:
        """Arc lengths [m] between which the process may be on."""
        seam = self.seam
        return _run_in_and_out(self.description.process, seam.profile, seam.length)


_recent: deque[tuple[Robot, Record, Robot]] = deque(maxlen=RECENT_OVERRIDES)


def load_robot(name: str, folder: Path) -> Robot:
    """A robot by the name that a file gives it: of a file beside that one, or as anywhere."""
    beside = folder / name
    return Robot.load(beside if beside.suffix and os.path.exists(beside) else name)


def override_robot(robot: Robot, override: Record, where: str) -> Robot:
    """The robot with overrides; variants of a job share it."""
    for of, values, known in tuple(_recent):
        if of is robot and values == override:
            return known
    changed = apply_overrides(robot.description, override, where)
    # refuses what cannot exist by a name that says where it comes from
    made = Robot(changed, f"{where}: robot '{robot.name}' with its overrides")
    made = made.with_origin(robot.origin)
    _recent.append((robot, override, made))
    return made


def _problems(description: JobDescription) -> Sentences:
    """What the groups find wrong with themselves, and what does not fit together."""
    yield from own_problems(description)
    yield from _segment_problems(description)
    yield from program.find_problems(description)
    posture = description.posture
    if isinstance(posture, str) and posture not in ELBOWS:
        yield f"posture must be angles or one of {', '.join(ELBOWS)}, got '{posture:.60}'"
    speed = ToolSpeed.__metadata__[0].broken(description.speed)  # type: ignore[attr-defined]
    if speed:
        yield f"speed {speed}, got {description.speed:g}"
    windows = [segment.window for segment in description.segment if segment.window is not None]
    needs_power = any(window.polygon is not None for window in windows)
    if needs_power and description.process.power is None:
        yield "process.power is missing, which a window of speed and power needs"


def _segment_problems(description: JobDescription) -> Sentences:
    """What does not fit between segments, and between them and the job."""
    segments, mode = description.segment, description.orientation.mode
    if not segments:
        yield "segment must have at least one entry, [[segment]]"
    elif segments[-1].blend is not None:
        last = f"segment.{len(segments)}.blend"
        yield f"{last} rounds the corner to the next segment, but there is none"
    for i, segment in enumerate(segments, 1):
        has_angles = segment.points is not None and segment.angles is not None
        if has_angles and mode != "given":
            contract = f'are given by a file, but orientation.mode is "{mode}", not "given"'
            yield f"segment.{i}.angles {contract}"


def _run_in_and_out(process: Process, profile: AnyProfile, length: float) -> Pair:
    """Arc lengths [m] of a seam between which a process may be on."""
    t_in, t_out = profile.steady
    t_on = t_in + (process.after_ramp or 0.0)
    t_off = t_out - (process.before_ramp or 0.0)
    s_on, s_off = profile.at(np.array([t_on, t_off]))[0]
    start = float(s_on) if process.run_in is None else process.run_in
    stop = float(s_off) if process.run_out is None else length - process.run_out
    return start, stop


def _along(points: Floats) -> Floats:
    """Points of the lines between points, (k, 3)."""
    ends = np.arange(len(points))
    between = np.linspace(0.0, len(points) - 1.0, BETWEEN * (len(points) - 1) + 1)
    return np.stack([np.interp(between, ends, points[:, axis]) for axis in range(3)], axis=1)


def _goals(segment: Segment) -> tuple[str, Floats]:
    """Kind of a segment's move and the points it goes to, (k, 3); none where a file has them."""
    if segment.lin is not None:
        return "lin", np.array([segment.lin])
    if segment.circ is not None:
        return "circ", np.array([segment.circ.via, segment.circ.to])
    if segment.spline is not None:
        return "spline", np.array(segment.spline)
    if segment.ptp is not None:
        return "ptp", np.array([segment.ptp])
    return "spline", np.empty((0, 3))
