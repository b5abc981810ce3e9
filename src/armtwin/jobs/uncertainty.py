"""Uncertainty of a job: widths of 90 % intervals by the names of uncertain quantities.

The names are those that the report prints, not key paths of the robot file. One names a
single quantity ("friction.joint_2") or for all of a kind ("friction.level", "links", "placement");
the more specific one counts.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal, get_args

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.files.fields import Read, read_width
from armtwin.files.shape import FLAT
from armtwin.maths.batch import NamedNumbers, Record
from armtwin.maths.units import Unit

Kind = Literal[
    "servo.bandwidth",
    "servo.damping",
    "servo.integrator",
    "servo.filters",
    "servo.acceleration_feedforward",
    "servo.friction_feedforward",
    "friction.level",
    "friction.viscosity",
    "friction.bristles",
    "links",
    "rotors",
    "tool.mass",
    "tool.size",
    "gears",
]
RATIOS = (*get_args(Kind), "links.mass", "links.size", "tool")
LENGTHS = ("placement", "placement.x", "placement.y", "placement.z")
ANGLES = ("placement.yaw",)
NAMES = (*RATIOS, *LENGTHS, *ANGLES)
# before the name of a drive, of a friction element, of a gear, of those that one rule gave
BY_NAME = ("servo.bandwidth", "friction", "gears", "rotors", "links.mass", "links.size")
LEAST_DRAWS, MOST_DRAWS = 8, 8192  # sampled variants, a power of 2 (Sobol)

FURTHEST, MOST_TURNED = 0.5, 0.5  # of a workpiece [m], [rad]: beyond, another place was meant
MISPLACEMENT = Unit("m", at_least=0, plausible=FURTHEST, hint="mm")
MISTURN = Unit("rad", at_least=0, plausible=MOST_TURNED, hint="deg")


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ArmtwinError(f"must be a whole number from 0 on, got {value!r:.60}")
    return value


def _widths(value: Record) -> NamedNumbers:
    """Widths by name: ratios, lengths [m] and angles [rad]; tables within tables are one name."""
    found = {}
    problems = []
    for name, given in _flat(value, ""):
        try:
            found[name] = _reader(name)(given)
        except ArmtwinError as error:
            problems.append(f"'{name:.60}' {error}")
    if problems:
        raise ArmtwinError("; ".join(problems))
    return found


def _flat(table: Record, path: str) -> Iterator[tuple[str, Any]]:
    """Names and values, also of keys without quotes, which TOML reads as tables within tables."""
    for key, value in table.items():
        name = f"{path}.{key}".lstrip(".")
        if isinstance(value, dict):
            yield from _flat(value, name)
        else:
            yield name, value


def _reader(name: str) -> Callable[[Any], float]:
    """What reads a width of a name."""
    if name in LENGTHS:
        return partial(_read_bounded, MISPLACEMENT, FURTHEST, "mm", 1e3)
    if name in ANGLES:
        return partial(_read_bounded, MISTURN, MOST_TURNED, "deg", math.degrees(1))
    special = any(name.startswith(f"{kind}.") for kind in BY_NAME)
    if name in RATIOS or special:
        return read_width
    raise ArmtwinError(f"is no quantity that is varied. {did_you_mean(name, NAMES)}")


def _read_bounded(unit: Unit, most: float, symbol: str, scale: float, value: object) -> float:
    """A length or angle up to a bound, which is named in another unit."""
    found = unit.read(value)
    if found > most:
        bound, got = scale * most, scale * found
        raise ArmtwinError(f"must be from 0 to {bound:.3g} {symbol}, got {got:.4g} {symbol}")
    return found


Whole = Annotated[int, Read(_whole)]
Widths = Annotated[dict[str, float], Read(_widths)]


@dataclass(frozen=True)
class Uncertainty:
    """How far numbers may be off, in place of what their sources suggest.

    A width is half a 90 % interval: "30 %" is a factor of 1.3 to either side.

    Attributes:
        widths: By name: of the placement [m; rad], of all else as a share.
        draws: Number of sampled variants, a power of two.
        seed: Seed of the sampled variants.
    """

    draws: Whole = 64
    seed: Whole = 0
    widths: Widths = field(default_factory=dict, metadata=FLAT)

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return draws_problem(self.draws)

    def first(self, *names: str) -> float | None:
        """The width of the first of the names that has one."""
        for name in names:
            if name in self.widths:
                return self.widths[name]
        return None


def draws_problem(draws: int) -> str:
    """What is wrong with a number of sampled variants, as a phrase; empty if nothing is."""
    if not LEAST_DRAWS <= draws <= MOST_DRAWS or draws & (draws - 1):
        bounds = f"from {LEAST_DRAWS} to {MOST_DRAWS}"
        return f"draws must be a power of two {bounds}, got {draws}"
    return ""
