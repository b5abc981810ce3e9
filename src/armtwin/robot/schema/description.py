"""What a robot file says, all of it: the schema of format 2."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from armtwin.files.fields import PROSE, Beside, OneOf, SourceText
from armtwin.files.shape import ALWAYS, DERIVED
from armtwin.maths.quantities import Acceleration
from armtwin.robot.schema import drive_groups, groups
from armtwin.robot.schema.servo import Servo

FORMAT = 2  # of robot files


@dataclass(frozen=True)
class Description:
    """A robot file, checked for its form; `checks` checks that it makes sense.

    Attributes:
        name: Short name.
        title: Maker and type.
        note: Joint zero, directions and sides, in words.
        gravity: Gravity vector in the base frame [m/s²]; a tilted base is a tilted
            gravity.
        source: Where numbers beside the groups come from, by their keys.
        torques_only: Why this is a model of torques alone, which is not simulated; "" for a robot.
        friction_set: The set of friction elements in use, besides those without a set.
        deviation: How well identified numbers are known.
        meshes: Surfaces of the links, from the file beside; None where it is not there.
    """

    name: str
    joint: tuple[groups.Joint, ...]
    link: tuple[groups.Link, ...]
    title: str = ""
    note: str = ""
    gravity: tuple[Acceleration, Acceleration, Acceleration] = field(
        default=(0.0, 0.0, -9.81), metadata=ALWAYS
    )
    source: dict[str, SourceText] = field(default_factory=dict)
    torques_only: str = field(default="", metadata=PROSE)
    friction_set: str = ""
    mounted: groups.Mounted = field(default_factory=groups.Mounted)
    flange: groups.Flange | None = None
    frame: tuple[groups.Frame, ...] = ()
    tool: dict[str, groups.Tool] = field(default_factory=dict)
    payload: dict[str, groups.Payload] = field(default_factory=dict)
    gear: drive_groups.Gear | None = None
    motor: tuple[drive_groups.Motor, ...] = ()
    balancer: tuple[drive_groups.Balancer, ...] = ()
    friction: tuple[drive_groups.FrictionElement, ...] = ()
    transmission: tuple[drive_groups.Transmission, ...] = ()
    hydraulic: tuple[drive_groups.Hydraulic, ...] = ()
    flexure: tuple[groups.Flexure, ...] = ()
    loop: tuple[groups.Loop, ...] = ()
    deviation: tuple[groups.Deviation, ...] = ()
    wrist: groups.Wrist | None = None
    servo: dict[str, Annotated[Servo, OneOf("kind")]] = field(default_factory=dict)
    standard_deviation: groups.StandardDeviations | None = None
    meshes: Beside = field(default=None, compare=False, repr=False, metadata=DERIVED)

    format_number: ClassVar[int] = FORMAT

    def active_friction(self) -> tuple[drive_groups.FrictionElement, ...]:
        """The friction elements in use."""
        return tuple(e for e in self.friction if e.set in ("", self.friction_set))
