"""A job from points or poses in the base frame.

Where points have no orientation the tool's beam points straight down, against the base's z axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.sheets import Sheet, SheetColumn, read_sheet, table_of
from armtwin.jobs import groups
from armtwin.jobs.description import JobDescription, name_robot
from armtwin.maths import rotations
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.smoothing import low_pass
from armtwin.maths.units import Unit
from armtwin.motion.path import KINK, turns_of
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Orientation, Pose

ANGLES = {
    "rpy": ("roll", "pitch", "yaw"),
    "abc": ("a", "b", "c"),
    "quaternion": ("qw", "qx", "qy", "qz"),
}
HALVINGS = 24  # of the span of cut-offs, until they agree to a millionth
SLOW = 0.02  # cut-off below which values are filtered on fewer places
SAME_POINT = 1e-9  # distance [m] below which two points are one
UNIT_LENGTH = 1e-3  # by which the length of a quaternion may be off
_LENGTH = Unit("m", plausible=20, hint="mm")
_ANGLE = Unit("rad", plausible=6.3, hint="deg")
_NUMBER = Unit("1")


@dataclass(frozen=True, eq=False)
class SeamPoints:
    """Points of a file.

    Attributes:
        p: Positions, (k, 3) [m].
        R: Orientations, (k, 3, 3); None where the file has no angles.
        moved: Largest distance by which smoothing moved one [m].
    """

    p: Floats
    R: Floats | None
    moved: float = 0.0


def read_points(path: Path, angles: str | None) -> SeamPoints:
    """Read a file of points; holes, text and wrong counts are refused with the line.

    Args:
        path: The file.
        angles: Convention of its angles, one of `ANGLES`; None where it has none.
    """
    sheet = read_sheet(path)
    columns = _columns(sheet, angles)
    table = table_of(sheet, columns)
    p = table[:, :3]
    _check_distinct(sheet, p)
    if angles is None:
        return SeamPoints(p, None)
    return SeamPoints(p, _rotations(sheet, table[:, 3:], angles))


def smooth_points(points: SeamPoints, most: float) -> SeamPoints:
    """Points without what changes fast from one to the next, moved by at most a distance [m].

    Of all low-passes over the number of the point it is the slowest that keeps within the
    distance. The two ends stay, so that rounding needs twice its own distance; orientations go
    through the same low-pass.
    """
    number = np.arange(len(points.p))[:, None]
    found, slow, fast = points, 1.0 / len(points.p), 0.5
    for _ in range(HALVINGS):
        middle = float(np.sqrt(slow * fast))
        p = _pass_slow(points.p, middle)
        off = p - points.p
        near = np.exp(-2 * (middle * number) ** 2)  # over a period of the cut-off
        p -= near * off[0] + near[::-1] * off[-1]
        moved = float(np.linalg.norm(p - points.p, axis=1).max())
        if moved > most:
            slow = middle
            continue
        fast = middle
        found = replace(points, p=p, moved=moved)
    if points.R is None or found is points:
        return found
    return replace(found, R=rotations.nearest_rotation(_pass_slow(points.R, fast)))


def _pass_slow(values: Floats, cutoff: float) -> Floats:
    """Values (m, ...) without what is faster than a cut-off, in periods from one to the next.

    Slow ones are found on few even places along what is smooth already.
    """
    from scipy.interpolate import CubicSpline

    if cutoff >= SLOW:
        return low_pass(values, 1.0, cutoff)
    numbers = np.arange(len(values))
    smooth = CubicSpline(numbers, low_pass(values, 1.0, SLOW))
    places = np.linspace(0, numbers[-1], 4 + int(len(values) * cutoff / SLOW))
    few = low_pass(smooth(places), 1 / places[1], cutoff)
    return np.asarray(CubicSpline(places, few)(numbers))


def _check_distinct(sheet: Sheet, p: Floats) -> None:
    """Refuse a point that is the one before."""
    same = np.linalg.norm(np.diff(p, axis=0), axis=1) < SAME_POINT
    if same.any():
        raise sheet.error(2 + int(same.argmax()), "the point is the same as the one before")


def _rotations(sheet: Sheet, turns: Floats, angles: str) -> Floats:
    """Orientations (k, 3, 3) from the columns of a convention."""
    if angles == "quaternion":
        qw, qx, qy, qz = _unit_quaternions(sheet, turns).T
        return rotations.from_quaternion(qw, qx, qy, qz)
    if angles == "abc":
        yaw, pitch, roll = turns.T
    else:
        roll, pitch, yaw = turns.T
    return rotations.from_rpy(roll, pitch, yaw)


def _unit_quaternions(sheet: Sheet, given: Floats) -> Floats:
    """Quaternions of length 1, (k, 4)."""
    sizes = np.linalg.norm(given, axis=1)
    off = np.abs(sizes - 1) > UNIT_LENGTH
    if off.any():
        first = int(off.argmax())
        raise sheet.error(1 + first, f"the quaternion must have length 1, got {sizes[first]:.6g}")
    return np.asarray(given / sizes[:, None], dtype=np.float64)


def _check_no_angles(sheet: Sheet) -> None:
    """Refuse columns of angles where no convention is stated."""
    found = sheet.named
    for convention, names in ANGLES.items():
        if not found.keys().isdisjoint(names):
            remedy = f'state their convention, angles = "{convention}"'
            raise FileError(sheet.path, f"has the angles {', '.join(names)}: {remedy}")


def _columns(sheet: Sheet, angles: str | None) -> list[SheetColumn]:
    """The columns that are wanted, in order."""
    wanted = {"x": _LENGTH, "y": _LENGTH, "z": _LENGTH}
    if angles is None:
        _check_no_angles(sheet)
    else:
        unit = _NUMBER if angles == "quaternion" else _ANGLE
        wanted |= dict.fromkeys(ANGLES[angles], unit)
    return sheet.columns(wanted)


Quantity = float | str
SMOOTH = np.radians(30.0)  # largest turn at a point of a smooth curve
BEAM_DOWN = Orientation(rpy=(np.pi, 0.0, 0.0))


def describe_seam(
    robot: Robot,
    poses: ArrayLike | Sequence[ArrayLike],
    *,
    speed: Quantity,
    tolerance: Quantity | tuple[Quantity, Quantity],
    blend: Quantity | None,
    name: str,
) -> JobDescription:
    """A job along points or poses; arguments as of `Job.from_points`."""
    points, orientations = _read_poses(poses)
    lateral, vertical = read_tolerance(tolerance)
    radius = None if blend is None else read_quantity("blend", groups.Radius, blend)
    start, *others = orientations
    is_fixed = all(orientation == start for orientation in others)
    return JobDescription(
        name=name,
        **name_robot(robot),
        speed=read_quantity("speed", groups.ToolSpeed, speed),
        tolerance=groups.Tolerance(lateral, vertical),
        start=points[0],
        orientation=groups.ToolOrientation(start, "fixed" if is_fixed else "given"),
        segment=tuple(_segments(points, () if is_fixed else tuple(others), radius)),
    )


def read_tolerance(tolerance: Quantity | tuple[Quantity, Quantity]) -> Pair:
    """Lateral and vertical tolerance of one quantity for both, or of one each [m]."""
    lateral, vertical = tolerance, tolerance
    if isinstance(tolerance, tuple) and len(tolerance) == 2:
        lateral, vertical = tolerance
    first = read_quantity("tolerance", groups.Deviation, lateral)
    return first, read_quantity("tolerance", groups.Deviation, vertical)


def read_quantity(what: str, kind: Any, value: object) -> float:
    """SI number of a bare number, or of a text with a unit, as a field of a file takes it."""
    unit: Unit = kind.__metadata__[0]
    try:
        return unit.read_word(value) if isinstance(value, str) else unit.read(value)
    except ArmtwinError as error:
        raise ArmtwinError(f"{what} {error}") from None


def _read_poses(poses: ArrayLike | Sequence[ArrayLike]) -> tuple[list[Any], list[Orientation]]:
    """Positions, three numbers each, and the orientation at each of them."""
    try:
        X = np.asarray(poses, dtype=np.float64)
        shape = str(X.shape)
    except (TypeError, ValueError):  # neither numbers nor of one shape
        X, shape = np.empty(0), "others"
    is_pose = X.ndim == 3 and X.shape[1:] == (4, 4) and bool((X[:, 3] == (0, 0, 0, 1)).all())
    if len(X) < 2 or not (is_pose or X.shape[1:] == (3,)):
        raise ArmtwinError(
            "a seam needs two or more positions (k, 3) in m, or as many poses (k, 4, 4) with "
            f"0 0 0 1 below, in the base frame, got {shape}"
        )
    points = X[:, :3, 3] if is_pose else X
    furthest = points.flat[np.abs(points).argmax()]
    read_quantity("positions", groups.Coordinate, float(furthest))
    turned = [Pose.from_matrix(x).orientation if is_pose else BEAM_DOWN for x in X]
    return [tuple(point) for point in points.tolist()], turned


def _segments(
    points: list[Any], turned: tuple[Orientation, ...], radius: float | None
) -> list[groups.Segment]:
    """A smooth curve through points, or straight lines between them; turned at each, or fixed."""
    turns = turns_of(np.array(points))
    if radius is None and len(points) > 2:
        _refuse_corners(points, turns)
        return [groups.Segment(spline=tuple(points[1:]), orientations=turned or None)]
    found = []
    for k, point in enumerate(points[1:]):
        blend = radius if k < len(turns) and turns[k] > KINK else None
        found.append(
            groups.Segment(lin=point, orientation=turned[k] if turned else None, blend=blend)
        )
    return found


def _refuse_corners(points: list[Any], turns: Floats) -> None:
    """Refuse points whose smooth curve would leave the straight lines at a corner."""
    k = int(turns.argmax())
    if turns[k] > SMOOTH:
        x, y, z = points[k + 1]
        raise ArmtwinError(
            f"the seam turns by {np.degrees(turns[k]):.1f}° at point {k + 2}, ({x:.6g}, {y:.6g}, "
            f"{z:.6g}) m, where a smooth curve turns by at most {np.degrees(SMOOTH):.0f}°; give "
            "blend, the radius of the corners between straight lines, or more points"
        )
