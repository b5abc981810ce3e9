"""A path: LIN, CIRC and spline moves from point to point.

Corners are blended so that the curvature stays continuous.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Pair, rows_of_each
from armtwin.motion.curves import Arc, Clothoid, Jet, LineSegment, Piece, Reversed, Spline

KINK = np.radians(0.05)  # change of direction that is taken for rounding of the points
SAME_POINT = 1e-9  # [m] within which two points are one
BLEND_SHARE = 0.5  # length of a blend's clothoids as a share of its radius
SHARPEST = 175.0  # turn [deg] of a corner that can be blended

Shape = LineSegment | Arc | Spline


@dataclass(frozen=True, eq=False)
class Move:
    """A move from where the one before ended.

    Attributes:
        name: What the stretch is called.
        kind: "lin", "circ" or "spline".
        points: Where it goes, (k, 3): the end of a line; a via point and the end of an arc;
            all points of a spline after the first [m].
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


@dataclass(frozen=True)
class SplineFit:
    """How far a spline leaves the straight lines between its points.

    Attributes:
        name: Name of its stretch.
        move: Number of its move, from 0.
        deviation: The largest distance [m].
        at_m: Where on the path that is [m].
    """

    name: str
    move: int
    deviation: float
    at_m: float


@dataclass(frozen=True, eq=False)
class Path:
    """A curve in space, run by arc length.

    Attributes:
        pieces: Its pieces in order.
        stretches: Its named parts in order.
        marks: For each move the arc length of the points it goes to, (k,) [m]; of an arc the end.
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
        if len(self.pieces) == 1:
            return Jet(*map(np.ascontiguousarray, self.pieces[0].at(s)))
        which = np.clip(np.searchsorted(self.bounds, s, side="right") - 1, 0, len(self.pieces) - 1)
        out = Jet(*np.empty((4, len(s), 3)))
        for k, some in rows_of_each(which):
            piece = self.pieces[k]
            local = np.clip(s[some] - self.bounds[k], 0.0, piece.length)
            for target, values in zip(out, piece.at(local), strict=True):
                target[some] = values
        return out

    def splines(self) -> tuple[SplineFit, ...]:
        """How far each spline leaves the straight lines between its points."""
        starts = {x.start: x for x in self.stretches}
        found = []
        for piece, start in zip(self.pieces, self.bounds[:-1], strict=True):
            if isinstance(piece, Spline):
                stretch = starts[float(start)]
                deviation, at = piece.deviation()
                found.append(SplineFit(stretch.name, stretch.move, deviation, float(start) + at))
        return tuple(found)

    def curvature_steps(self) -> list[Pair]:
        """Arc lengths where the curvature steps, and by how much [1/m]."""
        steps = []
        for k, (a, b) in enumerate(pairwise(self.pieces), 1):
            before = a.at(np.array([a.length])).c
            after = b.at(np.zeros(1)).c
            step = float(np.linalg.norm(before - after))
            if step > 1e-6:
                steps.append((float(self.bounds[k]), step))
        return steps


def build_path(start: Floats, moves: Sequence[Move]) -> Path:
    """The path of a list of moves from a start point; a corner without a blend is refused."""
    if not moves:
        raise ArmtwinError("a path needs at least one move")
    shapes = _shapes(np.asarray(start, dtype=np.float64), moves)
    turns = [_corner(shapes, moves, i) for i in range(len(moves) - 1)]
    corners = [STRAIGHT_ON, *turns, STRAIGHT_ON]
    pieces: list[Piece] = []
    stretches: list[Stretch] = []
    marks = []
    done = 0.0
    for i, (move, whole) in enumerate(zip(moves, shapes, strict=True)):
        before, after = corners[i], corners[i + 1]
        shape = _trim_line(whole, move, before.reach, after.reach)
        end = done + shape.length
        pieces += [shape, *after.pieces]
        stretches.append(Stretch(move.name, done, end, i))
        inner = shape.marks[1:-1] if isinstance(shape, Spline) else np.empty(0)
        middle = end + after.length / 2  # where a rounded corner is passed
        marks.append(np.append(done + inner, middle))
        done = end + after.length
        if after.pieces:
            stretches.append(Stretch(f"{move.name} corner", end, done, i, corner=True))
    return Path(tuple(pieces), tuple(stretches), tuple(marks))


def turns_of(points: Floats) -> Floats:
    """Angles by which a polyline through points (k, 3) turns at those between its ends [rad]."""
    ways = np.diff(points, axis=0)
    before, after = ways[:-1], ways[1:]
    across = np.linalg.norm(np.cross(before, after), axis=1)
    return np.arctan2(across, np.einsum("ij,ij->i", before, after))


def check_turns(file: str, points: Floats, largest: float) -> None:
    """Refuse a polyline that turns at a point by more than a smooth curve would.

    A cubic spline passes a corner in a bow, and deviates to both sides before and after it.

    Args:
        file: What has the points.
        points: They, (k, 3) [m].
        largest: Largest turn [rad].
    """
    turns = turns_of(points)
    if not (turns > largest).any():
        return
    first = int((turns > largest).argmax())
    count = int((turns > largest).sum())
    others = f", as {count - 1} more do" if count > 1 else ""
    raise ArmtwinError(
        f"{file} turns by {np.degrees(turns[first]):.1f}° at point {first + 2}, "
        f"{_mm(points[first + 1])}{others}, where a smooth curve turns by at most "
        f"{np.degrees(largest):.4g}°. Part the file there by two lin segments with a blend, or "
        "round the corner in it; if the curve is smooth, give corner, the largest turn"
    )


def _shapes(start: Floats, moves: Sequence[Move]) -> list[Shape]:
    """Each move as a curve; splines leave and meet lines and arcs in their direction."""
    shapes: list[Shape] = []
    here = start
    for move in moves:
        shapes.append(_shape(here, move))
        here = move.points[-1]
    for i, shape in enumerate(shapes):
        if isinstance(shape, Spline):
            before = shapes[i - 1] if i > 0 else None
            after = shapes[i + 1] if i + 1 < len(shapes) else None
            ends = _tangent_of(before, end=True), _tangent_of(after, end=False)
            shapes[i] = Spline(shape.points, ends)
    return shapes


def _shape(a: Floats, move: Move) -> Shape:
    """A move from a point as a curve of its own."""
    if move.kind == "spline":
        points = np.vstack([a, move.points])
        if (np.linalg.norm(np.diff(points, axis=0), axis=1) < SAME_POINT).any():
            raise ArmtwinError(
                f"segment '{move.name}': neighbouring points of a spline must differ"
            )
        return Spline(points)
    if move.kind == "circ":
        via, b = move.points
        return arc_through(a, via, b, f"segment '{move.name}'")
    way = move.points[0] - a
    length = float(np.linalg.norm(way))
    if length < SAME_POINT:
        raise ArmtwinError(f"segment '{move.name}' ends where it begins, at {_mm(a)}")
    return LineSegment(a, way / length, length)


def arc_through(a: Floats, via: Floats, b: Floats, name: str) -> Arc:
    """The arc from a through via to b."""
    u, v = via - a, b - a
    normal = np.cross(u, v)
    size = float(normal @ normal)
    if size < 1e-12 * float(u @ u) * float(v @ v) or not size > 0:
        raise ArmtwinError(
            f"{name}: start, via and end of an arc must not lie on one line, via is {_mm(via)}"
        )
    centre = a + (np.cross(normal, u) * (v @ v) + np.cross(v, normal) * (u @ u)) / (2 * size)
    radius = float(np.linalg.norm(a - centre))
    e1 = (a - centre) / radius
    e2 = np.cross(normal / np.sqrt(size), e1)
    out = b - centre
    angle = float(np.arctan2(out @ e2, out @ e1)) % (2 * np.pi)
    return Arc(centre, e1, e2, radius, radius * angle)


def _tangent(shape: Piece, end: bool) -> Floats:
    return shape.at(np.array([shape.length if end else 0.0])).t[0]


def _tangent_of(neighbour: Shape | None, end: bool) -> Floats | None:
    """Direction of a line or an arc beside a spline; None where another spline or nothing is."""
    if neighbour is None or isinstance(neighbour, Spline):
        return None
    return _tangent(neighbour, end)


@dataclass(frozen=True, eq=False)
class _Corner:
    """Pieces that round a corner, and how far before and after it they reach [m]."""

    pieces: tuple[Piece, ...]
    reach: float

    @property
    def length(self) -> float:
        """Arc length of all pieces [m]."""
        return sum(piece.length for piece in self.pieces)


STRAIGHT_ON = _Corner((), 0.0)


def _corner(shapes: Sequence[Shape], moves: Sequence[Move], i: int) -> _Corner:
    """What rounds the corner between move i and the next."""
    move, following = moves[i], moves[i + 1]
    d1 = _tangent(shapes[i], end=True)
    d2 = _tangent(shapes[i + 1], end=False)
    turn = float(np.arctan2(np.linalg.norm(np.cross(d1, d2)), d1 @ d2))
    here = move.points[-1]
    segment = f"segment '{move.name}'"
    names = f"between segments '{move.name}' and '{following.name}'"
    if turn <= KINK:
        if move.blend:
            raise ArmtwinError(f"{segment}: blend is given, but there is no corner {names}")
        return STRAIGHT_ON
    degrees = np.degrees(turn)
    if not move.blend:
        raise ArmtwinError(
            f"{segment}: the corner {names} at {_mm(here)} turns by {degrees:.2f}° and cannot "
            "be passed at a steady speed; give blend, the radius of the corner"
        )
    if move.kind != "lin" or following.kind != "lin":
        raise ArmtwinError(f"{segment}: blend must be between two lin segments")
    if turn > np.radians(SHARPEST):
        raise ArmtwinError(f"{segment}: a corner that turns by {degrees:.1f}° cannot be blended")
    return blend_corner(here, d1, d2, turn, move.blend)


def blend_corner(corner: Floats, d1: Floats, d2: Floats, turn: float, radius: float) -> _Corner:
    """Clothoid, arc, clothoid from direction d1 to d2; flat corners have no arc.

    With the clothoid's end (x, y) at heading φ the arc's centre lies at x_m = x - r sin φ,
    y_m = y + r cos φ from the start, and the blend begins x_m + y_m tan(turn / 2) before the
    corner.
    """
    length = min(BLEND_SHARE, turn) * radius
    heading = length / (2 * radius)
    inward = d2 - (d2 @ d1) * d1
    e2 = inward / np.linalg.norm(inward)
    sin, cos = np.sin(heading), np.cos(heading)
    ahead = np.array([1.0, 0.0, 0.0])
    left = np.array([0.0, 1.0, 0.0])
    flat = Clothoid(np.zeros(3), ahead, left, radius, length)
    end = flat.at(np.array([length])).p[0]
    x = end[0] - radius * sin
    y = end[1] + radius * cos
    reach = float(x + y * np.tan(turn / 2))
    start = corner - reach * d1
    stop = corner + reach * d2
    inward_back = (d2 @ d1) * e2 - (d2 @ e2) * d1  # seen from the end
    into = Clothoid(start, d1, e2, radius, length)
    out_of = Reversed(Clothoid(stop, -d2, inward_back, radius, length))
    if turn <= 2 * heading:
        return _Corner((into, out_of), reach)
    centre = start + x * d1 + y * e2
    e1 = sin * d1 - cos * e2
    along = cos * d1 + sin * e2
    arc = Arc(centre, e1, along, radius, radius * (turn - 2 * heading))
    return _Corner((into, arc, out_of), reach)


def _trim_line(shape: Shape, move: Move, before: float, after: float) -> Shape:
    """A line without what its corners take of it."""
    if not before and not after:
        return shape
    assert isinstance(shape, LineSegment)
    left = shape.length - before - after
    if left < 0:
        need = before + after
        raise ArmtwinError(
            f"segment '{move.name}': its corners need {1e3 * need:.1f} mm of it, but it is only "
            f"{1e3 * shape.length:.1f} mm long; make blend smaller"
        )
    return LineSegment(shape.start + before * shape.direction, shape.direction, left)


def _mm(point: Floats) -> str:
    x, y, z = 1e3 * point
    return f"({x:.6g}, {y:.6g}, {z:.6g}) mm"
