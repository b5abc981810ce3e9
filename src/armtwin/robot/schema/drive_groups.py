"""The groups of a robot file that describe its drives: motors, gears, friction, hydraulics.

Everything here acts on a row of the joint coordinates. `on` names the row: a joint ("joint_1"), a
motor ("motor_1": the row of the gear matrix), a hydraulic drive ("L1": the stroke of its cylinder),
or a combination ({ joint_5 = 1, joint_6 = 1 }).
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from armtwin.drives.balancers import StrutForce
from armtwin.drives.friction.curves import breakaway
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.load import Load
from armtwin.drives.friction.presliding import bristle_damping
from armtwin.drives.friction.terms import Loaded
from armtwin.drives.hydraulics import Circuit
from armtwin.drives.linkage import Triangle
from armtwin.drives.ripple import Ripple
from armtwin.drives.rows import Spring
from armtwin.errors import ArmtwinError
from armtwin.files.fields import Flag, OneOf, Read, Source, Uncertainty, Width, unknown_widths
from armtwin.files.shape import FLAT, differing_from
from armtwin.maths import quantities as si
from armtwin.maths.batch import NamedNumbers
from armtwin.maths.units import Unit
from armtwin.robot.schema.servo import Side

Backlash = Annotated[float, Unit("rad", at_least=0, plausible=0.1, hint="arcmin, deg")]
Radius = Annotated[float, Unit("rad", above=0, plausible=0.1, hint="deg", also="m")]
SpeedStep = Annotated[float, Unit("rad/s", above=0, plausible=50, hint="deg/s")]
HeatCapacity = Annotated[float, Unit("J/K", above=0)]
HeatLoss = Annotated[float, Unit("W/K", above=0)]
CURRENTS_ARE_TORQUES = "assumed: 1 N m/A, so that currents are torques"

LEAST_TORQUE = 1e-9  # of a contact that has no dry friction, so that its bristle has a stiffness


def _row(value: object) -> str | NamedNumbers:
    if isinstance(value, dict) and value:
        return {str(joint): Unit("1").read(weight) for joint, weight in value.items()}
    if not isinstance(value, str):
        contract = "must name a joint, a motor or weights of joints ({ joint_5 = 1 })"
        raise ArmtwinError(f"{contract}, got {value!r:.60}")
    return value


On = Annotated[str | dict[str, float], Read(_row)]


@dataclass(frozen=True)
class Spin:
    """Where a rotor spins: the link that carries it and its axis in that link's frame."""

    link: str
    axis: si.Direction

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return "axis must not be zero" if not any(self.axis) else ""


@dataclass(frozen=True)
class Motor:
    """A motor, all numbers on its own shaft.

    Attributes:
        rotor_inertia: Inertia of the rotor with brake and gear input [kg m²].
        torque_constant: Torque per current [N m/A].
        current_limit: Largest current of the drive [A].
        current_quantum: Step of the current's digital value [A].
        encoder_counts: Steps of the position sensor in a turn.
        speed_quantum: Step of the measured speed [rad/s].
        spin: Place of the rotor, for gyroscopic coupling; by default on the link that carries its
            joint, along the joint's axis.
        uncertainty: How far the rotor's inertia may be off, as "10 %".
    """

    name: str
    rotor_inertia: si.RotorInertia
    source: Source
    torque_constant: si.TorqueConstant | None = None
    current_limit: si.Current | None = None
    current_quantum: si.Current | None = None
    encoder_counts: si.Positive | None = None
    speed_quantum: SpeedStep | None = None
    spin: Spin | None = None
    uncertainty: Width | None = None

    @property
    def known_constant(self) -> float | None:
        """The torque constant, but not one that only makes currents torques [N m/A]."""
        source = self.source.get("torque_constant") if isinstance(self.source, dict) else ""
        return None if source == CURRENTS_ARE_TORQUES else self.torque_constant


@dataclass(frozen=True)
class Gear:
    """From joint to motor speeds, v_m = N v.

    Attributes:
        ratios: Gear ratios of uncoupled joints, or
        matrix: the whole matrix N, a row for each motor, a column for each joint.
        gyroscopic: Whether the spin of the rotors turns with the links that carry them (document
            004, eq. 5).
    """

    source: Source
    ratios: tuple[si.Number, ...] | None = None
    matrix: tuple[tuple[si.Number, ...], ...] | None = None
    gyroscopic: Flag = False


