"""Pieces of a path: line, arc, clothoid, spline; and how the tool is turned along it.

Each knows its length and its derivatives by arc length.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.interpolation import quintic
from armtwin.motion.frames import NOWHERE, travel_frames, travel_turns

KNOTS = 16  # arc lengths tabulated in each interval of a spline


class Jet(NamedTuple):
    """Points of a curve and their derivatives by arc length, each (m, 3).

    Attributes:
        p: Positions [m].
        t: Unit tangents.
        c: Curvature vectors dt/ds [1/m].
        j: Their rates dc/ds [1/m²].
    """

    p: Floats
    t: Floats
    c: Floats
    j: Floats


class Piece(Protocol):
    """A smooth curve of a known length."""

    @property
    def length(self) -> float:
        """Arc length [m]."""

    def at(self, s: Floats) -> Jet:
        """The curve at arc lengths s, (m,), from its start."""


@dataclass(frozen=True, eq=False)
class LineSegment:
    """A straight piece from a point along a unit direction."""

    start: Floats
    direction: Floats
    length: float

    def at(self, s: Floats) -> Jet:
        """The line at arc lengths s."""
        none = np.zeros((len(s), 3))
        p = self.start + s[:, None] * self.direction
        return Jet(p, none + self.direction, none, none)


@dataclass(frozen=True, eq=False)
class Arc:
    """A piece of a circle: centre + r (cos φ e1 + sin φ e2), φ = s / r."""

    centre: Floats
    e1: Floats
    e2: Floats
    radius: float
    length: float

    def at(self, s: Floats) -> Jet:
        """The arc at arc lengths s."""
        r = self.radius
        cos = np.cos(s / r)[:, None]
        sin = np.sin(s / r)[:, None]
        out = cos * self.e1 + sin * self.e2
        t = cos * self.e2 - sin * self.e1
        return Jet(self.centre + r * out, t, -out / r, -t / r**2)


@dataclass(frozen=True, eq=False)
class Clothoid:
    """A piece whose curvature grows evenly from zero, κ = s / (r L).

    It lies in the plane of e1 (ahead) and e2 (inwards).

        p = start + e1 ∫ cos(s²/2rL) ds + e2 ∫ sin(s²/2rL) ds       (Fresnel integrals)

    Attributes:
        radius: Radius of curvature r at the end [m].
        length: L [m].
    """

    start: Floats
    e1: Floats
    e2: Floats
    radius: float
    length: float

    def at(self, s: Floats) -> Jet:
        """The clothoid at arc lengths s."""
        from scipy.special import fresnel

        rate = 1 / (self.radius * self.length)
        scale = np.sqrt(np.pi / rate)
        across, ahead = fresnel(s / scale)
        heading = rate * s * s / 2
        k = (rate * s)[:, None]
        cos = np.cos(heading)[:, None]
        sin = np.sin(heading)[:, None]
        t = cos * self.e1 + sin * self.e2
        n = cos * self.e2 - sin * self.e1
        p = self.start + scale * (ahead[:, None] * self.e1 + across[:, None] * self.e2)
        return Jet(p, t, k * n, rate * n - k * k * t)


@dataclass(frozen=True, eq=False)
class Reversed:
    """Another piece, run from its end to its start."""

    piece: Piece

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return self.piece.length

    def at(self, s: Floats) -> Jet:
        """The piece at arc lengths s from its end."""
        p, t, c, j = self.piece.at(self.piece.length - s)
        return Jet(p, -t, c, -j)


@dataclass(frozen=True, eq=False)
class Spline:
    """Cubic spline through points over their chord lengths, run by arc length.

    Its curvature is continuous.

    Attributes:
        points: Points on the way, (k, 3) [m].
        ends: Tangents that the spline must have at its start and end, None where any will do.
    """

    points: Floats
    ends: tuple[Floats | None, Floats | None] = (None, None)

    @cached_property
    def knots(self) -> Floats:
        """Chord length at each point, (k,)."""
        chords = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(chords)])

    @cached_property
    def _curve(self) -> Any:
        from scipy.interpolate import CubicSpline

        straight = (2, np.zeros(3))
        conditions = tuple(straight if end is None else (1, end) for end in self.ends)
        return CubicSpline(self.knots, self.points, bc_type=conditions)

    @cached_property
    def _table(self) -> tuple[Floats, Any]:
        """Arc length at fine parameters, and the quintic of the parameter over the arc length."""
        shares = np.arange(KNOTS) / KNOTS
        inside = self.knots[:-1, None] + np.diff(self.knots)[:, None] * shares
        u = np.append(inside.ravel(), self.knots[-1])
        nodes, weights = np.polynomial.legendre.leggauss(6)
        half = np.diff(u) / 2
        middle = u[:-1] + half
        steps = np.zeros(len(half))
        # one node after the other, so that splines of 100 000 points take little memory
        for node, weight in zip(nodes, weights, strict=True):
            speed = np.linalg.norm(self._curve(middle + half * node, 1), axis=1)
            steps += speed * weight * half
        s = np.concatenate([[0.0], np.cumsum(steps)])
        first, second = self._curve(u, 1), self._curve(u, 2)
        size = np.linalg.norm(first, axis=1)
        rate = 1 / size
        bend = -np.einsum("ij,ij->i", first, second) / size**4
        return s, quintic(s, u, rate, bend)

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return float(self._table[0][-1])

    @property
    def marks(self) -> Floats:
        """Arc length at each point, (k,)."""
        return self._table[0][::KNOTS]

    def deviation(self) -> Pair:
        """Largest distance from the chord between two points [m], and at which arc length [m].

        Of samples in each interval, sixteen as the table has: to half a percent.
        """
        arc, _ = self._table
        largest, where = 0.0, 0.0
        chords = np.diff(self.points, axis=0)
        spans = np.diff(self.knots)
        for k in range(1, KNOTS):
            share = k / KNOTS
            off = self._curve(self.knots[:-1] + share * spans) - self.points[:-1]
            along = np.einsum("ij,ij->i", off, chords) / spans**2
            off -= np.clip(along, 0.0, 1.0)[:, None] * chords
            distance = np.linalg.norm(off, axis=1)
            worst = int(distance.argmax())
            if distance[worst] > largest:
                largest, where = float(distance[worst]), float(arc[worst * KNOTS + k])
        return largest, where

    def at(self, s: Floats) -> Jet:
        """The spline at arc lengths s.

        c = (r'' - a t) / σ²,  a = r''·t,  σ = |r'|
        j = (r''' - (r'''·t + σ r''·c) t - 3 σ a c) / σ³
        """
        u = np.clip(self._table[1](s), 0.0, self.knots[-1])
        r1, r2, r3 = (self._curve(u, k) for k in (1, 2, 3))
        size = np.linalg.norm(r1, axis=1)[:, None]
        t = r1 / size
        a = (r2 * t).sum(axis=1)[:, None]
        c = (r2 - a * t) / size**2
        along = (r3 * t).sum(axis=1)[:, None] + size * (r2 * c).sum(axis=1)[:, None]
        j = (r3 - along * t - 3 * size * a * c) / size**3
        return Jet(self._curve(u), t, c, j)


class Turning(NamedTuple):
    """Orientation along a path and its derivatives by arc length.

    Attributes:
        R: Rotations of the tool's frame, (m, 3, 3).
        w: Turn vectors per length, base of the path, (m, 3) [rad/m].
        dw: Their rates, (m, 3) [rad/m²].
    """

    R: Floats
    w: Floats
    dw: Floats


class Orientations(Protocol):
    """A rule that turns the tool along a path."""

    def at(self, s: Floats, path: Jet) -> Turning:
        """Orientation at arc lengths s, (m,), where the path is as given."""

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The rotations alone, (m, 3, 3)."""


