"""Rows of friction torques as a regression: elements with laws, seen over the noise.

    τ_k = Σ_e s_e[j] L_e(s_e · v_k) + noise        for a row k of joint j

Every element e has a row s_e of the joints and a law; joints of a coupled wrist share elements. An
element at rest while its joint is measured holds any torque: the torque it may hold is projected
out of the rows of its plateau, which leaves their differences.

Ref: [Waiboer 2007, eq. 3.53]
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.shapes import (
    bounds,
    coefficient_names,
    shape_names,
    unit_law,
)
from armtwin.maths.batch import Flags, Floats, Pair, TwoArrays

AT_REST = 1e-6  # share of the fastest speed below which an element is at rest
STEP = 1e-7  # of the logarithm of a shape number, for slopes


@dataclass(frozen=True, eq=False)
class TorqueRows:
    """Rows of torques, and the elements that shall explain them.

    Attributes:
        curves: The rows, friction alone.
        rows: s of each element, (elements, n).
        kinds: Law of each element.
        sigma: Relative size of each row's noise, (k,).
    """

    curves: FrictionCurves
    rows: Floats
    kinds: tuple[type[Law], ...]
    sigma: Floats

    @cached_property
    def speeds(self) -> Floats:
        """Speed of each element in each row, (k, elements)."""
        return self.curves.speeds @ self.rows.T

    @cached_property
    def acting(self) -> Floats:
        """Lever of each element on the joint of each row, (k, elements)."""
        return self.rows[:, self.curves.joint].T

    @cached_property
    def at_rest(self) -> Flags:
        """Elements at rest that act on the joint of a row, (k, elements)."""
        slow = np.abs(self.speeds) <= AT_REST * np.abs(self.speeds).max()
        return slow & (self.acting != 0)

    @property
    def coefficients(self) -> int:
        """Number of all coefficients."""
        return sum(len(coefficient_names(kind)) for kind in self.kinds)

    def shapes_of(self, x: Floats) -> list[Floats]:
        """Shape numbers of each element from all of their logarithms."""
        ends = np.cumsum([len(shape_names(kind)) for kind in self.kinds])
        return np.split(np.exp(x), ends[:-1])

    def coefficients_of(self, coefficients: Floats) -> list[Floats]:
        """Coefficients of each element from all of them."""
        ends = np.cumsum([len(coefficient_names(kind)) for kind in self.kinds])
        return np.split(coefficients, ends[:-1])

    def element(self, e: int, shape: Floats) -> Floats:
        """Torque per coefficient of an element with a shape, (k, its coefficients)."""
        unit = unit_law(self.kinds[e], shape)
        return unit.columns(self.speeds[:, e]) * self.acting[:, e : e + 1]

    def columns(self, x: Floats) -> Floats:
        """Torque per coefficient at the logarithms x of the shapes, (k, p)."""
        found = [self.element(e, shape) for e, shape in enumerate(self.shapes_of(x))]
        return np.concatenate(found, axis=1)

    @cached_property
    def target(self) -> Floats:
        """Torques over the noise, without what elements at rest may hold, (k,)."""
        return self.over_noise(self.curves.torque)

    def over_noise(self, values: Floats) -> Floats:
        """Rows (k, ...) over the noise, without what elements at rest may hold."""
        scaled = (values.T / self.sigma).T
        if self._held.shape[1]:
            scaled = scaled - self._held @ (self._held.T @ scaled)
        return scaled

    def bends(self, x: Floats, coefficients: Floats) -> Floats:
        """Slopes of the torques over the noise with the logarithms x, (k, shapes)."""
        found = [np.zeros((len(self.sigma), 0))]
        parts = zip(self.shapes_of(x), self.coefficients_of(coefficients), strict=True)
        for e, (shape, own) in enumerate(parts):
            here = self.element(e, shape) @ own
            for i in range(len(shape)):
                factor = np.ones(len(shape))
                factor[i] = np.exp(STEP)
                ahead = self.element(e, shape * factor) @ own
                found.append(((ahead - here) / STEP)[:, None])
        return self.over_noise(np.concatenate(found, axis=1))

    @cached_property
    def _held(self) -> Floats:
        """Orthonormal directions of the rows that elements at rest may take, (k, directions)."""
        found = [np.zeros((len(self.sigma), 0))]
        rest = self.at_rest
        for plateau in np.unique(self.curves.plateau[rest.any(axis=1)]):
            rows = np.flatnonzero(self.curves.plateau == plateau)
            at_rest = np.flatnonzero(rest[rows].any(axis=0))
            levers = self.acting[np.ix_(rows, at_rest)] / self.sigma[rows, None]
            span, size, _ = np.linalg.svd(levers, full_matrices=False)
            directions = span[:, size > 1e-9 * size[0]]
            direction = np.zeros((len(self.sigma), directions.shape[1]))
            direction[rows] = directions
            found.append(direction)
        return np.concatenate(found, axis=1)

    @property
    def rows_lost(self) -> int:
        """Number of rows lost to elements at rest."""
        return self._held.shape[1]

    @cached_property
    def limits(self) -> TwoArrays:
        """Logarithms of the least and largest shape numbers."""
        low, high = [np.zeros(0)], [np.zeros(0)]
        for e, kind in enumerate(self.kinds):
            least, most = bounds(kind, *self.span(e))
            low.append(np.log(least))
            high.append(np.log(most))
        return np.concatenate(low), np.concatenate(high)

    def span(self, e: int) -> Pair:
        """Slowest and fastest speed of an element that moves."""
        w = np.abs(self.speeds[:, e])
        moving = w[(w > AT_REST * w.max()) & (self.acting[:, e] != 0)]
        if not len(moving):
            raise ArmtwinError("an element of the joint's friction never moves in these rows")
        return float(moving.min()), float(moving.max())
