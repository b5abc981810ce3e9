"""Files of jobs: what is shipped, and the text of a job."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError
from armtwin.files.reading import list_shipped_files, read_description, read_tables
from armtwin.files.schema import Schema
from armtwin.files.shape import Tables, name_of
from armtwin.files.writing import read_back, to_tables, to_toml
from armtwin.jobs.description import JobDescription
from armtwin.maths.batch import NamedTexts, Pair
from armtwin.maths.units import split_quantity

SAME = 1e-12  # relative difference within which a number is the same
MOST_DIGITS = 17  # with which every double reads back as it was


def as_written(tables: Tables, like: Tables) -> Tables:
    """Tables with SI numbers, written as those of a file.

    Args:
        tables: What is to be written.
        like: The tables of the file, as they were read.
    """
    return _Writer(like).written(tables, [like], "")


def list_named(description: JobDescription) -> list[str]:
    """Files that a job names: its robot's first, then those of its segments and forces."""
    points = [segment.points for segment in description.segment]
    forces = [force.file for force in description.force]
    named = (*points, *forces, description.reference)
    return [description.robot, *(name for name in named if name)]


class _Writer:
    """Knows the units that a file uses, by the last word of the keys."""

    def __init__(self, like: Tables) -> None:
        self.units: NamedTexts = {}
        for key, text in _texts(like, ""):
            quantity = _read(text)
            if quantity is not None:
                self.units.setdefault(_last_word(key), quantity[1])

    def written(self, new: object, old: Sequence[Any], key: str) -> Any:
        """A value as the file would have it; `old` is what it has there, the nearest first."""
        if isinstance(new, dict):
            table = {}
            for name, value in new.items():
                below = [x[name] for x in old if isinstance(x, dict) and name in x]
                table[name] = self.written(value, below, name)
            return table
        if isinstance(new, list):
            return [self.written(x, _beside(x, i, old), key) for i, x in enumerate(new)]
        value = _number(new)
        if value is None:
            return new
        return self._number(new, value, old, key)

    def _number(self, new: object, value: float, old: Sequence[Any], key: str) -> Any:
        """A number: as the file has it where it is the same, else in the file's unit."""
        for text in old:
            known = _number(text)
            if known is not None and _is_same(known, value):
                return text
        if old and not isinstance(old[0], str):
            return new  # the file has a bare number there
        for text in old:
            quantity = _read(text)
            if quantity is not None:
                return in_unit(value, quantity[1])
        unit = self.units.get(_last_word(key))
        return new if unit is None else in_unit(value, unit)


def in_unit(value: float, unit: str) -> str:
    """An SI number in a unit, in as few digits as identify it."""
    offset, factor = _scale(unit)
    number = (value - offset) / factor
    text = f"{number:.{MOST_DIGITS}g}"
    for digits in range(1, MOST_DIGITS):
        shorter = f"{number:.{digits}g}"
        if _is_same(offset + float(shorter) * factor, value):
            text = shorter
            break
    return f"{_plain(text)} {unit}"


def _plain(text: str) -> str:
    """A number without an exponent where that is not long."""
    number = float(text)
    whole = f"{number:.0f}"
    return whole if float(whole) == number and len(whole) < MOST_DIGITS else text


def _is_same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=SAME, abs_tol=SAME)


def _scale(unit: str) -> Pair:
    """SI value of 0 in a unit, and of the step to 1."""
    zero = split_quantity(f"0 {unit}")
    one = split_quantity(f"1 {unit}")
    return zero[0], one[0] - zero[0]


def _number(value: object) -> float | None:
    """The SI number of a value of a file; None for a word."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    quantity = _read(value)
    return None if quantity is None else quantity[0]


def _read(text: object) -> tuple[float, str] | None:
    """SI number and unit of a text; None where it is no quantity."""
    if not isinstance(text, str):
        return None
    try:
        return split_quantity(text)
    except ArmtwinError:
        return None


def _beside(new: object, place: int, old: Sequence[Any]) -> list[Any]:
    """Items of the file's lists beside an item: of its name, in its place, then the others."""
    name = name_of(new)
    found = []
    for items in old:
        if not isinstance(items, list):
            continue
        same = [x for x in items if name and name_of(x) == name]
        there = items[place : place + 1]
        found += [*same, *there, *items]
    return found


def _texts(value: object, key: str) -> Iterator[tuple[str, str]]:
    """All texts of tables with their keys."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)
    elif isinstance(value, str):
        yield key, value


def _last_word(key: str) -> str:
    """The last word of a key: the unit of a speed is that of a blend_speed."""
    return key.rpartition("_")[2]


SCHEMA = Schema(JobDescription, "job file")


def list_shipped() -> dict[str, Path]:
    """Names and files of the jobs that come with the package."""
    return list_shipped_files("armtwin.jobs", "library")


def to_text(description: JobDescription) -> str:
    """The text of a job file; what does not read back as it is is refused."""
    what = f"job '{description.name}'"
    read = partial(read_description, schema=SCHEMA, origin=what)
    return read_back(to_tables(description), read, what)


def to_text_like(description: JobDescription, origin: str) -> str:
    """The text of a job file with numbers written as another file has them.

    As `to_text` where that file cannot be read any more.
    """
    try:
        like = read_tables(Path(origin))
    except ArmtwinError:
        return to_text(description)
    return to_toml(as_written(to_tables(description), like))
