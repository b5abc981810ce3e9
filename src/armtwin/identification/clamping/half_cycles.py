"""Half-cycles of a clamping curve: the motor's travel from one turning region to the other.

The document sets steps of position below the mean step to zero and takes sequences of one sign; an
encoder whose lines are farther apart than a sample's step has no such sequences. Here a turn counts
when the motor has come back from its farthest angle by a share of the whole turn, whatever the
steps; a half-cycle lasts from one turn to the next, without the samples in which it rests there.

Ref: [Soder-Hoorn 2015, section 4.3]

Half-cycles of a clamping curve cut to their usable part, outliers rejected.

Each half-cycle loses its extreme points, its turning regions and its outliers. Those whose straight
line deviates by two standard deviations are rejected twice: among all, then on their own side,
which reveals outliers hidden by the distance of the sides.

Ref: [Soder-Hoorn 2015, section 4.3, Algorithm II]
"""

from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np

from armtwin.identification.clamping.curves import line, moving_average, without_outliers
from armtwin.maths.batch import Floats

WINDOW = 1 / 400  # of the samples: the moving average
TURNED = 0.25  # of the whole turn by which the motor comes back after a turn: more than noise does
RESTS = 0.02  # of a half-cycle's travel within which the motor rests at its ends
WHOLE = 0.8  # of the longest usual travel: less is a part of a half-cycle


@dataclass(frozen=True)
class HalfCycle:
    """Samples `start` up to `stop` with motion in one direction.

    Attributes:
        start: First sample.
        stop: One after the last.
        direction: +1 where position and torque rise, -1 where they decrease.
    """

    start: int
    stop: int
    direction: int

    @property
    def rows(self) -> slice:
        """Its samples."""
        return slice(self.start, self.stop)

    def travel(self, q: Floats) -> float:
        """How far the motor turns in it [rad]."""
        return self.direction * float(q[self.stop - 1] - q[self.start])


def find_half_cycles(q: Floats) -> list[HalfCycle]:
    """All half-cycles of motor angles (m,), parts at the ends included."""
    smooth = moving_average(q, max(3, round(WINDOW * len(q))))
    ends = _find_turns(smooth)
    found = []
    for start, stop in pairwise(ends):
        travel = float(smooth[stop] - smooth[start])
        share = (smooth[start : stop + 1] - smooth[start]) / travel
        left = start + int(np.flatnonzero(share <= RESTS)[-1])
        arrived = start + int(np.flatnonzero(share >= 1 - RESTS)[0])
        found.append(HalfCycle(left, arrived + 1, 1 if travel > 0 else -1))
    return found


def _find_turns(q: Floats) -> list[int]:
    """Samples at which the motor is farthest, with the first and last sample that end a travel."""
    back = TURNED * float(np.ptp(q))
    low = high = 0  # samples of the extreme angles since the last turn
    direction = 0
    turns = []
    angles = q.tolist()
    for k, angle in enumerate(angles):
        if angle > angles[high]:
            high = k
        if angle < angles[low]:
            low = k
        if direction >= 0 and angles[high] - angle >= back:
            turns.append(high)
            direction, low = -1, k
        elif direction <= 0 and angle - angles[low] >= back:
            turns.append(low)
            direction, high = 1, k
    last = high if direction > 0 else low
    if turns and abs(angles[last] - angles[turns[-1]]) >= back:
        turns.append(last)
    return turns


def select_whole(q: Floats, found: list[HalfCycle]) -> list[HalfCycle]:
    """Half-cycles that go from one turning region to the other; the partial ones are left out."""
    if not found:
        return []
    travels = np.array([part.travel(q) for part in found])
    return list(compress(found, travels >= WHOLE * np.median(travels)))


EXTREME = 0.01  # share of the points of a half-cycle at each end of its positions
ENDS = 0.1  # share of the position interval that is cut at each end
POINT_OUTLIER = 3.0  # standard deviations of a point from its half-cycle's line
LINE_OUTLIER = 2.0  # standard deviations of a half-cycle's line from the others'
LEAST_POINTS = 10  # of a half-cycle between the turning regions
PARTIAL = "partial, left out"
SHORT = f"fewer than {LEAST_POINTS} samples between the turning regions, left out"
OUTLIER_AMONG_ALL = "its line is an outlier among all, left out"
OUTLIER_ON_ITS_SIDE = "its line is an outlier on its side, left out"


