"""Points of a seam from a CSV file: x, y, z and the tool's angles, units in the header as "x [mm]".

Values are separated by commas; or by semicolons, and then numbers may have a decimal comma.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armtwin.errors import FileError
from armtwin.jobs.sheets import Sheet, SheetColumn, read_sheet, table_of
from armtwin.maths import rotations
from armtwin.maths.batch import Floats
from armtwin.maths.units import Unit

ANGLES = {
    "rpy": ("roll", "pitch", "yaw"),
    "abc": ("a", "b", "c"),
    "quaternion": ("qw", "qx", "qy", "qz"),
}
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
    """

    p: Floats
    R: Floats | None


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
            raise FileError(str(sheet.path), [f"has the angles {', '.join(names)}: {remedy}"])


def _columns(sheet: Sheet, angles: str | None) -> list[SheetColumn]:
    """The columns that are wanted, in order."""
    wanted = {"x": _LENGTH, "y": _LENGTH, "z": _LENGTH}
    if angles is None:
        _check_no_angles(sheet)
    else:
        unit = _NUMBER if angles == "quaternion" else _ANGLE
        wanted |= dict.fromkeys(ANGLES[angles], unit)
    return sheet.columns(wanted)
