"""The dataclass ToolPositions: where an instrument saw the tool, and where the joints were.

A table has a row for each posture, in metres and radians or with units in the header:

    q1,q2,...,qn,x,y,z        joint positions, or
    L1,L2,...,x,y,z           positions of the drives, by their names
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.comma_table import comma_table
from armtwin.files.opening import POINTS, read_text
from armtwin.maths.batch import Floats, Names, check_array
from armtwin.maths.units import Unit
from armtwin.robot.kinematics.strokes import drive_names, drives_slide
from armtwin.robot.robot import Robot

POINT = ("x", "y", "z")
PLACE, STROKE = Unit("m", plausible=20, hint="mm"), Unit("m", plausible=5, hint="mm")
ANGLE = Unit("rad", plausible=50, hint="deg")
MOST_PROBLEMS = 20


@dataclass(frozen=True, eq=False)
class ToolPositions:
    """Measured positions of a tool.

    Attributes:
        at: Positions of joints or drives as the controller has them, (m, n) [rad or m].
        points: Where the tool point was seen, (m, 3) [m].
        of_drives: Whether `at` are positions of the drives.
        origin: Where they come from.
    """

    at: Floats
    points: Floats
    of_drives: bool = False
    origin: str = ""

    @staticmethod
    def of(
        robot: Robot, at: ArrayLike, points: ArrayLike, *, of_drives: bool = False
    ) -> ToolPositions:
        """Positions from arrays.

        Args:
            robot: The robot.
            at: Positions of joints or drives, (m, n) [rad or m].
            points: Measured positions of the tool point, (m, 3) [m].
            of_drives: Whether `at` are positions of the drives.
        """
        seen = np.asarray(points)
        if seen.ndim != 2:
            raise ArmtwinError(f"points must have shape (m, 3), got {seen.shape}")
        what = "a row for each posture"
        count = len(drive_names(robot)) if of_drives else robot.n
        return ToolPositions(
            check_array("at", at, (len(seen), count), what, single=True),
            check_array("points", points, (len(seen), 3), what, single=True),
            of_drives,
        )

    @staticmethod
    def read(path: str | Path, robot: Robot) -> ToolPositions:
        """Positions of a robot's tool from a table (.csv)."""
        origin = str(path)
        rows = comma_table(read_text(Path(path), POINTS), "a row for each posture", origin)
        joints = tuple(f"q{j}" for j in range(1, robot.n + 1))
        drives = drive_names(robot)
        of_drives = bool(drives) and drives[0] in rows[0]
        slides = drives_slide(robot)
        if not of_drives:
            slides = tuple(joint.type == "prismatic" for joint in robot.assembly.free_joints)
        keys = drives if of_drives else joints
        units = {key: STROKE if far else ANGLE for key, far in zip(keys, slides, strict=True)}
        units |= dict.fromkeys(POINT, PLACE)
        values, problems = [], []
        for number, row in enumerate(rows, 2):
            try:
                values.append(_row(row, units))
            except ArmtwinError as error:
                problems.append(f"line {number}: {error}")
        if problems:
            raise FileError(origin, problems[:MOST_PROBLEMS], len(problems[MOST_PROBLEMS:]))
        table = np.array(values)
        return ToolPositions(table[:, : len(keys)], table[:, len(keys) :], of_drives, origin)


def _row(row: Mapping[str, float | str], units: Mapping[str, Unit]) -> list[float]:
    """The numbers of a line, in the order of the units."""
    missing: Names = tuple(key for key in units if key not in row)
    if missing:
        raise ArmtwinError(
            f"{', '.join(missing)} must be given; a row has {', '.join(units)}, or the names of "
            "all drives in place of q1, q2, ..."
        )
    values = []
    for key, unit in units.items():
        try:
            values.append(unit.read(row[key]))
        except ArmtwinError as error:
            raise ArmtwinError(f"{key} {error}") from None
    return values
