"""A path: LIN, CIRC and spline moves from point to point, corners blended so that curvature stays continuous."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, rows_of_each
from armtwin.motion.curves import Arc, Clothoid, Jet, Line, Piece, Reversed, Spline

KINK = np.radians(0.05)  # change of direction that is taken for rounding of the points
SAME_POINT = 1e-9
BLEND_SHARE = 0.5  # length of a blend's clothoids as a share of its radius


@dataclass(frozen=True, eq=False)
class Move:
    """A move from where the one before ended.

    Attributes:
        name: What the stretch is called.
        kind: "lin", "circ" or "spline".
        points: Where it goes, (k, 3): the end of a line; a point on the way and the end of an arc; all points of a
            spline after the first [m].
        blend: Radius of the corner to the next move; 0 for none [m].
    """

    name: str
    kind: str
    points: Floats
    blend: float = 0.0


@dataclass(frozen=True)
class Stretch:
    """A named part of a path, a move or the corner after it.

    Attributes:
        name: Its name.
        start: Arc length where it begins [m].
        stop: Arc length where it ends [m].
        move: Number of the move it belongs to, from 0.
        corner: Whether it is the blended corner after the move.
    """

    name: str
    start: float
    stop: float
    move: int
    corner: bool = False


@dataclass(frozen=True, eq=False)
class Path:
    """A curve in space, run by arc length.

    Attributes:
        pieces: Its pieces in order.
        stretches: Its named parts in order.
        marks: For each move the arc length of the points it goes to, (k,) [m]; of an arc only the end.
    """

    pieces: tuple[Piece, ...]
    stretches: tuple[Stretch, ...]
    marks: tuple[Floats, ...]

    @cached_property
    def bounds(self) -> Floats:
        """Arc lengths where pieces meet, start and end included."""
        return np.concatenate([[0.0], np.cumsum([piece.length for piece in self.pieces])])

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return float(self.bounds[-1])

    def at(self, s: Floats) -> Jet:
        """The path at arc lengths s, (m,); beyond its ends it is the end."""
        s = np.clip(s, 0.0, self.length)
        which = np.clip(np.searchsorted(self.bounds, s, side="right") - 1, 0, len(self.pieces) - 1)
        out = Jet(*np.empty((4, len(s), 3)))
        for k, rows in rows_of_each(which):
            local = np.clip(s[rows] - self.bounds[k], 0.0, self.pieces[k].length)
            for target, values in zip(out, self.pieces[k].at(local), strict=True):
                target[rows] = values
        return out

    def curvature_steps(self) -> list[tuple[float, float]]:
        """Arc lengths where the curvature steps, and by how much [1/m]."""
        steps = []
        for k, (a, b) in enumerate(zip(self.pieces, self.pieces[1:], strict=False), 1):
            step = float(np.linalg.norm(a.at(np.array([a.length])).c - b.at(np.zeros(1)).c))
            if step > 1e-6:
                steps.append((float(self.bounds[k]), step))
        return steps


def build_path(start: Floats, moves: Sequence[Move]) -> Path:
    """The path of a list of moves from a start point; a corner without a blend is refused."""
    if not moves:
        raise ArmtwinError("a path needs at least one move")
    shapes = _shapes(np.asarray(start, dtype=np.float64), moves)
    corners = [_corner(shapes, moves, i) for i in range(len(moves) - 1)]
    pieces: list[Piece] = []
    stretches: list[Stretch] = []
    marks, done = [], 0.0
    for i, (move, shape) in enumerate(zip(moves, shapes, strict=True)):
        before, after = corners[i - 1] if i else None, corners[i] if i < len(corners) else None
        shape = _trimmed(
            shape, move, before.reach if before else 0.0, after.reach if after else 0.0
        )
        pieces.append(shape)
        stretches.append(Stretch(move.name, done, done + shape.length, i))
        inner = shape.marks[1:-1] if isinstance(shape, Spline) else np.empty(0)
        end, rounded = (
            done + shape.length,
            sum(piece.length for piece in after.pieces) if after else 0.0,
        )
        marks.append(
            np.append(done + inner, end + rounded / 2)
        )  # a rounded corner is passed in its middle
        done = end + rounded
        if after is not None:
            pieces += after.pieces
            stretches.append(Stretch(f"{move.name} corner", end, done, i, corner=True))
    return Path(tuple(pieces), tuple(stretches), tuple(marks))


def _shapes(start: Floats, moves: Sequence[Move]) -> list[Line | Arc | Spline]:
    """Each move as a curve of its own, splines leaving and meeting their neighbours in their direction."""
    here = start
    froms = []
    for move in moves:
        froms.append(here)
        here = move.points[-1]
    shapes: list[Line | Arc | Spline] = [
        _shape(a, move) if move.kind != "spline" else Spline(np.vstack([a, move.points]))
        for a, move in zip(froms, moves, strict=True)
    ]
    for i, (a, move) in enumerate(zip(froms, moves, strict=True)):
        if move.kind == "spline":
            points = np.vstack([a, move.points])
            if (np.linalg.norm(np.diff(points, axis=0), axis=1) < SAME_POINT).any():
                raise ArmtwinError(
                    f"segment '{move.name}': neighbouring points of a spline must differ"
                )
            before = (
                _tangent(shapes[i - 1], end=True) if i and moves[i - 1].kind != "spline" else None
            )
            after = (
                _tangent(shapes[i + 1], end=False)
                if i + 1 < len(moves) and moves[i + 1].kind != "spline"
                else None
            )
            shapes[i] = Spline(points, (before, after))
    return shapes


def _shape(a: Floats, move: Move) -> Line | Arc:
    if move.kind == "circ":
        return _arc(a, move.points[0], move.points[1], move.name)
    way = move.points[0] - a
    length = float(np.linalg.norm(way))
    if length < SAME_POINT:
        raise ArmtwinError(f"segment '{move.name}' ends where it begins, at {_mm(a)}")
    return Line(a, way / length, length)


def _arc(a: Floats, via: Floats, b: Floats, name: str) -> Arc:
    """The arc from a through via to b."""
    u, v = via - a, b - a
    normal = np.cross(u, v)
    size = float(normal @ normal)
    if size < 1e-12 * float(u @ u) * float(v @ v) or not size > 0:
        raise ArmtwinError(
            f"segment '{name}': start, via and end of an arc must not lie on one line, via is {_mm(via)}"
        )
    centre = a + (np.cross(normal, u) * (v @ v) + np.cross(v, normal) * (u @ u)) / (2 * size)
    radius = float(np.linalg.norm(a - centre))
    e1 = (a - centre) / radius
    e2 = np.cross(normal / np.sqrt(size), e1)
    angle = float(np.arctan2((b - centre) @ e2, (b - centre) @ e1)) % (2 * np.pi)
    return Arc(centre, e1, e2, radius, radius * angle)


def _tangent(shape: Piece, end: bool) -> Floats:
    return shape.at(np.array([shape.length if end else 0.0])).t[0]


@dataclass(frozen=True, eq=False)
class _Corner:
    """Pieces that round a corner, and how far before and after it they reach [m]."""

    pieces: tuple[Piece, ...]
    reach: float


def _corner(shapes: Sequence[Line | Arc | Spline], moves: Sequence[Move], i: int) -> _Corner | None:
    """What rounds the corner between move i and the next, or None where the path goes on straight."""
    d1, d2 = _tangent(shapes[i], end=True), _tangent(shapes[i + 1], end=False)
    turn = float(np.arctan2(np.linalg.norm(np.cross(d1, d2)), d1 @ d2))
    here, move = moves[i].points[-1], moves[i]
    names = f"between segments '{move.name}' and '{moves[i + 1].name}'"
    if turn <= KINK:
        if move.blend:
            raise ArmtwinError(
                f"segment '{move.name}': blend is given, but there is no corner {names}"
            )
        return None
    if not move.blend:
        raise ArmtwinError(
            f"segment '{move.name}': the corner {names} at {_mm(here)} turns by {np.degrees(turn):.2f}° and cannot "
            "be passed at a steady speed; give blend, the radius of the corner"
        )
    if moves[i].kind != "lin" or moves[i + 1].kind != "lin":
        raise ArmtwinError(f"segment '{move.name}': blend must stand between two lin segments")
    if turn > np.radians(175):
        raise ArmtwinError(
            f"segment '{move.name}': a corner that turns by {np.degrees(turn):.1f}° cannot be blended"
        )
    return blended_corner(here, d1, d2, turn, move.blend)


def blended_corner(corner: Floats, d1: Floats, d2: Floats, turn: float, radius: float) -> _Corner:
    """Clothoid, arc, clothoid from direction d1 to d2; flat corners have no arc.

    With the clothoid's end (x, y) at heading φ the arc's centre lies at x_m = x - r sin φ, y_m = y + r cos φ from the
    start, and the blend begins x_m + y_m tan(turn / 2) before the corner.
    """
    clothoid = min(BLEND_SHARE, turn) * radius
    inward = d2 - (d2 @ d1) * d1
    e2 = inward / np.linalg.norm(inward)
    heading = clothoid / (2 * radius)
    end = Clothoid(np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), radius, clothoid).at(
        np.array([clothoid])
    )
    x, y = end.p[0, 0] - radius * np.sin(heading), end.p[0, 1] + radius * np.cos(heading)
    reach = float(x + y * np.tan(turn / 2))
    into = Clothoid(corner - reach * d1, d1, e2, radius, clothoid)
    out_of = Reversed(
        Clothoid(corner + reach * d2, -d2, (d2 @ d1) * e2 - (d2 @ e2) * d1, radius, clothoid)
    )
    pieces: tuple[Piece, ...] = (into, out_of)
    if turn > 2 * heading:
        centre = corner - reach * d1 + x * d1 + y * e2
        e1 = np.sin(heading) * d1 - np.cos(heading) * e2
        along = np.cos(heading) * d1 + np.sin(heading) * e2
        pieces = (into, Arc(centre, e1, along, radius, radius * (turn - 2 * heading)), out_of)
    return _Corner(pieces, reach)


def _trimmed(
    shape: Line | Arc | Spline, move: Move, before: float, after: float
) -> Line | Arc | Spline:
    """A line without what its corners take of it."""
    if not before and not after:
        return shape
    assert isinstance(shape, Line)
    left = shape.length - before - after
    if left < 0:
        raise ArmtwinError(
            f"segment '{move.name}': its corners need {1e3 * (before + after):.1f} mm of it, but it is only "
            f"{1e3 * shape.length:.1f} mm long; make blend smaller"
        )
    return Line(shape.start + before * shape.direction, shape.direction, left)


def _mm(point: Floats) -> str:
    return "(" + ", ".join(f"{1e3 * x:.6g}" for x in point) + ") mm"
