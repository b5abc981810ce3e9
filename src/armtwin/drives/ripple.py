"""Gears that do not turn evenly: an error of the driven angle that repeats with the motor's turn.

    driven angle = motor angle / ratio + A sin(k θ_m + φ)

Along the row s of a spring that takes it up the twist is x = s · u + A sin(k θ_m + φ), and the
spring acts back with the slope of that, s + A k cos(k θ_m + φ) n, where θ_m = n · u: the work of
spring and motor is the same on both sides.

Ref: [Waiboer 2007, section 6.2]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled
from armtwin.maths.quantities import Angle
from armtwin.maths.units import Unit

Amplitude = Annotated[float, Unit("rad", at_least=0, plausible=0.01, hint="arcsec")]
Cycles = Annotated[float, Unit("1", above=0, plausible=1000)]


@dataclass(frozen=True)
class Ripple:
    """One harmonic of a gear's error.

    Attributes:
        cycles: Cycles in a turn of the motor, k.
        amplitude: Error of the driven angle, on the side of the transmission's numbers, A [rad].
        phase: Angle within the cycle at motor angle zero, φ [rad].
    """

    cycles: Cycles
    amplitude: Amplitude
    phase: Angle = 0.0

    def at(self, motor: Floats) -> Floats:
        """Error at motor angles, (...) [rad]."""
        return np.asarray(self.amplitude * np.sin(self.cycles * motor + self.phase))


class Ripples(NamedTuple):
    """Ripples of elastic gears, (ripples,) each.

    Attributes:
        spring: Number of the spring that takes it up.
        motor: Row of the motor's angle.
        cycles: k.
        amplitude: A [rad].
        phase: φ [rad].
    """

    spring: Any
    motor: Any
    cycles: Any
    amplitude: Any
    phase: Any


@compiled
def apply_ripple(
    weights: Any,
    place: Any,
    count: Any,
    spring_row: Any,
    rest: Any,
    spring: Any,
    motor: Any,
    cycles: Any,
    amplitude: Any,
    phase: Any,
    u: Any,
    v: Any,
    h: float,
    rows: Any,
    slack: Any,
) -> None:
    """Rows of the springs half a step ahead, u + h v / 2, and where along them they are slack."""
    for e in range(spring_row.shape[0]):
        slack[e] = rest[e]
        r = spring_row[e]
        for k in range(count[r]):
            j = place[r, k]
            rows[r, j] = weights[r, j]
    for i in range(spring.shape[0]):
        r, turning = spring_row[spring[i]], motor[i]
        angle = 0.0
        for k in range(count[turning]):
            j = place[turning, k]
            angle += weights[turning, j] * (u[j] + 0.5 * h * v[j])
        slope = amplitude[i] * cycles[i] * np.cos(cycles[i] * angle + phase[i])
        # the row is a tangent: what it says of the angle itself is taken back
        slack[spring[i]] += slope * angle - amplitude[i] * np.sin(cycles[i] * angle + phase[i])
        for k in range(count[turning]):
            j = place[turning, k]
            rows[r, j] += slope * weights[turning, j]
