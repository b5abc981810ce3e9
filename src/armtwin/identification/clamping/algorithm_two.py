"""Algorithm II: the clamping curve from its half-cycles, folded into one.

Half-cycles are found by the sign of the motion, their turning regions and outliers cut, those that
stand out rejected; the rest become an upper and a lower curve. Moved onto each other, merged, cut
in the middle and folded, they are one curve that starts flat and goes on straight: the flat part is
half of the backlash, the slope of the rest the spring. Friction is half the mean distance of the
two curves.

Its bias: a moving average rounds the corners of the gap. With the threshold at half of the slope a
gap wider than half of the average keeps its width; a narrower one is not found and counts as
spring, which is then softer by the gap's share of the turn.

Ref: [Soder-Hoorn 2015, section 4.3, Algorithm II]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.clamping.algorithm_one import (
    NOT_CENTRED,
    AlgorithmOne,
    centred,
    identified,
)
from armtwin.identification.clamping.curves import (
    FLAT,
    Curve,
    flat_interval,
    line,
    without_outliers,
)
from armtwin.identification.clamping.found import FoundTransmission
from armtwin.identification.clamping.half_cycles import HalfCycle, find_half_cycles, whole_ones
from armtwin.maths.batch import Flags, Floats

NAME = "Algorithm II"
LEAST = 4  # whole half-cycles
EXTREME = 0.01  # share of the points of a half-cycle at each end of its positions
ENDS = 0.1  # share of the position interval that is cut at each end
POINT_OUTLIER = 3.0  # standard deviations of a point from its half-cycle's line
LINE_OUTLIER = 2.0  # standard deviations of a half-cycle's line from the others'
LEAST_POINTS = 10  # of a half-cycle between the turning regions
KEPT = 0.5  # share of the half-cycles that must be left
COVERED = 0.5  # share of the half-cycles of a side that must cover a position
POSITIONS = 1000  # of a merged curve
OVERLAP = 0.5  # of the upper curve that the displaced lower one must lie over
UNEVEN = 0.4  # of the longer half of the merged curve that the shorter one must have


@dataclass(frozen=True, eq=False)
class Piece:
    """A half-cycle without its turning regions and outliers, by rising position.

    Attributes:
        q: Positions, (m,) [rad].
        tau: Torques, (m,) [N m].
        direction: +1 where the motor turned forward.
        slope: Slope of its straight line [N m/rad].
        start: Value of that line at position 0 [N m].
    """

    q: Floats
    tau: Floats
    direction: int
    slope: float
    start: float


@dataclass(frozen=True, eq=False)
class AlgorithmTwo:
    """What Algorithm II finds, with its steps.

    Attributes:
        found: The transmission.
        half_cycles: Whole half-cycles that were found.
        pieces: Half-cycles that were used, upper ones and lower ones.
        upper: The upper curve, None where it was refused before.
        lower: The lower curve.
        displaced: The lower curve moved sideways so that the middles of the gaps meet, then both
            merged: displaced lower curve and merged curve; empty where the fold was not possible.
        folded: The folded curve over the distance from its middle.
        flat: Positions of the folded curve in the backlash.
        fallback: Intervals by Algorithm I on these curves, where the fold was not possible.
    """

    found: FoundTransmission
    half_cycles: tuple[HalfCycle, ...] = ()
    pieces: tuple[Piece, ...] = ()
    upper: Curve | None = None
    lower: Curve | None = None
    displaced: tuple[Curve, ...] = ()
    folded: Curve | None = None
    flat: int = 0
    fallback: AlgorithmOne | None = None


def algorithm_two(q: Floats, tau: Floats) -> AlgorithmTwo:
    """Algorithm II on motor angles [rad] and torques [N m], (m,), in the order of their samples."""
    all_found = find_half_cycles(q)
    whole = tuple(whole_ones(q, all_found))
    notes = [f"{len(all_found)} half-cycles, {len(whole)} of them whole"]
    if len(whole) < LEAST:
        return _refused(
            f"found {len(whole)} whole half-cycles, at least {LEAST} are needed: two cycles of "
            "rising and falling torque between the turning regions.",
            whole,
        )
    pieces = []
    for part in whole:
        piece = _piece(q, tau, part)
        if piece is not None:
            pieces.append(piece)
    upper, lower = _sides(pieces)
    used = len(upper) + len(lower)
    notes.append(f"{used} half-cycles used, {len(upper)} upper and {len(lower)} lower")
    if used < KEPT * len(whole) or not upper or not lower:
        return _refused(
            f"only {used} of {len(whole)} half-cycles are left ({len(upper)} upper, {len(lower)} "
            f"lower): the others have fewer than {LEAST_POINTS} samples between the turning "
            "regions or differ from the rest.",
            whole,
        )
    curves = _merged_sides(upper, lower)
    if curves is None:
        return _refused("upper and lower half-cycles have no positions in common.", whole)
    result = _from_curves(*curves, notes)
    return replace(result, half_cycles=whole, pieces=(*upper, *lower))


def _refused(sentence: str, whole: tuple[HalfCycle, ...]) -> AlgorithmTwo:
    return AlgorithmTwo(FoundTransmission(NAME, refused=sentence), whole)


def _piece(q: Floats, tau: Floats, part: HalfCycle) -> Piece | None:
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
    return Piece(x, y, part.direction, *line(x, y))


def _sides(pieces: list[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Upper and lower half-cycles; those whose lines stand out are left out twice.

    All together first, then each side for itself, which shows what the distance of the sides hid.
    """
    alike = _alike(pieces)
    if not alike:
        return [], []
    middle = float(np.mean(np.concatenate([piece.q for piece in alike])))
    torques = [piece.start + piece.slope * middle for piece in alike]
    mean = float(np.mean(torques))
    upper: list[Piece] = []
    lower: list[Piece] = []
    for piece, torque in zip(alike, torques, strict=True):
        side = upper if torque > mean else lower
        side.append(piece)
    return _alike(upper), _alike(lower)


