"""A spring with damping and backlash along a row, as one step of a simulation.

    torque = K beyond(x) + c w        beyond(x) = x - b above b,  x + b below -b,  0 between

Within the gap nothing is transmitted, and a contact never pulls. Over a step the torque is taken at
its middle, x + h w / 2, which conserves the energy of a spring. A spring so stiff that it swings
within a tick is not damped by that: under a sampled servo it goes on from tick to tick with
alternating signs. Such a spring gets numerical damping δ between 0 and 1, by looking further ahead:

    torque = K beyond(x + (1/2 + δ) h w) + c w,   slope = c + h K (1 + 3 δ) / 2

With a = ω h the two roots of a step have the product 1 - δ a² / (1 + a² (1 + 3 δ) / 4): 1 without
δ, and 0 for δ = 1 and a large a; the step is stable for every a and δ.

Ref: [Soder-Hoorn 2015, fig. 3.1]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.choice import both, choose
from armtwin.maths.compiled import inlined

QUICK = 1.0  # ω h from which a spring swings within a tick and is damped
QUICKEST = 2.0  # ω h from which it is damped fully


class Springs(NamedTuple):
    """Springs of all transmissions, (springs,) each.

    Attributes:
        row: Row of the twist.
        stiffness: K [N m/rad].
        damping: c [N m s/rad].
        gap: Half of the backlash, b [rad].
        numerical: Numerical damping δ.
    """

    row: Any
    stiffness: Any
    damping: Any
    gap: Any
    numerical: Any


def numerical_damping(stiffness: Floats, mobility: Floats, step: float) -> Floats:
    """δ of springs that swing at ω = √(K s M⁻¹ sᵀ): 0 up to ω h = 1, 1 from ω h = 2 on.

    Args:
        stiffness: K of each spring [N m/rad].
        mobility: s M⁻¹ sᵀ of each row [1/(kg m²)].
        step: Time h of a tick [s].
    """
    swing = np.sqrt(stiffness * mobility) * step
    return np.asarray(np.clip((swing - QUICK) / (QUICKEST - QUICK), 0.0, 1.0))


@inlined
def beyond(x: float, gap: float) -> float:
    """Twist beyond the gap."""
    return choose(x > gap, x - gap, choose(x < -gap, x + gap, 0.0))


@inlined
def spring(
    stiffness: float, damping: float, gap: float, numerical: float, x: float, w: float, h: float
) -> tuple[float, float]:
    """Torque of a spring over a step h from twist x at speed w, and its slope with w."""
    ahead = beyond(x + (0.5 + numerical) * h * w, gap)
    torque = stiffness * ahead + damping * w
    slope = damping + 0.5 * h * stiffness * (1.0 + 3.0 * numerical)
    apart = both(gap > 0.0, torque * ahead <= 0.0)
    return choose(apart, 0.0, torque), choose(apart, 0.0, slope)
