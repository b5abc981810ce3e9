"""Servo controllers as a robot file describes them; one gain for each motor, motor side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from armtwin.maths.quantities import Frequency, Number, Positive
from armtwin.maths.units import Unit
from armtwin.robot.fields import Source

Gain = tuple[Number, ...]
FollowingError = Annotated[float, Unit("rad", above=0, plausible=50, hint="deg")]


@dataclass(frozen=True)
class Filter:
    """A filter of the velocity loop, by kind and frequency or by its coefficients at the loop's rate.

    Attributes:
        kind: "low_pass" (first order), "low_pass_2" (second order), "notch".
        frequency: Corner or centre frequency, one for all motors or one each [Hz].
        damping: Relative damping of the second-order kinds.
        b: Numerator in powers of z⁻¹.
        a: Denominator in powers of z⁻¹.
    """

    kind: Literal["low_pass", "low_pass_2", "notch"] | None = None
    frequency: tuple[Frequency, ...] | None = None
    damping: Positive | None = None
    b: tuple[Number, ...] | None = None
    a: tuple[Number, ...] | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        by_kind = self.kind is not None and self.frequency is not None
        by_coefficients = bool(self.b) and bool(self.a)
        if by_kind == by_coefficients:
            return "must have either kind and frequency or the coefficients b and a"
        if self.a and self.a[0] == 0:
            return "the first coefficient of a must not be 0"
        return ""


@dataclass(frozen=True)
class Cascade:
    """Position loop around a velocity loop, all terms in motor N m.

        u = G_out[G_in(k_p e + k_i ∫e + k_d e' + k_vf v_ref + k_afv a_ref) - G_fb k_v v] + G_ff(k_afc a_ref)

    Attributes:
        setpoint_rate: Rate of the set-points of position and velocity [Hz].
        position_rate: Rate of the position loop and of the interpolated set-points [Hz].
        velocity_rate: Rate of the velocity loop [Hz].
        kp: Proportional gain [N m/rad].
        ki: Integral gain [N m/(rad s)].
        kv: Velocity feedback gain [N m s/rad].
        kd: Derivative gain [N m s/rad].
        kvf: Velocity feed-forward [N m s/rad].
        kafv: Acceleration feed-forward into the velocity loop [N m s²/rad].
        kafc: Acceleration feed-forward to the current [N m s²/rad].
        following_error_limit: Motor following error that stops the robot [rad].

    Ref: [Waiboer 2007, section 2.3]
    """

    setpoint_rate: Frequency
    position_rate: Frequency
    velocity_rate: Frequency
    kp: Gain
    ki: Gain
    kv: Gain
    source: Source
    kd: Gain | None = None
    kvf: Gain | None = None
    kafv: Gain | None = None
    kafc: Gain | None = None
    input_filter: Filter | None = None
    feedback_filter: Filter | None = None
    output_filter: Filter | None = None
    feedforward_filter: Filter | None = None
    following_error_limit: FollowingError | None = None
    kind: Literal["cascade"] = "cascade"


@dataclass(frozen=True)
class CS7B:
    """PID controller with acceleration feed-forward and friction compensation, all terms in motor N m.

    Attributes:
        position_rate: Rate of the set-points and of the position loop [Hz].
        velocity_rate: Rate of the velocity and current loop [Hz].
        kp: Proportional gain [N m/rad].
        ki: Integral gain [N m/(rad s)].
        kv: Velocity feedback gain [N m s/rad].
        kaf: Acceleration feed-forward [N m s²/rad].
        coulomb: Coulomb friction compensation [N m].
        viscous: Viscous friction compensation [N m s/rad].
        following_error_limit: Motor following error that stops the robot [rad].

    Ref: [Aarts-Jonker-Waiboer 2006, section 5]
    """

    position_rate: Frequency
    velocity_rate: Frequency
    kp: Gain
    ki: Gain
    kv: Gain
    source: Source
    kaf: Gain | None = None
    coulomb: Gain | None = None
    viscous: Gain | None = None
    following_error_limit: FollowingError | None = None
    kind: Literal["cs7b"] = "cs7b"


Servo = Cascade | CS7B
