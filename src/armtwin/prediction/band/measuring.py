"""What measuring would gain: how far the 90 % interval would narrow."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats, Pair
from armtwin.prediction.band.quantity import Quantity

MEASUREMENTS = {
    "servo": "Record one run with commanded positions and fit the servo (`armtwin servo`)",
    "identify": "Record an excitation with torques (`armtwin identify`)",
    "transmission": "Record a run with both encoders{} (`armtwin transmission`)",
    "placement": "Probe where the workpiece lies, to 1 mm",
    "tool": "Weigh the tool and find its centre of mass",
}
LEAST_GAIN = 0.05  # share of the spread's variance that a measurement must remove to be reported
MOST = 3  # measurements that are suggested


@dataclass(frozen=True)
class Saving:
    """What a measurement would gain.

    Attributes:
        way: How it is measured, as a sentence.
        left: Share of the variance of the logarithm that would be left.
    """

    way: str
    left: float


def savings(quantities: Sequence[Quantity], shares: Floats) -> tuple[Saving, ...]:
    """Measurements that would narrow the 90 % interval, the best first."""
    found = []
    for key in MEASUREMENTS:
        taken = 0.0
        for quantity, share in zip(quantities, shares, strict=True):
            if quantity.measured_by == key and quantity.spread > 0:
                kept = (quantity.spread_if_measured / quantity.spread) ** 2
                taken += float(share) * (1 - kept)
        if taken >= LEAST_GAIN:
            found.append(Saving(describe_measurement(key, quantities), max(0.0, 1 - taken)))
    found.sort(key=lambda saving: saving.left)
    return tuple(found[:MOST])


def describe_measurement(key: str, quantities: Sequence[Quantity]) -> str:
    """How it is measured; with the parts that are left where it was measured of others."""
    mine = [quantity for quantity in quantities if quantity.measured_by == key]
    left = dict.fromkeys(name for x in mine if not x.is_measured for name in x.of)
    some = any(quantity.is_measured for quantity in mine)
    return MEASUREMENTS[key].format(f" of {', '.join(left)}" if some and left else "")


def narrow_interval(low: float, high: float, left: float) -> Pair:
    """An interval with a share of the variance of its logarithm left, about the same median."""
    middle = np.sqrt(low * high)
    half = (high / low) ** (0.5 * np.sqrt(left))
    return float(middle / half), float(middle * half)
