"""A strut between two pins across an angle: spring balancers, gas counterbalances, hydraulic cylinders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armtwin.maths.quantities import Angle, Area


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
                f"must have squares greater than product (a² + b² > 2 a b), got {self.squares:g} and {self.product:g}"
            )
        return ""

    def length(self, x: Any) -> Any:
        """Length of the strut [m] at angle x [rad]; x may be complex, for derivatives by a complex step."""
        return np.sqrt(self.squares - self.product * np.cos(x + self.angle))

    def rate(self, x: Any) -> Any:
        """Change of length with the angle, dL/dx [m/rad]: the lever of a force along the strut."""
        return self.product * np.sin(x + self.angle) / (2 * self.length(x))
