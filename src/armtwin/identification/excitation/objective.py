"""Objective of the search: a criterion and penalties of the limits, with its gradient.

    F = criterion(N) + μ mean(over²)

The torque is linear in the same columns as the criterion, so that both go back through the
regressor at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armtwin.identification.excitation.bounds import Bounds
from armtwin.identification.excitation.columns import RegressorColumns
from armtwin.identification.excitation.information import Scales, Value
from armtwin.maths.batch import Floats
from armtwin.motion.cell import nearness
from armtwin.motion.fourier import Shapes

MARGIN = 0.015  # of each limit reserved for the motion between samples
NEAR = 0.1  # distance [m] that counts as much as a limit exceeded by all of it
EVERY = 2  # samples of which one is checked against the cell
STEP = 1e-6  # of positions for the slopes of distances [rad]

Criterion = Callable[[Floats], Value]


@dataclass(frozen=True, eq=False)
class Objective:
    """A criterion within limits, of the coefficients of a motion.

    Attributes:
        columns: Columns along a motion.
        scales: Their scales.
        bounds: The limits.
        shapes: Motion per coefficient at the samples.
        units: Units of the coefficients of each joint in the search, (k, n).
    """

    columns: RegressorColumns
    scales: Scales
    bounds: Bounds
    shapes: Shapes
    units: Floats

    def motion(self, x: Floats) -> Shapes:
        """The motion of coefficients over their units, (k n,)."""
        free = x.reshape(self.units.shape) * self.units
        return Shapes(*(shape @ free for shape in self.shapes))

    def evaluate(self, x: Floats, criterion: Criterion, stiffness: float) -> tuple[float, Floats]:
        """F and its slope by the coefficients over their units, (k n,).

        Args:
            x: The coefficients over their units, (k n,).
            criterion: From N to a value with its slope.
            stiffness: μ.
        """
        motion = self.motion(x)
        Y = self.columns.values(motion)
        found = criterion(self.scales.normal(Y))
        if not np.isfinite(found.value):
            return 1e3, np.zeros_like(x)
        exceeded, by_torque = self._torque_penalty(Y)
        by_columns = self.scales.by_columns(Y, found.slope)
        by_columns += stiffness * by_torque[:, :, None] * self.scales.base
        by_q, by_v, by_a = self.columns.slopes(motion, by_columns)
        total = exceeded
        limits = self.bounds
        for kind, over in (
            (by_q, _excess(motion.q - limits.middle, limits.half)),
            (by_v, _excess(motion.v, limits.speed)),
            (by_a, _excess(motion.a, limits.acceleration)),
            (by_q, self._cell_penalty(motion.q)),
        ):
            value, slope = over
            total += value
            kind += stiffness * slope
        slope = self.shapes.q.T @ by_q + self.shapes.v.T @ by_v + self.shapes.a.T @ by_a
        return found.value + stiffness * total, (slope * self.units).ravel()

    def _torque_penalty(self, Y: Floats) -> tuple[float, Floats]:
        """How far torques exceed their limits, and the slope by the joint torques, (m, n)."""
        torque = Y @ self.scales.base
        value, slope = _excess(torque, self.bounds.torque)
        if self.bounds.drives_all:
            inverse = self.bounds.robot.assembly.motor_inverse
            more, by_motor = _excess(torque @ inverse, self.bounds.drive)
            value += more
            slope = slope + by_motor @ inverse.T
        return value, slope

    def _cell_penalty(self, q: Floats) -> tuple[float, Floats]:
        """How far positions come too near to the cell, and the slope by them, (m, n)."""
        slope = np.zeros_like(q)
        q = q[::EVERY]
        here = self._distances(q)
        over = np.maximum(self.bounds.clearance + MARGIN * NEAR - here, 0.0) / NEAR
        some = np.flatnonzero(over.any(axis=1))
        if not len(some):
            return 0.0, slope
        n = q.shape[1]
        moved = np.repeat(q[some], n, axis=0)
        moved[np.arange(len(moved)), np.tile(np.arange(n), len(some))] += STEP
        ahead = self._distances(moved).reshape(len(some), n, -1)
        rise = (ahead - here[some, None, :]) / STEP
        slope[::EVERY][some] = np.einsum("mo,mno->mn", over[some], rise) * (-2 / NEAR / len(q))
        return float((over**2).sum() / len(q)), slope

    def _distances(self, q: Floats) -> Floats:
        """How near positions (m, n) come to each thing of the cell, (m, things) [m]."""
        found = nearness(self.bounds.robot, self.bounds.cell, q)
        return np.stack([near.distance for near in found], axis=1)


def _excess(values: Floats, limit: Floats) -> tuple[float, Floats]:
    """Mean square by which |values| (m, k) exceed a limit less its margin, and its slope."""
    use = values / limit
    over = np.maximum(np.abs(use) - (1 - MARGIN), 0.0)
    slope = 2 * over * np.sign(use) / limit / len(values)
    return float((over**2).sum() / len(values)), slope
