"""The path of a program: moves from pose to pose with exact stops and zones.

A zone reaches at most half of the moves beside it. Where no zone can be, the move ends in an exact
stop: at a turn back, beside a move of the joints, a spline or a turn on the spot.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Flags, Floats, Integers, TwoArrays
from armtwin.motion.chain import MARGIN, PARTS, Chain, Legs, bend_zones
from armtwin.motion.curves import Given, Jet, Orientations, Piece, Spline, Turning
from armtwin.motion.moves import ProgramMove
from armtwin.motion.path import SAME_POINT, Path, Stretch, arc_through

TURN_BACK = np.radians(160.0)  # turn of a corner from which on it is passed at rest
TURN_LENGTH = 0.1  # length that a turn on the spot by 1 rad counts as [m]
ON_THE_SPOT = 1e-6  # travel of the tool [m] below which a move only turns it
LEAST_TURN = 1e-9  # rad
STEP = 5e-3  # length of a part of a smooth path [m]
EVEN = np.linspace(0.0, 1.0, PARTS + 1)
JOINT_LENGTH = 0.01  # least length that a move of the joints counts as [m]


@dataclass(frozen=True)
class Corner:
    """The end of a move that another one follows.

    Attributes:
        move: Number of the move, from 0.
        at_m: Arc length where it is passed [m].
        turn: Angle by which the path turns [rad].
        zone: Distance within which the path leaves the corner [m]; 0 for an exact stop.
        asked: Distance that the program gives [m].
        deviation: How near the path comes to the programmed corner [m].
    """

    move: int
    at_m: float
    turn: float
    zone: float
    asked: float
    deviation: float


@dataclass(frozen=True, eq=False)
class JointMove:
    """A move of the joints, straight from where they are.

    Attributes:
        start: Arc length where it begins [m].
        stop: Arc length where it ends [m].
        joints: Where they go, (n,); None for the solution next to where they are.
        what: What it is called in a message, as "line 12: PTP to p10".
    """

    start: float
    stop: float
    joints: Floats | None
    what: str


@dataclass(frozen=True, eq=False)
class Pieces:
    """What a route consists of, legs and zones one after the other, (k,) each.

    Attributes:
        bounds: Arc lengths where they begin, and the end, (k + 1,) [m].
        move: Number of the move that they belong to, from 0.
        is_zone: Whether it is a zone.
        stops: Whether the tool is at rest where it ends.
        curvature: Largest curvature [1/m].
        rate: Largest rate of the curvature vector across the path [1/m²].
        places: Shares of its length at even steps of what it is run by, u of a zone, (k, 17).
    """

    bounds: Floats
    move: Integers
    is_zone: Flags
    stops: Flags
    curvature: Floats
    rate: Floats
    places: Floats

    @property
    def length(self) -> Floats:
        """Length of each [m]."""
        return np.diff(self.bounds)


@dataclass(frozen=True, eq=False)
class Route:
    """A program's path with its orientations.

    Attributes:
        path: The path of the tool.
        orientations: Of the tool along it.
        pieces: Legs and zones.
        corners: Where moves meet.
        joint_moves: Moves of the joints.
    """

    path: Path
    orientations: Orientations
    pieces: Pieces
    corners: tuple[Corner, ...]
    joint_moves: tuple[JointMove, ...]


@dataclass(frozen=True, eq=False)
class ByPiece:
    """Orientations of pieces of a path, each by its own rule.

    Attributes:
        bounds: Arc lengths where the pieces begin, and the end, (k + 1,) [m].
        rules: A chain, or orientations at points, of each piece.
    """

    bounds: Floats
    rules: tuple[Chain | Given, ...]

    def at(self, s: Floats, path: Jet) -> Turning:
        """Orientations at arc lengths s."""
        out = Turning(np.empty((len(s), 3, 3)), *np.empty((2, len(s), 3)))
        which = np.searchsorted(self.bounds, s, side="right") - 1
        which = np.clip(which, 0, len(self.rules) - 1)
        for k, rule in enumerate(self.rules):
            some = which == k
            local = np.clip(s[some] - self.bounds[k], 0.0, self.bounds[k + 1] - self.bounds[k])
            found = rule.turning(local) if isinstance(rule, Chain) else rule.at(local, path)
            for target, values in zip(out, found, strict=True):
                target[some] = values
        return out

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The rotations alone."""
        return self.at(s, path).R


def build_route(start: Floats, moves: Sequence[ProgramMove], poses: Floats) -> Route:
    """The path of moves from a pose (4, 4).

    Args:
        start: Pose of the tool where it begins.
        moves: The moves.
        poses: Pose of the tool where each of them ends, (k, 4, 4).
    """
    X = np.concatenate([start[None], poses])
    kept = _moving(moves, X)
    if not len(kept):
        raise ArmtwinError("the program does not move: all its targets are the same pose")
    builder = _Builder(moves, X)
    for run in _runs(moves, kept):
        builder.add(run)
    return builder.route()


