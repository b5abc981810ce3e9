"""Friction as a measured table of speed and torque."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np

from armtwin.drives.friction.linear_law import LinearLaw
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Friction, Share
from armtwin.maths.units import Unit

Peak = Annotated[float, Unit("1", at_least=1)]
TableSpeed = Annotated[float, Unit("rad/s", at_least=0, plausible=1000, hint="deg/s", also="m/s")]


@dataclass(frozen=True)
class TabulatedFriction(LinearLaw, units={"scale": "1"}, dry=("scale",)):
    """τ = scale sign(w) T(|w|), T linear between the points and beyond the last two.

    Below the first point T is constant; up to peak scale T(0) is held at rest.

    Attributes:
        speeds: Speeds of the points, increasing [rad/s].
        torques: Friction torques at these speeds [N m].
        scale: Factor on the table, the one number to identify.
        peak: Torque held at rest over that of the table at speed 0; a shape number, as no sliding
            motion shows it.

    Ref: [Soder-Hoorn 2015]
    """

    speeds: tuple[TableSpeed, ...]
    torques: tuple[Friction, ...]
    scale: Share = 1.0
    peak: Peak = 1.0
    law: Literal["table"] = "table"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 1)."""
        speed = np.abs(w)
        inside = np.interp(speed, self.speeds, self.torques)
        (one, other), (low, high) = self.speeds[-2:], self.torques[-2:]
        # a table that decreases to its end does not get below zero
        beyond = np.maximum(high + (speed - other) * (high - low) / (other - one), 0.0)
        return (np.sign(w) * np.where(speed > other, beyond, inside))[..., None]

    @property
    def held(self) -> float:
        """Largest torque held at rest [N m]."""
        return self.peak * self.scale * float(np.interp(0.0, self.speeds, self.torques))

    def problem(self) -> str:
        """What is wrong with the table, as a phrase; empty if nothing is."""
        speeds, torques = len(self.speeds), len(self.torques)
        if speeds != torques or speeds < 2:
            return f"needs two or more speeds and as many torques, got {speeds} and {torques}"
        if any(b <= a for a, b in pairwise(self.speeds)):
            return f"speeds must increase, got {list(self.speeds)}"
        return ""
