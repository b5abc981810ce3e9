"""A strut between two pins across an angle: balancers with spring or gas, hydraulic cylinders."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Numbers, Pair
from armtwin.maths.choice import smaller, whole
from armtwin.maths.compiled import inlined
from armtwin.maths.interpolation import hermite_cubics
from armtwin.maths.quantities import Angle, Area
from armtwin.maths.traced_fields import Index, Table

TURN_INTERVALS = 2048  # cubics over one turn


@dataclass(frozen=True)
class Triangle:
    """Length of the strut as a function of the angle x between the sides that hold its pins.

        L = √(squares - product cos(x + angle)),   dL/dx = product sin(x + angle) / (2 L)

    Attributes:
        squares: Sum of the squared sides a² + b², with any squared offset along the axis [m²].
        product: Twice the product of the sides, 2 a b [m²].
        angle: Angle between the sides at x = 0 [rad].

    Ref: [Machielsen 1983, section 3.2], [Waiboer 2007, eq. B.3]
    """

    squares: Area
    product: Area
    angle: Angle

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if not self.squares > self.product:
            return (
                "must have squares greater than product (a² + b² > 2 a b), "
                f"got {self.squares:g} and {self.product:g}"
            )
        return ""

    def length(self, x: Numbers) -> Any:
        """Length of the strut [m] at angle x [rad], which may be complex for a complex step."""
        return np.sqrt(self.squares - self.product * np.cos(x + self.angle))

    def rate(self, x: Numbers) -> Any:
        """Change of length with the angle, dL/dx [m/rad]: the lever of a force along the strut."""
        return self.product * np.sin(x + self.angle) / (2 * self.length(x))

    def curvature(self, x: Numbers) -> Any:
        """Change of the lever with the angle [m/rad²].

        d²L/dx² = (product cos(x + angle) / 2 - (dL/dx)²) / L
        """
        along = self.product * np.cos(x + self.angle) / 2
        return (along - self.rate(x) ** 2) / self.length(x)

    def angle_of(self, length: ArrayLike, *, falling: bool = False) -> Floats:
        """Angle x [rad] at which the strut has a length [m]; lengths out of reach are refused.

        x = ±arccos((squares - L²) / product) - angle

        Args:
            length: The length, (...).
            falling: Whether the length falls with the angle (the sign is then minus).
        """
        given = np.asarray(length, dtype=np.float64)
        cosine = (self.squares - given**2) / self.product
        beyond = ~(np.abs(cosine) <= 1.0) | ~(given > 0.0)
        if beyond.any():
            shortest = float(np.sqrt(self.squares - self.product))
            longest = float(np.sqrt(self.squares + self.product))
            raise ArmtwinError(
                f"length must be between {shortest:.6g} and {longest:.6g} m, where its triangle "
                f"closes, got {given[beyond].flat[0]:.6g} m"
            )
        sign = -1.0 if falling else 1.0
        return sign * np.arccos(cosine) - self.angle


class Levers(NamedTuple):
    """Rows whose position is a length over one combination of angles.

    Attributes:
        row: The row, (l,).
        table: Cubics of the length over one turn, (l, TURN_INTERVALS, 4).
    """

    row: Index
    table: Table


def turn_table(function: Callable[[Numbers], Numbers]) -> Floats:
    """Cubics through a function of an angle with its slopes, over -π .. π, (TURN_INTERVALS, 4).

    Args:
        function: Takes complex angles (m,), so that its slope comes without a difference.
    """
    x = np.linspace(-np.pi, np.pi, TURN_INTERVALS + 1)
    values = function(x + 1e-100j)
    slopes = values.imag / 1e-100 * (x[1] - x[0])
    return hermite_cubics(values.real, slopes)


@inlined
def in_turn(table: Floats, e: int, angle: float) -> Pair:
    """Value and slope of table e, (e, TURN_INTERVALS, 4), at an angle; it repeats every turn."""
    turns = angle / (2 * np.pi) + 0.5
    x = (turns - np.floor(turns)) * TURN_INTERVALS
    i = smaller(whole(x), TURN_INTERVALS - 1)
    x -= i
    c1, c2, c3 = table[e, i, 1], table[e, i, 2], table[e, i, 3]
    value = table[e, i, 0] + x * (c1 + x * (c2 + x * c3))
    slope = (c1 + x * (2 * c2 + 3 * x * c3)) * (TURN_INTERVALS / (2 * np.pi))
    return value, slope
