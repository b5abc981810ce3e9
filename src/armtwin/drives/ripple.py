"""Gears that do not turn evenly: an error of the driven angle that repeats with the motor's turn.

    driven angle = motor angle / ratio + A sin(k θ_m + φ)

Along the row s of a spring that takes it up the twist is x = s · u + A sin(k θ_m + φ), and the
spring acts back with the slope of that, s + A k cos(k θ_m + φ) n, where θ_m = n · u: the work of
spring and motor is the same on both sides.

Ref: [Waiboer 2007, section 6.2]
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from armtwin.drives.rows import Rows, Springs, along
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Angle
from armtwin.maths.traced_fields import Index
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

    spring: Index
    motor: Index
    cycles: Floats
    amplitude: Floats
    phase: Floats


def apply_ripple(
    ripples: Ripples, springs: Springs, rows: Rows, ahead: Floats
) -> tuple[Floats, Floats]:
    """Rows of the coordinates at a place `ahead`, (N,), and where along them springs are slack."""
    weights, slack = rows.weights.copy(), springs.rest.copy()
    for i in range(len(ripples.spring)):
        r, turning = springs.row[ripples.spring[i]], ripples.motor[i]
        angle = along(rows, turning, ahead)
        phase = ripples.cycles[i] * angle + ripples.phase[i]
        slope = ripples.amplitude[i] * ripples.cycles[i] * np.cos(phase)
        # the row is a tangent: what it says of the angle itself is taken back
        slack[ripples.spring[i]] += slope * angle - ripples.amplitude[i] * np.sin(phase)
        for k in range(rows.used[turning]):
            j = rows.place[turning, k]
            weights[r, j] += slope * rows.weights[turning, j]
    return weights, slack
