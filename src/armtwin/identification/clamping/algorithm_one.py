"""Algorithm I: the clamping curve as torques over positions, whatever the order of the samples.

Positions become channels; lines through the mean torques of short intervals separate the upper from
the lower curve. On each curve the longest interval with a small slope is the backlash, the interval
beside it with less than the slope of the rest is nonlinear, and straight lines through the rest are
the springs: four springs, two backlashes, one friction.

The document removes a fixed share of the beginning without a check that it suffices. Here the
results are checked: the four springs of one transmission must agree, and the distance of the two
curves must be even.

Ref: [Soder-Hoorn 2015, section 4.3, Algorithm I]
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.clamping.curves import (
    ClampingCurve,
    flat_interval,
    line,
    moving_average,
    passes_zero,
    without_outliers,
)
from armtwin.identification.clamping.record import TransmissionEstimate, named
from armtwin.identification.fitting.estimate import mean_of
from armtwin.maths.batch import Flags, Floats, Pair

RESOLUTION = 10_000  # channels of the positions
ENDS = 0.1  # share of the positions that is cut at each end
SEPARATORS = 40  # intervals with a line each that separate the curves
SHORT_LINES = 100  # intervals in which outliers are looked for
OUTLIER = 3.0  # standard deviations
LEAST_POINTS = 5  # of a curve in an interval


@dataclass(frozen=True, eq=False)
class SeparatedCurves:
    """Upper and lower curve, and the lines that separate them.

    Attributes:
        upper: The upper curve, without its ends.
        lower: The lower curve, without its ends.
        separators: The lines between them, by their ends one after the other.
        outliers: Samples that were left out.
    """

    upper: ClampingCurve
    lower: ClampingCurve
    separators: ClampingCurve
    outliers: int


def separate_curves(q: Floats, tau: Floats) -> SeparatedCurves | str:
    """Upper and lower curve over angles, (m,) each; or why there are none."""
    low, turn = float(q.min()), float(np.ptp(q))
    width = turn / (RESOLUTION - 1)
    channel = np.rint((q - low) / width).astype(np.int64)
    above, lines = _split_at_lines(channel, tau)
    cut = round(ENDS * RESOLUTION)
    angles = low + np.arange(cut, RESOLUTION - cut, dtype=np.float64) * width
    curves, outliers = [], 0
    for side, flags in (("upper", above), ("lower", ~above)):
        found = _curve(channel[flags], tau[flags], cut)
        if found is None:
            return f"its {side} curve has too few samples between the turning regions."
        curves.append(ClampingCurve(angles, found[0]))
        outliers += found[1]
    parting = ClampingCurve(low + lines.q * width, lines.tau)
    return SeparatedCurves(curves[0], curves[1], parting, outliers)


def _split_at_lines(channel: NDArray[np.int64], tau: Floats) -> tuple[Flags, ClampingCurve]:
    """Which samples lie above the lines through the mean torques of short intervals, and these."""
    means = _channel_means(channel, tau)
    held = np.flatnonzero(np.isfinite(means))
    above = np.zeros(len(tau), dtype=bool)
    ends, torques = [], []
    edges = np.linspace(0, RESOLUTION, SEPARATORS + 1)
    for low, high in pairwise(edges):
        inside = held[(held >= low) & (held < high)]
        here = (channel >= low) & (channel < high)
        if not len(inside):
            continue
        slope, start = line(inside.astype(np.float64), means[inside])
        above[here] = tau[here] > start + slope * channel[here]
        ends += [low, high]
        torques += [start + slope * low, start + slope * high]
    return above, ClampingCurve(np.array(ends), np.array(torques))


def _channel_means(channel: NDArray[np.int64], tau: Floats) -> Floats:
    """Mean torque of each channel, NaN where it has none, (RESOLUTION,)."""
    counts = np.bincount(channel, minlength=RESOLUTION)
    sums = np.bincount(channel, weights=tau, minlength=RESOLUTION)
    with np.errstate(invalid="ignore"):
        return sums / counts


def _curve(channel: NDArray[np.int64], tau: Floats, cut: int) -> tuple[Floats, int] | None:
    """Torque at every channel between the cut ends, and the number of outliers.

    None where there are too few samples.
    """
    inside = (channel >= cut) & (channel < RESOLUTION - cut)
    channel, tau = channel[inside], tau[inside]
    if len(tau) < LEAST_POINTS * 4:
        return None
    kept = np.ones(len(tau), dtype=bool)
    edges = np.linspace(cut, RESOLUTION - cut, SHORT_LINES + 1)
    for low, high in pairwise(edges):
        here = np.flatnonzero((channel >= low) & (channel < high))
        if len(here) >= LEAST_POINTS:
            kept[here] = without_outliers(channel[here].astype(np.float64), tau[here], OUTLIER)
    means = _channel_means(channel[kept], tau[kept])
    held = np.flatnonzero(np.isfinite(means))
    torques = np.interp(np.arange(cut, RESOLUTION - cut), held, means[held])
    return torques, int((~kept).sum())


NAME = "Algorithm I"
BEGINNING = 0.05  # share of the samples at the start that is removed
SPREAD = 0.25  # of their mean by which four springs of one transmission may differ
UNEVEN = 0.35  # of its mean by which the distance of the curves may vary, standard deviation
UNEQUAL = 0.4  # of their mean by which the gaps of both curves may differ
STRAY, STRAYS = 0.5, 0.02  # share of the friction from its curve, and of the samples so far from it
AVERAGED = 100  # channels of the moving average with which strays are compared
NOT_CENTRED = (
    "the torque of the spring is not centred on zero, where the backlash lies: backlash not "
    "identifiable."
)
NOISE = 4.0  # standard deviations from its curve that are no stray


@dataclass(frozen=True, eq=False)
class CurveParts:
    """The intervals of a curve, as numbers of its positions.

    Attributes:
        curve: The curve, without its ends.
        backlash: Backlash interval, None if there is none.
        left: One after the last position of the left spring.
        right: First position of the right spring.
        springs: Slopes of the left and right spring [N m/rad].
    """

    curve: ClampingCurve
    backlash: tuple[int, int] | None
    left: int
    right: int
    springs: Pair

    @property
    def width(self) -> float:
        """The backlash [rad]."""
        start, stop = self.backlash or (0, 0)
        return self.curve.step * (stop - start)


@dataclass(frozen=True, eq=False)
class AlgorithmOne:
    """Result of Algorithm I, with its steps.

    Attributes:
        found: The transmission.
        upper: Intervals of the upper curve; None where it was refused before.
        lower: Intervals of the lower curve.
        separated: The curves and the lines that separate them; None likewise, and where the curves
            come from elsewhere.
    """

    found: TransmissionEstimate
    upper: CurveParts | None = None
    lower: CurveParts | None = None
    separated: SeparatedCurves | None = None


def algorithm_one(q: Floats, tau: Floats) -> AlgorithmOne:
    """Algorithm I on motor angles [rad] and torques [N m], (m,)."""
    first = round(BEGINNING * len(q))
    q, tau = q[first:], tau[first:]
    parted = separate_curves(q, tau)
    if isinstance(parted, str):
        return AlgorithmOne(TransmissionEstimate(NAME, refused=parted))
    result = replace(identify_from_curves(parted.upper, parted.lower, NAME), separated=parted)
    left_out = f"{first} samples at the beginning and {parted.outliers} outliers left out"
    found = replace(result.found, notes=(left_out, *result.found.notes))
    if found.stiffness is None:
        return replace(result, found=found)
    strays = _share_of_strays(q, tau, parted.upper, parted.lower)
    if strays > STRAYS:
        sentence = (
            f"{100 * strays:.0f} % of the samples lie far from its upper and lower curve, as those "
            "of a start transient do, of which it removes a fixed share of the samples only."
        )
        found = TransmissionEstimate(NAME, refused=sentence, notes=(left_out,))
    return replace(result, found=found)


def identify_from_curves(upper: ClampingCurve, lower: ClampingCurve, name: str) -> AlgorithmOne:
    """Springs, backlashes and friction of an upper and a lower curve on the same positions."""
    above, below = split_curve(upper), split_curve(lower)
    springs = np.array([*above.springs, *below.springs])
    widths = np.array([above.width, below.width])
    distance = upper.tau - lower.tau
    refused = _explain_inconsistency(springs, distance)
    if refused:
        return AlgorithmOne(TransmissionEstimate(name, refused=refused), above, below)
    # positions were smoothed together
    together = mean_of(distance, SHORT_LINES / len(distance))
    found = TransmissionEstimate(
        name,
        **named("stiffness", mean_of(springs)),
        **named("friction", together.transform(lambda both: both / 2)),
        refused=NOT_CENTRED,
    )
    if not is_centred(upper, lower):
        return AlgorithmOne(found, above, below)
    notes = (
        f"springs {', '.join(f'{k:.4g}' for k in springs)} N m/rad",
        f"backlash {widths[0]:.3g} rad on the upper and {widths[1]:.3g} rad on the lower curve",
    )
    hidden = max(upper.resolution, lower.resolution)
    if widths.min() < hidden or np.ptp(widths) > UNEQUAL * widths.mean():
        refused = (
            f"a gap of {widths[0]:.2g} rad on its upper and of {widths[1]:.2g} rad on its lower "
            f"curve, seen through a window of {hidden:.2g} rad: backlash not identifiable."
        )
        return AlgorithmOne(replace(found, refused=refused, notes=notes), above, below)
    backlash = named("backlash", mean_of(widths))
    return AlgorithmOne(replace(found, **backlash, refused="", notes=notes), above, below)


def is_centred(upper: ClampingCurve, lower: ClampingCurve) -> bool:
    """Whether the mean of both curves, the spring's torque, passes zero well inside."""
    return passes_zero(0.5 * (upper.tau + lower.tau))


