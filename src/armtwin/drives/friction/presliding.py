"""Friction before and while sliding as one step of a simulation: bristles (LuGre), arctangent.

LuGre, with g a torque: dz/dt = w - c0 |w| z / g(w),   F = c0 z + c1 dz/dt + f(w).

At a steady speed w the bristle relaxes exponentially towards z_ss = g sign(w) / c0. The torque of a
step is its mean over that exponential, with X = c0 |w| h / g and Z = c0 z sign(w):

    F̄ sign(w) = g + (Z - g) φ + c1/(c0 h) (g - Z) (1 - E) + f,   E ≈ e^-X,  φ = (1 - E)/X

E is the Padé (0, 2) form 1/(1 + X + X²/2), which needs no exp and is stable for any stiffness; then
φ = (1 + X/2) E. With s = X g both have the denominator g² + s g + s²/2: one division gives all. The
torque's slope makes the velocity step implicit; z is relaxed with the speed half way.

Ref: [Waiboer 2007, eq. 3.69-3.72, 3.79], [Aarts-Jonker-Waiboer 2006, eq. 17-19]
"""

import numpy as np

from armtwin.drives.friction.curves import look_up
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.choice import choose, larger, smaller
from armtwin.maths.compiled import inlined


def bristle_damping(stiffness: float, relative: float, inertia: float) -> float:
    """Bristle damping c1 from a relative damping: ζ = c1 / (2 J ω), ω = √(c0 / J) [N m s/rad]."""
    return 2 * relative * float(np.sqrt(stiffness * inertia))


@inlined
def bristle(
    table: Floats,
    e: int,
    scale: float,
    level: float,
    c0: float,
    c1: float,
    w: float,
    z: float,
    h: float,
) -> Pair:
    """Mean torque of element e over a step h at speed w, and its slope with w.

    level is the factor of its dry friction g.
    """
    speed = abs(w)
    forward = w >= 0.0
    side = choose(forward, 0, 1)
    sign = choose(forward, 1.0, -1.0)
    g, g_slope, f, f_slope = look_up(table, e, side, scale, speed)
    g *= level
    rising = speed * g_slope * level
    bending = c0 * h
    s = bending * speed  # X g
    share = 1.0 / (g * g + s * (g + 0.5 * s))  # E / g²
    mean = (g + 0.5 * s) * share  # φ / g
    bent = c0 * z * sign - g
    F = g + bent * mean * (g - c1 * speed) + f
    # Slopes at fixed z; g' appears as |w| g', which is small at rest. A bristle bent beyond its
    # steady torque (g falls to zero with the speed in some laws) would give a slope of minus
    # infinity: it relaxes explicitly.
    under = smaller(bent, 0.0)
    falling = larger(g - rising, 0.0)
    slope = 0.5 * bending * share * (rising * (g + s) - under * falling)
    slope += c1 * (rising * mean - under * falling * g * (g + s) * share * share) + f_slope
    return sign * F, slope


@inlined
def advance_bristle(
    table: Floats, e: int, scale: float, level: float, c0: float, w: float, z: float, h: float
) -> float:
    """Deflection of the bristle of element e after a step h at speed w."""
    speed = abs(w)
    forward = w >= 0.0
    g, _, _, _ = look_up(table, e, choose(forward, 0, 1), scale, speed)
    g *= level
    s = c0 * h * speed
    steady = choose(forward, g, -g) * (1.0 / c0)
    return steady + (z - steady) * g * g / (g * g + s * (g + 0.5 * s))


@inlined
def arctangent(
    table: Floats, e: int, scale: float, level: float, steepness: float, w: float
) -> Pair:
    """Torque 2/π arctan(c w) T(|w|) and its slope."""
    speed = abs(w)
    side = choose(w >= 0.0, 0, 1)
    g, g_slope, f, f_slope = look_up(table, e, side, scale, speed)
    g *= level
    g_slope *= level
    share = 2.0 / np.pi * np.arctan(steepness * w)
    rise = 2.0 / np.pi * steepness / (1.0 + (steepness * w) ** 2)
    return share * (g + f), rise * (g + f) + abs(share) * (g_slope + f_slope)