@dataclass(frozen=True, eq=False)
class Fixed:
    """The same orientation everywhere, R (3, 3)."""

    R: Floats

    def at(self, s: Floats, path: Jet) -> Turning:
        """The orientation, once for each arc length."""
        none = np.zeros((len(s), 3))
        return Turning(self.rotations(s, path), none, none)

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The rotation, once for each arc length."""
        return np.tile(self.R, (len(s), 1, 1))


@dataclass(frozen=True, eq=False)
class Following:
    """An orientation that is fixed in the travel frame.

    Its x is along the path, its z the normal made perpendicular to x.

    Attributes:
        R: Orientation of the tool in the travel frame, (3, 3).
        normal: Direction n that z is made from, (3,).
    """

    R: Floats
    normal: Floats

    def at(self, s: Floats, path: Jet) -> Turning:
        """Orientations with the travel frame's turn and its rate."""
        R = self.rotations(s, path)
        turns = np.empty((len(s), 6))
        travel_turns(np.ascontiguousarray(self.normal), path.t, path.c, path.j, turns)
        return Turning(R, turns[:, :3], turns[:, 3:])

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The travel frames, turned as the tool is in them."""
        frames = np.empty((len(s), 3, 3))
        along = travel_frames(np.ascontiguousarray(self.normal), path.t, frames)
        if along != NOWHERE:
            raise ArmtwinError(
                f"orientation follows the seam, but at {1e3 * s[along]:.1f} mm the seam runs along "
                "the workpiece's z axis, which says where up is; turn the workpiece's frame, or "
                "give the orientation at points"
            )
        # all rows in one product: one call for each frame would take most of the time
        return (frames.reshape(-1, 3) @ self.R).reshape(-1, 3, 3)


@dataclass(frozen=True, eq=False)
class Given:
    """Orientations at points, between them by a spline of rotations whose turn rate has no kink.

    Attributes:
        marks: Arc length of each point, (k,) [m].
        R: Orientation at each point, (k, 3, 3).
    """

    marks: Floats
    R: Floats

    def at(self, s: Floats, path: Jet) -> Turning:
        """The spline at arc lengths s."""
        spline = self._spline
        inside = np.clip(s, self.marks[0], self.marks[-1])
        rotation = spline(inside)
        return Turning(
            rotation.as_matrix(),
            rotation.apply(spline(inside, 1)),
            rotation.apply(spline(inside, 2)),
        )

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The spline's rotations."""
        inside = np.clip(s, self.marks[0], self.marks[-1])
        return self._spline(inside).as_matrix()

    @cached_property
    def _spline(self) -> Any:
        from scipy.spatial.transform import Rotation, RotationSpline

        return RotationSpline(self.marks, Rotation.from_matrix(self.R))