def _alike(pieces: list[Piece]) -> list[Piece]:
    """Half-cycles whose line is within two standard deviations of the mean line."""
    if len(pieces) < 3:
        return pieces
    lines = np.array([(piece.slope, piece.start) for piece in pieces])
    away = np.abs(lines - lines.mean(axis=0))
    rounding = 1e-9 * np.abs(lines).max(axis=0)  # lines that agree to it have no outliers
    most = LINE_OUTLIER * lines.std(axis=0) + rounding
    near = (away <= most).all(axis=1)
    kept = []
    for piece, good in zip(pieces, near, strict=True):
        if good:
            kept.append(piece)
    return kept


def _merged_sides(upper: list[Piece], lower: list[Piece]) -> tuple[Curve, Curve] | None:
    """Upper and lower curve on the positions that both cover."""
    upper_low, upper_high = _covered(upper)
    lower_low, lower_high = _covered(lower)
    low = max(upper_low, lower_low)
    high = min(upper_high, lower_high)
    if not low < high:
        return None
    grid = np.linspace(low, high, POSITIONS)
    return _merged(upper, grid), _merged(lower, grid)


def _covered(pieces: Sequence[Piece]) -> tuple[float, float]:
    """The interval of positions that a share of the half-cycles covers."""
    last = max(1, round(COVERED * len(pieces))) - 1
    lows = sorted(float(piece.q[0]) for piece in pieces)
    highs = sorted(float(piece.q[-1]) for piece in pieces)
    return lows[last], highs[-1 - last]


def _merged(pieces: Sequence[Piece | Curve], grid: Floats) -> Curve:
    """Mean torque of the curves that have a position, linear between their points."""
    total, count = np.zeros(len(grid)), np.zeros(len(grid))
    for piece in pieces:
        inside = (grid >= piece.q[0]) & (grid <= piece.q[-1])
        total[inside] += np.interp(grid[inside], piece.q, piece.tau)
        count[inside] += 1
    held = np.flatnonzero(count)
    means = total[held] / count[held]
    return Curve(grid, np.interp(np.arange(len(grid)), held, means))


