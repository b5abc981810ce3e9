"""Temperature of a joint's oil: how viscous friction follows it, and how friction warms it.

    viscosity ~ exp(β/T - β/T₀),   C dT/dt = P_friction - L (T - T_ambient)

The contact-level formula for c_v has the viscosity to the power 1 - δ and moves the Stribeck speed
too; the document's temperature law (3.67) scales c_v with the viscosity and keeps the speed. They
disagree; (3.67), which was measured, is followed.

Ref: [Waiboer 2007, eq. 3.66-3.67], [Memar-Esfahani 2015, section II]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from armtwin.drives.friction.curves import at_viscosity
from armtwin.drives.friction.laws import Law, sliding_torque
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats


class ThermalNumbers(Protocol):
    """Numbers of a joint's thermal behaviour, as a robot file gives them."""

    @property
    def reference(self) -> float:
        """Temperature at which the friction numbers hold [K]."""

    @property
    def viscosity(self) -> float:
        """Temperature-viscosity coefficient β [K]."""

    @property
    def ambient(self) -> float:
        """Temperature of the surroundings [K]."""

    @property
    def capacity(self) -> float | None:
        """Heat capacity [J/K]."""

    @property
    def loss(self) -> float | None:
        """Heat lost per kelvin above the surroundings [W/K]."""


def viscosity_factor(thermal: ThermalNumbers | None, temperature: float | None) -> float:
    """Viscosity at a temperature [K] relative to the reference; 1 where either is not given."""
    if thermal is None or temperature is None:
        return 1.0
    return float(np.exp(thermal.viscosity / temperature - thermal.viscosity / thermal.reference))


@dataclass(frozen=True, eq=False)
class WarmUp:
    """A joint that repeats a motion and warms.

    Attributes:
        time: End of each cycle, (cycles,) [s].
        temperature: Temperature then, (cycles,) [K].
        mean_torque: Mean absolute friction torque of each cycle, (cycles,) [N m].
    """

    time: Floats
    temperature: Floats
    mean_torque: Floats


def warm_up(
    law: Law, thermal: ThermalNumbers, speeds: ArrayLike, period: float, cycles: int
) -> WarmUp:
    """Temperature and friction of a joint that repeats one cycle of speeds, from ambient on.

    Within a cycle the temperature hardly changes; from cycle to cycle it follows its first-order
    law exactly for the friction power of the cycle.

    Args:
        law: Friction law at the reference temperature.
        thermal: Thermal numbers; capacity and loss must be given.
        speeds: Joint speeds over one cycle at a steady rate [rad/s].
        period: Duration of a cycle [s].
        cycles: Number of cycles.
    """
    if thermal.capacity is None or thermal.loss is None:
        raise ArmtwinError("a warm-up needs the heat capacity and the heat loss of the joint")
    w = np.asarray(speeds, dtype=np.float64)
    fade = float(np.exp(-thermal.loss / thermal.capacity * period))
    T = thermal.ambient
    temperature, torque = np.empty(cycles), np.empty(cycles)
    for k in range(cycles):
        warm = at_viscosity(law, viscosity_factor(thermal, T))
        friction = sliding_torque(warm, w)
        power = float(np.mean(friction * w))
        final = thermal.ambient + power / thermal.loss
        T = final + (T - final) * fade
        temperature[k] = T
        torque[k] = np.mean(np.abs(friction))
    time = np.arange(1.0, cycles + 1) * np.float64(period)
    return WarmUp(time, temperature, torque)
