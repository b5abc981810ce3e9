"""A designed excitation: its motion, what it will tell, and what of the limits it uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from armtwin.identification.excitation.bounds import Use
from armtwin.identification.excitation.information import (
    Scales,
    deviations,
    log_det_of,
    singular_values,
)
from armtwin.identification.excitation.plan import ExcitationPlan, Scaling
from armtwin.identification.fitting.decomposition import RELATIVE_ERROR
from armtwin.identification.rigid_body.identifiable import identifiable
from armtwin.maths.batch import Floats
from armtwin.motion.fourier import FourierSeries
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook import cards
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


class Tried(NamedTuple):
    """How good a motion is, by one sample of it.

    Attributes:
        log_det: Mean of the logarithms of the singular values of the bare columns.
        deviation: Mean of the deviations of the independent combinations over their sizes.
        singular: Singular values of the columns scaled by the parameters, falling, (r,).
    """

    log_det: float
    deviation: float
    singular: Floats

    @property
    def sigma_min(self) -> float:
        """Smallest of the singular values."""
        return float(self.singular[-1])

    def told(self, beside: Excitation) -> int:
        """Number of directions told to 10 % by as many samples as another excitation has."""
        return int((self.singular * np.sqrt(beside.rows) > beside.line).sum())

    @staticmethod
    def of(N: Floats, scales: Scales) -> Tried:
        """How good a motion with N is."""
        sigma = singular_values(N, scales, "parameters")
        return Tried(-log_det_of(N).value, float(deviations(N, scales).mean()), sigma)


@dataclass(frozen=True)
class Foretold:
    """An independent combination of parameters, and how well the excitation will tell it.

    Attributes:
        name: The combination.
        value: Its prior value.
        std: Its predicted standard deviation.
        relative: The deviation over the size of what it combines.
    """

    name: str
    value: float
    std: float
    relative: float


@dataclass(frozen=True, eq=False)
class Excitation:
    """An excitation of a robot.

    Attributes:
        robot: The robot.
        plan: What it was designed for.
        rate: Set-points in a second [Hz].
        series: The motion of a period.
        scales: By what rows and columns are scaled.
        normal: N of the motion, (r, r).
        start: N of the random motion that the search started from, (r, r).
        use: How much of each limit is used, checked densely.
        clearance: Distance that was to be kept from the cell [m].
        tried: The random motions that were tried.
    """

    robot: Robot
    plan: ExcitationPlan
    rate: float
    series: FourierSeries
    scales: Scales
    normal: Floats
    start: Floats
    use: Use
    clearance: float
    tried: tuple[Tried, ...]

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion at the set-point rate, from rest to rest."""
        return self.series.trajectory(self.rate, self.plan.periods)

    @property
    def rows(self) -> int:
        """Samples of the trajectory that are rows of the regression."""
        return len(self.trajectory.q) - 1

    def singular_values(self, scaling: Scaling, *, of_start: bool = False) -> Floats:
        """Singular values of the scaled columns over all samples, falling, (r,)."""
        N = self.start if of_start else self.normal
        return singular_values(N, self.scales, scaling) * np.sqrt(self.rows)

    @property
    def sigma_min(self) -> float:
        """Smallest singular value of the columns scaled by the parameters."""
        return float(self.singular_values("parameters")[-1])

    def condition(self, scaling: Scaling) -> float:
        """Condition number of the scaled columns."""
        sigma = self.singular_values(scaling)
        return float(sigma[0] / sigma[-1])

    @property
    def log_det(self) -> float:
        """Sum of the logarithms of the singular values of the columns scaled by the parameters."""
        return float(np.log(self.singular_values("parameters")).sum())

    @property
    def line(self) -> float:
        """Singular value above which a direction is told to 10 %."""
        return self.plan.noise / RELATIVE_ERROR

    @property
    def told(self) -> int:
        """Number of directions that the excitation tells to 10 %."""
        return int((self.singular_values("parameters") > self.line).sum())

    @cached_property
    def table(self) -> tuple[Foretold, ...]:
        """The independent combinations of parameters with their predicted deviations."""
        share = self.plan.noise / np.sqrt(self.rows)
        relative = share * deviations(self.normal, self.scales)
        std = relative * self.scales.sizes
        found = []
        names = identifiable(self.robot).base
        for k, name in enumerate(names):
            value = float(self.scales.base[k])
            found.append(Foretold(name, value, float(std[k]), float(relative[k])))
        return tuple(found)

    @property
    def deviation(self) -> float:
        """Mean predicted deviation of the combinations over their sizes."""
        return float(np.mean([row.relative for row in self.table]))

    def __repr__(self) -> str:
        words = (
            f"{self.robot.name}, {self.trajectory.duration:.4g} s at {self.rate:g} Hz",
            f"smallest singular value {self.sigma_min:.3g}",
            f"{self.told} of {len(self.table)} told to 10 %",
        )
        return cards.line("Excitation", *words)

    def _repr_html_(self) -> str:
        rows = []
        for row in sorted(self.table, key=lambda row: row.relative):
            rows.append((row.name, f"{row.value:.4g}", f"{row.std:.2g}", f"{row.relative:.1%}"))
        heads = ("combination", "prior", "predicted deviation", "of its size")
        return cards.table(repr(self), rows, heads)

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw position, speed and acceleration of each joint over time.

        Args:
            axes: Three of them; new ones where none are given.
        """
        return self.trajectory.plot(axes=axes)
