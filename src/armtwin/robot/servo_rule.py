"""A rule from which the gains of a servo follow."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import pi
from typing import Any, NamedTuple

from armtwin.files.fields import Source
from armtwin.maths.quantities import Frequency, Number, Positive, RotorInertia, Share

Gain = tuple[Number, ...]


class ServoGains(NamedTuple):
    """Gains that belong together, one number for each drive."""

    kp: Gain
    ki: Gain
    kv: Gain
    kvf: Gain
    kafc: Gain


@dataclass(frozen=True)
class Rule:
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
    """

    bandwidth: tuple[Frequency, ...]
    inertia: tuple[RotorInertia, ...]
    source: Source
    damping: tuple[Positive, ...] = (0.8,)
    integrator: tuple[Share, ...] = (0.0,)
    speed_feedforward: tuple[Share, ...] = (1.0,)
    friction_feedforward: tuple[Number, ...] = (0.0,)
    acceleration_feedforward: tuple[Share, ...] = (1.0,)

    def gains(self, drives: int) -> ServoGains:
        """The gains of so many drives."""
        f, J, damping, integrator, speed, friction, acceleration = (
            for_each(getattr(self, x.name), drives) for x in fields(self) if x.name != "source"
        )
        each = range(drives)
        w = [2 * pi * x for x in f]
        kv = tuple(2 * damping[i] * w[i] * J[i] for i in each)
        return ServoGains(
            kp=tuple(J[i] * w[i] ** 2 for i in each),
            ki=tuple(integrator[i] * J[i] * w[i] ** 3 for i in each),
            kv=kv,
            kvf=tuple(speed[i] * kv[i] + friction[i] for i in each),
            kafc=tuple(acceleration[i] * J[i] for i in each),
        )


def for_each(values: tuple[Any, ...], drives: int) -> tuple[Any, ...]:
    """One value for each drive, from as many values or from one for all."""
    return values * drives if len(values) == 1 else values