def _share_of_strays(q: Floats, tau: Floats, upper: ClampingCurve, lower: ClampingCurve) -> float:
    """Share of the samples that are far from the nearer curve for their friction and noise."""
    inside = (q > upper.q[0]) & (q < upper.q[-1])
    above = np.interp(q[inside], upper.q, moving_average(upper.tau, AVERAGED))
    below = np.interp(q[inside], lower.q, moving_average(lower.tau, AVERAGED))
    away = np.minimum(np.abs(tau[inside] - above), np.abs(tau[inside] - below))
    friction = 0.5 * float(np.mean(above - below))
    noise = 1.4826 * float(np.median(away))
    return float(np.mean(away > max(STRAY * friction, NOISE * noise)))


def split_curve(curve: ClampingCurve) -> CurveParts:
    """Backlash, nonlinear intervals and springs of one curve."""
    backlash = flat_interval(curve)
    middle = _middle(curve) if backlash is None else backlash[0]
    after = middle if backlash is None else backlash[1]
    slopes = curve.slopes()
    left = middle - _nonlinear(slopes[:middle][::-1], curve.part(0, middle))
    right = after + _nonlinear(slopes[after:], curve.part(after, len(curve.q)))
    springs = (curve.part(0, left).slope, curve.part(right, len(curve.q)).slope)
    return CurveParts(curve, backlash, left, right, springs)


