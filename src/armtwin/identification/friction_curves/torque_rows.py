"""Rows of friction torques as a regression: elements with laws, seen over the noise.

    τ_k = Σ_e s_e[j] L_e(s_e · v_k) + noise        for a row k of joint j

Every element e has a row s_e of the joints and a law; joints of a coupled wrist share elements. An
element at rest while its joint is measured holds any torque: the torque it may hold is projected
out of the rows of its plateau, which leaves their differences.

Ref: [Waiboer 2007, eq. 3.53]

The shape parameters of a friction law: those that its torque is not linear in.

They are positive and are searched by their logarithms. Their names say what they are: a slope (one
over a speed), an exponent, or else a speed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from itertools import product
from typing import Any, get_args

import numpy as np

from armtwin.drives.friction.hyperbolic import Makkar
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.lubricated import GearPair
from armtwin.errors import ArmtwinError
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.maths.batch import Flags, Floats, Names, Pair, Record, TwoArrays

# laws that are compared, by the name that a robot file has for them
LAWS: Mapping[str, type[Law]] = {kind.law: kind for kind in get_args(Law) if kind.has_curve}
BEYOND = 20.0  # how far beyond the slowest and the fastest point a shape's speed may lie
EXPONENTS = (0.1, 2.0)
FILM_EXPONENTS = (0.01, 0.99)  # of a film whose shear grows with the speed
TRIED_EXPONENTS, TRIED_FILMS, TRIED_SPEEDS = (0.4, 0.7, 1.5), (0.2, 0.5, 0.8), 4


def coefficient_names(kind: type[Law]) -> Names:
    """Names of the linear parameters of a law."""
    known: Any = kind
    return _names(known)[0]


def shape_names(kind: type[Law]) -> Names:
    """Names of the shape parameters of a law."""
    known: Any = kind
    return _names(known)[1]


@cache
def _names(kind: type[Law]) -> tuple[Names, Names]:
    """Names of linear and of shape parameters, which a fit needs at every step."""
    linear = tuple(name for name, _ in kind.coefficients)
    names = tuple(field.name for field in fields(kind))
    return linear, tuple(name for name in names if name not in (*linear, "law"))


def law_of(kind: type[Law], coefficients: Floats, shape: Floats) -> Law:
    """The law with its parameters."""
    names = (*coefficient_names(kind), *shape_names(kind))
    values = [float(x) for x in (*coefficients, *sort_shape(kind, shape))]
    numbers: Record = dict(zip(names, values, strict=True))
    return kind(**numbers)


def unit_law(kind: type[Law], shape: Floats) -> Law:
    """The law of a shape whose coefficients are all 1."""
    return law_of(kind, np.ones(len(coefficient_names(kind))), shape)


def sort_shape(kind: type[Law], shape: Floats) -> Floats:
    """Shape parameters of a law in their order: of two tangents the steeper one is the first."""
    slopes = [shape_names(kind).index(name) for name in kind.tangents]
    found = shape.copy()
    found[slopes] = np.sort(shape[slopes])[::-1]
    return found


def bounds(kind: type[Law], slowest: float, fastest: float) -> TwoArrays:
    """Least and largest shape parameters for points between two speeds [rad/s]."""
    low, high = [], []
    for name in shape_names(kind):
        least, most = slowest / BEYOND, fastest * BEYOND
        if name.endswith("slope"):
            least, most = 1 / most, 1 / least
        elif name.endswith("exponent"):
            least, most = FILM_EXPONENTS if _is_of_film(kind, name) else EXPONENTS
        low.append(least)
        high.append(most)
    return np.array(low), np.array(high)


def _is_of_film(kind: type[Law], name: str) -> bool:
    """Whether an exponent is that of a film whose shear grows with the speed."""
    return name == "viscous_exponent" or kind is GearPair


def starts(kind: type[Law], slowest: float, fastest: float) -> Iterator[Floats]:
    """Shape parameters to start from: a grid over the admissible range."""
    speeds = np.geomspace(slowest, fastest, TRIED_SPEEDS + 2)[1:-1]
    grid = []
    for name in shape_names(kind):
        if name.endswith("slope"):
            grid.append(1 / np.concatenate([[slowest / 2], speeds]))
        elif name.endswith("exponent"):
            tried = TRIED_FILMS if _is_of_film(kind, name) else TRIED_EXPONENTS
            grid.append(np.array(tried))
        else:
            grid.append(speeds)
    for chosen in product(*grid):
        if kind is not Makkar or chosen[0] > chosen[1]:
            yield np.array(chosen)


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
