"""Algorithm II: the clamping curve from its half-cycles, folded into one.

Half-cycles are detected by the sign of the motion, their turning regions and outliers cut, outlying
ones rejected; the rest become an upper and a lower curve. Moved onto each other, merged, cut in the
middle and folded, they are one curve that starts flat and goes on straight: the flat part is half
of the backlash, the slope of the rest the spring. Friction is half the mean distance of the two
curves.

Its bias: a moving average rounds the corners of the gap. With the threshold at half of the slope a
gap wider than half of the average keeps its width; a narrower one is not found and counts as
spring, which is then softer by the gap's share of the turn.

Ref: [Soder-Hoorn 2015, section 4.3, Algorithm II]
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.clamping import algorithm_one, half_cycles as cycles
from armtwin.identification.clamping.curves import FLAT, ClampingCurve, flat_interval, line
from armtwin.identification.clamping.record import TransmissionEstimate, named
from armtwin.identification.fitting.estimate import ParameterEstimate, RowNoise, fit, mean_of
from armtwin.maths.batch import Flags, Floats, Pair

NAME = "Algorithm II"
LEAST = 4  # whole half-cycles
LEAST_USABLE = 0.5  # share of the half-cycles that must be usable
COVERED = 0.5  # share of the half-cycles of a side that must cover a position
POSITIONS = 4000  # of a merged curve
OVERLAP = 0.5  # of the upper curve that the displaced lower one must lie over
UNEVEN = 0.4  # of the longer half of the merged curve that the shorter one must have


@dataclass(frozen=True, eq=False)
class SuperposedCurves:
    """The lower curve on the upper one.

    Attributes:
        displaced: The lower curve moved sideways so that the middles of the gaps meet.
        lifted: The displaced curve moved up by the mean distance of the curves.
        merged: Mean of that and of the upper curve.
    """

    displaced: ClampingCurve
    lifted: ClampingCurve
    merged: ClampingCurve


@dataclass(frozen=True, eq=False)
class AlgorithmTwo:
    """Result of Algorithm II, with its steps.

    Attributes:
        found: The transmission.
        half_cycles: Whole half-cycles.
        judged: Outcome of each half-cycle.
        upper: The upper curve, None where it was refused before.
        lower: The lower curve.
        onto: How the curves come onto each other; None where the fold was not possible.
        folded: The folded curve over the distance from its middle.
        flat: Positions of the folded curve in the backlash.
        fallback: Intervals by Algorithm I on these curves, where the fold was not possible.
    """

    found: TransmissionEstimate
    half_cycles: tuple[cycles.HalfCycle, ...] = ()
    judged: tuple[cycles.HalfCycleOutcome, ...] = ()
    upper: ClampingCurve | None = None
    lower: ClampingCurve | None = None
    onto: SuperposedCurves | None = None
    folded: ClampingCurve | None = None
    flat: int = 0
    fallback: algorithm_one.AlgorithmOne | None = None


def algorithm_two(q: Floats, tau: Floats) -> AlgorithmTwo:
    """Algorithm II on motor angles [rad] and torques [N m], (m,), in the order of their samples."""
    all_found = cycles.find_half_cycles(q)
    whole = cycles.select_whole(q, all_found)
    notes = [f"{len(all_found)} half-cycles, {len(whole)} of them whole"]
    sides = cycles.sides_of(q, tau, all_found, whole)
    result = _from_sides(sides, len(whole), notes)
    return replace(result, half_cycles=tuple(whole), judged=sides.judged)


def _from_sides(sides: cycles.Sides, whole: int, notes: list[str]) -> AlgorithmTwo:
    """The transmission from the usable ones of `whole` half-cycles."""
    if whole < LEAST:
        return _refuse(
            f"found {whole} whole half-cycles, at least {LEAST} are needed: two cycles of rising "
            "and decreasing torque between the turning regions."
        )
    upper, lower = sides.upper, sides.lower
    used = len(upper) + len(lower)
    notes.append(f"{used} half-cycles used, {len(upper)} upper and {len(lower)} lower")
    if used < LEAST_USABLE * whole or not upper or not lower:
        return _refuse(
            f"only {used} of {whole} half-cycles are usable ({len(upper)} upper, {len(lower)} "
            f"lower): the others have fewer than {cycles.LEAST_POINTS} samples between the turning "
            "regions or differ from the rest."
        )
    curves = _merge_sides(upper, lower)
    if curves is None:
        return _refuse("upper and lower half-cycles have no positions in common.")
    return _from_curves(*curves, notes)


def _refuse(sentence: str) -> AlgorithmTwo:
    return AlgorithmTwo(TransmissionEstimate(NAME, refused=sentence))


def _merge_sides(
    upper: Sequence[cycles.CurvePiece], lower: Sequence[cycles.CurvePiece]
) -> tuple[ClampingCurve, ClampingCurve] | None:
    """Upper and lower curve on the positions that both cover."""
    upper_low, upper_high = _find_covered_interval(upper)
    lower_low, lower_high = _find_covered_interval(lower)
    low = max(upper_low, lower_low)
    high = min(upper_high, lower_high)
    if not low < high:
        return None
    grid = np.linspace(low, high, POSITIONS)
    return _merge(upper, grid), _merge(lower, grid)


def _find_covered_interval(pieces: Sequence[cycles.CurvePiece]) -> Pair:
    """The interval of positions that a share of the half-cycles covers."""
    last = max(1, round(COVERED * len(pieces))) - 1
    lows = sorted(float(piece.q[0]) for piece in pieces)
    highs = sorted(float(piece.q[-1]) for piece in pieces)
    return lows[last], highs[-1 - last]


def _merge(pieces: Sequence[cycles.CurvePiece | ClampingCurve], grid: Floats) -> ClampingCurve:
    """Mean torque of the curves that have a position, linear between their points."""
    total, count = np.zeros(len(grid)), np.zeros(len(grid))
    for piece in pieces:
        inside = (grid >= piece.q[0]) & (grid <= piece.q[-1])
        total[inside] += np.interp(grid[inside], piece.q, piece.tau)
        count[inside] += 1
    held = np.flatnonzero(count)
    means = total[held] / count[held]
    return ClampingCurve(grid, np.interp(np.arange(len(grid)), held, means))


def _from_curves(upper: ClampingCurve, lower: ClampingCurve, notes: list[str]) -> AlgorithmTwo:
    """Friction from the distance of the curves, spring and backlash from their fold."""
    distance = float(np.mean(upper.tau - lower.tau))
    if not (distance > 0 and upper.slope > 0 and lower.slope > 0):
        sentence = "the upper curve does not lie above the lower one, or a slope is negative."
        return AlgorithmTwo(TransmissionEstimate(NAME, refused=sentence), upper=upper, lower=lower)
    friction = distance / 2
    if not algorithm_one.is_centred(upper, lower):
        found = TransmissionEstimate(
            NAME,
            **named("stiffness", mean_of(np.array([upper.slope, lower.slope]))),
            friction=friction,
            refused=algorithm_one.NOT_CENTRED,
            notes=tuple(notes),
        )
        return AlgorithmTwo(found, upper=upper, lower=lower)
    onto = _superpose(upper, lower, friction)
    fold = None if onto is None else _fold(onto.merged, friction)
    if onto is None or fold is None:
        notes.append(
            "the two curves could not be folded (no middle, or halves too uneven): springs and "
            "backlash by Algorithm I on them"
        )
        fallback = algorithm_one.identify_from_curves(upper, lower, NAME)
        found = replace(fallback.found, notes=(*notes, *fallback.found.notes))
        return AlgorithmTwo(found, upper=upper, lower=lower, fallback=fallback)
    flat = _flat_start(fold)
    straight = fold.part(flat, len(fold.q))
    notes.append(f"folded curve of {len(fold.q)} positions, {flat} of them in the backlash")
    found = TransmissionEstimate(
        NAME,
        **named("stiffness", _fit_line(straight)),
        backlash=2 * flat * fold.step,
        friction=friction,
        notes=tuple(notes),
    )
    return AlgorithmTwo(found, upper=upper, lower=lower, onto=onto, folded=fold, flat=flat)


def _middle_of(curve: ClampingCurve, friction: float) -> float:
    """Middle of the backlash interval, or the position where the spring's torque is about zero.

    The document takes zero torque in place of zero torque of the spring, the curve's less its
    friction: a fold there loses two frictions' worth of the turn.
    """
    interval = flat_interval(curve)
    if interval is None:
        slope, start = line(curve.q, curve.tau)
        return (friction - start) / slope
    return float(0.5 * (curve.q[interval[0]] + curve.q[interval[1] - 1]))


def _superpose(
    upper: ClampingCurve, lower: ClampingCurve, friction: float
) -> SuperposedCurves | None:
    """The lower curve with the middle of its gap under that of the upper one, and both merged."""
    shift = _middle_of(upper, friction) - _middle_of(lower, -friction)
    displaced = ClampingCurve(lower.q + shift, lower.tau)
    low = max(upper.q[0], displaced.q[0])
    high = min(upper.q[-1], displaced.q[-1])
    whole = upper.q[-1] - upper.q[0]
    if high - low < OVERLAP * whole:
        return None
    grid = np.arange(low, high, upper.step)
    above = np.interp(grid, upper.q, upper.tau)
    below = np.interp(grid, displaced.q, displaced.tau)
    lifted = below + float(np.mean(above - below))
    return SuperposedCurves(
        displaced, ClampingCurve(grid, lifted), ClampingCurve(grid, 0.5 * (above + lifted))
    )


def _fold(merged: ClampingCurve, friction: float) -> ClampingCurve | None:
    """Right half minus left half of the merged curve, over two: a curve from its middle on."""
    middle = round((_middle_of(merged, friction) - merged.q[0]) / merged.step)
    if not 0 < middle < len(merged.q):
        return None
    right, left = merged.tau[middle:], merged.tau[middle::-1]
    length = min(len(right), len(left))
    if length < UNEVEN * max(len(right), len(left)) or length < cycles.LEAST_POINTS:
        return None
    half = 0.5 * (right[:length] - left[:length])
    places = merged.step * np.arange(length, dtype=np.float64)
    return ClampingCurve(places, half)


def _flat_start(folded: ClampingCurve) -> int:
    """Number of positions from the first on whose slope is below a share of the whole curve's."""
    # as an odd function, so that the window of the slopes is whole at the first position
    whole = ClampingCurve(
        np.concatenate([-folded.q[:0:-1], folded.q]),
        np.concatenate([-folded.tau[:0:-1], folded.tau]),
    )
    slopes = whole.slopes()[len(folded.q) - 1 :]
    flat: Flags = slopes < FLAT * folded.slope
    if flat.all():
        return 0
    return int(np.argmin(flat))


def _fit_line(curve: ClampingCurve) -> ParameterEstimate:
    """Slope and start of a curve's line; neighbouring positions are correlated."""
    columns = np.column_stack([curve.q, np.ones(len(curve.q))])
    return fit(columns, curve.tau, RowNoise(independent=None))
