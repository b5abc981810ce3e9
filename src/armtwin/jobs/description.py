"""What a job file says, all of it: the schema of format 1."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from armtwin.files.fields import NameOr
from armtwin.jobs import groups
from armtwin.jobs.uncertainty import Uncertainty
from armtwin.maths.batch import Record
from armtwin.maths.quantities import Angle
from armtwin.motion.cell import Cell
from armtwin.motion.posture import ELBOWS
from armtwin.motion.time_laws import TimeLaw
from armtwin.robot.files import list_shipped
from armtwin.robot.robot import Robot
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
        elbow: Angle of the elbow about the line from shoulder to wrist that a seven-axis arm holds
            [rad]; 0 is up, in the plane of axis 1. Without it, each step of the joints is the
            shortest.
        orientation: How the tool is turned.
        segment: The seam's segments, in order.
        reference: A log whose reference q_ref is the motion of a job of recorded segments.
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
        notes: What was assumed or left out where it was made from a robot program.
    """

    robot: str
    speed: groups.ToolSpeed
    tolerance: groups.Tolerance
    segment: tuple[groups.Segment, ...]
    name: str = ""
    title: str = ""
    tool: str = ""
    payload: str = ""
    workpiece: Pose = field(default_factory=Pose)
    start: groups.Place | None = None
    posture: Posture | None = None
    elbow: Angle | None = None
    orientation: groups.ToolOrientation = field(
        default_factory=lambda: groups.ToolOrientation(Orientation(rpy=(0.0, 0.0, 0.0)))
    )
    reference: str = ""
    time_law: TimeLaw = field(default_factory=lambda: TimeLaw(ramp=0.25))
    standstill: groups.Standstill = field(default_factory=groups.Standstill)
    process: groups.Process = field(default_factory=groups.Process)
    model: Model = field(default_factory=Model)
    limits: Literal["refuse", "report"] = "refuse"
    cell: Cell = field(default_factory=Cell)
    force: tuple[groups.Force, ...] = ()
    uncertainty: Uncertainty = field(default_factory=Uncertainty)
    advice: groups.Advising = field(default_factory=groups.Advising)
    override: Record = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    format_number: ClassVar[int] = 1


def name_robot(robot: Robot) -> Record:
    """The keys by which a job names a robot with what is mounted: shipped, or as a file."""
    library = {str(path): name for name, path in list_shipped().items()}
    mounted = robot.description.mounted
    file = library.get(robot.origin) or Path(robot.origin).resolve().as_posix()
    return {"robot": file, "tool": mounted.tool, "payload": mounted.payload}
