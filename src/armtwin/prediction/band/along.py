"""The 90 % interval along a seam: every place has the verdict of a window about it.

A reversal of a joint is elsewhere on the seam in each variant. At a single place few variants are
at their peak, so that quantiles taken place by place lie far below those of the peaks. Within a
window as wide as the peaks of the variants are apart they are the same:

    e_w(s) = largest |e| of a variant within s ± w;   quantiles and P of e_w(s)

The window is the narrowest whose worst place has the verdict's bounds, and its colour. One as wide
as the seam always does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.band.distribution import HIGH, LOW, MIDDLE, SMALLEST, Distribution
from armtwin.prediction.band.ensemble import Ensemble

LIKELY, EVEN = 0.95, 0.5  # probabilities from which a seam, or a place of it, holds and rather does
# of the verdict's median and upper end at the worst place: the latter is read as a number
REACH = np.array([0.9, 0.95])
WIDER = 1.25  # ratio of a window to the one tried before


@dataclass(frozen=True, eq=False)
class AlongSeam:
    """The largest error within a window about each place.

    Attributes:
        place: Commanded arc length, (k,) [m].
        half_width: How far a window reaches to either side [m].
        probability: How likely the seam holds within the window, (k,).
        bounds: Errors below which 5, 50 and 95 % of the variants stay there, (directions, 3, k).
    """

    place: Floats
    half_width: float
    probability: Floats
    bounds: Floats


def along_seam(
    ensemble: Ensemble, tolerances: Floats, bounds: Floats, probability: float
) -> AlongSeam:
    """The 90 % interval along a seam.

    Args:
        ensemble: The variants.
        tolerances: What is allowed in each direction, (directions,).
        bounds: Peaks below which 5, 50 and 95 % of the variants stay, (directions, 3).
        probability: How likely the whole seam holds.
    """
    place = ensemble.place
    whole = float(np.ptp(place))
    for half_width in _half_widths(place):
        largest = _largest_within(ensemble, half_width)
        found = _quantiles(largest, ensemble.peaks[ensemble.finished], bounds)
        short = found[:, 1:].max(axis=2) < REACH * bounds[:, 1:]  # median and upper end
        if half_width < whole and short.any():
            continue
        odds = np.maximum(_probabilities(ensemble, largest, tolerances, half_width), probability)
        if half_width >= whole or _colour(odds.min()) == _colour(probability):
            break
    return AlongSeam(place, half_width, odds, found)


def _half_widths(place: Floats) -> Iterator[float]:
    """From the distance of places on up to the whole seam."""
    whole = float(np.ptp(place))
    width = whole / max(1, len(place) - 1)
    while width < whole:
        yield width
        width *= WIDER
    yield whole


def _largest_within(ensemble: Ensemble, half_width: float) -> Floats:
    """Largest error within a window about each place, (finished variants, directions, k)."""
    place = ensemble.place
    errors = ensemble.errors[ensemble.finished]
    first = np.searchsorted(place, place - half_width, side="left")
    after = np.searchsorted(place, place + half_width, side="right")
    found = np.empty_like(errors)
    for k, (a, b) in enumerate(zip(first, after, strict=True)):
        errors[:, :, a:b].max(axis=2, out=found[:, :, k])
    return found


def _quantiles(largest: Floats, peaks: Floats, bounds: Floats) -> Floats:
    """Quantiles of the errors within windows, (directions, 3, k).

    They are in proportion to those of the peaks as the verdict's bounds, which are of a fit: what
    has a window as wide as the seam has the verdict's.
    """
    if not len(peaks):
        return np.full((*bounds.shape, largest.shape[2]), np.nan)
    levels = (LOW, MIDDLE, HIGH)
    within = np.percentile(largest, levels, axis=0)
    whole = np.percentile(np.maximum(peaks, SMALLEST), levels, axis=0)
    found = within / whole[:, :, None] * bounds.T[:, :, None]
    return np.moveaxis(np.sort(found, axis=0), 0, 1)  # proportions differ by quantile


def _probabilities(
    ensemble: Ensemble, largest: Floats, tolerances: Floats, half_width: float
) -> Floats:
    """How likely the seam holds within a window about each place, (k,)."""
    place = ensemble.place[:, None]
    start, stop = ensemble.failed_on.T
    failed = (start <= place + half_width) & (stop >= place - half_width)
    kept = np.zeros(len(place))
    if len(largest):
        for k in range(len(place)):
            ratios = Distribution(largest[:, :, k]).ratios(tolerances)
            kept[k] = (ratios <= 1).mean()
    return kept * (1 - failed.mean(axis=1))


def _colour(probability: float) -> int:
    """2 where a seam holds, 1 where it may, 0 where it rather does not."""
    return int(probability >= EVEN) + int(probability >= LIKELY)