@dataclass(frozen=True, eq=False)
class CurvePiece:
    """A half-cycle without its turning regions and outliers, by rising position.

    Attributes:
        half_cycle: The half-cycle.
        q: Positions, (m,) [rad].
        tau: Torques, (m,) [N m].
        slope: Slope of its straight line [N m/rad].
        start: Value of that line at position 0 [N m].
    """

    half_cycle: HalfCycle
    q: Floats
    tau: Floats
    slope: float
    start: float


@dataclass(frozen=True, eq=False)
class HalfCycleOutcome:
    """A half-cycle and whether it was used.

    Attributes:
        half_cycle: The half-cycle.
        outcome: "upper", "lower", or why it was left out.
        samples: Samples between its turning regions; 0 where it was not cut.
        slope: Slope of its straight line [N m/rad]; None likewise.
    """

    half_cycle: HalfCycle
    outcome: str
    samples: int = 0
    slope: float | None = None


@dataclass(frozen=True, eq=False)
class Sides:
    """The half-cycles that are used, and the outcome of each.

    Attributes:
        upper: Those of the upper curve.
        lower: Those of the lower curve.
        judged: All half-cycles in their order.
    """

    upper: tuple[CurvePiece, ...]
    lower: tuple[CurvePiece, ...]
    judged: tuple[HalfCycleOutcome, ...]


def sides_of(q: Floats, tau: Floats, found: list[HalfCycle], whole: list[HalfCycle]) -> Sides:
    """Upper and lower half-cycles of motor angles [rad] and torques [N m], (m,).

    Args:
        q: Motor angle.
        tau: Motor torque.
        found: All half-cycles.
        whole: Those that go from one turning region to the other.
    """
    pieces: list[CurvePiece] = []
    outcomes = dict.fromkeys(found, PARTIAL)
    for part in whole:
        piece = _piece(q, tau, part)
        outcomes[part] = SHORT if piece is None else OUTLIER_AMONG_ALL
        if piece is not None:
            pieces.append(piece)
    upper, lower = _split_sides(_reject_outliers(pieces))
    used = {"upper": _reject_outliers(upper), "lower": _reject_outliers(lower)}
    for piece in (*upper, *lower):
        outcomes[piece.half_cycle] = OUTLIER_ON_ITS_SIDE
    for side, kept in used.items():
        for piece in kept:
            outcomes[piece.half_cycle] = side
    cut = {piece.half_cycle: piece for piece in pieces}
    judged = []
    for part, outcome in outcomes.items():
        own = cut.get(part)
        numbers = () if own is None else (len(own.q), own.slope)
        judged.append(HalfCycleOutcome(part, outcome, *numbers))
    return Sides(tuple(used["upper"]), tuple(used["lower"]), tuple(judged))


def _piece(q: Floats, tau: Floats, part: HalfCycle) -> CurvePiece | None:
    """A half-cycle without its extreme points, turning regions and outliers; None if too short."""
    x, y = q[part.rows], tau[part.rows]
    order = np.argsort(x, kind="stable")
    few = int(EXTREME * len(order))
    order = order[few : len(order) - few]
    x, y = x[order], y[order]
    low, high = float(x[0]), float(x[-1])
    cut = ENDS * (high - low)
    inside = (x >= low + cut) & (x <= high - cut)
    x, y = x[inside], y[inside]
    if len(x) < LEAST_POINTS:
        return None
    near = without_outliers(x, y, POINT_OUTLIER)
    x, y = x[near], y[near]
    if len(x) < LEAST_POINTS:
        return None
    return CurvePiece(part, x, y, *line(x, y))


def _split_sides(pieces: list[CurvePiece]) -> tuple[list[CurvePiece], list[CurvePiece]]:
    """Half-cycles whose line lies above and below the mean at the middle of all positions."""
    if not pieces:
        return [], []
    middle = float(np.mean(np.concatenate([piece.q for piece in pieces])))
    torques = np.array([piece.start + piece.slope * middle for piece in pieces])
    above = torques > torques.mean()
    return list(compress(pieces, above)), list(compress(pieces, ~above))


def _reject_outliers(pieces: list[CurvePiece]) -> list[CurvePiece]:
    """Half-cycles whose line is within two standard deviations of the mean line."""
    if len(pieces) < 3:
        return pieces
    lines = np.array([(piece.slope, piece.start) for piece in pieces])
    away = np.abs(lines - lines.mean(axis=0))
    rounding = 1e-9 * np.abs(lines).max(axis=0)  # lines that agree to it have no outliers
    most = LINE_OUTLIER * lines.std(axis=0) + rounding
    return list(compress(pieces, (away <= most).all(axis=1)))
