"""The numbers of a robot's geometry that positions of its tool depend on, as one vector.

    frame:    where the base is in the instrument's frame: position and rotation vector
    joint:    its zero, and the shift of its frame in its parent's frame
    cylinder: sides and angle of its triangle, and what its sensor's zero is off
    tool:     its point in the flange's frame

Ref: [Machielsen 1983, section 5.3.6]

The dataclass ToolPositions: where an instrument saw the tool, and where the joints were.

A table has a row for each posture, in metres and radians or with units in the header:

    q1,q2,...,qn,x,y,z        joint positions, or
    L1,L2,...,x,y,z           positions of the drives, by their names
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armtwin.drives.linkage import Triangle
from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.files.comma_table import Row, comma_table, read_quantity, read_rows
from armtwin.files.opening import POINTS, read_text
from armtwin.maths.batch import Floats, NamedTexts, Names, check_array
from armtwin.maths.rotations import about
from armtwin.maths.units import Unit
from armtwin.robot.kinematics.as_built import apply_deviations
from armtwin.robot.kinematics.strokes import drive_names, drives_slide, joint_positions
from armtwin.robot.parameters import renew_source
from armtwin.robot.robot import Robot
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.drive_groups import Hydraulic
from armtwin.robot.schema.groups import Deviation, Joint, Pose
from armtwin.robot.schema.servo import Proportional
from armtwin.robot.showing.scene import sides

POINT = ("x", "y", "z")
PLACE, STROKE = Unit("m", plausible=20, hint="mm"), Unit("m", plausible=5, hint="mm")
ANGLE = Unit("rad", plausible=50, hint="deg")


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
        table = np.array(read_rows(rows, partial(_row, units=units), origin))
        return ToolPositions(table[:, : len(keys)], table[:, len(keys) :], of_drives, origin)


def _row(row: Row, units: Mapping[str, Unit]) -> list[float]:
    """The numbers of a line, in the order of the units."""
    missing: Names = tuple(key for key in units if key not in row)
    if missing:
        raise ArmtwinError(
            f"{', '.join(missing)} must be given; a row has {', '.join(units)}, or the names of "
            "all drives in place of q1, q2, ..."
        )
    return [read_quantity(row, key, unit) for key, unit in units.items()]


FRAME = ("frame.x", "frame.y", "frame.z", "frame.rx", "frame.ry", "frame.rz")
OF_JOINT = ("zero", "x", "y", "z")
OF_DRIVE = ("long_side", "short_side", "angle", "zero")
TOOL = ("tool.x", "tool.y", "tool.z")
ANGLES = ("zero", "angle", "rx", "ry", "rz")
STEP = 1e-6  # of a number, for slopes [m or rad]
NEVER = 9  # rank of a number that is not asked for


@dataclass(frozen=True, eq=False)
class RobotGeometry:
    """The geometry of a robot.

    Attributes:
        prior: The robot as its file has it.
        of_drives: Whether postures are positions of the drives.
        free_frame: Whether the base is somewhere in the instrument's frame.
        only: Names of numbers, or of what has several, that may change; all where it is empty.
    """

    prior: Robot
    of_drives: bool = False
    free_frame: bool = False
    only: Names = ()

    def check(self) -> None:
        """Refuse names that are no numbers."""
        owners = dict.fromkeys(name.rpartition(".")[0] for name in self.names)
        for name in self.only:
            if name not in (*self.names, *owners):
                hint = did_you_mean(name, [*owners, *self.names])
                raise ArmtwinError(
                    f"'{name}' is no number of the geometry of '{self.prior.name}'. {hint}"
                )

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints, in the order of the file."""
        return self.prior.description.joint

    @property
    def drives(self) -> tuple[Hydraulic, ...]:
        """The drives whose numbers belong to the geometry."""
        return self.prior.description.hydraulic if self.of_drives else ()

    @cached_property
    def names(self) -> Names:
        """Names of the numbers, (p,)."""
        of_joints = [f"{joint.name}.{key}" for joint in self.joints for key in OF_JOINT]
        of_drives = [f"{drive.name}.{key}" for drive in self.drives for key in OF_DRIVE]
        return (*FRAME, *of_joints, *of_drives, *TOOL)

    @cached_property
    def units(self) -> Names:
        """Their units, (p,)."""
        turning = [drive.name for drive in self.drives if drive.linkage is None]
        units = []
        for name in self.names:
            owner, _, key = name.rpartition(".")
            zero_turns = owner in turning or owner not in [drive.name for drive in self.drives]
            is_angle = key in ANGLES and (key != "zero" or zero_turns)
            units.append("rad" if is_angle else "m")
        return tuple(units)

    @cached_property
    def start(self) -> Floats:
        """The numbers of the file, (p,)."""
        known = {deviation.joint: deviation for deviation in self.prior.description.deviation}
        numbers = [0.0] * len(FRAME)
        for joint in self.joints:
            deviation = known.get(joint.name, Deviation(joint.name, ""))
            numbers += [deviation.zero, *deviation.shift]
        for drive in self.drives:
            triangle = drive.linkage
            own = (0.0, 0.0, 0.0) if triangle is None else (*sides(triangle), triangle.angle)
            numbers += [*own, 0.0]
        return np.array([*numbers, *_tool_point(self.prior.description)])

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """In which order numbers explain what several could, (p,).

        First the frame, then what the controller has a number for (triangles and zeros of drives,
        else zeros of joints), lengths that are not zero, and the rest; the tool after the arm.
        """
        ranks = [0 if self.free_frame else NEVER] * len(FRAME)
        for joint in self.joints:
            zero = NEVER if joint.type == "prismatic" else 5 if self.of_drives else 1
            ranks += [zero, *(2 if abs(x) > 0 else 4 for x in joint.origin.position)]
        has_zeros = _zeros(self.prior.description)
        for drive in self.drives:
            ranks += [NEVER if drive.linkage is None else 1] * 3
            ranks.append(1 if has_zeros else NEVER)
        point = _tool_point(self.prior.description)
        has_tool = self.prior.description.flange is not None
        ranks += [(3 if abs(x) > 0 else 6) if has_tool else NEVER for x in point]
        return np.where(self._may_change(), ranks, NEVER)

    def _may_change(self) -> list[bool]:
        """Which numbers were asked for; those of the frame always are."""
        asked = {*self.only, "frame"}
        flags = []
        for name in self.names:
            flags.append(not self.only or name in asked or name.rpartition(".")[0] in asked)
        return flags

    def _parts(self, numbers: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Frame (6,), joints (J, 4), drives (D, 4) and tool (3,)."""
        first = len(FRAME)
        last = first + 4 * len(self.joints)
        of_joints = numbers[first:last].reshape(-1, 4)
        return numbers[:first], of_joints, numbers[last:-3].reshape(-1, 4), numbers[-3:]

    def describe(self, numbers: Floats, source: str, *, as_deviations: bool = False) -> Description:
        """The description with these numbers, (p,).

        Args:
            numbers: The numbers.
            source: Where those that changed come from.
            as_deviations: Whether joints keep their frames and get deviations, which the
                controller does not know.
        """
        _, of_joints, of_drives, point = self._parts(numbers)
        _, joints_before, drives_before, point_before = self._parts(self.start)
        d = self.prior.description
        deviations = []
        for joint, (zero, x, y, z) in zip(self.joints, of_joints.tolist(), strict=True):
            if zero or x or y or z:
                deviations.append(Deviation(joint.name, source, (x, y, z), zero))
        d = replace(d, deviation=tuple(deviations))
        if not as_deviations:
            renewed = of_joints != joints_before
            d = _with_sources(apply_deviations(d), renewed, source)
        if (of_drives != drives_before).any():
            d = _with_drives(d, of_drives, source)
        return d if (point == point_before).all() else _with_tool_point(d, point, source)

    def points(self, numbers: Floats, at: Floats) -> Floats:
        """Where the instrument sees the tool point at positions (m, n), (m, 3)."""
        robot = self.prior.with_numbers(self.describe(numbers, ""))
        frame, _, of_drives, _ = self._parts(numbers)
        q = at
        if self.of_drives:
            q = at.copy()
            q[:, : len(of_drives)] += of_drives[:, 3]
            q = joint_positions(robot, q, self.prior.home)
        p = robot.forward_kinematics(q)[:, :3, 3]
        turn = float(np.linalg.norm(frame[3:]))
        R = about(frame[3:] / turn, turn) if turn else np.eye(3)
        return p @ R.T + frame[:3]

    def slopes(self, numbers: Floats, at: Floats, which: Sequence[int]) -> Floats:
        """Change of the points with some of the numbers, by central differences, (m, 3, k)."""
        columns = []
        for k in which:
            step = np.zeros(len(numbers))
            step[k] = STEP
            ahead, behind = self.points(numbers + step, at), self.points(numbers - step, at)
            columns.append((ahead - behind) / (2 * STEP))
        return np.stack(columns, axis=-1)


def _zeros(d: Description) -> bool:
    """Whether a servo has zeros of its sensors."""
    servos = d.servo.values()
    return any(isinstance(servo, Proportional) and servo.sensor_zero for servo in servos)


def _tool_point(d: Description) -> tuple[float, float, float]:
    """The tool point in the flange's frame, else the flange in its link's."""
    if d.mounted.tool:
        return d.tool[d.mounted.tool].tcp.position
    return (0.0, 0.0, 0.0) if d.flange is None else d.flange.origin.position


def _with_tool_point(d: Description, point: Floats, source: str) -> Description:
    x, y, z = point.tolist()

    def moved(pose: Pose) -> Pose:
        return replace(pose, position=(x, y, z))

    name = d.mounted.tool
    if name:
        tool = d.tool[name]
        texts = _renew(tool.source, source, "tcp", ("body",))
        return replace(d, tool=d.tool | {name: replace(tool, tcp=moved(tool.tcp), source=texts)})
    assert d.flange is not None
    return replace(d, flange=replace(d.flange, origin=moved(d.flange.origin), source=source))


def _with_sources(d: Description, renewed: NDArray[np.bool_], source: str) -> Description:
    """The description with the sources of joints whose numbers were renewed, (J, 4)."""
    joints = []
    for joint, flags in zip(d.joint, renewed.tolist(), strict=True):
        if any(flags):
            numbers = {"origin": dict(zip(OF_JOINT, flags, strict=True))}
            joint = replace(joint, source=renew_source(joint.source, source, numbers))
        joints.append(joint)
    return replace(d, joint=tuple(joints))


def _with_drives(d: Description, numbers: Floats, source: str) -> Description:
    """The description with other triangles and sensor zeros, (D, 4)."""
    cylinders = []
    for drive, (a, b, angle, _) in zip(d.hydraulic, numbers.tolist(), strict=True):
        if drive.linkage is not None:
            triangle = Triangle(a**2 + b**2, 2 * a * b, angle)
            texts = _renew(drive.source, source, "linkage", ("compliance", "valve"))
            drive = replace(drive, linkage=triangle, source=texts)
        cylinders.append(drive)
    servos = dict(d.servo)
    for name, servo in d.servo.items():
        if isinstance(servo, Proportional) and servo.sensor_zero:
            zeros = (np.array(servo.sensor_zero) + numbers[:, 3]).tolist()
            texts = _renew(servo.source, source, "sensor_zero", ("gain", "sensor_gain"))
            servos[name] = replace(servo, sensor_zero=tuple(zeros), source=texts)
    return replace(d, hydraulic=tuple(cylinders), servo=servos)


def _renew(old: str | NamedTexts, source: str, key: str, others: Names) -> str | NamedTexts:
    """The source of a group of which one key was renewed."""
    rest = others if isinstance(old, str) else tuple(name for name in old if name != key)
    return renew_source(old, source, {key: {"": True}}, rest)
