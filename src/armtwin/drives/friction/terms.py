"""Single terms of a friction law, added to another element's where a log asks for them."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from armtwin.drives.friction.linear_law import LinearLaw
from armtwin.drives.friction.lubricated import asperities
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Friction, Positive, Share, Speed, UsualLoad


@dataclass(frozen=True)
class Drop(LinearLaw, units={"level": "N m"}, dry=("level",)):
    """τ = level sign(w) exp(-|w / speed|^exponent): dry friction that decreases with speed.

    Attributes:
        level: Torque at the start of sliding [N m].
        speed: Range of the decrease [rad/s].
        exponent: Shape of the decrease, 0.5 to 2.

    Ref: [Waiboer 2007, eq. 3.4, 3.40]
    """

    level: Friction
    speed: Speed
    exponent: Positive = 1.0
    law: Literal["drop"] = "drop"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 1)."""
        return asperities(w, self.speed, self.exponent)[..., None]


@dataclass(frozen=True)
class Power(LinearLaw, units={"torque": "N m"}, thermal=("torque",)):
    """τ = torque sign(w) |w / speed|^exponent: a sheared film whose height grows with speed.

    Attributes:
        torque: Torque at the speed [N m].
        speed: Where it has that torque [rad/s].
        exponent: Growth, 1 for a film of constant height.

    Ref: [Waiboer 2007, eq. 3.40]
    """

    torque: Friction
    speed: Speed
    exponent: Positive
    law: Literal["power"] = "power"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 1)."""
        return (np.sign(w) * np.abs(w / self.speed) ** self.exponent)[..., None]


@dataclass(frozen=True)
class Loaded(LinearLaw, units={"share": "1"}, dry=("share",)):
    """τ = share |load| sign(w): gear friction in proportion to the transmitted torque.

    It stands beside an element with a level, on a row that a single motor drives. Where the load is
    not known, and in steady friction as a function of speed alone, it is the usual one. As `load`
    of an element with a level of its own it is the key below.

    Attributes:
        share: Friction per load.
        usual: The usual load, to which the pre-sliding distance refers too [N m].

    Ref: [Waiboer 2007, sections 4.4.4, 5.4.1]
    """

    share: Share
    usual: UsualLoad
    law: Literal["loaded"] = "loaded"

    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s] under the usual load, (..., 1)."""
        return (self.usual * np.sign(w))[..., None]
