"""Friction before and while sliding as one step of a simulation: bristles (LuGre), arctangent.

LuGre, with g a torque: dz/dt = w - c0 |w| z / g(w),   F = c0 z + c1 dz/dt + f(w).

The bristle z lives at half steps: over a step h of constant w it relaxes towards z_ss = g sign(w) / c0 by
the Padé (0, 2) form of the exponential, k = e / (1 + e), e = x (1 + x / 2), x = c0 |w| h / g, which needs no
exp and is stable for any stiffness. The slope returned makes the velocity step implicit; its part k g' is
what keeps the scheme second order in fast sliding, where z follows g(w) half a step late.

Ref: [Waiboer 2007, eq. 3.69-3.72, 3.79], [Aarts-Jonker-Waiboer 2006, eq. 17-19]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.drives.friction.curves import look_up
from armtwin.maths.compiled import inlined


def bristle_damping(stiffness: float, relative: float, inertia: float) -> float:
    """Bristle damping c1 from a relative damping: ζ = c1 / (2 J ω), ω = √(c0 / J) [N m s/rad]."""
    return 2 * relative * float(np.sqrt(stiffness * inertia))


@inlined
def bristle(
    table: Any, e: int, scale: float, c0: float, c1: float, w: float, z: float, h: float
) -> tuple[float, float, float]:
    """Torque F, slope dF/dw and new bristle state of element e after a step h at speed w."""
    speed = abs(w)
    side = 0 if w >= 0.0 else 1
    sign = 1.0 if w >= 0.0 else -1.0
    g, g_slope, f, f_slope = look_up(table, e, side, scale, speed)
    softness = c0 / g  # x = softness h |w|
    x = softness * h * speed
    growth = 1.0 + 0.5 * x
    kept = 1.0 / (1.0 + x * growth)  # 1 - k
    z = z * kept + sign * x * growth * kept / softness
    bend = softness * z * sign
    F = c0 * z + c1 * w * (1.0 - bend) + sign * f
    # k g' = (k / |w|) (|w| g') stays finite at rest
    slope = kept * c1 * (1.0 - bend) + softness * h * growth * kept * g_slope + f_slope
    return F, slope, z


@inlined
def arctangent(table: Any, e: int, scale: float, steepness: float, w: float) -> tuple[float, float]:
    """Torque 2/π arctan(c w) T(|w|) and its slope."""
    speed = abs(w)
    side = 0 if w >= 0.0 else 1
    g, g_slope, f, f_slope = look_up(table, e, side, scale, speed)
    share = 2.0 / np.pi * np.arctan(steepness * w)
    rise = 2.0 / np.pi * steepness / (1.0 + (steepness * w) ** 2)
    falling = g_slope / speed if speed > 1e-9 else 0.0
    return share * (g + f), rise * (g + f) + abs(share) * (falling + f_slope)
