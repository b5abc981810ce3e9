"""Servo controllers as a robot file describes them: gains or their rule, model, and fit to logs.

Numbers are one for each drive, on its own side.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import pi
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.fields import Read, Source, Uncertainty, unknown_widths
from armtwin.maths.batch import Floats, Names, Values
from armtwin.maths.quantities import Frequency, Number, Positive, RotorInertia, Share, Time
from armtwin.maths.units import Unit


@dataclass(frozen=True)
class DriveFriction:
    """Friction that is fed forward to one drive, continuous at rest, on the motor side.

        τ = Σ level_i tanh(v / speed_i) + viscous v

    Attributes:
        speed: Speeds over which the levels are reached [rad/s].
        level: Levels [N m].
        viscous: Viscous friction [N m s/rad].
    """

    speed: tuple[Positive, ...] = ()
    level: tuple[Number, ...] = ()
    viscous: Number = 0.0

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if len(self.speed) == len(self.level):
            return ""
        return f"must have a level for each speed, got {len(self.level)} for {len(self.speed)}"


@dataclass(frozen=True)
class ControllerModel:
    """The controller's own model, of which a servo feeds the torque forward.

        τ_ref = N⁻ᵀ Y(q, v, a) φ + friction(v)          motor side

    Attributes:
        parameters: φ by the robot's names of its rigid parameters; one that is left out is 0.
        friction: Friction of each drive; empty where none is fed forward.
        tool: Tool that was mounted as these parameters were found.
        payload: Payload that was mounted then.
    """

    parameters: dict[str, Number]
    source: Source
    friction: tuple[DriveFriction, ...] = ()
    tool: str = ""
    payload: str = ""


@dataclass(frozen=True)
class ErrorSize:
    """Size of the error that the law of a fitted servo leaves, by how a joint moves.

        rms² = rest² + (speed rms(v_ref))² + (acceleration rms(a_ref))²

    Attributes:
        rest: At rest, one for each joint [rad].
        speed: Per speed [s].
        acceleration: Per acceleration [s²].
        width: Half width of the 90 % interval of the logarithm of a run's whole error, rms.
        time: Time in which what is left changes [s].
    """

    rest: tuple[Share, ...]
    speed: tuple[Share, ...]
    acceleration: tuple[Share, ...]
    width: Share
    time: Time

    def rms(self, v: Floats, a: Floats) -> Floats:
        """Error that is left in a motion with speeds and accelerations (m, n), rms, (n,) [rad]."""
        squares = np.array(self.rest) ** 2
        squares = squares + np.array(self.speed) ** 2 * (v**2).mean(axis=0)
        squares = squares + np.array(self.acceleration) ** 2 * (a**2).mean(axis=0)
        return np.sqrt(squares)


@dataclass(frozen=True)
class ServoFitRecord:
    """How a servo was fitted, and what it was worth on a run that the fit did not see.

    Attributes:
        logs: Names of the logs it was fitted to.
        judged_on: Names of the logs it was validated on, or "left-out parts" of its own.
        share: Share of the variance of q_ref - q that it explained there, one for each joint.
        residual: What was left there, rms at the joint, one for each joint [rad].
        feedforward: Where the fed-forward torque came from: a column of the logs, or the model.
        duration: Length of the longest of its logs [s].
        at_rest: Joints that no log moved: their numbers are not fitted.
        size: Size of the error that it leaves in other motions.
        interval: Bounds of 90 % of the numbers of each joint, by their names in the report: for
            each number the lower bounds of all joints, then the upper ones.
    """

    logs: Names
    judged_on: Names
    share: tuple[Number, ...]
    residual: tuple[Number, ...] = ()
    feedforward: Literal["logged", "model"] = "model"
    duration: Time | None = None
    at_rest: Names = ()
    size: ErrorSize | None = None
    interval: dict[str, tuple[Number, ...]] = field(default_factory=dict)

    def left(self, v: Floats, a: Floats) -> Floats | None:
        """Error that the servo leaves in a motion with speeds and accelerations (m, n), rms, (n,).

        By its size where that is known, else that of the run on which it was judged [rad].
        """
        if self.size is not None:
            return self.size.rms(v, a)
        return np.array(self.residual) if len(self.residual) == v.shape[1] else None


Gain = tuple[Number, ...]


class ServoGains(NamedTuple):
    """Gains that belong together, one number for each drive."""

    kp: Gain
    ki: Gain
    kv: Gain
    kvf: Gain
    kafc: Gain


@dataclass(frozen=True)
class ServoRule:
    """A rule from which the gains of a servo follow, so that what belongs together moves together.

        ω = 2π f,   k_p = J ω²,   k_i = integrator J ω³,   k_v = 2 damping J ω
        k_vf = speed_feedforward k_v + friction_feedforward,   k_afc = acceleration_feedforward J

    Each number is one for all drives or one each.

    Attributes:
        bandwidth: Natural frequency f of the position loop [Hz].
        inertia: Inertia J that the motor feels [kg m²].
        damping: Relative damping of the position loop.
        integrator: Corner frequency of the integrator as a share of the bandwidth.
        speed_feedforward: Share of the velocity feedback that is fed forward.
        friction_feedforward: Friction that is fed forward with the speed [N m s/rad].
        acceleration_feedforward: Share of the inertia that is fed forward.
        uncertainty: How far its numbers may be off: one width for all, or one by key, as
            { bandwidth = "10 %", damping = "5 %" }.
    """

    bandwidth: tuple[Frequency, ...]
    inertia: tuple[RotorInertia, ...]
    source: Source
    damping: tuple[Positive, ...] = (0.8,)
    integrator: tuple[Share, ...] = (0.0,)
    speed_feedforward: tuple[Share, ...] = (1.0,)
    friction_feedforward: tuple[Number, ...] = (0.0,)
    acceleration_feedforward: tuple[Share, ...] = (1.0,)
    uncertainty: Uncertainty | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return unknown_widths(self.uncertainty, UNCERTAIN)

    def gains(self, drives: int) -> ServoGains:
        """The gains of n drives."""
        numbers = [for_each(getattr(self, name), drives) for name in NUMBERS]
        gains = []
        for f, J, damping, integrator, speed, friction, acceleration in zip(*numbers, strict=True):
            w = 2 * pi * f
            kv = 2 * damping * w * J
            feedforward = speed * kv + friction, acceleration * J
            gains.append((J * w**2, integrator * J * w**3, kv, *feedforward))
        return ServoGains(*zip(*gains, strict=True))


NUMBERS = tuple(f.name for f in fields(ServoRule) if f.name not in ("source", "uncertainty"))
UNCERTAIN = tuple(name for name in NUMBERS if name not in ("inertia", "speed_feedforward"))


def for_each(values: tuple[Any, ...], drives: int) -> tuple[Any, ...]:
    """One value for each drive, from as many values or from one for all."""
    return values * drives if len(values) == 1 else values


Side = Literal["motor", "link"]
Structure = Literal["known", "not known"]
FollowingError = Annotated[float, Unit("rad", above=0, plausible=50, hint="deg")]


Voltage = Annotated[float, Unit("V", above=0)]


def _coefficients(value: object) -> tuple[Values, ...]:
    """Coefficients of a filter, the same for all drives or a list for each."""
    if not isinstance(value, list | tuple) or not value:
        contract = "must be a list of numbers, or such a list for each drive"
        raise ArmtwinError(f"{contract}, got {value!r:.60}")
    number = Unit("1")
    one_for_each = all(isinstance(item, list | tuple) for item in value)
    lists = value if one_for_each else [value]
    return tuple(tuple(map(number.read, one)) for one in lists)


Coefficients = Annotated[tuple[tuple[float, ...], ...], Read(_coefficients)]


@dataclass(frozen=True)
class Filter:
    """A filter of the velocity loop, by kind and frequency or by coefficients at the loop's rate.

    Attributes:
        kind: "low_pass" (first order), "low_pass_2" (second order), "notch".
        frequency: Corner or centre frequency, one for all drives or one each [Hz].
        damping: Relative damping of the second-order kinds, one for all drives or one each.
        b: Numerator in powers of z⁻¹, one list for all drives or one each.
        a: Denominator in powers of z⁻¹, one list for all drives or one each.
    """

    kind: Literal["low_pass", "low_pass_2", "notch"] | None = None
    frequency: tuple[Frequency, ...] | None = None
    damping: tuple[Positive, ...] | None = None
    b: Coefficients | None = None
    a: Coefficients | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        by_kind = self.kind is not None and self.frequency is not None
        by_coefficients = bool(self.b) and bool(self.a)
        if by_kind == by_coefficients:
            return "must have either kind and frequency or the coefficients b and a"
        if any(not one or one[0] == 0 for one in self.a or ()):
            return "the first coefficient of a must not be 0"
        return ""


@dataclass(frozen=True)
class Delays:
    """Delays of a servo, one for all drives or one each [s].

    Attributes:
        sensor: Age of the positions and speeds that it reads.
        output: Time from a command to its current.
        reference: Lateness of the fed-forward speed, acceleration and torque.
        setpoint: Lateness of the whole reference.
        encoder: Age of the positions that the position loop reads, beyond that of the sensor: of
            one encoder beside the other.
    """

    sensor: tuple[Time, ...] = (0.0,)
    output: tuple[Time, ...] = (0.0,)
    reference: tuple[Time, ...] = (0.0,)
    setpoint: tuple[Time, ...] = (0.0,)
    encoder: tuple[Time, ...] = (0.0,)


@dataclass(frozen=True)
class Shaping:
    """What a servo adds to the reference before it feeds the speed forward, on the motor side.

        shift = T v_ref + b a_ref + s tanh(v_ref / v_s) + τ_ref / c

    Each number is one for all drives or one each.

    Attributes:
        speed: Lead T [s].
        acceleration: b [s²].
        sign: s [rad].
        sign_speed: v_s [rad/s].
        torque: Elastic compensation 1 / c [rad/(N m)].
        position: Share of the shift that the position loop follows too, without which its feedback
            takes a shift back.
    """

    speed: tuple[Number, ...] = (0.0,)
    acceleration: tuple[Number, ...] = (0.0,)
    sign: tuple[Number, ...] = (0.0,)
    sign_speed: tuple[Positive, ...] = (1.0,)
    torque: tuple[Number, ...] = (0.0,)
    position: tuple[Share, ...] = (0.0,)


def _rule_problem(servo: Cascade | CS7B, ruled: Names) -> str:
    """What is wrong with a rule beside gains, or with neither, as a phrase."""
    given = [name for name in ruled if getattr(servo, name) is not None]
    if servo.rule is not None and given:
        return f"must have either a rule or gains of its own, got a rule and {', '.join(given)}"
    lacking = [name for name in ("kp", "ki", "kv") if getattr(servo, name) is None]
    if servo.rule is None and lacking:
        return f"must have a rule, or kp, ki and kv; {', '.join(lacking)} is missing"
    return ""


def _unknown_widths(servo: Servo) -> str:
    """What is wrong with the widths of a servo, as a phrase; empty if nothing is."""
    return unknown_widths(servo.uncertainty, (*UNCERTAIN, "filters"))


@dataclass(frozen=True)
class Cascade:
    """Position loop around a velocity loop, all terms in motor N m.

        c = G_in(k_p e + k_i ∫e + k_d e' + k_vf v_ref + k_afv a_ref + k_tfv τ_ref + k_v d/dt shift)
        u = G_out[c - G_fb k_v v] + G_ff(k_afc a_ref + k_tfc τ_ref)

    Attributes:
        setpoint_rate: Rate of the set-points of position and velocity [Hz].
        position_rate: Rate of the position loop and of the interpolated set-points [Hz].
        velocity_rate: Rate of the velocity loop [Hz].
        rule: Rule from which kp, ki, kv, kvf and kafc follow, or
        kp: Proportional gain [N m/rad].
        ki: Integral gain [N m/(rad s)].
        kv: Velocity feedback gain [N m s/rad].
        kd: Derivative gain [N m s/rad].
        kvf: Velocity feed-forward [N m s/rad].
        kafv: Acceleration feed-forward into the velocity loop [N m s²/rad].
        kafc: Acceleration feed-forward to the current [N m s²/rad].
        ktfv: Share of the model's torque that is fed forward into the velocity loop.
        ktfc: Share of the model's torque that is fed forward to the current.
        feedback: Encoder of the position loop, "motor" or "link", one for all drives or one each.
        model: The controller's own model, of which τ_ref is the torque; by default the robot's.
        following_error_limit: Motor following error that stops the robot [rad].
        structure: Whether the robot's control law is known to be this one.
        fit: The fit behind it, where it was fitted to logs.
        uncertainty: How far its numbers may be off, beside those of a rule that has its own: one
            width for all, or one by key, as { bandwidth = "10 %", filters = "20 %" }.

    Ref: [Waiboer 2007, section 2.3]
    """

    setpoint_rate: Frequency
    position_rate: Frequency
    velocity_rate: Frequency
    source: Source
    rule: ServoRule | None = None
    kp: Gain | None = None
    ki: Gain | None = None
    kv: Gain | None = None
    kd: Gain | None = None
    kvf: Gain | None = None
    kafv: Gain | None = None
    kafc: Gain | None = None
    ktfv: Gain | None = None
    ktfc: Gain | None = None
    input_filter: Filter | None = None
    feedback_filter: Filter | None = None
    output_filter: Filter | None = None
    feedforward_filter: Filter | None = None
    feedback: tuple[Side, ...] = ("motor",)
    delay: Delays = Delays()
    shaping: Shaping | None = None
    model: ControllerModel | None = None
    following_error_limit: FollowingError | None = None
    structure: Structure = "known"
    fit: ServoFitRecord | None = None
    uncertainty: Uncertainty | None = None
    kind: Literal["cascade"] = "cascade"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return _rule_problem(self, ServoGains._fields) or _unknown_widths(self)


@dataclass(frozen=True)
class CS7B:
    """PID controller with acceleration feed-forward and friction compensation, in motor N m.

    Attributes:
        position_rate: Rate of the set-points and of the position loop [Hz].
        velocity_rate: Rate of the velocity and current loop [Hz].
        rule: Rule from which kp, ki, kv and kaf follow, or
        kp: Proportional gain [N m/rad].
        ki: Integral gain [N m/(rad s)].
        kv: Velocity feedback gain [N m s/rad].
        kaf: Acceleration feed-forward [N m s²/rad].
        coulomb: Coulomb friction [N m].
        coulomb_share: Share of the Coulomb friction that is compensated.
        viscous: Viscous friction compensation [N m s/rad].
        speed_feedforward: Share of the velocity feedback that is compensated as viscous friction
            is: by 1 a steady speed costs no position error.
        feedback: Encoder of the position loop, "motor" or "link", one for all drives or one each.
        following_error_limit: Motor following error that stops the robot [rad].
        structure: Whether the robot's control law is known to be this one.
        fit: The fit behind it, where it was fitted to logs.
        uncertainty: How far its numbers may be off, beside those of a rule that has its own: one
            width for all, or one by key, as { bandwidth = "10 %", filters = "20 %" }.

    Ref: [Aarts-Jonker-Waiboer 2006, section 5]
    """

    position_rate: Frequency
    velocity_rate: Frequency
    source: Source
    rule: ServoRule | None = None
    kp: Gain | None = None
    ki: Gain | None = None
    kv: Gain | None = None
    kaf: Gain | None = None
    coulomb: Gain | None = None
    coulomb_share: Share = 1.0
    viscous: Gain | None = None
    speed_feedforward: Share = 0.0
    feedback: tuple[Side, ...] = ("motor",)
    delay: Delays = Delays()
    following_error_limit: FollowingError | None = None
    structure: Structure = "known"
    fit: ServoFitRecord | None = None
    uncertainty: Uncertainty | None = None
    kind: Literal["cs7b"] = "cs7b"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return _rule_problem(self, ("kp", "ki", "kv", "kaf")) or _unknown_widths(self)


@dataclass(frozen=True)
class VelocityLaw:
    """Position error and feed-forward as a velocity command to a PI velocity loop.

        v_cmd = [k_vf v_ref + d/dt shift + k_ff τ_ref](t - d) + k_p (q_ref - q) + k_i ∫(q_ref - q)
        u = k_v [(v_cmd - v) + k_iv ∫(v_cmd - v)] + k_tfc τ_ref(t - d)

    With a large k_v the drive follows its velocity command whatever the load.

    Attributes:
        setpoint_rate: Rate of the set-points [Hz].
        position_rate: Rate of the position loop [Hz].
        velocity_rate: Rate of the velocity loop [Hz].
        kp: Position gain [1/s].
        ki: Gain of the integrated position error [1/s²].
        kvf: Share of the reference speed that is fed forward; the whole where none is given.
        kv: Gain of the velocity loop [N m s/rad].
        kiv: Integral gain of the velocity loop [1/s].
        kff: Velocity offset per torque of the model, motor side [rad/(N m s)].
        ktfc: Share of the model's torque that is fed forward to the current.
        feedback: Encoder of the position loop, "motor" or "link", one for all drives or one each.
        model: The controller's own model, of which τ_ref is the torque; by default the robot's.
        following_error_limit: Motor following error that stops the robot [rad].
        structure: Whether the robot's control law is known to be this one.
        fit: The fit behind it, where it was fitted to logs.
        uncertainty: How far its numbers may be off, beside those of a rule that has its own: one
            width for all, or one by key, as { bandwidth = "10 %", filters = "20 %" }.
    """

    setpoint_rate: Frequency
    position_rate: Frequency
    velocity_rate: Frequency
    kp: Gain
    kv: Gain
    source: Source
    ki: Gain | None = None
    kvf: Gain | None = None
    kiv: Gain | None = None
    kff: Gain | None = None
    ktfc: Gain | None = None
    feedback: tuple[Side, ...] = ("motor",)
    delay: Delays = Delays()
    shaping: Shaping | None = None
    model: ControllerModel | None = None
    following_error_limit: FollowingError | None = None
    structure: Structure = "known"
    fit: ServoFitRecord | None = None
    uncertainty: Uncertainty | None = None
    kind: Literal["velocity"] = "velocity"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return _unknown_widths(self)


@dataclass(frozen=True)
class Proportional:
    """Proportional control in volts, as of servovalves.

        i = gain (u - y),   y = sensor_gain (x - sensor_zero)

    Attributes:
        rate: Rate at which the analogue loop is computed, and of its set-points [Hz].
        gain: Current per voltage [A/V].
        sensor_gain: Voltage per stroke or angle [V/m or V/rad].
        sensor_zero: Stroke or angle at which the sensor reads zero [m or rad].
        structure: Whether the robot's control law is known to be this one.
        voltage_limit: Largest set-point [V].
        uncertainty: How far its gain may be off, as { bandwidth = "10 %" }.

    Ref: [Machielsen 1983, chapter 5]
    """

    rate: Frequency
    gain: Gain
    sensor_gain: Gain
    source: Source
    sensor_zero: Gain | None = None
    voltage_limit: Voltage | None = None
    delay: Delays = Delays()
    structure: Structure = "known"
    uncertainty: Uncertainty | None = None
    kind: Literal["proportional"] = "proportional"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return _unknown_widths(self)


Servo = Cascade | CS7B | VelocityLaw | Proportional


def count_problems(servo: Servo, drives: int) -> list[str]:
    """Lists of a servo without a number for each drive, as phrases that start with the key."""
    found: list[tuple[str, object, tuple[int, ...]]] = []
    one_or_each = f"must have 1 or {drives} values"
    for f in fields(servo):
        value = getattr(servo, f.name)
        if isinstance(value, ServoFitRecord):
            contract = f"fit.share must have a number for each of {drives} joints"
            found.append((contract, value.share, (0, drives)))
        elif isinstance(value, ControllerModel):
            contract = f"model.friction must have a group for each of {drives} drives"
            found.append((contract, value.friction, (0, drives)))
        elif isinstance(value, Delays | ServoRule | Shaping):
            for inner in fields(value):
                contract = f"{f.name}.{inner.name} {one_or_each}"
                found.append((contract, getattr(value, inner.name), (1, drives)))
        elif f.name == "feedback":
            found.append((f"{f.name} {one_or_each}", value, (1, drives)))
        else:
            contract = f"{f.name} must have a number for each of {drives} drives"
            found.append((contract, value, (drives,)))
    return [
        f"{contract}, got {len(values)}"
        for contract, values, lengths in found
        if isinstance(values, tuple) and len(values) not in lengths
    ]