def _middle(curve: ClampingCurve) -> int:
    """Where the torque is closest to zero, but within the curve."""
    at = int(np.argmin(np.abs(curve.tau)))
    return min(max(at, len(curve.q) // 10), len(curve.q) - len(curve.q) // 10)


def _nonlinear(slopes: Floats, beside: ClampingCurve) -> int:
    """Number of positions next to the backlash with less than the slope of that side's line.

    At most half of a side: a straight line with noise has no nonlinear interval.
    """
    if len(slopes) < 3:
        return 0
    steep = np.flatnonzero(np.abs(slopes) >= abs(beside.slope))
    count = int(steep[0]) if len(steep) else len(slopes)
    return min(count, len(slopes) // 2)


def _explain_inconsistency(springs: Floats, distance: Floats) -> str:
    """Why springs and distances cannot be those of one transmission; "" where they can."""
    if not (np.isfinite(springs).all() and springs.mean() > 0):
        return "a spring of the curve is not positive: the data hold no clamping curve."
    half = float(distance.mean()) / 2
    if half <= 0:
        return "the upper curve does not lie above the lower one: friction not identifiable."
    low, high = float(springs.min()), float(springs.max())
    if high - low > SPREAD * springs.mean():
        return (
            f"its four springs differ, {low:.3g} to {high:.3g} N m/rad: few samples, a start "
            "transient or waves are within the curves."
        )
    if distance.std() > UNEVEN * distance.mean():
        return (
            "the distance of its upper and lower curve varies by "
            f"{100 * distance.std() / distance.mean():.0f} %: few samples, a start transient or "
            "waves are within the curves."
        )
    return ""