def _moving(moves: Sequence[ProgramMove], X: Floats) -> Integers:
    """Numbers of the moves that lead anywhere, with where each of them begins."""
    way = np.linalg.norm(np.diff(X[:, :3, 3], axis=0), axis=1)
    turn = np.abs(np.diff(X[:, :3, :3], axis=0)).max(axis=(1, 2))
    by_joints = np.array([m.joints is not None or m.kind == "CIRC" for m in moves])
    return np.flatnonzero((way > SAME_POINT) | (turn > LEAST_TURN) | by_joints)


def _runs(moves: Sequence[ProgramMove], kept: Integers) -> Iterator[Integers]:
    """Moves that are one piece: a spline, or what lies between splines."""
    first = 0
    for i in range(1, len(kept) + 1):
        if i < len(kept):
            here, before = moves[kept[i]], moves[kept[i - 1]]
            is_spline = here.kind == "SPLINE"
            if is_spline == (before.kind == "SPLINE") and (not is_spline or here.joined):
                continue
        yield kept[first:i]
        first = i


class _Builder:
    """Pieces as they are added."""

    def __init__(self, moves: Sequence[ProgramMove], X: Floats) -> None:
        self.moves, self.X = moves, X
        self.done = 0.0
        self.pieces: list[Piece] = []
        self.bounds = [0.0]
        self.rules: list[Chain | Given] = []
        self.stretches: list[Stretch] = []
        self.corners: list[Corner] = []
        self.joint_moves: list[JointMove] = []
        self.parts: list[tuple[NDArray[Any], ...]] = []

    def add(self, run: Integers) -> None:
        """Add a run of moves."""
        if self.moves[run[0]].kind == "SPLINE":
            self._add_spline(run)
        else:
            self._add_chain(run)
        self.bounds.append(self.done)

    def route(self) -> Route:
        """The route of what was added."""
        length, move, *others = (np.concatenate(x) for x in zip(*self.parts, strict=True))
        bounds = np.concatenate([[0.0], np.cumsum(length)])
        pieces = Pieces(bounds, move.astype(np.int64), *others)
        path = Path(tuple(self.pieces), tuple(self.stretches), ())
        rule = ByPiece(np.array(self.bounds), tuple(self.rules))
        return Route(path, rule, pieces, tuple(self.corners), tuple(self.joint_moves))

    def _name(self, i: int) -> str:
        move = self.moves[i]
        return move.name or f"move {i + 1}"

    def _add_spline(self, run: Integers) -> None:
        """A spline through its points, from rest to rest."""
        X = self.X[np.append(run[0], run + 1)]
        spline = Spline(X[:, :3, 3])
        self.pieces.append(spline)
        self.rules.append(Given(spline.marks, X[:, :3, :3]))
        marks = spline.marks
        end = self.done + spline.length
        self.stretches.append(Stretch(self._name(run[0]), self.done, end, int(run[0])))
        c, j = _bends(spline, marks)
        none = np.zeros(len(run), dtype=bool)
        last = np.append(none[1:], True)
        places = np.tile(EVEN, (len(run), 1))
        self.parts.append((np.diff(marks), run, none, last, c, j, places))
        self.done += spline.length

    def _add_chain(self, run: Integers) -> None:
        """Lines, arcs and moves of the joints, with zones between them."""
        legs, turns = build_legs([self.moves[i] for i in run], self.X, run)
        chain = Chain(legs)
        bends = np.zeros((len(run), 3))
        bend_zones(legs, bends)
        bounds = self.done + chain.bounds
        for k, i in enumerate(run):
            begin, end = float(bounds[2 * k]), float(bounds[2 * k + 1])
            move = self.moves[i]
            self.stretches.append(Stretch(self._name(i), begin, end, int(i)))
            if move.kind == "PTP":
                self.joint_moves.append(JointMove(begin, end, move.joints, move.what))
            if k + 1 == len(run):
                break
            zone, after = float(legs.reach[k]), float(bounds[2 * k + 2])
            if zone > 0:
                name = f"{self._name(i)} corner"
                self.stretches.append(Stretch(name, end, after, int(i), corner=True))
            place = (end + after) / 2
            turn, deviation = float(turns[k]), float(bends[k, 2])
            self.corners.append(Corner(int(i), place, turn, zone, move.zone, deviation))
        count = 2 * len(run) - 1
        number = np.repeat(run, 2)[:count]
        is_zone = np.arange(count) % 2 > 0
        at_rest = np.stack([legs.reach == 0, legs.reach == 0], axis=1).ravel()[:count]
        radius = np.where(legs.radius > 0, legs.radius, np.inf)
        c = np.stack([1 / radius, bends[:, 0]], axis=1).ravel()[:count]
        j = np.stack([np.zeros(len(run)), bends[:, 1]], axis=1).ravel()[:count]
        size = np.diff(chain.bounds)
        whole = size > 0
        places = np.tile(EVEN, (count, 1))
        places[1::2] = chain.lengths[:-1] / np.where(whole[1::2], size[1::2], 1.0)[:, None]
        rows = (size, number, is_zone, at_rest, c, j, places)
        self.parts.append(tuple(row[whole] for row in rows))
        self.pieces.append(chain)
        self.rules.append(chain)
        self.done += chain.length


