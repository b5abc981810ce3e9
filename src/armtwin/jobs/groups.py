"""The groups of a job file: what is welded, how the tool is held, when the process is on.

Every group is a frozen dataclass; the keys of the file are its fields. Points and orientations are
given in the workpiece's frame.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np

from armtwin.files.fields import Flag, ask_for_one
from armtwin.jobs.uncertainty import Whole
from armtwin.maths.quantities import Time, Torque
from armtwin.maths.units import Unit
from armtwin.robot.schema.groups import Orientation, TurnCoordinate

ToolSpeed = Annotated[float, Unit("m/s", above=0, plausible=5, hint="mm/s, m/min")]
Coordinate = Annotated[float, Unit("m", plausible=20, hint="mm")]
Distance = Annotated[float, Unit("m", at_least=0, plausible=20, hint="mm")]
Radius = Annotated[float, Unit("m", above=0, plausible=5, hint="mm")]
Deviation = Annotated[float, Unit("m", above=0, plausible=0.02, hint="mm")]
Tilt = Annotated[float, Unit("rad", above=0, plausible=np.pi, hint="deg")]
Newtons = Annotated[float, Unit("N", plausible=1e5)]
Power = Annotated[float, Unit("W", above=0)]
Shift = Annotated[float, Unit("m", at_least=0, plausible=5, hint="mm")]
PartOfTolerance = Annotated[float, Unit("1", above=0)]
Change = Literal["correction", "slower stretch", "speed", "orientation", "shift", "radius"]
CHANGES: tuple[Change, ...] = get_args(Change)
Place = tuple[Coordinate, Coordinate, Coordinate]
OF_POINTS = {
    "angles": "angles belong to points, the convention of a file's angles",
    "corner": "corner belongs to points, the largest turn at a point of the file",
    "smooth": "smooth belongs to points, how far those of a file may be moved",
}
SHAPES = ("lin", "circ", "spline", "points", "ptp", "joints", "recorded")  # that a segment may have
ShareOfSpeed = Annotated[float, Unit("1", above=0)]


@dataclass(frozen=True)
class Tolerance:
    """How far the tool may be from the seam while the process is on.

    Attributes:
        lateral: To either side [m].
        vertical: Along the beam, to either side [m].
        orientation: Angle of the tool; not judged where it is not given [rad].
    """

    lateral: Deviation
    vertical: Deviation
    orientation: Tilt | None = None


@dataclass(frozen=True)
class ToolOrientation:
    """How the tool is turned along the seam; the tool's z axis is its beam.

    Attributes:
        mode: "fixed" in the workpiece's frame, "follow" the seam, or "given" at the points of the
            segments.
        tool: Orientation of the tool's frame: in the workpiece's frame (fixed; given: at the
            start), or in the travel frame, x along the seam and z as near as can be to the
            workpiece's z (follow).
    """

    tool: Orientation | None = None
    mode: Literal["fixed", "follow", "given"] = "fixed"


@dataclass(frozen=True)
class Advising:
    """What advice may change, and how far.

    Attributes:
        share: Most of the tolerance that the nominal run of an advised job may use, where nominal
            runs alone decide; else the sampled variants do.
        keep_speed: Whether the job keeps its speed; single stretches may still be run slower, and
            the smallest change is best. Without it the whole job may run at another speed, the
            shortest motion is best.
        speed_window: Lowest and highest tool speed that may be advised; by default what the
            windows of the segments allow, or 20 % less and more than the job's speed [m/s].
        shift: Furthest that the workpiece may be moved [m].
        options: What may be changed: "correction" of the commanded points, "slower stretch",
            "speed" of the whole job, "orientation" of the tool, "shift" of the workpiece, "radius"
            of rounded corners.
    """

    share: PartOfTolerance = 1.0
    keep_speed: Flag = True
    speed_window: tuple[ToolSpeed, ToolSpeed] | None = None
    shift: Shift = 0.1
    options: tuple[Change, ...] = CHANGES

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.share > 1:
            return f"share must be at most 100 % of the tolerance, got {100 * self.share:.4g} %"
        if self.speed_window is not None and not self.speed_window[0] < self.speed_window[1]:
            got = "{:g} and {:g} m/s".format(*self.speed_window)
            return f"speed_window must be the lowest and the highest, got {got}"
        if not self.options:
            return f"options must have at least one of {', '.join(CHANGES)}"
        return ""


@dataclass(frozen=True)
class Circle:
    """An arc.

    Attributes:
        via: A point between [m].
        to: Where it ends [m].
    """

    via: Place
    to: Place


@dataclass(frozen=True)
class Window:
    """Where the process works: a band of tool speeds, or a polygon of tool speed and power.

    Attributes:
        speed: Lowest and highest tool speed [m/s].
        polygon: Corners of the window, tool speed [m/s] and power [W] each.

    Ref: [Waiboer 2007, fig. 1.3]
    """

    speed: tuple[ToolSpeed, ToolSpeed] | None = None
    polygon: tuple[tuple[ToolSpeed, Power], ...] | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if (self.speed is None) == (self.polygon is None):
            got = "none" if self.speed is None else "both"
            return f"must have either speed or polygon, got {got}"
        if self.speed is not None:
            lowest, highest = self.speed
            if not lowest < highest:
                got = f"{lowest:g} and {highest:g} m/s"
                return f"speed must be the lowest and the highest, got {got}"
        if self.polygon is not None and len(self.polygon) < 3:
            return f"polygon must have at least three corners, got {len(self.polygon)}"
        return ""

    def speeds(self, power: float | None) -> list[tuple[float, float]]:
        """Lowest and highest tool speed of each range in which the process works at a power.

        The edges of a polygon that cross the power bound its ranges.
        """
        if self.polygon is None or power is None:
            return [] if self.speed is None else [self.speed]
        crossings = []
        corners = zip(self.polygon, self.polygon[1:] + self.polygon[:1], strict=True)
        for (v1, p1), (v2, p2) in corners:
            if (p1 > power) != (p2 > power):
                crossings.append(v1 + (power - p1) / (p2 - p1) * (v2 - v1))
        crossings.sort()
        return list(zip(crossings[::2], crossings[1::2], strict=True))


@dataclass(frozen=True)
class Segment:
    """A stretch of the seam, from where the one before ended.

    Attributes:
        name: What it is called in tables; by default its number.
        lin: Straight to this point [m].
        circ: Along an arc, via a point to a point.
        spline: Smoothly through these points [m].
        points: Smoothly through the points of a CSV file, with the tool's angles where it has them.
        corner: Largest turn at a point of the file that is still part of a smooth curve; a file
            that turns by more is refused there. 30 degrees where it is not given [rad].
        smooth: Largest distance by which points of the file may be moved to take its rounding out
            of the curve; as they are where it is not given [m].
        angles: Convention of the file's angles: "rpy" (columns roll, pitch, yaw), "abc" (KUKA;
            columns a, b, c) or "quaternion" (columns qw, qx, qy, qz).
        ptp: By the joints to this point, on the branch next to where they are [m]; look-ahead only.
        joints: By the joints to these positions [rad]; look-ahead only.
        recorded: As the job's reference between these times of it [s].
        blend: Radius that rounds the corner to the next segment [m].
        zone: Distance from its end within which the path may leave it for the next segment, by
            look-ahead; without it, or 0, an exact stop [m].
        orientation: The tool's orientation at its end, where orientations are given.
        orientations: The tool's orientation at each point of a spline, where they are given.
        speed: Tool speed, where it differs from the job's [m/s].
        blend_speed: Tool speed in the rounded corner, where it differs [m/s].
        joint_speed: Share of the joints' speed limits, where they are led.
        fastest: Whether it is run as fast as its window and the limits allow; look-ahead only.
        wait: Time at rest after its exact stop; look-ahead only [s].
        process: Whether the process is on.
        window: Where the process works.
        line: Line of the program that it comes from; 0 for none.
    """

    name: str = ""
    lin: Place | None = None
    circ: Circle | None = None
    spline: tuple[Place, ...] | None = None
    points: str | None = None
    ptp: Place | None = None
    joints: tuple[TurnCoordinate, ...] | None = None
    recorded: tuple[Time, Time] | None = None
    corner: Tilt | None = None
    smooth: Radius | None = None
    angles: Literal["rpy", "abc", "quaternion"] | None = None
    blend: Radius | None = None
    zone: Distance | None = None
    orientation: Orientation | None = None
    orientations: tuple[Orientation, ...] | None = None
    speed: ToolSpeed | None = None
    blend_speed: ToolSpeed | None = None
    joint_speed: ShareOfSpeed | None = None
    fastest: Flag = False
    wait: Time = 0.0
    process: Flag = True
    window: Window | None = None
    line: Whole = 0

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        given = [kind for kind in SHAPES if getattr(self, kind) is not None]
        if len(given) != 1:
            return ask_for_one(SHAPES, given)
        for key, words in OF_POINTS.items():
            if getattr(self, key) is not None and self.points is None:
                return words
        if self.spline is not None and not self.spline:
            return "spline must have at least one point"
        if self.orientations is not None and len(self.orientations) != len(self.spline or ()):
            return "orientations must be one for each point of a spline"
        if self.blend_speed is not None and self.blend is None:
            return "blend_speed needs a blend"
        if self.blend is not None and self.zone is not None:
            return "must have either blend, a radius, or zone, a distance, not both"
        is_led = self.ptp is None and self.joints is None
        if is_led and self.joint_speed is not None:
            return "joint_speed belongs to ptp and joints, which lead the joints"
        if not is_led and self.process:
            return "leads the joints, so nothing is judged on it: it needs process = false"
        if self.joint_speed is not None and self.joint_speed > 1:
            return f"joint_speed must be at most 100 %, got {100 * self.joint_speed:.4g} %"
        return ""


@dataclass(frozen=True)
class Force:
    """What acts from outside: on the tool in exactly one of three ways, or on a joint.

    Attributes:
        at: "tool", or the joint that a torque acts on.
        value: A constant force on the tool [N].
        torque: A constant torque on the tool, beside a constant force or alone [N m].
        along: Force along the seam: arc length [m] and three components [N] for each point, linear
            between them.
        file: CSV file with time or place, and fx, fy, fz (also tx, ty, tz) or torque of a joint.
        joint_torque: A constant torque on a joint [N m].
        frame: Axes of the force: the base's, the workpiece's, the seam's (x along it, z against the
            beam) or the tool's.
        process: Whether it acts only where the process is on.
        ramp: Length of the seam over which it then comes and goes, as a cutter enters [m].
    """

    at: str = "tool"
    value: tuple[Newtons, Newtons, Newtons] | None = None
    torque: tuple[Torque, Torque, Torque] | None = None
    along: tuple[tuple[Distance, Newtons, Newtons, Newtons], ...] | None = None
    file: str | None = None
    joint_torque: Torque | None = None
    frame: Literal["base", "workpiece", "seam", "tool"] = "base"
    process: Flag = False
    ramp: Distance = 0.0

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.ramp > 0 and not self.process:
            return "ramp belongs to a force that acts where the process is on, process = true"
        if self.at == "tool" and self.joint_torque is not None:
            return "joint_torque belongs to a joint, but it acts at the tool"
        ways = self._ways()
        given = [name for name, is_given in ways.items() if is_given]
        if len(given) != 1:
            return ask_for_one(ways, given)
        if self.along is not None and len(self.along) < 2:
            return f"along must have at least two points, got {len(self.along)}"
        return ""

    def _ways(self) -> dict[str, bool]:
        """The ways to give it where it acts, and which of them are used."""
        by_file = self.file is not None
        if self.at != "tool":
            return {"joint_torque": self.joint_torque is not None, "file": by_file}
        return {
            "value or torque": self.value is not None or self.torque is not None,
            "along": self.along is not None,
            "file": by_file,
        }


@dataclass(frozen=True)
class Standstill:
    """Time at rest before and after the motion, in which the drives settle.

    Attributes:
        before: Before [s].
        after: After [s].
    """

    before: Time = 1.0
    after: Time = 1.0


@dataclass(frozen=True)
class Process:
    """Where the process is on, and so the tolerance is judged.

    By time from the ramps, or by length from the ends.

    Attributes:
        after_ramp: Time from the end of the first ramp until it goes on [s].
        before_ramp: Time from when it goes off until the last ramp begins [s].
        run_in: Or: length of the seam before it goes on [m].
        run_out: Or: length of the seam after it goes off [m].
        power: Power of the laser, for windows of speed and power [W].
    """

    after_ramp: Time | None = None
    before_ramp: Time | None = None
    run_in: Distance | None = None
    run_out: Distance | None = None
    power: Power | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        for time, length in (("after_ramp", "run_in"), ("before_ramp", "run_out")):
            if getattr(self, time) is not None and getattr(self, length) is not None:
                return f"must have either {time} or {length}, not both"
        return ""
