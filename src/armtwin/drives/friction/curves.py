"""A friction law as two curves over |w| (dry g, viscous f), and as tables that a kernel reads.

The bristle model needs the dry part alone: steady sliding is F = sign(w) g(|w|) + sign(w) f(|w|).

Tables hold cubics in s = |w|^(1/4): the nodes crowd near zero, where g may fall with an infinite
slope and f rise with one (exponents below 1), and both are smooth in s.

Ref: [Waiboer 2007, eq. 3.70-3.72]
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from armtwin.drives.friction.coulomb import StaticCoulombViscous
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.table import Table
from armtwin.maths.batch import Floats, read_only
from armtwin.maths.choice import choose, smaller, whole
from armtwin.maths.compiled import inlined
from armtwin.maths.interpolation import hermite_cubics

INTERVALS = 256
FLOOR = 1e-6  # smallest g relative to its largest value: the bristles must bend back at any speed
SMOOTH = 1e-4  # speed [rad/s] below which viscous friction is linear in speed
ROOT = 4
HOLDING = (StaticCoulombViscous, Table)  # laws that hold more at rest than they slide with


def coefficients(law: Law) -> dict[str, float]:
    """Linear numbers of a law by name."""
    return {name: float(getattr(law, name)) for name, _ in law.coefficients}


def split(law: Law, w: Floats) -> tuple[Floats, Floats]:
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


def breakaway(law: Law) -> float:
    """Largest torque held at rest [N m]."""
    if isinstance(law, HOLDING):
        return law.held
    return float(split(law, np.array([1e-12]))[0][0])


@lru_cache(maxsize=512)
def tabulate(law: Law, largest: float) -> Floats:
    """Cubic coefficients in s of g and f on equal steps of s up to |w| = largest, (INTERVALS, 8).

    Tables are kept: runs of one robot, and of others that differ in something else, use them again.
    """
    s = np.linspace(0, largest ** (1 / ROOT), INTERVALS + 1)
    step = s[1]
    g, f = _smooth_split(law, s)
    h = 1e-6 * step
    inner = np.clip(s, 2 * h, None)
    gp, fp = _smooth_split(law, inner + h)
    gm, fm = _smooth_split(law, inner - h)
    g_slope = _without_overshoot(g, (gp - gm) / (2 * h), step)
    f_slope = (fp - fm) / (2 * h)
    dry = hermite_cubics(g, step * g_slope)
    wet = hermite_cubics(f, step * f_slope)
    return read_only(np.hstack([dry, wet]))


def _without_overshoot(y: Floats, d: Floats, step: float) -> Floats:
    """Slopes with which cubics stay between their ends: g must not pass below zero in between.

    Ref: [Fritsch-Carlson 1980]
    """
    chords = np.diff(y) / step
    left = np.concatenate([chords[:1], chords])
    right = np.concatenate([chords, chords[-1:]])
    flatter = np.minimum(np.abs(left), np.abs(right))
    room = np.where(left * right > 0, 3 * flatter, 0.0)
    return np.clip(d, -room, room)


def _smooth_split(law: Law, s: Floats) -> tuple[Floats, Floats]:
    """g with its floor and f made linear below SMOOTH, at s = |w|^(1/4)."""
    w = np.maximum(s**ROOT, 1e-30)
    g, f = split(law, w)
    below = w < 50 * SMOOTH
    # w (w² + ε²)^(-δ/2) has the slope of the law above ε and is linear below it
    lifted = np.sqrt(w[below] ** 2 + SMOOTH**2)
    f[below] = split(law, lifted)[1] * w[below] / lifted
    if isinstance(law, HOLDING):
        sliding = float(split(law, np.array([1e-12]))[0][0])
        g = g + (law.held - sliding) * np.exp(-((w / SMOOTH) ** 2))
    floor = FLOOR * max(float(np.max(g)), 1e-12)
    return np.maximum(g, floor), f


@inlined
def look_up(
    table: Any, e: int, side: int, scale: float, speed: float
) -> tuple[float, float, float, float]:
    """g, |w| g', f, f' of element e, table (e, sides, INTERVALS, 8), at |w| = speed.

    scale is 1 / step of s.
    """
    s = np.sqrt(np.sqrt(speed))
    x = s * scale
    i = smaller(whole(x), INTERVALS - 1)
    x -= i
    g1, g2, g3 = table[e, side, i, 1], table[e, side, i, 2], table[e, side, i, 3]
    f1, f2, f3 = table[e, side, i, 5], table[e, side, i, 6], table[e, side, i, 7]
    g = table[e, side, i, 0] + x * (g1 + x * (g2 + x * g3))
    f = table[e, side, i, 4] + x * (f1 + x * (f2 + x * f3))
    # ds/dw = s / (4 w): |w| times a slope stays finite at rest
    g_slope = 0.25 * s * scale * (g1 + x * (2 * g2 + 3 * x * g3))
    first = 1.0 / scale
    f_start = table[e, side, 1, 4] / (first * first * first * first)
    f_slope = 0.25 * s * scale * (f1 + x * (2 * f2 + 3 * x * f3)) / speed
    return g, g_slope, f, choose(i == 0, f_start, f_slope)
