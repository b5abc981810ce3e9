"""A hydraulic drive: servovalve, oil, piston or vane, position sensor, proportional control.

    i = clip(gain (u - y), ± current_limit),   y = sensor_gain x(t - sensor_delay)
    x_v'' = ω² (i(t - delay) - x_v) - 2 damping ω x_v',   compliance F' = Q(x_v) - x' - leakage F

x is the stroke of a cylinder [m] or the angle of a vane motor [rad], F its force [N] or torque [N m].

Ref: [Machielsen 1983, chapter 5], signs and repaired numbers in docs/references.md
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from armtwin.maths.quantities import Current, Number, Share, Time
from armtwin.maths.units import Unit

ValveRate = Annotated[float, Unit("rad/s", above=0)]


@dataclass(frozen=True)
class Valve:
    """Servovalve: second-order spool with delay, and its measured flow.

    Attributes:
        frequency: Natural frequency ω of the spool [rad/s].
        damping: Relative damping of the spool.
        delay: Delay of the electronics [s].
        current_limit: Largest current [A].
        flow: Points of spool position [A] and speed of the unloaded piston [m/s or rad/s], increasing.
    """

    frequency: ValveRate
    damping: Share
    delay: Time
    current_limit: Current
    flow: tuple[tuple[Number, Number], ...]

    def problem(self) -> str:
        """What is wrong with the flow table, as a phrase; empty if nothing is."""
        currents = [point[0] for point in self.flow]
        if len(currents) < 2 or any(b <= a for a, b in pairwise(currents)):
            return f"flow must have at least two points of increasing current, got currents {currents}"
        return ""


@dataclass(frozen=True)
class Circuit:
    """The drive's numbers; lengths and forces for a cylinder, angles and torques for a vane motor.

    Attributes:
        valve: The servovalve.
        compliance: Stroke per force of the oil [m/N or rad/(N m)].
        leakage: Speed lost per force [m/(N s) or rad/(N m s)].
        viscous: Viscous friction of the piston [N s/m or N m s/rad].
        coulomb: Coulomb friction of the piston [N or N m].
        gain: Proportional gain, current per voltage [A/V].
        sensor_gain: Voltage per stroke [V/m or V/rad].
        sensor_delay: Delay of the sensor [s].
        zero: Stroke at which the sensor reads zero [m or rad].
    """

    valve: Valve
    compliance: Share
    leakage: Share
    viscous: Share
    coulomb: Share
    gain: Number
    sensor_gain: Number
    sensor_delay: Time = 0.0
    zero: Number = 0.0
