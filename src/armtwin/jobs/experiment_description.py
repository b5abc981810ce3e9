"""What an experiment file says, all of it: the schema of format 1."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from armtwin.files.fields import OneOf
from armtwin.jobs.setpoints import Duration, Level, Setpoint
from armtwin.maths.batch import NamedTexts, Record
from armtwin.maths.quantities import Frequency, Number
from armtwin.robot.schema.groups import TurnCoordinate
from armtwin.simulation.clamped_tool import ToolClamp
from armtwin.simulation.model import Model
from armtwin.simulation.setpoints import Unit

FeatureName = Literal[
    "first_peak",
    "period",
    "overshoot",
    "settling",
    "final",
    "rms",
    "largest",
    "lost_motion",
    "glitch",
    "clamping",
]


@dataclass(frozen=True)
class ForeignLoad:
    """An external FMU that applies forces; it is run only where that is asked for.

    Attributes:
        unit: The .fmu file, beside the experiment.
        inputs: The signal of each of its inputs: "q.JOINT", "v.JOINT", "tool.x" ..
        outputs: Where each of its outputs acts: a joint, "force.x" .., "moment.x" ..
        start: Values of its parameters.
        timeout: Longest time that it may take for an answer [s].
    """

    unit: str
    outputs: NamedTexts
    inputs: NamedTexts = field(default_factory=dict)
    start: dict[str, Number] = field(default_factory=dict)
    timeout: Duration = 10.0


@dataclass(frozen=True)
class BenchSetup:
    """A transmission on a bench; set-points on "torque" or on "position" of its motor.

    Attributes:
        robot: A robot of whose joint the numbers are taken; none for numbers that are all given.
        axis: That joint.
        bench: Numbers of the bench, as `Bench` names them; they come before the robot's.
        foreign: An external FMU that acts on the joint, which is called "joint".
    """

    robot: str = ""
    axis: str = ""
    bench: Record = field(default_factory=dict)
    foreign: ForeignLoad | None = None
    kind: Literal["bench"] = "bench"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if bool(self.robot) != bool(self.axis):
            return "robot and axis belong together: the joint whose transmission is on the bench"
        return ""


@dataclass(frozen=True)
class RobotSetup:
    """A robot under its servo; set-points on its joints, the others hold the posture.

    Attributes:
        robot: A shipped robot, or a robot file beside the experiment.
        posture: Joint positions at the start [rad].
        tool: A tool of the robot's file.
        payload: A payload of the robot's file.
        model: What of the robot is simulated, and how.
        clamp: What holds the tool, where it is clamped.
        foreign: An external FMU that acts on the robot.
        override: Other values for keys of the robot file, by key path.
    """

    robot: str
    posture: tuple[TurnCoordinate, ...]
    tool: str = ""
    payload: str = ""
    model: Model = field(default_factory=Model)
    clamp: ToolClamp | None = None
    foreign: ForeignLoad | None = None
    override: Record = field(default_factory=dict)
    kind: Literal["robot"] = "robot"


@dataclass(frozen=True)
class HydraulicSetup:
    """A robot whose proportional servo drives valves; it starts in equilibrium.

    Attributes:
        robot: A shipped robot, or a robot file beside the experiment.
        coordinates: What set-points are of: "volts" of the drives' sensors, their "strokes"
            (lengths of cylinders, angles of motors), or the "wrist" (r, z, phi, gamma, psi).
        start: Where coordinates that no set-point drives are held, by name; by default where the
            sensors read zero.
        tool: A tool of the robot's file.
        payload: A payload of the robot's file.
        model: Other values than those of the robot's proportional servo and smooth friction.
        override: Other values for keys of the robot file, by key path.
    """

    robot: str
    coordinates: Unit = "volts"
    start: dict[str, Level] = field(default_factory=dict)
    tool: str = ""
    payload: str = ""
    model: Record = field(default_factory=dict)
    override: Record = field(default_factory=dict)
    kind: Literal["hydraulic"] = "hydraulic"


Setup = BenchSetup | RobotSetup | HydraulicSetup


@dataclass(frozen=True)
class ExperimentDescription:
    """An experiment file, checked for its form.

    Attributes:
        setup: What is tested: a bench, a robot, a hydraulic robot.
        setpoint: What drives it.
        duration: How long [s]; a bench driven by a file lasts as long as that.
        rate: Rate of the log [Hz]; a bench driven by a file logs at the file's times.
        features: What is read off the responses; "final" is where one ends, as a share of the step.
        name: Short name; by default the file's.
        title: What it is, in words.
    """

    setup: Annotated[Setup, OneOf("kind")]
    setpoint: tuple[Annotated[Setpoint, OneOf("kind")], ...]
    duration: Duration | None = None
    rate: Frequency | None = None
    features: tuple[FeatureName, ...] = ()
    name: str = ""
    title: str = ""

    format_number: ClassVar[int] = 1

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if not self.setpoint:
            return "needs at least one [[setpoint]]"
        driven = [point.on for point in self.setpoint]
        for k, name in enumerate(driven):
            if name in driven[:k]:
                return f"setpoint.{k + 1}.on must differ from the others, got '{name}' twice"
        return ""
