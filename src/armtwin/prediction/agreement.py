"""How well a measured and a predicted quantity agree.

share explained    = 1 - ‖measured - predicted‖ / ‖measured‖
variance explained = 1 - var(measured - predicted) / var(measured)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction import display

ROUNDING = 1e-12  # of an SI unit
HEADS = ("quantity", "rms measured", "rms predicted", "rms difference", "explained")


class Series(NamedTuple):
    """A quantity by name with its unit, measured and predicted, (2, m)."""

    name: str
    unit: str
    pair: Floats


@dataclass(frozen=True)
class Agreement:
    """One quantity, measured and predicted.

    Attributes:
        name: "joint_1 error", "lateral", "joint_1 torque", ...
        unit: Its SI unit.
        rms_measured: Root mean square of the measured values.
        peak_measured: Largest measured magnitude.
        rms_predicted: Root mean square of the predicted values.
        peak_predicted: Largest predicted magnitude.
        rms_difference: Root mean square of measured minus predicted.
        share_explained: 1 - ‖measured - predicted‖ / ‖measured‖; negative where the prediction is
            worse than none.
        variance_explained: 1 - var(measured - predicted) / var(measured); a constant counts for
            nothing.
    """

    name: str
    unit: str
    rms_measured: float
    peak_measured: float
    rms_predicted: float
    peak_predicted: float
    rms_difference: float
    share_explained: float
    variance_explained: float

    def cells(self) -> tuple[str, ...]:
        """A row of a table, in the unit that people read."""
        scale, unit = display.SHOWN[self.unit]
        sizes = (self.rms_measured, self.rms_predicted, self.rms_difference)
        texts = [f"{scale * _rounded(size):.3g} {unit}" for size in sizes]
        return self.name, *texts, f"{100 * self.share_explained:.0f} %"


def agreement(series: Series) -> Agreement:
    """How well a quantity agrees."""
    measured, predicted = series.pair
    size = _rms(measured)
    gap = _rms(measured - predicted)
    spread = float(np.var(measured))
    left = float(np.var(measured - predicted))
    return Agreement(
        name=series.name,
        unit=series.unit,
        rms_measured=size,
        peak_measured=float(np.abs(measured).max()),
        rms_predicted=_rms(predicted),
        peak_predicted=float(np.abs(predicted).max()),
        rms_difference=gap,
        share_explained=1 - gap / size if size > 0 else float("nan"),
        variance_explained=1 - left / spread if spread > 0 else float("nan"),
    )


def _rounded(size: float) -> float:
    """A size without what is rounding alone."""
    return 0.0 if abs(size) < ROUNDING else size


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))