@dataclass(frozen=True)
class Presliding:
    """Pre-sliding friction: bristles that deflect.

    Attributes:
        stiffness: Bristle stiffness [N m/rad], or
        radius: elastic travel from rest to sliding; stiffness is the breakaway torque over it
            [rad].
        damping: Bristle damping [N m s/rad], or
        relative_damping: damping relative to critical, with `inertia`, or
        lead: damping over stiffness: by so much the torque leads the bend [s].
        inertia: Inertia that vibrates on the bristles, for the relative damping [kg m²].

    Ref: [Waiboer 2007, eq. 3.70, 3.79]
    """

    stiffness: si.TorsionStiffness | None = None
    radius: Radius | None = None
    damping: si.Viscous | None = None
    relative_damping: si.Share | None = None
    lead: si.Time | None = None
    inertia: si.RotorInertia | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if (self.stiffness is None) == (self.radius is None):
            return "must have a stiffness or a radius, and one of them only"
        damped = [self.damping, self.relative_damping, self.lead]
        if damped.count(None) < len(damped) - 1:
            return "must have one of damping, relative_damping and lead only"
        return ""


@dataclass(frozen=True)
class Thermal:
    """Dependence on temperature: viscous friction ~ exp(β/T - β/T₀), warmed by its own loss.

    Attributes:
        reference: Temperature at which the friction numbers hold, T₀ [K].
        viscosity: Temperature-viscosity coefficient β [K].
        ambient: Temperature of the surroundings [K].
        capacity: Heat capacity of the joint [J/K].
        loss: Heat lost per kelvin above the surroundings [W/K].

    Ref: [Waiboer 2007, eq. 3.66-3.67]
    """

    reference: si.Temperature
    viscosity: si.Temperature
    ambient: si.Temperature = 293.15
    capacity: HeatCapacity | None = None
    loss: HeatLoss | None = None


@dataclass(frozen=True)
class FrictionElement:
    """Friction on one row of the coordinates.

    Attributes:
        on: The row whose speed it sees and on which it acts.
        side: Side of the transmission on which it lies, "motor" or "link", where one lies between.
        law: Friction at steady sliding; its keys stand in the element's own table.
        negative: The law for negative speeds, where it differs.
        offset: Constant torque added to the friction [N m].
        presliding: Behaviour before sliding.
        thermal: Dependence on temperature.
        load: Dependence on the torque that the gear carries, of a worm.
        set: Name of the set it belongs to; "" is always active, others when chosen by
            `friction_set`.
        uncertainty: How far its numbers may be off: one width for all, or one by key, as
            { level = "10 %", viscosity = "30 %", bristles = "100 %" }.
    """

    name: str
    on: On
    source: Source
    law: Annotated[Law, OneOf("law")] = field(metadata=FLAT)
    negative: Annotated[Law, OneOf("law")] | None = field(
        default=None, metadata=differing_from("law")
    )
    offset: si.Torque | None = None
    presliding: Presliding | None = None
    thermal: Thermal | None = None
    load: Load | None = None
    set: str = ""
    side: Side | None = None
    uncertainty: Uncertainty | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        loaded = isinstance(self.law, Loaded), isinstance(self.negative, Loaded)
        if any(loaded) and (self.load is not None or self.negative is not None):
            return "the law 'loaded' follows its load by itself, in both directions alike"
        if self.load is not None and not breakaway(self.law) > 0:
            return "load needs a law with dry friction above 0, which it multiplies"
        return unknown_widths(self.uncertainty, ("level", "viscosity", "bristles"))

    @property
    def follows_load(self) -> bool:
        """Whether its level follows the torque that a gear carries."""
        return self.load is not None or isinstance(self.law, Loaded)

    @property
    def bristle_stiffness(self) -> float | None:
        """Stiffness before sliding [N m/rad], None where the file gives none."""
        pre = self.presliding
        if pre is None or pre.radius is None:
            return None if pre is None else pre.stiffness
        return max(breakaway(self.law), LEAST_TORQUE) / pre.radius

    @property
    def lead(self) -> float:
        """Bristle damping over stiffness [s], 0 where the file gives none."""
        pre, stiffness = self.presliding, self.bristle_stiffness
        if pre is None or stiffness is None:
            return 0.0
        if pre.damping is not None:
            return pre.damping / stiffness
        if pre.relative_damping is not None and pre.inertia is not None:
            return bristle_damping(stiffness, pre.relative_damping, pre.inertia) / stiffness
        return pre.lead or 0.0

    @property
    def radius(self) -> float:
        """Elastic travel from rest to sliding [rad], 0 where the file gives none."""
        pre = self.presliding
        if pre is None:
            return 0.0
        if pre.stiffness is None:
            return pre.radius or 0.0
        return breakaway(self.law) / pre.stiffness


