"""Stribeck friction: the drop from static to Coulomb friction with speed, and a viscous term."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from armtwin.drives.friction.linear_law import LinearLaw
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Friction, Positive, Speed, Viscous


@dataclass(frozen=True)
class Stribeck(
    LinearLaw,
    units={"level": "N m", "static": "N m", "viscous": "N m s/rad"},
    dry=("level", "static"),
    thermal=("viscous",),
    has_curve=True,
):
    """τ = sign(w) (level + (static - level) e) + viscous w,   e = exp(-|w / speed|^exponent).

    Attributes:
        level: Coulomb friction, reached at higher speed [N m].
        static: Friction at the start of sliding [N m].
        speed: Stribeck speed, the range of the drop [rad/s].
        exponent: Shape of the drop, 0.5 to 2.
        viscous: Change of torque with speed; 0 is the law of Bo and Pavelescu [N m s/rad].

    Ref: [Waiboer 2007, eq. 3.4-3.5], [Aarts-Jonker-Waiboer 2006, eq. 19]
    """

    level: Friction
    static: Friction
    speed: Speed
    exponent: Positive = 1.0
    viscous: Viscous = 0.0
    law: Literal["stribeck"] = "stribeck"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 3)."""
        e = np.exp(-(np.abs(w / self.speed) ** self.exponent))
        return np.stack([np.sign(w) * (1 - e), np.sign(w) * e, w], axis=-1)
