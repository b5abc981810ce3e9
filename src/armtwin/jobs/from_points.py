"""A job from points or poses in the base frame, for a robot that has a file.

Where points have no orientation the tool's beam points straight down, against the base's z axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.jobs.description import JobDescription
from armtwin.jobs.groups import (
    Coordinate,
    Deviation,
    Radius,
    Segment,
    Tolerance,
    ToolOrientation,
    ToolSpeed,
)
from armtwin.maths.batch import Floats
from armtwin.maths.units import Unit
from armtwin.motion.path import KINK, turns_of
from armtwin.robot.files import shipped
from armtwin.robot.groups import Orientation
from armtwin.robot.robot import Robot

Quantity = float | str
SMOOTH = np.radians(30.0)  # largest turn at a point of a smooth curve
BEAM_DOWN = Orientation(rpy=(np.pi, 0.0, 0.0))


def describe_seam(
    robot: Robot | str | Path,
    poses: Sequence[ArrayLike],
    *,
    speed: Quantity,
    tolerance: Quantity | Sequence[Quantity],
    blend: Quantity | None,
    name: str,
) -> JobDescription:
    """A job along points or poses; straight between two, or between all where corners are blended.

    Args:
        robot: The robot, tool mounted, or the name or file of one.
        poses: Positions [m] or poses (4, 4) of the tool in the base frame.
        speed: Tool speed [m/s].
        tolerance: To either side, lateral and vertical; or both of them, in this order [m].
        blend: Radius of the corners between straight lines; None for a smooth curve [m].
        name: What the job is called.
    """
    points, orientations = _read_poses(poses)
    reference, tool, payload = refer_to(robot)
    both = (tolerance, tolerance) if isinstance(tolerance, float | int | str) else tuple(tolerance)
    if len(both) != 2:
        raise ArmtwinError(f"tolerance must be one number, or lateral and vertical, got {both}")
    lateral, vertical = (read_quantity("tolerance", Deviation, value) for value in both)
    start, *others = orientations
    is_fixed = all(orientation == start for orientation in others)
    turned = [None] * len(others) if is_fixed else others
    radius = None if blend is None else read_quantity("blend", Radius, blend)
    return JobDescription(
        name=name,
        robot=reference,
        tool=tool,
        payload=payload,
        speed=read_quantity("speed", ToolSpeed, speed),
        tolerance=Tolerance(lateral, vertical),
        start=_place(points[0]),
        orientation=ToolOrientation(start, "fixed" if is_fixed else "given"),
        segment=tuple(_segments(points, turned, radius)),
    )


def read_quantity(what: str, kind: Any, value: object) -> float:
    """SI number of a bare number, or of a text with a unit, as a field of a file takes it."""
    unit: Unit = kind.__metadata__[0]
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return unit.read_word(value) if isinstance(value, str) else unit.read(value)
    except ArmtwinError as error:
        raise ArmtwinError(f"{what} {error}") from None


def refer_to(robot: Robot | str | Path) -> tuple[str, str, str]:
    """How a job file names a robot, and the tool and the payload that it carries."""
    if not isinstance(robot, Robot):
        robot = Robot.load(robot)
    named = {str(path): name for name, path in shipped().items()}
    mounted = robot.description.mounted
    try:
        file = Robot.load(robot.origin)
        same = file.with_tool(mounted.tool or None).with_payload(mounted.payload or None) == robot
    except ArmtwinError:
        same = False
    own = file.description.mounted if same else mounted
    if not same or (own.tool and not mounted.tool) or (own.payload and not mounted.payload):
        raise ArmtwinError(
            f"robot '{robot.name}' is not as in a file, and a job names a file: write it by "
            'robot.save("my.toml") and give at.Robot.load("my.toml")'
        )
    reference = named.get(robot.origin) or Path(robot.origin).resolve().as_posix()
    return reference, mounted.tool, mounted.payload


def _read_poses(poses: Sequence[ArrayLike]) -> tuple[Floats, list[Orientation]]:
    """Positions (k, 3), and the orientation at each of them.

    A position keeps the orientation of the pose before it, at the start that of the first pose.
    """
    if len(poses) < 2:
        raise ArmtwinError(f"a seam needs at least two points or poses, got {len(poses)}")
    points = []
    given: list[Orientation | None] = []
    for k, pose in enumerate(poses, 1):
        values = np.asarray(pose, dtype=object)
        if values.shape not in ((3,), (4, 4)):
            raise ArmtwinError(
                f"point {k} must be three coordinates in m or a pose (4, 4) in the base frame, "
                f"got shape {values.shape}"
            )
        column = values if values.ndim == 1 else values[:3, 3]
        points.append([read_quantity(f"point {k}", Coordinate, x) for x in column])
        given.append(None if values.ndim == 1 else _orientation(values, k))
    current = next((x for x in given if x is not None), BEAM_DOWN)
    orientations = []
    for orientation in given:
        current = orientation or current
        orientations.append(current)
    return np.array(points), orientations


def _orientation(pose: Any, k: int) -> Orientation:
    """Orientation of a pose (4, 4)."""
    ex, ey, ez = (tuple(map(float, row)) for row in pose[:3, :3])
    found = Orientation(matrix=(ex, ey, ez))  # type: ignore[arg-type]
    problem = found.problem()
    if problem or pose[3].tolist() != [0, 0, 0, 1]:
        raise ArmtwinError(f"pose {k} must be a rotation and a position over a row 0 0 0 1")
    return found


def _segments(
    points: Floats, turned: Sequence[Orientation | None], radius: float | None
) -> list[Segment]:
    """The segments of a seam through points, (k, 3)."""
    turns = turns_of(points)
    if radius is None and len(points) > 2:
        _refuse_corners(points, turns)
        ends = None if turned[0] is None else tuple(turned)
        return [Segment(spline=tuple(map(_place, points[1:])), orientations=ends)]  # type: ignore[arg-type]
    found = []
    for k, (point, end) in enumerate(zip(points[1:], turned, strict=True)):
        is_corner = k < len(turns) and turns[k] > KINK
        found.append(
            Segment(lin=_place(point), orientation=end, blend=radius if is_corner else None)
        )
    return found


def _refuse_corners(points: Floats, turns: Floats) -> None:
    """Refuse points whose smooth curve would leave the straight lines at a corner."""
    k = int(turns.argmax())
    if turns[k] > SMOOTH:
        x, y, z = 1e3 * points[k + 1]
        raise ArmtwinError(
            f"the seam turns by {np.degrees(turns[k]):.1f}° at point {k + 2}, ({x:.6g}, {y:.6g}, "
            f"{z:.6g}) mm, where a smooth curve turns by at most {np.degrees(SMOOTH):.0f}°; give "
            "blend, the radius of the corners between straight lines, or more points"
        )


def _place(point: Floats) -> tuple[float, float, float]:
    x, y, z = point.tolist()
    return x, y, z