@dataclass(frozen=True)
class Pins:
    """Two pins on two links that one revolute joint separates."""

    link_a: str
    a: si.Point
    link_b: str
    b: si.Point


@dataclass(frozen=True)
class Balancer:
    """A passive strut across one revolute joint; its force law's keys stand in its own table.

    Attributes:
        force: Force of the strut as a function of its length.
        pins: Where it is fixed, or
        joint: the joint it acts on, with
        linkage: the strut's length as a function of that joint's angle.
    """

    name: str
    source: Source
    force: Annotated[StrutForce, OneOf("kind")] = field(metadata=FLAT)
    pins: Pins | None = None
    joint: str | None = None
    linkage: Triangle | None = None


@dataclass(frozen=True)
class Transmission:
    """The gear between motor and joint, with the spring on one side of the gear matrix.

    Its numbers are those of the side it lies on. They act where a model asks for elastic joints,
    its ripple where a model asks for ripple.

    Attributes:
        joint: The joint that its spring drives, behind the gear matrix, or
        motor: the motor that drives its spring, before the gear matrix.
        stiffness: Torsion stiffness [N m/rad].
        damping: Damping of the spring [N m s/rad].
        backlash: Play [rad].
        low_stiffness: Stiffness at low torque, where the gear stiffens [N m/rad].
        low_torque: Torque up to which it is so [N m].
        ground_damping: Damping of the motor's side against the ground [N m s/rad].
        delay: Offset in time between the encoders of motor and link, where both are logged [s].
        ripple: Errors of the driven angle that repeat with the motor's turn.
        uncertainty: How far its stiffness may be off, as "10 %".
    """

    source: Source
    joint: str = ""
    motor: str = ""
    stiffness: si.TorsionStiffness | None = None
    damping: si.Viscous | None = None
    backlash: Backlash | None = None
    low_stiffness: si.TorsionStiffness | None = None
    low_torque: si.Friction | None = None
    ground_damping: si.Viscous | None = None
    delay: si.Time = 0.0
    ripple: tuple[Ripple, ...] = ()
    uncertainty: Width | None = None

    @property
    def spring(self) -> Spring:
        """Its spring; it must have a stiffness."""
        assert self.stiffness is not None
        return Spring(
            self.stiffness,
            self.damping or 0.0,
            self.backlash or 0.0,
            self.low_stiffness,
            self.low_torque or 0.0,
        )

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if bool(self.joint) == bool(self.motor):
            got = "both" if self.joint else "none"
            return f"must have either joint or motor, got {got}"
        return spring_problem(self.stiffness, self.low_stiffness, self.low_torque)


def spring_problem(
    stiffness: float | None, low_stiffness: float | None, low_torque: float | None
) -> str:
    """What is wrong with a spring that stiffens, as a phrase; empty if nothing is."""
    if (low_stiffness is None) != (low_torque is None):
        return "low_stiffness and low_torque belong together"
    if low_stiffness is None:
        return ""
    if stiffness is None or low_stiffness > stiffness:
        got = "none" if stiffness is None else f"{stiffness:g}"
        return f"low_stiffness must be at most stiffness, got {low_stiffness:g} and {got}"
    return ""


@dataclass(frozen=True)
class Hydraulic:
    """A hydraulic drive on a combination of joint angles; its circuit's keys stand in its table.

    Attributes:
        on: The combination of joint angles it turns.
        linkage: Length of the cylinder as a function of that angle; none for a vane motor.
        lever: Whether the length rises or falls with the angle where the cylinder works; says
            the two angles apart that have one length.
        circuit: Valve and oil.
    """

    name: str
    on: On
    source: Source
    circuit: Circuit = field(metadata=FLAT)
    linkage: Triangle | None = None
    lever: Literal["rising", "falling"] = "rising"
