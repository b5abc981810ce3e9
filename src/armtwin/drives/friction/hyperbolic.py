"""Smooth friction as a sum of hyperbolic tangents, with or without a Stribeck effect."""

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


@dataclass(frozen=True)
class Makkar(
    LinearLaw,
    units={"bump": "N m", "level": "N m", "viscous": "N m s/rad"},
    dry=("bump", "level"),
    thermal=("viscous",),
    has_curve=True,
    tangents=("rise_slope", "fall_slope"),
):
    """τ = bump (tanh(rise_slope w) - tanh(fall_slope w)) + level tanh(level_slope w) + viscous w.

    The two tangents of one size rise and decrease again: friction that is higher at the start of
    sliding. Without them it is the law `hyperbolic` with one tangent less.

    Attributes:
        bump: Torque of the Stribeck effect, γ₁ [N m].
        rise_slope: Steepness with which it rises, γ₂ [s/rad].
        fall_slope: Steepness with which it decreases again, below that of the rise, γ₃ [s/rad].
        level: Coulomb friction, γ₄ [N m].
        level_slope: Steepness of the sign's change, γ₅ [s/rad].
        viscous: Change of torque with speed, γ₆ [N m s/rad].

    Ref: [Makkar-Dixon-Sawyer-Hu 2005], [Memar-Esfahani 2015, section II]
    """

    bump: Friction
    rise_slope: Steepness
    fall_slope: Steepness
    level: Friction
    level_slope: Steepness
    viscous: Viscous
    law: Literal["makkar"] = "makkar"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.rise_slope >= self.fall_slope:
            return ""
        got = f"{self.rise_slope:g} and {self.fall_slope:g}"
        return f"rise_slope must be at least fall_slope, got {got}"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 3)."""
        bump = np.tanh(self.rise_slope * w) - np.tanh(self.fall_slope * w)
        return np.stack([bump, np.tanh(self.level_slope * w), w], axis=-1)
