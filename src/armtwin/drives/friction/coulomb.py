"""Coulomb friction: alone, with viscous friction, smooth at rest, or higher at rest (Stribeck)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from armtwin.drives.friction.linear_law import LinearLaw
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Friction, Positive, Speed, Viscous


@dataclass(frozen=True)
class Coulomb(LinearLaw, units={"level": "N m"}, dry=("level",)):
    """τ = level sign(w).

    Attributes:
        level: Friction torque while sliding [N m].

    Ref: [Waiboer 2007, eq. 3.1]
    """

    level: Friction
    law: Literal["coulomb"] = "coulomb"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 1)."""
        return np.sign(w)[..., None]


@dataclass(frozen=True)
class CoulombViscous(
    LinearLaw,
    units={"level": "N m", "viscous": "N m s/rad"},
    dry=("level",),
    thermal=("viscous",),
    has_curve=True,
):
    """τ = level sign(w) + viscous w.

    Attributes:
        level: Friction torque that does not depend on speed [N m].
        viscous: Change of torque with speed [N m s/rad].

    Ref: [Waiboer 2007, eq. 3.2]
    """

    level: Friction
    viscous: Viscous
    law: Literal["coulomb_viscous"] = "coulomb_viscous"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 2)."""
        return np.stack([np.sign(w), w], axis=-1)


@dataclass(frozen=True)
class SmoothCoulombViscous(
    LinearLaw, units={"level": "N m", "viscous": "N m s/rad"}, dry=("level",), thermal=("viscous",)
):
    """τ = level tanh(w / speed) + viscous w: dry friction that does not hold at rest but creeps.

    Attributes:
        level: Friction torque that does not depend on speed, well above `speed` [N m].
        viscous: Change of torque with speed [N m s/rad].
        speed: Speed below which the dry friction fades; a shape number [rad/s].
    """

    level: Friction
    viscous: Viscous
    speed: Speed
    law: Literal["smooth_coulomb_viscous"] = "smooth_coulomb_viscous"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 2)."""
        return np.stack([np.tanh(w / self.speed), w], axis=-1)


@dataclass(frozen=True)
class StaticCoulombViscous(
    LinearLaw,
    units={"level": "N m", "viscous": "N m s/rad"},
    dry=("level",),
    thermal=("viscous",),
    scaled=("static",),
):
    """τ = level sign(w) + viscous w while sliding; up to `static` is held at rest.

    Attributes:
        level: Friction torque while sliding that does not depend on speed [N m].
        static: Largest torque held at rest; a shape number, as no sliding motion shows it [N m].
        viscous: Change of torque with speed [N m s/rad].

    Ref: [Waiboer 2007, eq. 3.3]
    """

    level: Friction
    static: Friction
    viscous: Viscous = 0.0
    law: Literal["static_coulomb_viscous"] = "static_coulomb_viscous"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 2)."""
        return np.stack([np.sign(w), w], axis=-1)

    @property
    def held(self) -> float:
        """Largest torque held at rest [N m]."""
        return self.static


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
