"""The groups of a robot file that describe the arm: joints, links, frames, tools.

Every group is a frozen dataclass; the keys of the file are its fields. `source` says where the
numbers come from: one text for the group, or a table with a text for each key.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files import fields
from armtwin.files.shape import DERIVED, kind_from
from armtwin.maths import quantities as si, rotations
from armtwin.maths.batch import Floats, Names
from armtwin.maths.units import Unit

TurnCoordinate = Annotated[float, Unit("rad", plausible=4 * np.pi, hint="deg")]
MimicOffset = Annotated[float, Unit("rad", plausible=4 * np.pi, hint="deg", also="m")]
TurnRate = Annotated[float, Unit("rad/s", above=0, plausible=100, hint="deg/s, rpm")]
TurnAcceleration = Annotated[float, Unit("rad/s^2", above=0)]
SlideRate = Annotated[float, Unit("m/s", above=0)]
SlideAcceleration = Annotated[float, Unit("m/s^2", above=0)]
LargestTorque = Annotated[float, Unit("N m", above=0)]
LargestForce = Annotated[float, Unit("N", above=0)]
TensionStiffness = Annotated[float, Unit("N", above=0)]
BendingStiffness = Annotated[float, Unit("N m^2", above=0)]
MOST_ELEMENTS = 64  # of a beam


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_ELEMENTS:
        contract = f"must be a whole number from 1 to {MOST_ELEMENTS}"
        raise ArmtwinError(f"{contract}, got {value!r:.40}")
    return value


Elements = Annotated[int, fields.Read(_count)]
SmallLength = Annotated[float, Unit("m", plausible=0.05, hint="mm")]
SmallAngle = Annotated[float, Unit("rad", plausible=0.1, hint="deg")]


@dataclass(frozen=True)
class Orientation:
    """A rotation, in exactly one of four ways.

    Attributes:
        rpy: Roll, pitch, yaw about fixed x, y, z (URDF) [rad].
        abc: KUKA's A, B, C: about z, then the new y, then the new x [rad].
        quaternion: Real part first.
        matrix: Rows of the rotation matrix.
    """

    rpy: tuple[si.Angle, si.Angle, si.Angle] | None = None
    abc: tuple[si.Angle, si.Angle, si.Angle] | None = None
    quaternion: tuple[si.Number, si.Number, si.Number, si.Number] | None = None
    matrix: tuple[si.Direction, si.Direction, si.Direction] | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        ways = ("rpy", "abc", "quaternion", "matrix")
        given = [way for way in ways if getattr(self, way) is not None]
        if len(given) != 1:
            return fields.ask_for_one(ways, given)
        if self.quaternion is not None:
            length = np.linalg.norm(self.quaternion)
            if abs(length - 1) > 1e-6:
                return f"quaternion must have length 1, got {length:.6g}"
        if self.matrix is not None:
            R = np.array(self.matrix)
            off = np.abs(R @ R.T - np.eye(3)).max()
            if off > 1e-6 or np.linalg.det(R) < 0:
                return "matrix must be a rotation (orthonormal, determinant +1)"
        return ""

    def rotation(self) -> Floats:
        """Rotation matrix (3, 3)."""
        if self.rpy is not None:
            return rotations.from_rpy(*self.rpy)
        if self.abc is not None:
            return rotations.from_rpy(self.abc[2], self.abc[1], self.abc[0])
        if self.quaternion is not None:
            return rotations.from_quaternion(*self.quaternion)
        return rotations.nearest_rotation(np.array(self.matrix, dtype=np.float64)[None])[0]


@dataclass(frozen=True)
class Pose:
    """Position and orientation of a frame in another; nothing given is no shift and no turn."""

    position: si.Point = (0.0, 0.0, 0.0)
    orientation: Orientation = field(default_factory=lambda: Orientation(rpy=(0.0, 0.0, 0.0)))

    def matrix(self) -> Floats:
        """Homogeneous matrix (4, 4)."""
        return rotations.pose(self.orientation.rotation(), self.position)

    @staticmethod
    def from_matrix(X: Floats) -> Pose:
        """The pose of a homogeneous matrix, its rotation kept entry by entry."""
        x, y, z = X[:3, 3].tolist()
        R = X[:3, :3]
        if np.array_equal(R, np.eye(3)):
            return Pose(position=(x, y, z))
        ex, ey, ez = map(tuple, R.tolist())
        return Pose(position=(x, y, z), orientation=Orientation(matrix=(ex, ey, ez)))


@dataclass(frozen=True)
class TurnLimits:
    """Limits of a revolute joint; what is not given is not limited.

    Attributes:
        lower: Smallest angle [rad].
        upper: Largest angle [rad].
        velocity: Largest speed [rad/s].
        acceleration: Largest acceleration [rad/s²].
        torque: Largest joint torque [N m].
    """

    lower: TurnCoordinate | None = None
    upper: TurnCoordinate | None = None
    velocity: TurnRate | None = None
    acceleration: TurnAcceleration | None = None
    torque: LargestTorque | None = None
    source: fields.Source | None = None
    kind: Literal["revolute"] = field(default="revolute", metadata=DERIVED)


@dataclass(frozen=True)
class SlideLimits:
    """Limits of a prismatic joint; what is not given is not limited.

    Attributes:
        lower: Smallest displacement [m].
        upper: Largest displacement [m].
        velocity: Largest speed [m/s].
        acceleration: Largest acceleration [m/s²].
        torque: Largest joint force [N].
    """

    lower: si.Length | None = None
    upper: si.Length | None = None
    velocity: SlideRate | None = None
    acceleration: SlideAcceleration | None = None
    torque: LargestForce | None = None
    source: fields.Source | None = None
    kind: Literal["prismatic"] = field(default="prismatic", metadata=DERIVED)


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another one, q = multiplier q_joint + offset, as in a parallelogram."""

    joint: str
    multiplier: si.Number = 1.0
    offset: MimicOffset = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint between two links.

    Attributes:
        name: Name of the joint.
        type: "revolute" or "prismatic".
        parent: Link that carries the joint.
        child: Link that moves; its frame is the joint's frame, moved by q.
        origin: Pose of the joint's frame in the parent's frame at q = 0.
        axis: Axis in the joint's frame; its length does not matter.
        mimic: The joint it follows, if it has no coordinate of its own.
    """

    name: str
    parent: str
    child: str
    source: fields.Source
    type: Literal["revolute", "prismatic"] = "revolute"
    origin: Pose = field(default_factory=Pose)
    axis: si.Direction = (0.0, 0.0, 1.0)
    limits: Annotated[TurnLimits | SlideLimits, fields.OneOf("kind")] | None = field(
        default=None, metadata=kind_from("type")
    )
    mimic: Mimic | None = None


@dataclass(frozen=True)
class SixInertias:
    """Inertia about a stated point; products are tensor components, xy = -∫ x y dm [kg m²]."""

    xx: si.Inertia
    yy: si.Inertia
    zz: si.Inertia
    xy: si.Inertia = 0.0
    xz: si.Inertia = 0.0
    yz: si.Inertia = 0.0
    about: Literal["com", "origin"] = "com"


@dataclass(frozen=True)
class Body:
    """Mass, centre of mass and inertia, in a frame fixed to the link, flange or base it belongs to.

    Attributes:
        mass: Mass [kg].
        com: Centre of mass in the body's frame [m].
        first_moment: In place of com: mass times com [kg m], also for a mass of 0.
        inertia: Inertia about the centre of mass or the frame's origin, axes of the frame.
        frame: Pose of the frame in which these are given.
    """

    mass: si.Mass
    com: si.Point | None = None
    first_moment: tuple[si.FirstMoment, si.FirstMoment, si.FirstMoment] | None = None
    inertia: SixInertias | None = None
    frame: Pose = field(default_factory=Pose)


@dataclass(frozen=True)
class LinkBeam:
    """A part of a link that bends and twists, from the link's joint to something that it carries.

    It counts where a question is asked of the robot with flexible links.

    Attributes:
        to: What the beam ends at: a joint, "flange" or "tool".
        EA: Stiffness in tension [N].
        GJ: Stiffness in torsion [N m²].
        EIy: Stiffness in bending about the section's y [N m²].
        EIz: Stiffness in bending about the section's z [N m²].
        y: Direction of the section's y in the link's frame; none where EIy and EIz are equal.
        mass: Part of the link's mass that bends with the beam, spread evenly [kg].
        relaxation: Damping as a time: the stress of the rates over the stiffness [s].
        elements: Number of beam elements.
        stretches: Whether its length changes too.
    """

    to: str
    EA: TensionStiffness
    GJ: BendingStiffness
    EIy: BendingStiffness
    EIz: BendingStiffness
    source: fields.Source
    y: si.Direction | None = None
    mass: si.Mass = 0.0
    relaxation: si.Time = 0.0
    elements: Elements = 1
    stretches: fields.Flag = False


@dataclass(frozen=True)
class Loop:
    """What closes a loop of links: a rod between two pins, or with an axis a hinge at one place.

    It counts where a question is asked of the robot as a structure; see docs/elements.md.

    Attributes:
        name: Name of the rod or hinge.
        link_a: First link that it joins.
        a: Its pin, in the frame of that link.
        link_b: Second link.
        b: Its pin there; of a hinge both pins are one place at q = 0.
        passive: Joints that follow through this loop: no drive, no coordinate of their own.
        axis: Direction of a hinge in the frame of link_a; none for a rod.
    """

    name: str
    link_a: str
    a: si.Point
    link_b: str
    b: si.Point
    passive: Names
    source: fields.Source
    axis: si.Direction | None = None


@dataclass(frozen=True)
class Link:
    """A body of the tree.

    Attributes:
        name: Name of the link and of its frame.
        body: Mass and inertia; none for a link without mass.
        beam: Parts of it that bend.
        unphysical: Reason why these numbers are used although no real body has them.
        uncertainty: How far its mass may be off, as "10 %".
    """

    name: str
    source: fields.Source
    body: Body | None = None
    beam: tuple[LinkBeam, ...] = ()
    unphysical: str = field(default="", metadata=fields.PROSE)
    uncertainty: fields.Width | None = None


@dataclass(frozen=True)
class Frame:
    """A named frame on a link."""

    name: str
    link: str
    source: fields.Source
    origin: Pose = field(default_factory=Pose)


@dataclass(frozen=True)
class Flange:
    """Where tools are mounted.

    Attributes:
        link: Link that carries the flange.
        origin: Pose of the flange's frame in the link's frame.
    """

    link: str
    source: fields.Source
    origin: Pose = field(default_factory=Pose)


@dataclass(frozen=True)
class Tool:
    """A tool on the flange.

    Attributes:
        tcp: Pose of the tool's frame in the flange's frame: the origin is the tool point, z is the
            beam.
        body: Mass and inertia in the flange's frame.
        uncertainty: How far its mass and its size may be off: one width for both, or
            { mass = "3 %", size = "5 %" }.
    """

    source: fields.Source
    tcp: Pose = field(default_factory=Pose)
    body: Body | None = None
    uncertainty: fields.Uncertainty | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return fields.unknown_widths(self.uncertainty, ("mass", "size"))


@dataclass(frozen=True)
class Payload:
    """A load on the flange, mass and inertia in the flange's frame."""

    source: fields.Source
    body: Body


