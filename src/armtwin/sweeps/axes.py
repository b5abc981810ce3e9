"""Axes of a sweep: numbers or words, how they are written, and points of a design over them."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Pair, Values
from armtwin.maths.sobol import sobol_points
from armtwin.maths.units import CELSIUS, parse_quantity, parse_unit, split_quantity
from armtwin.sweeps.description import SAMPLED, AxisGroup, SweepDescription

MOST_RUNS = 5_000_000  # of a sweep


@dataclass(frozen=True)
class SweepAxis:
    """What differs from run to run.

    Attributes:
        key: Its key path.
        label: What it is called.
        unit: Unit that its numbers are written in; "" for bare numbers and words.
        values: Values as they are written: numbers in the unit, or words.
        relative: Whether values are factors on what the file has.
    """

    key: str
    label: str
    unit: str
    values: tuple[float | str, ...]
    relative: bool = False

    @property
    def varies(self) -> bool:
        """Whether it has several values."""
        return len(self.values) > 1

    @property
    def numbers(self) -> Floats:
        """Its values, all of them numbers."""
        return np.array([float(value) for value in self.values])

    @property
    def ends(self) -> str:
        """Its first and last value in words."""
        return f"{self.words(self.values[0])} to {self.words(self.values[-1])}"

    def named(self, value: float | str) -> str:
        """What it is called, with a value in words."""
        return f"{self.label} {self.words(value)}"

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return all(isinstance(value, float) for value in self.values)

    def written(self, value: float | str) -> Any:
        """A value as it would be written in a file."""
        if isinstance(value, float) and self.unit:
            return f"{value!r} {self.unit}"
        return value

    def si(self, value: float | str) -> float | str:
        """A value as a table of results holds it."""
        if not isinstance(value, float) or not self.unit:
            return value
        if self.unit == "deg":
            return math.radians(value)
        zero, factor = self._to_si
        return value * factor + zero

    @cached_property
    def _to_si(self) -> Pair:
        """SI value of the unit's zero, and factor."""
        if self.unit in CELSIUS:
            return parse_quantity(f"0 {self.unit}", "K"), 1.0
        return 0.0, parse_unit(self.unit)[0]

    def words(self, value: float | str) -> str:
        """A value in words."""
        if not isinstance(value, float):
            return value
        return f"{value:.6g} {self.unit}".strip()


def axis_of(group: AxisGroup) -> SweepAxis:
    """The axis that a file describes."""
    given = group.values if group.values is not None else group.span
    assert given is not None
    read = [_read(value) for value in given]
    units = {unit for _, unit in read}
    numbers = all(isinstance(value, float) for value, _ in read)
    if numbers and len(units) > 1:
        raise ArmtwinError(f"values must be written in one unit, got {', '.join(sorted(units))}")
    values: tuple[float | str, ...]
    if numbers:
        values = tuple(value for value, _ in read)
    else:
        values = tuple(_as_words(value) for value in given)
    if group.span is not None:
        if not numbers:
            raise ArmtwinError(f"span must be two numbers, got {group.span!r:.80}")
        values = _even(float(values[0]), float(values[1]), group.count)
    unit = units.pop() if numbers else ""
    return SweepAxis(group.key, group.label or group.key, unit, values, group.relative)


def _as_words(value: object) -> str:
    if not isinstance(value, str):
        raise ArmtwinError(f"values must be all numbers or all words, got {value!r:.60} among them")
    return value


