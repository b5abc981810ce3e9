"""A rule from which the gains of a servo follow."""

from dataclasses import dataclass
from math import pi
from typing import Any, NamedTuple

from armtwin.files.fields import Source, Uncertainty, unknown_widths
from armtwin.maths.quantities import Frequency, Number, Positive, RotorInertia, Share

UNCERTAIN = (
    "bandwidth",
    "damping",
    "integrator",
    "friction_feedforward",
    "acceleration_feedforward",
)
NUMBERS = (
    "bandwidth",
    "inertia",
    "damping",
    "integrator",
    "speed_feedforward",
    "friction_feedforward",
    "acceleration_feedforward",
)
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


def for_each(values: tuple[Any, ...], drives: int) -> tuple[Any, ...]:
    """One value for each drive, from as many values or from one for all."""
    return values * drives if len(values) == 1 else values