@dataclass(frozen=True)
class StandardDeviations:
    """Standard deviations of what was identified, in SI units.

    Attributes:
        parameters: Those of the dynamic parameters, by their names.
        gravity: Those of the components of gravity, where its direction was identified [m/s²].
        covariance: How the parameters err together, from the file beside; None where it is not
            there.
        remark: Why it is not there, as a sentence.
    """

    source: fields.Source
    parameters: dict[str, si.Share]
    gravity: tuple[si.Acceleration, si.Acceleration, si.Acceleration] | None = None
    covariance: fields.Beside = field(default=None, compare=False, repr=False, metadata=DERIVED)
    remark: fields.Beside = field(default="", compare=False, repr=False, metadata=DERIVED)


@dataclass(frozen=True)
class Mounted:
    """What is mounted on the flange, by name."""

    tool: str = ""
    payload: str = ""

    def __str__(self) -> str:
        return " and ".join(name for name in (self.tool, self.payload) if name)


@dataclass(frozen=True)
class Flexure:
    """A place within a link where it bends or twists, as a joint with a spring and no motor.

    Attributes:
        name: Its name; no joint has it.
        link: The link; of several in one link the first is nearest to its foot.
        axis: Axis in the link's frame about which it turns.
        stiffness: Its stiffness [N m/rad].
        position: Where it is, in the link's frame [m].
        damping: Damping of its spring [N m s/rad].
        beyond: What of the link's body lies beyond it, in the link's frame; all of it without.

    Ref: [Soder-Hoorn 2015, fig. 3.4-3.6]
    """

    name: str
    link: str
    axis: si.Direction
    stiffness: si.TorsionStiffness
    source: fields.Source
    position: si.Point = (0.0, 0.0, 0.0)
    damping: si.Viscous | None = None
    beyond: Body | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return "axis must not be zero" if not any(self.axis) else ""