def _read(value: object) -> tuple[float | str, str]:
    """A number and its unit, or a word."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ArmtwinError(f"values must be numbers, quantities or words, got {value!r:.60}")
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise ArmtwinError(f"values must be finite, got {value}")
        return float(value), ""
    try:
        si, unit = split_quantity(value)
    except ArmtwinError:
        return value, ""
    if not math.isfinite(si):
        raise ArmtwinError(f"values must be finite, got {value}")
    number = value.strip().removesuffix(unit).strip()
    return float(number), unit


def _even(first: float, last: float, count: int | None) -> Values:
    """Values from the first to the last; both ends where their number is left to the design."""
    if count == 1:
        return (first,)
    if count is not None and count > MOST_RUNS:
        raise ArmtwinError(f"count must be at most {MOST_RUNS}, got {count}")
    found = np.linspace(first, last, 2 if count is None else count)
    digits = 12 - math.floor(math.log10(max(abs(first), abs(last), 1e-300)))
    # in few digits: 0.3, not 0.30000000000000004
    return tuple(round(float(value), digits) for value in found)


def check_counts(description: SweepDescription) -> None:
    """Refuse spans without the number of values that their design needs."""
    for k, group in enumerate(description.axis, 1):
        if group.span is None or description.design in SAMPLED:
            continue
        if group.count is None:
            raise ArmtwinError(f"axis.{k}.count is missing: how many values the span has")


@dataclass(frozen=True, eq=False)
class Design:
    """Points over axes, each asked for by its number; a grid is not written out.

    Attributes:
        axes: The axes.
        count: How many points there are.
        table: Numbers of values of each point, (count, axes), or shares of the spans where the
            design is sampled; None for a grid.
        sampled: Whether the table holds shares of spans.
    """

    axes: tuple[SweepAxis, ...]
    count: int
    table: Floats | None = None
    sampled: bool = False

    def point(self, number: int) -> tuple[float | str, ...]:
        """Values of one point."""
        if self.table is None:
            places = self._places(number)
            return tuple(axis.values[k] for axis, k in zip(self.axes, places, strict=True))
        found: list[float | str] = []
        for axis, share in zip(self.axes, self.table[number], strict=True):
            found.append(_value_at(axis, float(share)) if self.sampled else axis.values[int(share)])
        return tuple(found)

    def _places(self, number: int) -> list[int]:
        """Numbers of the values of a point of a grid; the last axis turns fastest."""
        places = []
        for axis in reversed(self.axes):
            number, place = divmod(number, len(axis.values))
            places.append(place)
        places.reverse()
        return places


def _value_at(axis: SweepAxis, share: float) -> float | str:
    """The value at a share of a span, or one of a list."""
    if not axis.is_number or len(axis.values) > 2:
        return axis.values[min(int(share * len(axis.values)), len(axis.values) - 1)]
    first, last = float(axis.values[0]), float(axis.values[-1])
    return float(f"{first + share * (last - first):.12g}")


def design_of(description: SweepDescription, axes: tuple[SweepAxis, ...]) -> Design:
    """The points that a sweep asks for, refused where there are too many to run."""
    count = _count(description, axes)
    if count > MOST_RUNS:
        raise ArmtwinError(
            f"a sweep must have at most {MOST_RUNS:,} points, got {count:,}; take fewer values, or "
            "a sampled design (latin hypercube, sobol)"
        )
    if description.design == "grid":
        return Design(axes, count)
    if description.design == "list":
        rows = np.arange(count, dtype=np.float64)
        return Design(axes, count, np.repeat(rows[:, None], len(axes), axis=1))
    return Design(axes, count, _shares(description, count, len(axes)), sampled=True)


def _count(description: SweepDescription, axes: tuple[SweepAxis, ...]) -> int:
    if description.design in SAMPLED:
        return description.runs or 0
    if description.design == "list":
        return len(axes[0].values) if axes else 1
    return math.prod(len(axis.values) for axis in axes)


def _shares(description: SweepDescription, count: int, axes: int) -> Floats:
    """Points that fill a box evenly, (count, axes); more Sobol points begin with fewer ones."""
    if description.design != "latin hypercube":
        return sobol_points(count, axes, description.seed)
    from scipy.stats import qmc

    return qmc.LatinHypercube(axes, rng=np.random.default_rng(description.seed)).random(count)
