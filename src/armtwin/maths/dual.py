"""Numbers with a derivative: what a complex step leaves, (x + i h x')/h without its h.

Kernels that take complex states take these too, and leave their derivative on a tape.
"""

from typing import Any, TypeAlias

import numpy as np

Part: TypeAlias = "Dual | float"


class Dual:
    """A number x and its derivative x'."""

    __slots__ = ("slope", "value")

    def __init__(self, value: float, slope: float) -> None:
        self.value = value
        self.slope = slope

    def __add__(self, other: Part) -> Any:
        value, slope = _parts(other)
        return _dual(self.value + value, self.slope + slope)

    __radd__ = __add__

    def __sub__(self, other: Part) -> Any:
        value, slope = _parts(other)
        return _dual(self.value - value, self.slope - slope)

    def __rsub__(self, other: float) -> Any:
        return _dual(other - self.value, -self.slope)

    def __mul__(self, other: Part) -> Any:
        value, slope = _parts(other)
        return _dual(self.value * value, self.value * slope + self.slope * value)

    __rmul__ = __mul__

    def __truediv__(self, other: Part) -> Any:
        value, slope = _parts(other)
        ratio = self.value / value
        return _dual(ratio, (self.slope - ratio * slope) / value)

    def __rtruediv__(self, other: float) -> Any:
        ratio = other / self.value
        return _dual(ratio, -(ratio * self.slope) / self.value)

    # numpy's functions of an object call its methods of the same names
    def cos(self) -> Any:
        """Cosine."""
        return _dual(np.cos(self.value), -(np.sin(self.value) * self.slope))

    def sin(self) -> Any:
        """Sine."""
        return _dual(np.sin(self.value), np.cos(self.value) * self.slope)


def slope_of(x: Part) -> Any:
    """Derivative of a number, 0 if it has none."""
    return _parts(x)[1]


def _parts(x: Part) -> tuple[Any, Any]:
    return (x.value, x.slope) if isinstance(x, Dual) else (x, 0.0)


def _dual(value: float, slope: float) -> Any:
    """A dual, or the number alone where its derivative is known to be zero."""
    return value if isinstance(slope, float) and slope == 0.0 else Dual(value, slope)
