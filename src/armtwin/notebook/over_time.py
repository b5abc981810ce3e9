"""Measured and predicted channels over time, a plot for each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.maths.batch import Floats, NamedArrays
from armtwin.notebook.sampling import at_times, extremes
from armtwin.notebook.sections import Line, Plot

GRID, BUCKETS = 1200, 150


@dataclass(frozen=True, eq=False)
class MeasuredOverTime:
    """Measured channels over time, and what a model predicts of them.

    Attributes:
        time: Times of the samples, (m,) [s].
        measured: As measured, (m, n).
        predicted: By the model, (m, n).
        unit: Unit that is shown.
        scale: From the SI unit to it.
    """

    time: Floats
    measured: Floats
    predicted: Floats
    unit: str
    scale: float = 1.0

    @cached_property
    def times(self) -> Floats:
        """Times that are shown: an even grid and the extremes of each channel, (k,) [s]."""
        grid = np.linspace(self.time[0], self.time[-1], min(GRID, len(self.time)))
        times = [grid]
        for column in (*self.measured.T, *self.predicted.T):
            times.append(extremes(self.time, column, BUCKETS))
        return np.unique(np.concatenate(times))

    def sample(self, name: str, values: Floats) -> NamedArrays:
        """Channels (m, n) at the times that are shown, by a name with their numbers from 1 on."""
        series = {}
        for j, column in enumerate(values.T, 1):
            series[f"{name}{j}"] = self.scale * at_times(self.times, self.time, column)
        return series

    @property
    def series(self) -> NamedArrays:
        """Measured, predicted and their difference, by the names that `plot` reads."""
        return {
            "time": self.times,
            **self.sample("measured", self.measured),
            **self.sample("predicted", self.predicted),
            **self.sample("residual", self.measured - self.predicted),
        }

    def plot(self, j: int, label: str, caption: str = "", more: tuple[Line, ...] = ()) -> Plot:
        """Channel j, from 0 on, of a report that holds the series.

        Args:
            j: Its number.
            label: What it is.
            caption: What is seen.
            more: Lines beside measured, predicted and residual.
        """
        lines = (
            Line("measured", f"measured{j + 1}", 6),
            Line("predicted", f"predicted{j + 1}", 0),
            Line("residual", f"residual{j + 1}", 1),
            *more,
        )
        count = len(self.times)
        return Plot("time", "time [s]", label, self.unit, lines, 0, count, caption=caption)
