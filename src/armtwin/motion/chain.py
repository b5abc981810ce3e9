"""A chain of straight and circular legs whose corners are rounded within zones.

Within a zone both legs are run at once: the first slows down to the corner while the second starts
from it. With leg a before the corner C, leg b after it and the zone's distance ρ

    p(u) = a(g(u)) + b(-g(1 - u)) - C,   g = -ρ + 2ρ (u - u³ + u⁴/2),   0 ≤ u ≤ 1

so that |p - C| ≤ ρ, and direction and curvature are those of the legs where the zone begins and
ends. Orientations turn evenly along a leg, and in a zone by both turns one after the other:

    R(u) = exp(ω_b g_b) exp(ω_a g_a) R_C

Legs that only turn the tool, and moves of the joints, have a length that is not the tool's.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import Vector, add, cross, dot, put, scale_vector, vector
from armtwin.motion.curves import Jet, Turning

PARTS = 16  # intervals of a zone at which its arc length is tabulated
NODES = (-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831, 0.9061798459386640)
WEIGHTS = (
    0.2369268850561891,
    0.4786286704993665,
    0.5688888888888889,
    0.4786286704993665,
    0.2369268850561891,
)
CLOSE = 1e-13  # [m] of arc length within which a place in a zone is found
STEPS = 8  # of Newton's method at most
MARGIN = 1.01  # of what is largest between the shares of u at which it is looked at
SMALL = 1e-4  # angle [rad] below which sines are series


class Legs(NamedTuple):
    """Legs in order, straight from a start along a direction or about a centre by an angle.

    Attributes:
        origin: Start, or centre of a circle, (k, 3) [m].
        e1: Direction with its size, or unit vector from the centre to the start, (k, 3).
        e2: Unit vector of the circle across e1, (k, 3).
        radius: Of the circle; 0 where the leg is straight, (k,) [m].
        length: Its length, (k,) [m].
        R: Orientation of the tool at its end, (k, 3, 3).
        turn: Turn vector per length, base frame, (k, 3) [rad/m].
        reach: Distance of the zone about its end, (k,) [m]; the last is 0.
    """

    origin: Floats
    e1: Floats
    e2: Floats
    radius: Floats
    length: Floats
    R: Floats
    turn: Floats
    reach: Floats


Jet4 = tuple[Vector, Vector, Vector, Vector]
Zone = tuple[Vector, Vector, Vector, Vector, tuple[float, float, float, float, float, float]]


@inlined
def leg_at(legs: Legs, k: int, s: float) -> Jet4:
    """A leg and its derivatives at an arc length."""
    e1, e2 = vector(legs.e1, k), vector(legs.e2, k)
    r = legs.radius[k]
    if r == 0.0:
        none = (0.0, 0.0, 0.0)
        return add(vector(legs.origin, k), scale_vector(s, e1)), e1, none, none
    cos, sin = math.cos(s / r), math.sin(s / r)
    out = add(scale_vector(cos, e1), scale_vector(sin, e2))
    t = add(scale_vector(cos, e2), scale_vector(-sin, e1))
    p = add(vector(legs.origin, k), scale_vector(r, out))
    return p, t, scale_vector(-1 / r, out), scale_vector(-1 / (r * r), t)


@inlined
def travel(u: float, reach: float) -> tuple[float, float, float, float]:
    """How far before the corner the first leg is at u, g(u), and its derivatives."""
    g = -reach + 2 * reach * (u - u**3 + u**4 / 2)
    d1 = 2 * reach * (1 - 3 * u * u + 2 * u**3)
    d2 = 12 * reach * (u * u - u)
    d3 = 12 * reach * (2 * u - 1)
    return g, d1, d2, d3


@inlined
def along_leg(jet: Jet4, d1: float, d2: float, d3: float) -> tuple[Vector, Vector, Vector]:
    """Derivatives by u of a leg of which the arc length has the derivatives d."""
    _, t, c, j = jet
    first = scale_vector(d1, t)
    second = add(scale_vector(d1 * d1, c), scale_vector(d2, t))
    third = add(scale_vector(d1 * d1 * d1, j), scale_vector(3 * d1 * d2, c))
    return first, second, add(third, scale_vector(d3, t))


@inlined
def zone_at(legs: Legs, k: int, u: float) -> Zone:
    """Position in the zone after leg k and derivatives by u; travels of both legs with theirs."""
    reach = legs.reach[k]
    ga, a1, a2, a3 = travel(u, reach)
    back, b1, b2, b3 = travel(1 - u, reach)
    a = leg_at(legs, k, legs.length[k] + ga)
    b = leg_at(legs, k + 1, -back)
    corner, _, _, _ = leg_at(legs, k + 1, 0.0)
    fa, sa, ta = along_leg(a, a1, a2, a3)
    fb, sb, tb = along_leg(b, b1, -b2, b3)
    p = add(add(a[0], b[0]), scale_vector(-1.0, corner))
    return p, add(fa, fb), add(sa, sb), add(ta, tb), (ga, a1, a2, -back, b1, -b2)


@inlined
def zone_length(legs: Legs, k: int, start: float, stop: float) -> float:
    """Arc length of a zone between two places of u: Gauss with five nodes."""
    half = (stop - start) / 2
    total = 0.0
    for i in range(5):
        _, d, _, _, _ = zone_at(legs, k, start + half * (1 + NODES[i]))
        total += WEIGHTS[i] * math.sqrt(dot(d, d))
    return total * half


@compiled
def measure_zones(legs: Legs, lengths: Floats) -> None:
    """Arc length of each zone from its start to shares of u, (k, PARTS + 1)."""
    for k in range(lengths.shape[0]):
        lengths[k, 0] = 0.0
        for i in range(PARTS):
            more = 0.0
            if legs.reach[k] > 0:
                more = zone_length(legs, k, i / PARTS, (i + 1) / PARTS)
            lengths[k, i + 1] = lengths[k, i] + more


@inlined
def over_length(d1: Vector, d2: Vector, d3: Vector) -> tuple[Vector, Vector, Vector]:
    """Tangent, curvature vector and its rate by arc length, from derivatives by u."""
    size = math.sqrt(dot(d1, d1))
    t = scale_vector(1 / size, d1)
    a = dot(d2, t)
    c = scale_vector(1 / size**2, add(d2, scale_vector(-a, t)))
    along = dot(d3, t) + size * dot(d2, c)
    j = add(d3, add(scale_vector(-along, t), scale_vector(-3 * size * a, c)))
    return t, c, scale_vector(1 / size**3, j)


@compiled
def bend_zones(legs: Legs, bends: Floats) -> None:
    """Of each zone the largest curvature, its largest rate across the path, and the deviation.

    The first two to 1 % above the largest at shares of u; the third is how near the middle of the
    zone is to its corner.
    """
    for k in range(bends.shape[0]):
        if legs.reach[k] == 0.0:
            continue
        for i in range(PARTS + 1):
            p, d1, d2, d3, _ = zone_at(legs, k, i / PARTS)
            t, c, j = over_length(d1, d2, d3)
            across = add(j, scale_vector(-dot(j, t), t))
            bends[k, 0] = max(bends[k, 0], MARGIN * math.sqrt(dot(c, c)))
            bends[k, 1] = max(bends[k, 1], MARGIN * math.sqrt(dot(across, across)))
            if 2 * i == PARTS:
                corner, _, _, _ = leg_at(legs, k + 1, 0.0)
                off = add(p, scale_vector(-1.0, corner))
                bends[k, 2] = math.sqrt(dot(off, off))


@inlined
def find_in_zone(legs: Legs, lengths: Floats, k: int, s: float) -> float:
    """u at an arc length from the start of the zone after leg k."""
    i = 0
    while i < PARTS - 1 and lengths[k, i + 1] < s:
        i += 1
    start = i / PARTS
    share = (s - lengths[k, i]) / max(lengths[k, i + 1] - lengths[k, i], 1e-300)
    u = start + share / PARTS
    for _ in range(STEPS):
        error = lengths[k, i] + zone_length(legs, k, start, u) - s
        _, d, _, _, _ = zone_at(legs, k, u)
        u = min(max(u - error / math.sqrt(dot(d, d)), 0.0), 1.0)
        if abs(error) < CLOSE:
            break
    return u


@inlined
def find_piece(bounds: Floats, s: float) -> int:
    """Number of the piece at an arc length: a leg where it is even, a zone where it is odd."""
    low, high = 0, bounds.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if bounds[middle] <= s:
            low = middle
        else:
            high = middle
    return low


@compiled
def chain_jets(s: Floats, bounds: Floats, legs: Legs, lengths: Floats, out: Floats) -> None:
    """Positions and derivatives by arc length at arc lengths s (m,), into out (4, m, 3)."""
    for i in range(s.shape[0]):
        piece = find_piece(bounds, s[i])
        k = piece // 2
        local = s[i] - bounds[piece]
        if piece % 2 == 0:
            before = legs.reach[k - 1] if k > 0 else 0.0
            p, t, c, j = leg_at(legs, k, before + local)
        else:
            u = find_in_zone(legs, lengths, k, local)
            p, d1, d2, d3, _ = zone_at(legs, k, u)
            t, c, j = over_length(d1, d2, d3)
        put(out[0], i, p)
        put(out[1], i, t)
        put(out[2], i, c)
        put(out[3], i, j)


@inlined
def turn_by(w: Vector, x: Vector) -> Vector:
    """A vector turned by a rotation vector: Rodrigues."""
    angle2 = dot(w, w)
    angle = math.sqrt(angle2)
    if angle < SMALL:
        a, b = 1 - angle2 / 6, 0.5 - angle2 / 24
    else:
        a, b = math.sin(angle) / angle, (1 - math.cos(angle)) / angle2
    wx = cross(w, x)
    return add(x, add(scale_vector(a, wx), scale_vector(b, cross(w, wx))))


@inlined
def put_turned(R: Floats, k: int, first: Vector, second: Vector, out: Floats, i: int) -> None:
    """Store exp(second) exp(first) R_k as matrix i."""
    for column in range(3):
        x = (R[k, 0, column], R[k, 1, column], R[k, 2, column])
        x = turn_by(second, turn_by(first, x))
        for row in range(3):
            out[i, row, column] = x[row]


@compiled
def chain_turns(
    s: Floats, bounds: Floats, legs: Legs, lengths: Floats, R: Floats, w: Floats, dw: Floats
) -> None:
    """Orientations (m, 3, 3), turns by arc length and their rates (m, 3) at arc lengths s (m,)."""
    none = (0.0, 0.0, 0.0)
    for i in range(s.shape[0]):
        piece = find_piece(bounds, s[i])
        k = piece // 2
        local = s[i] - bounds[piece]
        wa = vector(legs.turn, k)
        if piece % 2 == 0:
            before = legs.reach[k - 1] if k > 0 else 0.0
            back = before + local - legs.length[k]
            put_turned(legs.R, k, scale_vector(back, wa), none, R, i)
            put(w, i, wa)
            put(dw, i, none)
            continue
        wb = vector(legs.turn, k + 1)
        u = find_in_zone(legs, lengths, k, local)
        _, d1, d2, _, (ga, a1, a2, gb, b1, b2) = zone_at(legs, k, u)
        size2 = dot(d1, d1)
        du = 1 / math.sqrt(size2)
        ddu = -dot(d1, d2) / (size2 * size2)
        second = scale_vector(gb, wb)
        put_turned(legs.R, k, scale_vector(ga, wa), second, R, i)
        turned = turn_by(second, wa)
        rate_a = scale_vector(a1 * du, turned)
        rate_b = scale_vector(b1 * du, wb)
        put(w, i, add(rate_a, rate_b))
        more = add(
            scale_vector(a2 * du * du + a1 * ddu, turned),
            scale_vector(b2 * du * du + b1 * ddu, wb),
        )
        put(dw, i, add(more, cross(rate_b, rate_a)))


@dataclass(frozen=True, eq=False)
class Chain:
    """Legs and zones as one piece of a path, with the orientations along it."""

    legs: Legs

    @cached_property
    def lengths(self) -> Floats:
        """Arc length of the zones from their start to shares of u, (k, PARTS + 1) [m]."""
        found = np.empty((len(self.legs.length), PARTS + 1))
        measure_zones(self.legs, found)
        return found

    @cached_property
    def bounds(self) -> Floats:
        """Where legs and zones begin, one after the other, and the end, (2 k,) [m]."""
        reach = self.legs.reach
        own = self.legs.length - reach - np.concatenate([[0.0], reach[:-1]])
        sizes = np.stack([np.maximum(own, 0.0), self.lengths[:, -1]], axis=1).ravel()
        return np.concatenate([[0.0], np.cumsum(sizes[:-1])])

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return float(self.bounds[-1])

    def at(self, s: Floats) -> Jet:
        """The chain at arc lengths s."""
        out = np.empty((4, len(s), 3))
        chain_jets(np.ascontiguousarray(s), self.bounds, self.legs, self.lengths, out)
        return Jet(*out)

    def turning(self, s: Floats) -> Turning:
        """Orientations at arc lengths s."""
        R = np.empty((len(s), 3, 3))
        w, dw = np.empty((2, len(s), 3))
        chain_turns(np.ascontiguousarray(s), self.bounds, self.legs, self.lengths, R, w, dw)
        return Turning(R, w, dw)
