"""How numbers are written for people: few digits, no exponent where none is needed, never "-0"."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

NONE = "-"
SMALLEST, LARGEST = 1e-4, 1e6  # beyond which a number is written with an exponent
NOTHING = 1e-12  # of an SI unit; what is smaller is rounding


@dataclass(frozen=True)
class Number:
    """How a number is written.

    Attributes:
        scale: From the SI unit to the one that is shown.
        unit: The unit that is shown.
        digits: Significant digits, where `places` is None.
        places: Digits after the point.
        signed: Whether a plus sign is written.
    """

    scale: float = 1.0
    unit: str = ""
    digits: int = 3
    places: int | None = None
    signed: bool = False

    def text(self, value: float | None) -> str:
        """The number without its unit; a dash where there is none."""
        if value is None or not np.isfinite(value):
            return NONE
        scaled = 0.0 if abs(value) < NOTHING else float(value) * self.scale
        if self.places is not None:
            text = f"{scaled:.{self.places}f}"
        else:
            text = _significant(scaled, self.digits)
        if float(text) == 0:
            return text.lstrip("-")
        return f"+{text}" if self.signed and scaled > 0 else text

    def with_unit(self, value: float | None) -> str:
        """The number with its unit."""
        text = self.text(value)
        return f"{text} {self.unit}" if self.unit and text != NONE else text

    def with_width(self, value: float | None, width: float | None) -> str:
        """The number and the half width of its interval, as "25.7 ± 0.12", without its unit."""
        text = self.text(value)
        if width is None or not np.isfinite(width):
            return text
        return f"{text} ± {replace(self, places=None, digits=2, signed=False).text(width)}"

    def between(self, ends: tuple[float, float] | None) -> str:
        """Both ends of an interval, as "1.2 to 1.4", without the unit."""
        return NONE if ends is None else " to ".join(map(self.text, ends))


def list_estimates(numbers: Mapping[str, Number], values: ArrayLike, widths: ArrayLike) -> str:
    """Numbers by name with half widths and units, as "damping 0.7 ± 0.02, delay 3 ± 0.1 ms"."""
    parts = []
    pairs = zip(np.asarray(values).tolist(), np.asarray(widths).tolist(), strict=True)
    for (name, number), pair in zip(numbers.items(), pairs, strict=True):
        parts.append(f"{name} {number.with_width(*pair)} {number.unit}".rstrip())
    return ", ".join(parts)


def _significant(value: float, digits: int) -> str:
    """A number with n significant digits."""
    if value == 0:
        return "0"
    if SMALLEST <= abs(value) < LARGEST:
        return np.format_float_positional(value, digits, fractional=False, trim="-")
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


PLAIN = Number(digits=4)
DEVIATION = Number(digits=2)  # of a standard deviation
MILLIMETRES = Number(1e3, "mm", places=1)
ALLOWED = Number(1e3, "mm", digits=4)  # of tolerances, as a file gives them
MICROMETRES = Number(1e6, "µm", places=0)
SIGNED_MICROMETRES = Number(1e6, "µm", places=0, signed=True)
MILLIMETRES_PER_SECOND = Number(1e3, "mm/s")
DEGREES = Number(180 / np.pi, "°", places=3)
SIGNED_DEGREES = Number(180 / np.pi, "°", places=3, signed=True)
MILLIDEGREES = Number(180e3 / np.pi, "mdeg")
PERCENT = Number(100.0, "%", places=0)
FINE_PERCENT = Number(100.0, "%", places=1)
SECONDS = Number(1.0, "s", places=3)
MILLISECONDS = Number(1e3, "ms", digits=4)
HERTZ = Number(1.0, "Hz", digits=4)
NEWTON_METRES = Number(1.0, "N m")
PER_HUNDRED = Number(1.0, "%", places=1)  # of what is a percentage already
