"""Friction of lubricated gears and bearings: asperities that the oil film parts, and its shear.

The film grows with speed, h ~ |w|^δ: fewer asperities touch (an exponential that falls) and the
shear of a Newtonian oil grows as |w|^(1-δ); in a prestressed bearing the oil reaches a limiting
shear stress.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from armtwin.drives.friction.linear_law import LinearLaw
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Friction, Positive, Share, Speed, Viscous


def asperities(w: Floats, speed: float, exponent: float) -> Any:
    """sign(w) exp(-|w / speed|^exponent): the share of asperities in contact."""
    return np.sign(w) * np.exp(-(np.abs(w / speed) ** exponent))


def sheared_film(w: Floats, exponent: float) -> Any:
    """sign(w) |w|^(1-exponent): the shear of a film whose height grows with speed."""
    return np.sign(w) * np.abs(w) ** (1 - exponent)


@dataclass(frozen=True)
class GearPair(
    LinearLaw,
    units={"asperity": "N m", "viscous": "N m (s/rad)^(1-δ)"},
    dry=("asperity",),
    thermal=("viscous",),
    has_curve=True,
):
    """τ = sign(w) (asperity exp(-|w/speed|^δ) + viscous |w|^(1-δ)), both with one exponent δ.

    Attributes:
        asperity: Friction of the asperities at the start of sliding [N m].
        speed: Stribeck speed [rad/s].
        exponent: Growth of the film with speed, δ, 0.5 to 0.7 for steel gears.
        viscous: Friction of the sheared film at 1 rad/s [N m (s/rad)^(1-δ)].

    Ref: [Waiboer 2007, eq. 3.40]
    """

    asperity: Friction
    speed: Speed
    exponent: Positive
    viscous: Viscous
    law: Literal["gear_pair"] = "gear_pair"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.exponent <= 1:
            return ""
        return f"exponent must be at most 1 for a gear pair, got {self.exponent:g}"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 2)."""
        film = sheared_film(w, self.exponent)
        return np.stack([asperities(w, self.speed, self.exponent), film], axis=-1)


@dataclass(frozen=True)
class GearedJoint(
    LinearLaw,
    units={"asperity": "N m", "viscous": "N m (s/rad)^(1-δ)"},
    dry=("asperity",),
    thermal=("viscous",),
    has_curve=True,
):
    """τ = sign(w) (asperity exp(-|w/speed|^exponent) + viscous |w|^(1-viscous_exponent)).

    The asperities of the prestressed bearing and the oil of the fast gear pair, each with its own
    film.

    Attributes:
        asperity: Friction of the asperities at the start of sliding [N m].
        speed: Stribeck speed [rad/s].
        exponent: Growth of the bearing's film with speed, δ_a.
        viscous: Friction of the gear's film at 1 rad/s [N m (s/rad)^(1-δ)].
        viscous_exponent: Growth of the gear's film with speed, δ_v.

    Ref: [Waiboer 2007, eq. 3.48, 3.50a, 3.50c]
    """

    asperity: Friction
    speed: Speed
    exponent: Positive
    viscous: Viscous
    viscous_exponent: Share
    law: Literal["geared_joint"] = "geared_joint"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.viscous_exponent <= 1:
            return ""
        return f"viscous_exponent must be at most 1, got {self.viscous_exponent:g}"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 2)."""
        film = sheared_film(w, self.viscous_exponent)
        return np.stack([asperities(w, self.speed, self.exponent), film], axis=-1)


@dataclass(frozen=True)
class RollerBearing(
    LinearLaw, units={"asperity": "N m", "limit": "N m"}, dry=("asperity",), has_curve=True
):
    """τ = sign(w) (asperity exp(-|w/speed|^exponent) + limit (1 - exp(-|w|/limit_speed))).

    Attributes:
        asperity: Friction of the asperities at the start of sliding [N m].
        speed: Stribeck speed [rad/s].
        exponent: Growth of the film with speed, δ.
        limit: Friction at the limiting shear stress of the oil [N m].
        limit_speed: Speed at which the oil comes near that limit [rad/s].

    Ref: [Waiboer 2007, eq. 3.46, 3.50b]
    """

    asperity: Friction
    speed: Speed
    exponent: Positive
    limit: Friction
    limit_speed: Speed
    law: Literal["roller_bearing"] = "roller_bearing"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 2)."""
        shear = np.sign(w) * -np.expm1(-np.abs(w) / self.limit_speed)
        return np.stack([asperities(w, self.speed, self.exponent), shear], axis=-1)
