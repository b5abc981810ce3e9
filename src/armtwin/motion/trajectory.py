"""A motion of the joints: positions, speeds and accelerations at a steady rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, NamedArrays, ThreeArrays, check_array
from armtwin.maths.interpolation import quintic
from armtwin.maths.quantities import Frequency, Time
from armtwin.notebook import cards
from armtwin.notebook.dataframes import dataframe, number_columns
from armtwin.report.figures import Panel, draw_panels

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

MOST_ROWS = 50_000_000  # of a motion at another rate; more do not fit into memory


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Joint motion sampled at a steady rate; the first sample is at time 0.

    Attributes:
        rate: Samples in a second [Hz].
        q: Joint positions, (m, n) [rad or m].
        v: Joint speeds, (m, n).
        a: Joint accelerations, (m, n).
    """

    rate: Frequency
    q: Floats
    v: Floats
    a: Floats

    @staticmethod
    def sampled(rate: Frequency, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Trajectory:
        """A trajectory from samples, checked for shape and finite numbers."""
        shape = np.shape(q)
        n = shape[-1] if len(shape) == 2 else 0
        if not n or np.shape(v) != shape or np.shape(a) != shape:
            shapes = f"{shape}, {np.shape(v)}, {np.shape(a)}"
            raise ArmtwinError(
                f"a trajectory needs q, v and a of one shape (samples, joints), got {shapes}"
            )
        if shape[0] < 2:
            raise ArmtwinError(f"a trajectory needs at least two samples, got {shape[0]}")
        return Trajectory(
            float(rate),
            check_array("q", q, (n,), "joint motion"),
            check_array("v", v, (n,), "joint motion"),
            check_array("a", a, (n,), "joint motion"),
        )

    def __repr__(self) -> str:
        joints = cards.format_count(self.q.shape[1], "joint")
        samples = cards.format_count(len(self.q), "sample")
        return cards.line(
            "Trajectory", joints, samples, f"{self.duration:.4g} s at {self.rate:g} Hz"
        )

    def _repr_html_(self) -> str:
        rows = []
        for j, (q, v, a) in enumerate(zip(self.q.T, self.v.T, self.a.T, strict=True), 1):
            reach = f"{q.min():.4g} to {q.max():.4g}"
            rows.append((str(j), reach, f"{np.abs(v).max():.4g}", f"{np.abs(a).max():.4g}"))
        return cards.table(repr(self), rows, ("joint", "q", "largest |v|", "largest |a|"))

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw position, speed and acceleration of each joint over time.

        Args:
            axes: Three of them; new ones where none are given.
        """
        panels = (
            Panel("q [rad or m]", number_columns("q", self.q)),
            Panel("v [rad/s or m/s]", number_columns("v", self.v)),
            Panel("a [rad/s² or m/s²]", number_columns("a", self.a)),
        )
        return draw_panels(self.time, "time [s]", panels, axes)

    def to_dataframe(self) -> pandas.DataFrame:
        """Columns q1, ..., v1, ..., a1, ... over time, for pandas."""
        columns: NamedArrays = {}
        for name in "qva":
            columns |= number_columns(name, getattr(self, name))
        return dataframe(("time", self.time), columns)

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return (len(self.q) - 1) / self.rate

    @property
    def time(self) -> Floats:
        """Times of the samples, (m,) [s]."""
        return np.arange(len(self.q)) / self.rate

    def with_standstill(self, before: Time, after: Time) -> Trajectory:
        """The motion with the robot at rest for a time [s] before and after it."""
        ends = round(before * self.rate), round(after * self.rate)
        _check_count(len(self.q) + sum(ends))
        samples = (ends, (0, 0))
        return Trajectory(
            self.rate,
            np.pad(self.q, samples, mode="edge"),
            np.pad(self.v, samples),
            np.pad(self.a, samples),
        )

    def rows(self, some: slice) -> Trajectory:
        """The motion at given samples, the first of them at time 0."""
        return Trajectory(self.rate, self.q[some], self.v[some], self.a[some])

    def at(self, times: ArrayLike) -> ThreeArrays:
        """Positions, speeds, accelerations at times, by quintics between samples; else at rest."""
        times = check_array("times", times, (np.size(times),), "times in s", single=True)
        inside = np.clip(times, 0.0, self.duration)
        curve = quintic(self.time, self.q, self.v, self.a)
        moving = ((times >= 0.0) & (times <= self.duration))[:, None]
        v = curve(inside, 1) * moving
        a = curve(inside, 2) * moving
        return curve(inside), v, a

    def at_rate(self, rate: Frequency) -> Trajectory:
        """The motion at another rate."""
        if rate == self.rate:
            return self
        count = int(np.ceil(self.duration * rate - 1e-6)) + 1
        _check_count(count)
        times = np.minimum(np.arange(count) / rate, self.duration)  # the last is the motion's end
        q, v, a = self.at(times)
        return Trajectory(rate, q, v, a)


def _check_count(samples: int) -> None:
    if samples > MOST_ROWS:
        raise ArmtwinError(f"a motion must have at most {MOST_ROWS} samples, got {samples}")
