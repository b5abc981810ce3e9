"""Quantities as people write them ("100 mm/s", "45 deg", "4.12 kg") to SI numbers.

A unit is a product of powers of named units: "N m/rad", "kg m^2", "1/s". Angles and cycles are kept
as dimensions of their own while reading, so that a length is not taken for an angle and "Hz" not
for rad/s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from armtwin.errors import ArmtwinError, did_you_mean

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

BASE = ("m", "kg", "s", "A", "K", "rad", "cycle")
Dimension = tuple[int, ...]


def _dimension(**powers: int) -> Dimension:
    return tuple(powers.get(base, 0) for base in BASE)


# factors to SI of the units of each kind
_OF_KIND: tuple[tuple[Dimension, dict[str, float]], ...] = (
    (_dimension(), {"1": 1.0, "%": 1e-2}),
    (_dimension(m=1), {"m": 1.0, "cm": 1e-2, "mm": 1e-3}),
    (_dimension(m=1), dict.fromkeys(("um", "micron", "microns"), 1e-6)),
    (_dimension(m=1), dict.fromkeys(("in", "inch", "inches"), 0.0254)),
    (_dimension(kg=1), {"kg": 1.0, "g": 1e-3, "t": 1e3}),
    (_dimension(s=1), {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}),
    (_dimension(s=1), {"min": 60.0, "h": 3600.0}),
    (_dimension(A=1), {"A": 1.0, "mA": 1e-3}),
    (_dimension(K=1), {"K": 1.0}),
    (_dimension(rad=1), {"rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180, "rev": 2 * math.pi}),
    (_dimension(rad=1), {"arcmin": math.pi / 10_800, "arcsec": math.pi / 648_000}),
    (_dimension(rad=1, s=-1), {"rpm": 2 * math.pi / 60}),
    (_dimension(cycle=1, s=-1), {"Hz": 1.0, "kHz": 1e3}),
    (_dimension(m=1, kg=1, s=-2), {"N": 1.0, "kN": 1e3, "mN": 1e-3}),
    (_dimension(m=2, kg=1, s=-2), {"Nm": 1.0, "mNm": 1e-3, "kNm": 1e3, "J": 1.0}),
    (_dimension(m=2, kg=1, s=-3), {"W": 1.0}),
    (_dimension(m=-1, kg=1, s=-2), {"Pa": 1.0, "MPa": 1e6, "bar": 1e5}),
    (_dimension(m=2, kg=1, s=-3, A=-1), {"V": 1.0, "mV": 1e-3}),
)
UNITS: dict[str, tuple[float, Dimension]] = {}
for _kind, _factors in _OF_KIND:
    for _name, _factor in _factors.items():
        UNITS[_name] = _factor, _kind

CELSIUS = ("degC", "°C")
LONGEST_QUANTITY = 100  # characters
SMALLEST = 1e-30  # magnitude of a number that must be above 0
WELL_WITHIN = 5.0  # a number in a second unit is suggested so far below the largest plausible one
LARGEST = 1e15  # magnitude of any number in SI, where the unit does not say less
# Magnitudes that no machine has: a typing error is refused, and products of numbers stay finite.
LARGEST_IN = {
    **dict.fromkeys(("m", "m/s", "K"), 1e6),
    **dict.fromkeys(("rad", "rad/s", "kg", "s", "Hz", "A"), 1e9),
    **dict.fromkeys(("N", "N m"), 1e12),
}

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_FACTOR = re.compile(r"([A-Za-zµμ%]+|1)(?:\^(-?[0-9]+))?")
_MICRO = str.maketrans("µμ", "uu")  # the sign of its own, U+00B5, and the Greek letter, U+03BC


def whole_number(text: str) -> int | None:
    """The number of plain digits; None for any other text."""
    plain = text.isascii() and text.isdigit()  # ² and others are digits to Python, but no numbers
    return int(text) if plain and len(text) <= 9 else None


def parse_unit(text: str, like: str = "") -> tuple[float, Dimension]:
    """Factor to SI and dimension of a unit such as "N m s/rad" (what follows a "/" divides).

    Args:
        text: The unit.
        like: A unit of the kind that is wanted; its relatives are suggested for one not known.
    """
    factor = 1.0
    total = [0] * len(BASE)
    over, *under = text.replace("*", " ").replace("²", "^2").split("/")
    for part, sign in ((over, 1), *((part, -1) for part in under)):
        for word in part.strip("() ").split():
            scale, dimension, power = _unit_factor(word, like)
            factor *= scale ** (sign * power)
            for i, own in enumerate(dimension):
                total[i] += sign * power * own
    return factor, tuple(total)


def _unit_factor(word: str, like: str) -> tuple[float, Dimension, int]:
    """Factor to SI, dimension and power of one named unit, as "m^2"."""
    match = _FACTOR.fullmatch(word)
    name = "" if match is None else match[1].translate(_MICRO)
    if match is None or name not in UNITS:
        raise ArmtwinError(f"unit '{word}' is not known. {did_you_mean(word, _relatives(like))}")
    power = int((match[2] or "1")[:4])
    if abs(power) > 9:
        raise ArmtwinError(f"unit '{word}' must have a power of at most 9")
    scale, dimension = UNITS[name]
    return scale, dimension, power


def _relatives(unit: str) -> list[str]:
    """Units of the kinds that a unit is made of, as of length and time for m/s; else all."""
    kinds = [UNITS[word][1] for word in re.findall("[A-Za-z]+", unit) if word in UNITS]
    return [name for name, (_, kind) in UNITS.items() if kind in kinds] or list(UNITS)


def _same_kind(given: Dimension, wanted: Dimension) -> bool:
    """Dimensions agree; a radian may be left out ("N m" for "N m/rad"), never put in."""
    for base, own, other in zip(BASE, given, wanted, strict=True):
        left_out = base == "rad" and own == 0
        if own != other and not left_out:
            return False
    return True


def parse_quantity(text: str, unit: str) -> float:
    """SI value of a string with a unit of the kind of `unit`.

    >>> parse_quantity("100 mm/s", "m/s")
    0.1
    """
    number, symbol = _number_and_symbol(text, unit)
    if symbol in CELSIUS and unit == "K":
        return number + 273.15
    if not symbol and unit == "1":
        raise ArmtwinError(f"must be a number, not text, got '{text}'")
    if not symbol:
        contract = f"written as text must carry a unit such as '{text.strip()} {unit}'"
        raise ArmtwinError(f"{contract}, got '{text}'")
    factor, dimension = parse_unit(symbol, unit)
    if not _same_kind(dimension, parse_unit(unit)[1]):
        raise ArmtwinError(f"must be in {unit} or a unit of that kind, got '{text}'")
    if symbol == "deg":
        return math.radians(number)
    return number * factor


def split_quantity(text: str) -> tuple[float, str]:
    """SI value of a quantity of any kind, and the unit that it is written in.

    >>> split_quantity("100 mm/s")
    (0.1, 'mm/s')
    """
    _, symbol = _number_and_symbol(text, "")
    kind = "K" if symbol in CELSIUS else symbol
    return parse_quantity(text, kind), symbol


def _number_and_symbol(text: str, unit: str) -> tuple[float, str]:
    """The number that a text begins with, and the unit after it."""
    if len(text) > LONGEST_QUANTITY:
        contract = f"must be a number or a quantity such as '1.5 {unit}'"
        raise ArmtwinError(f"{contract}, got '{text[:40]} …'")
    plain = text.strip()
    match = _NUMBER.match(plain)
    symbol = "" if match is None else plain[match.end() :].strip()
    if match is None or symbol.startswith((",", ".")):
        contract = "must be a number with a decimal point or a quantity"
        raise ArmtwinError(f"{contract} such as '1.5 {unit}', got '{text}'")
    return float(match[0]), symbol


@dataclass(frozen=True)
class Unit:
    """Unit of a number of a file, as `Annotated[float, Unit("N m")]`.

    It reads SI numbers and quantities.

    Attributes:
        symbol: SI unit of the stored number.
        plausible: Largest magnitude a bare number may have; beyond it the unit must be written.
        hint: Units, by commas, that a user who wrote an implausible number probably meant.
        also: SI unit of the same number of a prismatic joint, where that differs.
        above: The number must be greater than this, where given.
        at_least: The number must not be less than this, where given.
    """

    symbol: str
    plausible: float = math.inf
    hint: str = ""
    also: str = ""
    above: float | None = None
    at_least: float | None = None

    @property
    def largest(self) -> float:
        """Largest magnitude that the number may have in SI, however it is written."""
        return LARGEST_IN.get(self.symbol, LARGEST)

    def read(self, value: object) -> float:
        """SI number of a bare number or of a quantity; raises with the contract and the value."""
        if isinstance(value, str):
            number = self._of_text(value)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            contract = f"must be a number in {self.symbol} or a quantity as text"
            raise ArmtwinError(f"{contract}, got {value!r:.60}")
        else:
            number = self._of_number(value)
        broken = self.broken(number)
        if broken:
            # a whole number may have more digits than Python writes
            got = number if isinstance(value, int) else value
            raise ArmtwinError(f"{broken}, got {got!s:.40}")
        return number

    def _of_number(self, value: float) -> float:
        """A bare number, which must be plausible in SI where it may be at all."""
        is_endless = isinstance(value, int) and abs(value) >= 1e300
        number = math.inf if is_endless else float(value)
        if self.plausible < abs(number) <= self.largest:
            contract = f"as a bare number must be at most {self.plausible:.4g} {self.symbol}"
            raise ArmtwinError(f"{contract}, got {number:g}. {self._suggestion(number)}")
        return number

    def _suggestion(self, number: float) -> str:
        """Units that an implausible number may have been meant in, if it is plausible in one."""
        meant = []
        most = self.plausible
        for unit in self.hint.split(", "):
            text = f"{number:g} {unit}"
            if abs(parse_quantity(text, self.symbol)) <= most:
                meant.append(f"'{text}'")
            most = self.plausible / WELL_WITHIN
        if meant:
            return f"Did you mean {' or '.join(meant)}?"
        return f"If it is meant, write '{number:g} {self.symbol}'."

    def read_word(self, word: str) -> float:
        """SI number of a word of the command line: a bare number is SI, others carry a unit."""
        try:
            return self.read(float(word))
        except ValueError:
            return self.read(word)

    def broken(self, number: float) -> str:
        """The contract an SI number breaks, as a phrase; empty if it keeps it."""
        if not math.isfinite(number):
            return f"must be a finite number in {self.symbol}"
        if self.above is not None and not number > self.above:
            return f"must be greater than {self.above:g} {self.symbol}"
        if self.above == 0 and number < SMALLEST:
            return f"must be at least {SMALLEST:g} {self.symbol}"
        if abs(number) > self.largest:
            return f"must be at most {self.largest:g} {self.symbol}"
        if self.at_least is not None and number < self.at_least:
            return f"must be at least {self.at_least:g} {self.symbol}"
        return ""

    def _of_text(self, text: str) -> float:
        if self.also:
            try:
                return parse_quantity(text, self.also)
            except ArmtwinError:
                pass
        return parse_quantity(text, self.symbol)

    def schema(self, kind: object, schema_of: object) -> CoreSchema:
        """Tell pydantic's core to read with `read`, so that files and calls share one contract."""
        return schema_of_reader(self.read)


def schema_of_reader(read: Callable[[Any], Any]) -> CoreSchema:
    """What tells pydantic's core to use a function; its ArmtwinError becomes the sentence."""
    from pydantic_core import PydanticCustomError, core_schema

    def read_or_refuse(value: object) -> Any:
        try:
            return read(value)
        except ArmtwinError as error:
            raise PydanticCustomError("sentence", "{sentence}", {"sentence": str(error)}) from None

    return core_schema.no_info_plain_validator_function(read_or_refuse)


@cache
def annotations_of(kind: object) -> dict[str, Any]:
    """Types of the fields of a dataclass with what is noted on them."""
    return get_type_hints(kind, include_extras=True)


@cache
def units_of(kind: object) -> tuple[tuple[str, Unit], ...]:
    """Fields of a dataclass that are numbers or tuples of numbers, with their units."""
    found = []
    for name, hint in annotations_of(kind).items():
        waiting = [hint]
        while waiting:
            part = waiting.pop(0)
            for note in getattr(part, "__metadata__", ()):
                if isinstance(note, Unit):
                    found.append((name, note))
            waiting += get_args(part)
    return tuple(dict.fromkeys(found))
