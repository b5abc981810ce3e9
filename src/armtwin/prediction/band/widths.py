"""How far the numbers of a robot file may be off, by what they are and where they come from.

A width of 30 % is a 90 % interval of a factor of 1.3 to either side. Numbers are log-normal about
the file's, so that a width of 100 % is a factor of 2 to either side.

    σ = ln(1 + width) / 1.645

The widths are engineering estimates, not measured; robot file and job may give others.
"""

import math

from armtwin.jobs.uncertainty import Kind
from armtwin.maths.batch import NamedNumbers

Z_90 = 1.6448536269514722  # standard deviations to either side

# by kind of number: from a document, public, derived, assumed
WIDTHS: dict[str, tuple[float, float, float, float]] = {
    "servo.bandwidth": (0.10, 0.15, 0.30, 0.30),
    "servo.damping": (0.05, 0.10, 0.20, 0.20),
    "servo.integrator": (0.10, 0.20, 0.50, 0.50),
    "servo.filters": (0.10, 0.20, 0.50, 0.50),
    "servo.acceleration_feedforward": (0.05, 0.10, 0.10, 0.10),
    "servo.friction_feedforward": (0.20, 0.30, 0.50, 0.50),
    "friction.level": (0.15, 0.20, 0.30, 0.50),
    "friction.viscosity": (0.30, 0.30, 0.30, 0.30),
    "friction.bristles": (1.0, 1.0, 2.0, 2.0),
    "links": (0.03, 0.05, 0.15, 0.15),
    "rotors": (0.05, 0.10, 0.15, 0.25),
    "tool.mass": (0.03, 0.03, 0.05, 0.10),
    "tool.size": (0.05, 0.05, 0.10, 0.20),
    "gears": (0.15, 0.20, 0.30, 0.50),
}
# of numbers that were measured or identified without a deviation of their own: as documents print
COLUMNS = {"measured": 0, "identified": 0, "document": 0, "public": 1, "derived": 2, "assumed": 3}
POSITION = 0.01  # half width of the 90 % interval of a workpiece, in each direction [m]
YAW = math.radians(1.0)  # and in their turn about the vertical [rad]
MEASURED: NamedNumbers = {  # standard deviations of a workpiece that was probed, by unit
    "m": 0.001 / Z_90,
    "rad": math.radians(0.1) / Z_90,
}
EACH = 1 / 3  # width of one drive beside that of all together


def width_of(kind: Kind, source: str) -> float:
    """The usual width of a number by its kind of source."""
    return WIDTHS[kind][COLUMNS[source]]


def spread_of(width: float) -> float:
    """Standard deviation of the logarithm of a number with a width."""
    return math.log1p(width) / Z_90


def in_words(width: float, unit: str = "1") -> str:
    """A width in words: "±30 %", "within a factor of 3", "±10 mm"."""
    if unit == "m":
        return f"±{1e3 * width:.3g} mm"
    if unit == "rad":
        return f"±{math.degrees(width):.3g} deg"
    if width >= 1:
        return f"within a factor of {1 + width:g}"
    return f"±{100 * width:.3g} %"