@dataclass(frozen=True)
class Deviation:
    """How far a joint of the arm is from where the controller has it.

    Attributes:
        joint: The joint.
        shift: Shift of the joint's frame in its parent's frame: what the link before it is longer
            [m].
        zero: Angle of the arm where the controller has zero [rad].
    """

    joint: str
    source: fields.Source
    shift: tuple[SmallLength, SmallLength, SmallLength] = (0.0, 0.0, 0.0)
    zero: SmallAngle = 0.0


Span = tuple[si.Length, si.Length]
Turn = tuple[si.Angle, si.Angle]


@dataclass(frozen=True)
class WristLimits:
    """Least and largest coordinates of a wrist that a controller allows [m, rad]."""

    r: Span
    z: Span
    phi: Turn
    gamma: Turn
    psi: Turn
    source: fields.Source

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        for name in ("r", "z", "phi", "gamma", "psi"):
            low, high = getattr(self, name)
            if not low < high:
                return f"{name} must go from a lower to a higher value, got {low:g} to {high:g}"
        return ""


@dataclass(frozen=True)
class Wrist:
    """Coordinates in which an arm on a turntable is programmed: r, z, φ, γ, ψ.

    Attributes:
        frame: Frame whose origin is the wrist: r from the base's z axis, in the plane that φ turns,
            z above the base.
        phi: Turn of the plane, as weights of joints.
        gamma: Inclination of what the wrist carries, as weights of joints.
        psi: Turn of what the wrist carries, as weights of joints.
        home: Joint positions near which others are looked for, and at which analyses start.
        limits: The coordinates that are allowed.
    """

    frame: str
    phi: dict[str, si.Number]
    gamma: dict[str, si.Number]
    psi: dict[str, si.Number]
    home: tuple[si.Angle, ...]
    limits: WristLimits
    source: fields.Source
