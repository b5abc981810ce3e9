"""What a job file says, all of it: the schema of format 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from armtwin.files.fields import NameOr
from armtwin.jobs.groups import (
    Advising,
    Force,
    Place,
    Process,
    Segment,
    Standstill,
    Tolerance,
    ToolOrientation,
    ToolSpeed,
)
from armtwin.jobs.uncertainty import Uncertainty
from armtwin.maths.batch import Record
from armtwin.motion.cell import Cell
from armtwin.motion.posture import ELBOWS
from armtwin.motion.time_laws import TimeLaw
from armtwin.robot.schema.groups import Orientation, Pose, TurnCoordinate
from armtwin.simulation.model import Model

Posture = Annotated[tuple[TurnCoordinate, ...] | str, NameOr(ELBOWS, "the angles of the joints")]


@dataclass(frozen=True)
class JobDescription:
    """A job file, checked for its form.

    Attributes:
        name: Short name; by default the file's.
        title: What it is, in words.
        robot: A shipped robot, or a robot file beside the job.
        tool: A tool of the robot's file.
        payload: A payload of the robot's file.
        speed: Tool speed along the seam [m/s].
        tolerance: How far the tool may be from the seam.
        workpiece: Pose of the seam's frame in the base frame.
        start: Where the seam starts; not needed where the first segment's points say it [m].
        posture: Joint angles near which the robot starts [rad], or "elbow up" or "elbow down".
            Without it, the branch that stays clear of the cell and has the largest clearance;
            among equal ones the elbow is up.
        orientation: How the tool is turned.
        segment: The seam's segments, in order.
        time_law: How the tool speeds up and slows down.
        standstill: Time at rest before and after.
        process: Where the process is on.
        model: What of the robot is simulated, and how.
        limits: What to do where speed, acceleration or torque limits are broken: "refuse", or
            "report" and simulate.
        cell: Obstacles around the robot.
        force: What acts on the tool and the joints from outside.
        uncertainty: How far numbers may be off.
        advice: What advice may change, and how far.
        override: Other values for keys of the robot file, by key path.
    """

    robot: str
    speed: ToolSpeed
    tolerance: Tolerance
    segment: tuple[Segment, ...]
    name: str = ""
    title: str = ""
    tool: str = ""
    payload: str = ""
    workpiece: Pose = field(default_factory=Pose)
    start: Place | None = None
    posture: Posture | None = None
    orientation: ToolOrientation = field(
        default_factory=lambda: ToolOrientation(Orientation(rpy=(0.0, 0.0, 0.0)))
    )
    time_law: TimeLaw = field(default_factory=lambda: TimeLaw(ramp=0.25))
    standstill: Standstill = field(default_factory=Standstill)
    process: Process = field(default_factory=Process)
    model: Model = field(default_factory=Model)
    limits: Literal["refuse", "report"] = "refuse"
    cell: Cell = field(default_factory=Cell)
    force: tuple[Force, ...] = ()
    uncertainty: Uncertainty = field(default_factory=Uncertainty)
    advice: Advising = field(default_factory=Advising)
    override: Record = field(default_factory=dict)

    format_number: ClassVar[int] = 1
