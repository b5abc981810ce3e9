"""A joint that repeats a motion, and whose friction warms its oil.

    C dT/dt = P_friction - L (T - T_ambient)

Ref: [Waiboer 2007, eq. 3.66-3.67]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.drives.friction.curves import at_viscosity, coefficients
from armtwin.drives.friction.laws import Law
from armtwin.drives.temperature import viscosity_factor
from armtwin.maths.batch import Floats


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


def warm_up(law: Law, thermal, speeds: ArrayLike, period: float, cycles: int) -> WarmUp:
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
    w = np.asarray(speeds, dtype=np.float64)
    fade = float(np.exp(-thermal.loss / thermal.capacity * period))
    T = thermal.ambient
    temperature, torque = np.empty(cycles), np.empty(cycles)
    for k in range(cycles):
        warm = at_viscosity(law, viscosity_factor(thermal, T))
        values = np.array(list(coefficients(warm).values()))
        friction = warm.columns(w) @ values
        power = float(np.mean(friction * w))
        final = thermal.ambient + power / thermal.loss
        T = final + (T - final) * fade
        temperature[k] = T
        torque[k] = np.mean(np.abs(friction))
    time = np.arange(1.0, cycles + 1) * np.float64(period)
    return WarmUp(time, temperature, torque)
