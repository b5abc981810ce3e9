"""Axes of a chart: the range each spans, where a value lies on it, and its ticks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.maths.batch import Floats, Pair

ROUND = 1e-9  # what rounding may take from a value
PADDING = 0.04  # share of the range left free beyond the first and the last value
STRIDES = (1, 2, 3, 5, 10, 20, 50)  # decades from one label to the next
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Tick:
    """A tick of an axis: where it stands, and its label; a minor tick has none."""

    value: float
    text: str = ""


@dataclass(frozen=True)
class Scale:
    """A range of values laid over a length of one.

        linear:       share = (x - low) / (high - low)
        logarithmic:  share = (log x - log low) / (log high - log low)

    Attributes:
        low: Value at the beginning of the axis.
        high: Value at its end.
        logarithmic: Whether equal lengths are equal ratios.
    """

    low: float
    high: float
    logarithmic: bool = False

    def share(self, values: ArrayLike) -> Floats:
        """Where values lie on the axis, 0 to 1 within it; NaN where a value has no place."""
        x = np.asarray(values, dtype=np.float64)
        low, high = self.low, self.high
        if self.logarithmic:
            x = np.log10(np.where(x > 0, x, np.nan))
            low = np.log10(low)
            high = np.log10(high)
        return (x - low) / (high - low)

    def place(self, value: float) -> float:
        """Where one value lies on the axis."""
        return float(self.share(value))

    def ticks(self, most: int) -> list[Tick]:
        """Ticks with round labels, at most about `most` of them, and minor ticks between."""
        if self.logarithmic:
            return _logarithmic_ticks(self.low, self.high, most)
        return list(_even_ticks(self.low, self.high, most, self.exponent))

    @property
    def exponent(self) -> int:
        """Power of ten that is taken out of the labels; it stands beside the unit."""
        largest = max(abs(self.low), abs(self.high))
        if self.logarithmic or 1e-3 <= largest < 1e5:
            return 0
        return 3 * int(np.floor(np.log10(largest) / 3))


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes:
        label: What it shows.
        unit: Unit of the values, or "".
        logarithmic: Whether equal lengths are equal ratios; values up to 0 are then left out.
        span: First and last value, or None for a range that fits what is shown.
        ticked: Whether it has ticks; one whose places have no numbers has none.
    """

    label: str
    unit: str = ""
    logarithmic: bool = False
    span: Pair | None = None
    ticked: bool = True

    def scale(self, values: Sequence[Floats]) -> Scale:
        """The scale on which all values are seen."""
        shown = [np.empty(0), *values]
        return scale_over(np.concatenate(shown), self.logarithmic, self.span)

    def title(self, scale: Scale) -> str:
        """Label and unit, with the power of ten that its ticks leave out."""
        unit = self.unit
        if scale.exponent:
            unit = f"{power_of_ten(scale.exponent)} {unit}".strip()
        return f"{self.label} [{unit}]" if unit else self.label

    def words(self, value: float) -> str:
        """A value on this axis in words."""
        return f"{self.label} {value:.4g} {self.unit}".strip()


def scale_over(values: ArrayLike, logarithmic: bool = False, span: Pair | None = None) -> Scale:
    """The scale that shows all values, or the span that is asked for.

    Args:
        values: Values to be shown; those that are not finite, or have no logarithm, are left out.
        logarithmic: Whether the scale is logarithmic.
        span: First and last value of the axis, in place of a range that fits the values.
    """
    if span is not None:
        return Scale(*span, logarithmic)
    x = np.asarray(values, dtype=np.float64).ravel()
    x = x[np.isfinite(x)]
    if logarithmic:
        low, high = _pad_range(np.log10(x[x > 0]), alone=0.5)
        return Scale(10.0**low, 10.0**high, True)
    largest = float(np.abs(x).max(initial=0.0))
    low, high = _pad_range(x, alone=0.1 * largest or 1.0)
    return Scale(low, high)


def _pad_range(x: Floats, alone: float) -> Pair:
    """Ends of an axis over values; a single value has `alone` on both sides."""
    if len(x) == 0:
        return 0.0, 1.0
    low, high = float(x.min()), float(x.max())
    free = PADDING * (high - low)
    if free <= 1e-12 * max(abs(low), abs(high)):
        free = alone
    return low - free, high + free


def _even_ticks(low: float, high: float, most: int, exponent: int) -> Iterator[Tick]:
    """Multiples of 1, 2 or 5 times a power of ten, and four or five minor steps between two."""
    step, parts = _round_step((high - low) / most)
    fine = step / parts
    digits = max(0, exponent - _decade(step))
    first = int(np.ceil(low / fine - ROUND))
    last = int(np.floor(high / fine + ROUND))
    for k in range(first, last + 1):
        value = k * fine + 0.0  # no negative zero
        if k % parts:
            yield Tick(value)
            continue
        text = f"{value / 10.0**exponent:.{digits}f}"
        yield Tick(value, text.replace("-", "−"))


def _decade(value: float) -> int:
    """The power of ten at or below a value."""
    return int(np.floor(np.log10(value) + ROUND))


def _round_step(least: float) -> tuple[float, int]:
    """The smallest 1, 2 or 5 times a power of ten not below `least`, and its minor steps."""
    power = 10.0 ** _decade(least)
    for factor, parts in ((1, 5), (2, 4), (5, 5)):
        step = factor * power
        if step >= least * (1 - ROUND):
            return step, parts
    return 10 * power, 5


def _logarithmic_ticks(low: float, high: float, most: int) -> list[Tick]:
    """Decades; 1, 2, 5 where there is one decade only; even steps within a part of one."""
    first = -_decade(1 / low)
    last = _decade(high)
    if last > first:
        return _decades(first, last, most) + _between_decades(low, high, last - first, most)
    few = _multiples(low, high, (1, 2, 5))
    if len(few) >= 2:
        return [Tick(value, f"{value:g}") for value in few]
    return list(_even_ticks(low, high, most, 0))


def _stride(decades: int, most: int) -> int:
    """Decades from one label to the next."""
    return next((x for x in STRIDES if decades <= x * most), STRIDES[-1])


def _decades(first: int, last: int, most: int) -> list[Tick]:
    """Powers of ten, labelled as far as there is room."""
    stride = _stride(last - first, most)
    plain = first >= -3 and last <= 4
    ticks = []
    for k in range(first, last + 1):
        value = 10.0**k
        text = f"{value:g}" if plain else power_of_ten(k)
        ticks.append(Tick(value, "" if k % stride else text))
    return ticks


def _between_decades(low: float, high: float, decades: int, most: int) -> list[Tick]:
    """Minor ticks at 2 to 9 times a power of ten, where each power has its label."""
    if _stride(decades, most) > 1:
        return []
    return [Tick(value) for value in _multiples(low, high, range(2, 10))]


def _multiples(low: float, high: float, factors: Sequence[int]) -> list[float]:
    """Multiples of powers of ten between two values."""
    found = []
    for k in range(_decade(low), _decade(high) + 1):
        for factor in factors:
            value = factor * 10.0**k
            if low * (1 - ROUND) <= value <= high * (1 + ROUND):
                found.append(value)
    return found


def power_of_ten(exponent: int) -> str:
    """A power of ten in print."""
    return "10" + str(exponent).translate(SUPERSCRIPTS)