def build_legs(moves: Sequence[ProgramMove], X: Floats, run: Integers) -> tuple[Legs, Floats]:
    """Legs of moves, numbers of which are given, and the turns between them [rad].

    X has the pose before the first move and where each ends.
    """
    from scipy.spatial.transform import Rotation

    before, after = X[run], X[run + 1]
    p0, p1 = before[:, :3, 3], after[:, :3, 3]
    R0, R1 = before[:, :3, :3], after[:, :3, :3]
    turn = Rotation.from_matrix(R1 @ np.swapaxes(R0, 1, 2)).as_rotvec()
    angle = np.linalg.norm(turn, axis=1)
    way = np.linalg.norm(p1 - p0, axis=1)
    by_joints = np.array([move.kind == "PTP" for move in moves])
    turned = TURN_LENGTH * angle
    of_joints = np.maximum(np.maximum(way, turned), JOINT_LENGTH)
    length = np.where(by_joints, of_joints, np.where(way > ON_THE_SPOT, way, turned))
    is_led = ~by_joints & (way > ON_THE_SPOT)
    some = np.maximum(length, ON_THE_SPOT)[:, None]
    origin, e1 = p0.copy(), (p1 - p0) / some
    e2, radius = np.zeros_like(e1), np.zeros(len(moves))
    first, last = e1.copy(), e1.copy()
    for k, move in enumerate(moves):
        if move.via is not None:
            arc = arc_through(p0[k], move.via[:3, 3], p1[k], move.what)
            origin[k], e1[k], e2[k] = arc.centre, arc.e1, arc.e2
            radius[k], length[k] = arc.radius, arc.length
            ends = arc.at(np.array([0.0, arc.length])).t
            first[k], last[k] = ends
            is_led[k] = True
    between = np.arctan2(
        np.linalg.norm(np.cross(last[:-1], first[1:]), axis=1),
        np.einsum("ij,ij->i", last[:-1], first[1:]),
    )
    zone = np.array([move.zone for move in moves])
    half = length / 2
    reach = np.zeros(len(moves))
    possible = is_led[:-1] & is_led[1:] & (between < TURN_BACK)
    reach[:-1] = np.where(possible, np.minimum(zone[:-1], np.minimum(half[:-1], half[1:])), 0.0)
    legs = Legs(origin, e1, e2, radius, length, R1.copy(), turn / length[:, None], reach)
    return legs, between


def _bends(piece: Piece, marks: Floats) -> TwoArrays:
    """Largest curvature and its largest rate across a piece between arc lengths, (k,) each."""
    s = marks[:-1, None] + np.diff(marks)[:, None] * EVEN
    jet = piece.at(s.ravel())
    across = jet.j - np.einsum("ij,ij->i", jet.j, jet.t)[:, None] * jet.t
    curvature = np.linalg.norm(jet.c, axis=1).reshape(s.shape).max(axis=1)
    rate = np.linalg.norm(across, axis=1).reshape(s.shape).max(axis=1)
    return MARGIN * curvature, MARGIN * rate


def route_of_path(path: Path, orientations: Orientations) -> Route:
    """The route along a path without a corner: rounded by radii, no stop but at its end."""
    parts = []
    starts = np.array([x.start for x in path.stretches])
    for piece, start in zip(path.pieces, path.bounds, strict=False):
        count = max(1, int(np.ceil(piece.length / STEP)))
        marks = np.linspace(0.0, piece.length, count + 1)
        middle = start + piece.length / 2
        stretch = path.stretches[int(np.searchsorted(starts, middle)) - 1]
        none = np.zeros(count, dtype=bool)
        number = np.full(count, stretch.move)
        places = np.tile(EVEN, (count, 1))
        parts.append((np.diff(marks), number, none, none, *_bends(piece, marks), places))
    length, *others = (np.concatenate(x) for x in zip(*parts, strict=True))
    bounds = np.concatenate([[0.0], np.cumsum(length)])
    corners = []
    for x in path.stretches:
        if x.corner:
            middle = (x.start + x.stop) / 2
            corners.append(Corner(x.move, middle, np.nan, x.stop - x.start, 0.0, np.nan))
    return Route(path, orientations, Pieces(bounds, *others), tuple(corners), ())
