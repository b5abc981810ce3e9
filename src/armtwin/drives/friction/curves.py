"""A friction law as two curves over |w| (dry g, viscous f), and as tables that a kernel reads.

The bristle model needs the dry part alone: steady sliding is F = sign(w) g(|w|) + sign(w) f(|w|).

Tables hold cubics between nodes that crowd near zero, where g may drop with an infinite slope and f
rise with one (exponents below 1): with y = FIRST + scale |w|, scale a power of 2 with which the
largest |w| lies between 1/2 and 1, the nodes are the numbers y of few leading bits. Place and node
are read off the bits of y. Beyond the last node the curves go on straight.

Ref: [Waiboer 2007, eq. 3.70-3.72]
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.maths.batch import Floats, NamedNumbers, TwoArrays, read_only
from armtwin.maths.bits import LEADING, coarse, coarse_numbers, rank
from armtwin.maths.choice import smaller
from armtwin.maths.compiled import inlined
from armtwin.maths.interpolation import hermite_cubics

OCTAVES = 28  # between the first node and the last, which is 1
FIRST = 2.0**-OCTAVES  # the first node
FIRST_RANK = (1023 - OCTAVES) << LEADING
INTERVALS = (OCTAVES << LEADING) + 1  # the last one has no end
FLOOR = 1e-6  # smallest g relative to its largest value: the bristles must bend back at any speed
SMOOTH = 1e-4  # speed [rad/s] below which viscous friction is linear in speed
DIFFERENCE = 1e-4  # share of an interval over which slopes are taken: exact to 1e-10 of the torque


def coefficients(law: Law) -> NamedNumbers:
    """Linear numbers of a law by name."""
    return {name: float(getattr(law, name)) for name, _ in law.coefficients}


def split(law: Law, w: Floats) -> TwoArrays:
    """Dry and viscous part (g, f) of the friction torque at speeds w > 0 [N m]."""
    columns = law.columns(np.asarray(w, dtype=np.float64))
    dry, wet = np.zeros(columns.shape[-1]), np.zeros(columns.shape[-1])
    for k, (name, value) in enumerate(coefficients(law).items()):
        part = dry if name in law.dry else wet
        part[k] = value
    return columns @ dry, columns @ wet


def at_viscosity(law: Law, factor: float) -> Law:
    """The law with its viscous numbers scaled, as warm or cold oil does."""
    changes: Any = {name: factor * getattr(law, name) for name in law.thermal}
    return replace(law, **changes)


def at_level(law: Law, factor: float) -> Law:
    """The law with all of its torques scaled."""
    names = [name for name, _ in law.coefficients]
    names += law.scaled
    changes: Any = {name: factor * getattr(law, name) for name in names}
    return replace(law, **changes)


def breakaway(law: Law) -> float:
    """Largest torque held at rest [N m]."""
    return _slowest(law) if law.held is None else law.held


def _slowest(law: Law) -> float:
    """Dry friction at the start of sliding [N m]."""
    return float(split(law, np.array([1e-12]))[0][0])


def scale_of(largest: float) -> float:
    """Scale of a table up to |w| = largest: a power of 2."""
    _, exponent = np.frexp(largest)
    return float(2.0 ** -float(exponent))


@lru_cache(maxsize=512)
def tabulate(law: Law, largest: float) -> Floats:
    """Cubic coefficients of g and f in y less its node, up to |w| = largest, (INTERVALS, 8).

    Tables are kept: runs of one robot, and of others that differ in something else, use them again.
    """
    return tabulate_parts(partial(_smooth_split, law), scale_of(largest))


def tabulate_parts(parts: Callable[[Floats], TwoArrays], scale: float) -> Floats:
    """The table of g and f at speeds w >= 0, (INTERVALS, 8)."""
    y = coarse_numbers(FIRST, OCTAVES)
    w = (y - FIRST) / scale
    step = np.diff(y)
    h = DIFFERENCE * np.append(step, step[-1]) / scale
    above, below = w + h, np.maximum(w - h, 0.0)
    apart = scale * (above - below)
    g, f = parts(w)
    g_above, f_above = parts(above)
    g_below, f_below = parts(below)
    g_slope = _without_overshoot(g, (g_above - g_below) / apart, step)
    f_slope = (f_above - f_below) / apart
    return read_only(np.hstack([_cubics(g, g_slope, step), _cubics(f, f_slope, step)]))


def read_table(table: Floats, scale: float, w: Floats) -> TwoArrays:
    """g and f of a table, (INTERVALS, 8), at speeds w >= 0."""
    y = FIRST + scale * w
    nodes = coarse_numbers(FIRST, OCTAVES)
    at = np.searchsorted(nodes, y, side="right") - 1
    powers = (y - nodes[at])[:, None] ** np.arange(4)
    return (table[at, :4] * powers).sum(axis=1), (table[at, 4:] * powers).sum(axis=1)


def _cubics(y: Floats, d: Floats, step: Floats) -> Floats:
    """Cubics between nodes steps apart, and the straight line that goes on, (INTERVALS, 4)."""
    found = np.zeros((INTERVALS, 4))
    found[:-1] = hermite_cubics(y, d, step)
    found[-1, :2] = y[-1], d[-1]
    return found


def _without_overshoot(y: Floats, d: Floats, step: Floats) -> Floats:
    """Slopes with which cubics stay between their ends: g must not pass below zero in between.

    Ref: [Fritsch-Carlson 1980]
    """
    chords = np.diff(y) / step
    left = np.concatenate([chords[:1], chords])
    right = np.concatenate([chords, chords[-1:]])
    flatter = np.minimum(np.abs(left), np.abs(right))
    room = np.where(left * right > 0, 3 * flatter, 0.0)
    return np.clip(d, -room, room)


def _smooth_split(law: Law, speed: Floats) -> TwoArrays:
    """g with its floor and f made linear below SMOOTH, at speeds |w|."""
    w = np.maximum(speed, 1e-30)
    g, f = split(law, w)
    below = w < 50 * SMOOTH
    # w (w² + ε²)^(-δ/2) has the slope of the law above ε and is linear below it
    lifted = np.sqrt(w[below] ** 2 + SMOOTH**2)
    f[below] = split(law, lifted)[1] * w[below] / lifted
    if law.held is not None:
        g = g + (law.held - _slowest(law)) * np.exp(-((w / SMOOTH) ** 2))
    floor = FLOOR * max(float(np.max(g)), 1e-12)
    return np.maximum(g, floor), f


@inlined
def look_up(
    table: Floats, e: int, side: int, scale: float, speed: float
) -> tuple[float, float, float, float]:
    """g, g', f, f' of element e, table (e, sides, INTERVALS, 8), at |w| = speed."""
    y = speed * scale + FIRST
    node = smaller(coarse(y), 1.0)
    i = rank(node) - FIRST_RANK
    x = y - node
    g1, g2, g3 = table[e, side, i, 1], table[e, side, i, 2], table[e, side, i, 3]
    f1, f2, f3 = table[e, side, i, 5], table[e, side, i, 6], table[e, side, i, 7]
    g = table[e, side, i, 0] + x * (g1 + x * (g2 + x * g3))
    f = table[e, side, i, 4] + x * (f1 + x * (f2 + x * f3))
    g_slope = scale * (g1 + x * (2.0 * g2 + 3.0 * x * g3))
    f_slope = scale * (f1 + x * (2.0 * f2 + 3.0 * x * f3))
    return g, g_slope, f, f_slope