def _from_curves(upper: Curve, lower: Curve, notes: list[str]) -> AlgorithmTwo:
    """Friction from the distance of the curves, spring and backlash from their fold."""
    distance = float(np.mean(upper.tau - lower.tau))
    if not (distance > 0 and upper.slope > 0 and lower.slope > 0):
        sentence = "the upper curve does not lie above the lower one, or a curve falls."
        return AlgorithmTwo(FoundTransmission(NAME, refused=sentence), upper=upper, lower=lower)
    friction = distance / 2
    if not centred(upper, lower):
        slopes = np.array([upper.slope, lower.slope])
        found = FoundTransmission(
            NAME,
            stiffness=float(slopes.mean()),
            friction=friction,
            stiffness_std=float(slopes.std(ddof=1)) / np.sqrt(2),
            refused=NOT_CENTRED,
            notes=tuple(notes),
        )
        return AlgorithmTwo(found, upper=upper, lower=lower)
    merged = _on_each_other(upper, lower, friction)
    fold = None if merged is None else _fold(merged[1], friction)
    if merged is None or fold is None:
        notes.append(
            "the two curves could not be folded (no middle, or halves too uneven): springs and "
            "backlash by Algorithm I on them"
        )
        fallback = identified(upper, lower, NAME)
        found = replace(fallback.found, notes=(*notes, *fallback.found.notes))
        return AlgorithmTwo(found, upper=upper, lower=lower, fallback=fallback)
    flat = _flat_start(fold)
    straight = fold.part(flat, len(fold.q))
    notes.append(f"folded curve of {len(fold.q)} positions, {flat} of them in the backlash")
    found = FoundTransmission(
        NAME,
        stiffness=straight.slope,
        backlash=2 * flat * fold.step,
        friction=friction,
        stiffness_std=_slope_std(straight),
        notes=tuple(notes),
    )
    return AlgorithmTwo(found, upper=upper, lower=lower, displaced=merged, folded=fold, flat=flat)


def _middle_of(curve: Curve, friction: float) -> float:
    """Middle of the backlash interval, or the position where the spring's torque is about zero.

    The document takes zero torque in place of zero torque of the spring, the curve's less its
    friction: a fold there loses two frictions' worth of the turn.
    """
    interval = flat_interval(curve)
    if interval is None:
        slope, start = line(curve.q, curve.tau)
        return (friction - start) / slope
    return float(0.5 * (curve.q[interval[0]] + curve.q[interval[1] - 1]))


def _on_each_other(upper: Curve, lower: Curve, friction: float) -> tuple[Curve, Curve] | None:
    """The lower curve with the middle of its gap under that of the upper one, and both merged."""
    shift = _middle_of(upper, friction) - _middle_of(lower, -friction)
    displaced = Curve(lower.q + shift, lower.tau)
    low = max(upper.q[0], displaced.q[0])
    high = min(upper.q[-1], displaced.q[-1])
    whole = upper.q[-1] - upper.q[0]
    if high - low < OVERLAP * whole:
        return None
    grid = np.arange(low, high, upper.step)
    above = np.interp(grid, upper.q, upper.tau)
    below = np.interp(grid, displaced.q, displaced.tau)
    lifted = below + float(np.mean(above - below))
    return displaced, Curve(grid, 0.5 * (above + lifted))


def _fold(merged: Curve, friction: float) -> Curve | None:
    """Right half minus left half of the merged curve, over two: a curve from its middle on."""
    middle = round((_middle_of(merged, friction) - merged.q[0]) / merged.step)
    if not 0 < middle < len(merged.q):
        return None
    right, left = merged.tau[middle:], merged.tau[middle::-1]
    length = min(len(right), len(left))
    if length < UNEVEN * max(len(right), len(left)) or length < LEAST_POINTS:
        return None
    half = 0.5 * (right[:length] - left[:length])
    places = merged.step * np.arange(length, dtype=np.float64)
    return Curve(places, half)


def _flat_start(folded: Curve) -> int:
    """Number of positions from the first on whose slope is below a share of the whole curve's."""
    # as an odd function, so that the window of the slopes is whole at the first position
    whole = Curve(
        np.concatenate([-folded.q[:0:-1], folded.q]),
        np.concatenate([-folded.tau[:0:-1], folded.tau]),
    )
    slopes = whole.slopes()[len(folded.q) - 1 :]
    flat: Flags = slopes < FLAT * folded.slope
    if flat.all():
        return 0
    return int(np.argmin(flat))


def _slope_std(curve: Curve) -> float:
    """Standard deviation of a slope from what its line leaves, neighbours counted as one."""
    slope, start = line(curve.q, curve.tau)
    left = curve.tau - (start + slope * curve.q)
    spread = float(np.sum((curve.q - curve.q.mean()) ** 2))
    alike = _correlated(left)
    return float(np.sqrt(alike * np.mean(left**2) / spread))


def _correlated(x: Floats) -> float:
    """How many neighbours tell the same: 1 + 2 Σ ρ up to its first zero."""
    away = x - x.mean()
    power = float(away @ away)
    if power == 0:
        return 1.0
    total = 1.0
    for lag in range(1, len(x) // 2):
        share = float(away[lag:] @ away[:-lag]) / power
        if share <= 0:
            break
        total += 2 * share
    return total
