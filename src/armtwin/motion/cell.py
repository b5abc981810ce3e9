"""The cell around a robot: floor, planes and boxes, and how near the robot's lines come to them.

A robot is its lines here: one to each joint from the joint before, one to the flange, one from
there to the tool point. A line has no thickness. With p on it, d > 0 is free and d < 0 inside:

    plane:  d = n · (p - point)
    box:    d = max_i (|p_i| - size_i / 2),   p in the frame of the box

Along a line p = a + t (b - a) the d of a plane is least at an end. That of a box is the largest of
six linear functions of t: least at an end, or where two of them cross.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError, FileError, blame
from armtwin.files.hypothesis import Hypothesis, strongest
from armtwin.files.reading import check_format, read_tables
from armtwin.files.schema import Schema
from armtwin.maths.batch import Floats, NamedArrays
from armtwin.maths.quantities import Direction
from armtwin.maths.units import Unit
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Pose

FORMAT = 1  # of the file


@dataclass(frozen=True)
class CellDescription:
    """What is read of a file.

    Attributes:
        cell: What stands around the robot.
    """

    cell: Cell


SCHEMA = Schema(CellDescription, "cell file")


def read_cell(path: Path) -> Cell:
    """The cell of a TOML file; what else the file holds is that of a job and not looked at."""
    tables = check_format(read_tables(path), str(path), FORMAT)
    if "cell" not in tables:
        raise FileError(path, "[cell] is missing: the floor, planes and boxes")
    with blame(path):  # for what a group refuses when it is made
        description: CellDescription = SCHEMA.read({"cell": tables["cell"]}, str(path))
    return description.cell


Height = Annotated[float, Unit("m", plausible=20, hint="mm")]
Size = Annotated[float, Unit("m", above=0, plausible=20, hint="mm")]
Place = tuple[Height, Height, Height]

TOUCH = 1e-5  # depth [m] that is no more than the rounding of points in files
UPRIGHT = 1e-6  # share of gravity across the base's axis that is taken for rounding
MOST = 200  # planes and boxes of a cell: more would be checked for minutes
PROBES = 4  # postures that show which frames never move
CHUNK = 20_000  # samples worked on at a time: memory stays bounded on long motions
RECENT_ROBOTS = 4  # whose lines are remembered: a sweep asks for those of one again and again
STAND_IN = "used as the floor; [cell] floor gives another"


@dataclass(frozen=True)
class Plane:
    """A wall, a table, a curtain: a plane that neither robot nor tool may pass.

    Attributes:
        point: A point of it, base frame [m].
        normal: Direction to its free side, of any length.
        name: What it is called in sentences; by default its number.
    """

    point: Place
    normal: Direction
    name: str = ""

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if not np.linalg.norm(self.normal) > 0:
            return "normal must have a length, the direction to the free side, got 0, 0, 0"
        return ""


@dataclass(frozen=True)
class Box:
    """A fixture, a cabinet, a pedestal: a box that neither robot nor tool may enter.

    Attributes:
        size: Lengths along its own x, y and z [m].
        pose: Pose of its middle in the base frame.
        name: What it is called in sentences; by default its number.
    """

    size: tuple[Size, Size, Size]
    pose: Pose = field(default_factory=Pose)
    name: str = ""


@dataclass(frozen=True)
class Cell:
    """What surrounds a robot.

    Attributes:
        floor: Height of the floor above the origin of the base frame, against gravity [m]. Without
            it the plane of the base is used as the floor of a robot that is mounted upright, for
            joints and link lines, not for the tool.
        plane: Planes.
        box: Boxes.
    """

    floor: Height | None = None
    plane: tuple[Plane, ...] = ()
    box: tuple[Box, ...] = ()

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.floor is not None and self.floor > 0:
            got = f"{1e3 * self.floor:.4g} mm"
            return f"floor must be at most 0 mm, where the robot's base is, got {got}"
        count = len(self.plane) + len(self.box)
        if count > MOST:
            return f"must have at most {MOST} planes and boxes, got {count}"
        found = strongest(self._mistakes())
        return "" if found is None else found.sentence

    def _mistakes(self) -> Iterator[Hypothesis]:
        """What stands too far away or is too small to be part of a cell: it is in another unit."""
        remedy = "write the unit beside the numbers"
        if self.floor is not None and self.floor < -FURTHEST:
            fact = f"floor is {-self.floor:.4g} m below the base"
            yield Hypothesis(fact, "Is it in mm", remedy)
        for k, plane in enumerate(self.plane, 1):
            away = abs(np.dot(plane.point, plane.normal)) / max(np.linalg.norm(plane.normal), 1e-9)
            if away > FURTHEST:
                fact = f"plane '{plane.name or k}' is {away:.4g} m from the base"
                yield Hypothesis(fact, "Is its point in mm", remedy)
        for k, box in enumerate(self.box, 1):
            away = float(np.linalg.norm(box.pose.position)) - float(np.linalg.norm(box.size)) / 2
            largest = max(box.size)
            if away > FURTHEST or largest > 2 * FURTHEST:
                fact = f"box '{box.name or k}' is {max(box.size):.4g} m large and {away:.4g} m away"
                what = "position" if away > FURTHEST else "size"
                yield Hypothesis(fact, f"Is its {what} in mm", remedy)
            elif largest < SMALLEST_BOX:
                fact = f"box '{box.name or k}' is at most {1e3 * largest:.3g} mm large"
                yield Hypothesis(fact, "Is its size in m, but read in mm", remedy)


FURTHEST = 40.0  # distance [m] from a robot of what is part of its cell
SMALLEST_BOX = 2e-3  # m


class Nearest(NamedTuple):
    """Least d of lines, (m,) [m], and at which share of the way from start to end it is, (m,)."""

    distance: Floats
    share: Floats


@dataclass(frozen=True, eq=False)
class _HalfSpace:
    """All that is behind a plane with a unit normal.

    Attributes:
        name: What it is called.
        beyond: Where something is that has passed it, as "below the floor".
        point: A point of the plane, (3,) [m].
        normal: Towards the free side, (3,).
        carries: Whether the robot is mounted on it, so that what never moves may touch it.
        spares_tool: Whether the tool may be anywhere.
    """

    name: str
    beyond: str
    point: Floats
    normal: Floats
    carries: bool = False
    spares_tool: bool = False

    def nearest(self, start: Floats, end: Floats) -> Nearest:
        """At the end that is further behind."""
        first = (start - self.point) @ self.normal
        last = (end - self.point) @ self.normal
        share = (last < first).astype(np.float64)
        return Nearest(np.minimum(first, last), share)


@dataclass(frozen=True, eq=False)
class _Block:
    """A box at a pose X (4, 4), half its sizes (3,); else as a half space."""

    name: str
    beyond: str
    X: Floats
    half: Floats
    carries: bool = False
    spares_tool: bool = False

    def nearest(self, start: Floats, end: Floats) -> Nearest:
        """At an end, or where two of the six faces are as near."""
        R = self.X[:3, :3]
        p = (start - self.X[:3, 3]) @ R
        way = (end - start) @ R
        height = np.hstack([p - self.half, -p - self.half])
        slope = np.hstack([way, -way])
        share = np.zeros(len(p))
        least = height.max(axis=1)
        for t in _candidates(height, slope):
            d = (height + t[:, None] * slope).max(axis=1)
            less = d < least - 1e-12  # an end is reported rather than a point as near beside it
            least = np.where(less, d, least)
            share = np.where(less, t, share)
        return Nearest(least, share)


Obstacle = _HalfSpace | _Block  # what a robot must not touch


def _candidates(height: Floats, slope: Floats) -> list[Floats]:
    """Shares t at which the largest of lines height + t slope, (m, 6) each, may be least."""
    found = [np.ones(len(height))]
    for i, j in combinations(range(height.shape[1]), 2):
        closing = slope[:, i] - slope[:, j]
        apart = height[:, j] - height[:, i]
        t = np.divide(apart, closing, out=np.zeros(len(height)), where=closing != 0)
        found.append(np.clip(t, 0.0, 1.0))
    return found


def obstacles(robot: Robot, cell: Cell) -> tuple[Obstacle, ...]:
    """What a robot must not touch: the floor first, then the planes, then the boxes."""
    found: list[Obstacle] = []
    floor = _floor(robot, cell)
    if floor is not None:
        found.append(floor)
    for k, plane in enumerate(cell.plane, 1):
        name = f"plane '{plane.name or k}'"
        normal = np.array(plane.normal) / np.linalg.norm(plane.normal)
        found.append(_HalfSpace(name, f"behind {name}", np.array(plane.point), normal))
    for k, box in enumerate(cell.box, 1):
        name = f"box '{box.name or k}'"
        found.append(_Block(name, f"inside {name}", box.pose.matrix(), np.array(box.size) / 2))
    return tuple(found)


def _floor(robot: Robot, cell: Cell) -> _HalfSpace | None:
    """The floor of the cell, or the base plane of a robot that is mounted upright."""
    up = upwards(robot)
    if cell.floor is not None:
        if up is None:
            raise ArmtwinError(
                f"cell.floor: robot '{robot.name}' has no gravity, so that no direction is up; "
                "give a plane in place of the floor"
            )
        return _HalfSpace("the floor", "below the floor", cell.floor * up, up, carries=True)
    if up is None or np.abs(up - [0.0, 0.0, 1.0]).max() > UPRIGHT:
        return None
    name = "the plane of the robot's base"
    beyond = f"below {name}, {STAND_IN}"
    return _HalfSpace(name, beyond, np.zeros(3), up, carries=True, spares_tool=True)


def upwards(robot: Robot) -> Floats | None:
    """Unit vector against gravity in the base frame; None where there is no gravity."""
    falling = np.array(robot.description.gravity)
    size = float(np.linalg.norm(falling))
    return None if size == 0 else -falling / size


class _Line(NamedTuple):
    """A line of a robot: between which frames, what its ends are called, and its joint.

    Fixed is which of its ends never move.
    """

    start: str
    end: str
    from_what: str
    to_what: str
    joint: str
    is_tool: bool = False
    fixed: frozenset[str] = frozenset()

    def part(self, share: float) -> str:
        """What lies at a share of the way from its start to its end, in words."""
        if share <= 0:
            return self.from_what
        if share >= 1:
            return self.to_what
        return f"the line from {self.from_what} to {self.to_what}"


@lru_cache(RECENT_ROBOTS)
def _lines(robot: Robot) -> tuple[_Line, ...]:
    """The lines of a robot, from its base on."""
    assembly = robot.assembly
    joints = assembly.tree.joints
    frames = [joint.child for joint in joints] + ["base"]  # the base is body -1
    names = [joint.name for joint in joints] + ["the base"]
    found = []
    for parent, joint in zip(assembly.tree.parents, joints, strict=True):
        found.append(_Line(frames[parent], joint.child, names[parent], joint.name, joint.name))
    body, _ = assembly.frame("flange")
    last = names[body]
    found.append(_Line(frames[body], "flange", last, "the flange", last))
    if robot.description.mounted.tool:
        found.append(_Line("flange", "tool", "the flange", "the tool point", last, is_tool=True))
    fixed = _find_fixed_frames(robot, found)
    return tuple(line._replace(fixed=fixed & {line.start, line.end}) for line in found)


def _find_fixed_frames(robot: Robot, lines: Sequence[_Line]) -> frozenset[str]:
    """The frames whose origins are at one place whatever the joints do, as on the first axis."""
    some = np.random.default_rng(0).uniform(-1.0, 1.0, size=(PROBES, robot.n))
    fixed = []
    for frame, places in _ends(robot, lines, some).items():
        if np.ptp(places, axis=0).max() < TOUCH:
            fixed.append(frame)
    return frozenset(fixed)


@dataclass(frozen=True, eq=False)
class Nearness:
    """How near a robot comes to an obstacle over a motion.

    Attributes:
        obstacle: The obstacle.
        distance: Least d of all lines, (m,) [m]; negative inside, NaN where q is.
        line: Which line it is of, (m,).
        share: At which share of that line it is, (m,).
        lines: The lines.
    """

    obstacle: Obstacle
    distance: Floats
    line: NDArray[np.intp]
    share: Floats
    lines: Sequence[_Line]

    def part(self, sample: int) -> str:
        """What of the robot is nearest at a sample, in words."""
        return self.lines[int(self.line[sample])].part(float(self.share[sample]))

    def joint(self, sample: int) -> str:
        """Name of the joint that moves it."""
        return self.lines[int(self.line[sample])].joint

    @property
    def worst(self) -> int | None:
        """The sample at which the robot is nearest; None where no position is known."""
        if np.isnan(self.distance).all():
            return None
        return int(np.nanargmin(self.distance))


def nearness(robot: Robot, cell: Cell, q: Floats) -> tuple[Nearness, ...]:
    """How near a robot comes to each obstacle of its cell.

    Args:
        robot: The robot, with its tool.
        cell: What stands around it.
        q: Joint positions, (m, n); NaN where a pose is out of reach.
    """
    lines = _lines(robot)
    found = []
    for obstacle in obstacles(robot, cell):
        distance, share = np.full((2, len(q)), np.nan)
        found.append(Nearness(obstacle, distance, np.zeros(len(q), np.intp), share, lines))
    known = np.flatnonzero(~np.isnan(q[:, 0]))
    for first in range(0, len(known), CHUNK):
        some = known[first : first + CHUNK]
        ends = _ends(robot, lines, q[some])
        for near in found:
            _fill(near, ends, some)
    return tuple(found)


def stays_clear(robot: Robot, cell: Cell, q: Floats) -> bool:
    """Whether a motion (m, n) stays clear of everything in the cell; a touch does."""
    return not any((near.distance < -TOUCH).any() for near in nearness(robot, cell, q))


def _ends(robot: Robot, lines: Sequence[_Line], q: Floats) -> NamedArrays:
    """Where the frames are between which lines run, (m, 3) each."""
    frames = sorted({line.start for line in lines} | {line.end for line in lines})
    places = robot.origins(q, frames)
    return {frame: places[:, k] for k, frame in enumerate(frames)}


def _fill(near: Nearness, ends: NamedArrays, some: NDArray[np.intp]) -> None:
    """Enter how near the lines between ends come at some samples."""
    least = np.full(len(some), np.inf)
    for k, line in enumerate(near.lines):
        if line.is_tool and near.obstacle.spares_tool:
            continue
        moving = [line.start, line.end]
        if near.obstacle.carries:
            moving = [frame for frame in moving if frame not in line.fixed]
        if not moving:
            continue
        distance, share = near.obstacle.nearest(ends[moving[0]], ends[moving[-1]])
        if moving == [line.end]:
            share = np.ones(len(share))
        less = distance < least
        least = np.where(less, distance, least)
        near.line[some[less]] = k
        near.share[some[less]] = share[less]
    near.distance[some] = least
