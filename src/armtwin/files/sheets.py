"""Tables of numbers in CSV files, units in the header as "x [mm]".

Values are separated by commas; or by semicolons, and then numbers may have a decimal comma.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError, FileError, shorten
from armtwin.files.opening import POINTS, read_text
from armtwin.maths.batch import Floats
from armtwin.maths.units import Unit

MOST_POINTS = 200_000  # of a points file
SEMICOLONS = "values must be separated by semicolons where numbers have a decimal comma"


@dataclass(frozen=True)
class Sheet:
    """The lines of a file that hold anything, header first.

    Attributes:
        path: The file.
        delimiter: What separates values: "," or ";".
        numbers: Number of each line in the file.
        words: Values of each line.
    """

    path: Path
    delimiter: str
    numbers: list[int]
    words: list[list[str]]

    @property
    def header(self) -> list[str]:
        """Names and units of the columns."""
        return self.words[0]

    def error(self, line: int, sentence: str) -> FileError:
        """An error at a line; the header is line 0, the first point line 1."""
        return FileError(self.path, f"line {self.numbers[line]}: {sentence}")

    @cached_property
    def named(self) -> dict[str, tuple[int, str]]:
        """Place and unit of each column, by its name in small letters."""
        found: dict[str, tuple[int, str]] = {}
        for place, word in enumerate(self.header):
            name, bracket, rest = word.strip().partition("[")
            unit, end, more = rest.partition("]")
            name = name.strip().lower()
            if not name.isidentifier() or (bracket and not end) or more.strip():
                continue
            if name in found:
                raise self.error(0, f"column {shorten(name, 40)} is there twice")
            found[name] = place, unit.strip()
        return found

    def columns(self, wanted: dict[str, Unit]) -> list[SheetColumn]:
        """The columns that are wanted, in order; one that is missing is refused."""
        columns = []
        for name, unit in wanted.items():
            if name not in self.named:
                raise self.error(0, f"column {name} is missing{_describe_header(self)}")
            place, written = self.named[name]
            columns.append(SheetColumn(name, place, unit, written))
        return columns


@dataclass(frozen=True)
class SheetColumn:
    """A column that is wanted.

    Attributes:
        name: Its name.
        place: Its position in a line.
        unit: Contract of its numbers.
        written: Unit that the header gives, or "".
    """

    name: str
    place: int
    unit: Unit
    written: str


def read_sheet(path: Path) -> Sheet:
    """The lines of a file as words."""
    lines = read_text(path, POINTS).splitlines()
    delimiter = _delimiter(lines)
    numbers, words = [], []
    try:
        for number, line in enumerate(csv.reader(lines, delimiter=delimiter), 1):
            if any(word.strip() for word in line):
                numbers.append(number)
                words.append(line)
    except csv.Error:
        raise FileError(path, "is not a CSV file in UTF-8") from None
    count = max(len(words) - 1, 0)
    if count < 2:
        got = f"{count} point{'' if count == 1 else 's'}"
        raise FileError(path, f"needs a header and at least two points, got {got}")
    if count > MOST_POINTS:
        raise FileError(path, f"must have at most {MOST_POINTS} points, got {count}")
    return Sheet(path, delimiter, numbers, words)


def _delimiter(lines: list[str]) -> str:
    """What separates values: the one of "," and ";" that the header has more of."""
    header = next((line for line in lines if line.strip()), "")
    return ";" if header.count(";") > header.count(",") else ","


def _describe_header(sheet: Sheet) -> str:
    """What the header holds; of a file that is no table of numbers nothing is repeated."""
    words = " ".join(sheet.words[1]).split()
    if not any(_is_number(word) for word in words):
        return "; the file does not seem to be a table of numbers"
    one_column = len(sheet.header) == 1
    hint = "; values must be separated by commas or semicolons" if one_column else ""
    return f", got {shorten(', '.join(sheet.header), 80)}{hint}"


def _is_number(word: str, decimal: str = ".") -> bool:
    try:
        _number(word, decimal)
    except ValueError:
        return False
    return True


def _number(word: str, decimal: str) -> float:
    """The number of a word; a ValueError where it is none."""
    if decimal == ".":
        return float(word)
    if "." in word:
        raise ValueError("a point that may part thousands")
    return float(word.replace(",", "."))


def table_of(sheet: Sheet, columns: list[SheetColumn]) -> Floats:
    """The numbers of all points in SI, (k, columns)."""
    _check_widths(sheet)
    decimal = _decimal(sheet, columns)
    table = np.empty((len(sheet.words) - 1, len(columns)))
    for k, column in enumerate(columns):
        table[:, k] = _in_si(sheet, column, _as_written(sheet, column, decimal))
    return table


def _decimal(sheet: Sheet, columns: list[SheetColumn]) -> str:
    """The sign before decimals: a comma where semicolons leave it for that and it occurs."""
    if sheet.delimiter == ",":
        return "."
    for column in columns:
        if any("," in line[column.place] for line in sheet.words[1:]):
            return ","
    return "."


def _check_widths(sheet: Sheet) -> None:
    """Refuse a line that has not as many values as the header."""
    width = len(sheet.header)
    for line, words in enumerate(sheet.words):
        if len(words) == width:
            continue
        sentence = f"must have {width} values as the header, got {len(words)}"
        # where a comma separates and no number has a point, it may be the decimal one as well
        without_points = not any("." in word for word in words)
        if sheet.delimiter == "," and len(words) > width and without_points:
            sentence += f"; {SEMICOLONS}"
        raise sheet.error(line, sentence)


def _as_written(sheet: Sheet, column: SheetColumn, decimal: str) -> Floats:
    """The numbers of one column as they are written, (k,)."""
    words = [line[column.place] for line in sheet.words[1:]]
    try:
        return np.array([_number(word, decimal) for word in words])
    except ValueError:
        wrong = next(k for k, word in enumerate(words) if not _is_number(word, decimal))
    word = words[wrong]
    hint = ""
    if sheet.delimiter == "," and "," in word:
        hint = f"; {SEMICOLONS}"
    if decimal == "," and "." in word:
        hint = "; the other numbers of the file have decimal commas"
    got = shorten(word.strip(), 40)
    raise sheet.error(1 + wrong, f"{column.name} must be a number, got '{got}'{hint}")


def _in_si(sheet: Sheet, column: SheetColumn, numbers: Floats) -> Floats:
    """A column in SI; the first value that breaks its contract is refused with its line."""
    _read(sheet, 1, column, float(numbers[0]))  # refuses a unit of another kind beside the number
    factor = _read(sheet, 1, column, 1.0) if column.written else 1.0
    with np.errstate(over="ignore"):
        values = numbers * factor
    most = column.unit.largest
    if not column.written:
        most = min(column.unit.plausible, most)
    bad = ~(np.abs(values) <= most)
    if bad.any():
        first = int(bad.argmax())
        _read(sheet, 1 + first, column, float(numbers[first]))
    return values


def _read(sheet: Sheet, line: int, column: SheetColumn, number: float) -> float:
    """One number in SI, by the contract of its column."""
    try:
        if not column.written or not np.isfinite(number):
            return column.unit.read(number)
        return column.unit.read(f"{number!r} {column.written}")
    except ArmtwinError as error:
        raise sheet.error(line, f"{column.name} {error}") from None
