"""Smooth friction as a sum of hyperbolic tangents."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from armtwin.drives.friction.linear_law import LinearLaw
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Friction, Viscous
from armtwin.maths.units import Unit

Steepness = Annotated[float, Unit("s/rad", above=0, also="s/m")]


@dataclass(frozen=True)
class Hyperbolic(
    LinearLaw,
    units={"first": "N m", "second": "N m", "viscous": "N m s/rad"},
    dry=("first", "second"),
    thermal=("viscous",),
    has_curve=True,
    tangents=("first_slope", "second_slope"),
):
    """τ = first tanh(first_slope w) + second tanh(second_slope w) + viscous w.

    Attributes:
        first: Torque of the first tangent, γ₁ [N m].
        first_slope: Its steepness, γ₂ [s/rad].
        second: Torque of the second tangent, γ₃ [N m].
        second_slope: Its steepness, γ₄ [s/rad].
        viscous: Change of torque with speed, γ₅ [N m s/rad].

    Ref: [Memar-Esfahani 2015, eq. 16], [Weigand 2021]
    """

    first: Friction
    first_slope: Steepness
    second: Friction
    second_slope: Steepness
    viscous: Viscous
    law: Literal["hyperbolic"] = "hyperbolic"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 3)."""
        return np.stack([np.tanh(self.first_slope * w), np.tanh(self.second_slope * w), w], axis=-1)
