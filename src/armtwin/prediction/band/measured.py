"""What a corrected command would reach once numbers were measured that it depends on.

A correction removes what the nominal robot does wrong, so what is left grows with how far the
numbers are off. Measured numbers are off by less: the same variants are simulated, nearer to the
nominal robot.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats, Names, Record
from armtwin.prediction.band.along import LIKELY
from armtwin.prediction.band.band import Band, assess_alike
from armtwin.prediction.band.measuring import MEASUREMENTS, MOST, describe_measurement

FEW = 16  # variants by which measurements are ranked: the same ones, so that few suffice
LEAST_FALL = 0.02  # of the error, its mean over these, from which a measurement is tried


@dataclass(frozen=True)
class MeasuredFirst:
    """Measurements before a correction, and what it reaches then.

    Attributes:
        ways: How each is measured, as sentences.
        probability: How likely the seam holds, corrected with what they give.
    """

    ways: Names
    probability: float

    @property
    def record(self) -> Record:
        """As plain values."""
        return {"ways": self.ways, "probability": self.probability}


def measure_first(band: Band) -> tuple[MeasuredFirst, ...]:
    """Measurements, each beside those before it, until the corrected seam holds at 95 %.

    Args:
        band: The 90 % interval of a corrected command.
    """
    found: list[MeasuredFirst] = []
    if band.probability >= LIKELY:
        return ()
    keys = _rank_measurements(band)[:MOST]
    for count in range(1, len(keys) + 1):
        then = _assess_measured(band, keys[:count], len(band.ensemble))
        ways = tuple(describe_measurement(key, band.quantities) for key in keys[:count])
        found.append(MeasuredFirst(ways, then.probability))
        if then.probability >= LIKELY:
            break
    return tuple(found)


def _rank_measurements(band: Band) -> list[str]:
    """Measurements that make the error of a few variants clearly smaller, the best first."""
    few = min(FEW, len(band.ensemble))
    size = _mean_size(band.worst_of_each[:few])
    gains = {}
    for key in MEASUREMENTS:
        if any(quantity.measured_by == key and quantity.spread > 0 for quantity in band.quantities):
            then = _assess_measured(band, (key,), few)
            gains[key] = size - _mean_size(then.worst_of_each)
    large = [key for key, gain in gains.items() if gain >= LEAST_FALL]
    return sorted(large, key=lambda key: -gains[key])


def _assess_measured(band: Band, keys: Sequence[str], draws: int) -> Band:
    """The same command with the first variants of an interval, some quantities measured."""
    (then,) = assess_alike((band.prediction,), draws=draws, seed=band.seed, measured=keys)
    return then


def _mean_size(ratios: Floats) -> float:
    """Mean logarithm of ratios, of those variants that were run to their end; inf of none."""
    run = ratios[np.isfinite(ratios)]
    return float(np.log(run).mean()) if len(run) else math.inf
