"""Upper and lower curve of a clamping log, its positions taken as channels.

Positions become whole numbers; lines through the mean torques of short intervals part the upper
from the lower samples; each side loses its ends and what is far from short straight lines, and is
averaged channel by channel. The order of the samples is not used.

Ref: [Soder-Hoorn 2015, section 4.3, Algorithm I]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.clamping.curves import ClampingCurve, line, without_outliers
from armtwin.maths.batch import Flags, Floats

RESOLUTION = 10_000  # channels of the positions
ENDS = 0.1  # share of the positions that is cut at each end
PARTING = 40  # intervals with a line each that part the curves
SHORT_LINES = 100  # intervals in which outliers are looked for
OUTLIER = 3.0  # standard deviations
LEAST_POINTS = 5  # of a curve in an interval


@dataclass(frozen=True, eq=False)
class PartedCurves:
    """Upper and lower curve, and how they were parted.

    Attributes:
        upper: The upper curve, without its ends.
        lower: The lower curve, without its ends.
        parting: The lines between them, by their ends one after the other.
        outliers: Samples that were left out.
    """

    upper: ClampingCurve
    lower: ClampingCurve
    parting: ClampingCurve
    outliers: int


def parted_curves(q: Floats, tau: Floats) -> PartedCurves | str:
    """Upper and lower curve over angles, (m,) each; or why there are none."""
    low, turn = float(q.min()), float(np.ptp(q))
    width = turn / (RESOLUTION - 1)
    channel = np.rint((q - low) / width).astype(np.int64)
    above, lines = _above(channel, tau)
    cut = round(ENDS * RESOLUTION)
    angles: Floats = np.asarray(low + np.arange(cut, RESOLUTION - cut) * width, dtype=np.float64)
    curves, outliers = [], 0
    for side, flags in (("upper", above), ("lower", ~above)):
        found = _curve(channel[flags], tau[flags], cut)
        if found is None:
            return f"its {side} curve has too few samples between the turning regions."
        curves.append(ClampingCurve(angles, found[0]))
        outliers += found[1]
    parting = ClampingCurve(low + lines.q * width, lines.tau)
    return PartedCurves(curves[0], curves[1], parting, outliers)


def _above(channel: NDArray[np.int64], tau: Floats) -> tuple[Flags, ClampingCurve]:
    """Which samples lie above the lines through the mean torques of short intervals, and these."""
    means = _channel_means(channel, tau)
    held = np.flatnonzero(np.isfinite(means))
    above = np.zeros(len(tau), dtype=bool)
    ends, torques = [], []
    edges = np.linspace(0, RESOLUTION, PARTING + 1)
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
        return np.asarray(sums / counts)


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
    torques = np.asarray(np.interp(np.arange(cut, RESOLUTION - cut), held, means[held]))
    return torques, int((~kept).sum())
