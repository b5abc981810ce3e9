"""The shape parameters of a friction law: those that its torque is not linear in.

They are positive and are searched by their logarithms. Their names say what they are: a slope (one
over a speed), an exponent, or else a speed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from itertools import product
from typing import Any, get_args

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.lubricated import GearPair
from armtwin.drives.friction.makkar import Makkar
from armtwin.maths.batch import Floats, Names, Record, TwoArrays

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
