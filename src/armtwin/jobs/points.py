"""Points of a seam from a CSV file: x, y, z and the tool's angles, units in the header as "x [mm]"."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError, FileError, shortened
from armtwin.files.opening import POINTS, read_text
from armtwin.maths import rotations
from armtwin.maths.batch import Floats
from armtwin.maths.units import Unit

ANGLES = {
    "rpy": ("roll", "pitch", "yaw"),
    "abc": ("a", "b", "c"),
    "quaternion": ("qw", "qx", "qy", "qz"),
}
MOST_POINTS = 200_000
SAME_POINT = 1e-9  # distance [m] below which two points are one
UNIT_LENGTH = 1e-3  # by which the length of a quaternion may be off
_LENGTH, _ANGLE, _NUMBER = (
    Unit("m", plausible=20, hint="mm"),
    Unit("rad", plausible=6.3, hint="deg"),
    Unit("1"),
)


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a file.

    Attributes:
        p: Positions, (k, 3) [m].
        R: Orientations, (k, 3, 3); None where the file has no angles.
    """

    p: Floats
    R: Floats | None


@dataclass(frozen=True)
class _Rows:
    """The lines of a file that hold anything, header first, with their numbers in the file."""

    path: Path
    numbers: list[int]
    words: list[list[str]]

    def error(self, row: int, sentence: str) -> FileError:
        """An error at a row; the header is row 0."""
        return FileError(str(self.path), [f"line {self.numbers[row]}: {sentence}"])


@dataclass(frozen=True)
class _Column:
    name: str
    place: int
    unit: Unit
    written: str


def read_points(path: Path, angles: str | None) -> Points:
    """Read a file of points; holes, text and wrong counts are refused with the line."""
    rows = _rows(path)
    columns = _columns(rows, angles)
    table = _table(rows, columns)
    p, turns = table[:, :3], table[:, 3:]
    same = np.linalg.norm(np.diff(p, axis=0), axis=1) < SAME_POINT
    if same.any():
        raise rows.error(2 + int(same.argmax()), "the point is the same as the one before")
    if angles is None:
        return Points(p, None)
    if angles == "quaternion":
        return Points(p, rotations.from_quaternion(*_unit_quaternions(rows, turns).T))
    order = turns if angles == "rpy" else turns[:, ::-1]
    return Points(p, rotations.from_rpy(*order.T))


def _rows(path: Path) -> _Rows:
    """The lines of a file as words."""
    numbers, words = [], []
    try:
        for number, row in enumerate(csv.reader(read_text(path, POINTS).splitlines()), 1):
            if any(word.strip() for word in row):
                numbers.append(number)
                words.append(row)
    except csv.Error:
        raise FileError(str(path), ["is not a CSV file in UTF-8"]) from None
    count = max(len(words) - 1, 0)
    if count < 2:
        got = f"{count} point{'' if count == 1 else 's'}"
        raise FileError(str(path), [f"needs a header and at least two points, got {got}"])
    if count > MOST_POINTS:
        raise FileError(str(path), [f"must have at most {MOST_POINTS} points, got {count}"])
    return _Rows(path, numbers, words)


def _unit_quaternions(rows: _Rows, given: Floats) -> Floats:
    """Quaternions of length 1, (k, 4)."""
    sizes = np.linalg.norm(given, axis=1)
    off = np.abs(sizes - 1) > UNIT_LENGTH
    if off.any():
        first = int(off.argmax())
        raise rows.error(1 + first, f"the quaternion must have length 1, got {sizes[first]:.6g}")
    return np.asarray(given / sizes[:, None], dtype=np.float64)


def _columns(rows: _Rows, angles: str | None) -> list[_Column]:
    """The columns that are wanted, in order."""
    found = _named(rows)
    held = [k for k, names in ANGLES.items() if any(name in found for name in names)]
    if held and angles is None:
        sentence = f'has the angles {", ".join(ANGLES[held[0]])}: state their convention, angles = "{held[0]}"'
        raise FileError(str(rows.path), [sentence])
    wanted = [("x", _LENGTH), ("y", _LENGTH), ("z", _LENGTH)]
    if angles is not None:
        wanted += [(name, _NUMBER if angles == "quaternion" else _ANGLE) for name in ANGLES[angles]]
    missing = next((name for name, _ in wanted if name not in found), None)
    if missing is not None:
        raise rows.error(0, f"column {missing} is missing{_header_told(rows)}")
    return [_Column(name, found[name][0], unit, found[name][1]) for name, unit in wanted]


def _named(rows: _Rows) -> dict[str, tuple[int, str]]:
    """Place and unit of each column, by its name in small letters."""
    found: dict[str, tuple[int, str]] = {}
    for place, word in enumerate(rows.words[0]):
        name, bracket, rest = word.strip().partition("[")
        unit, end, more = rest.partition("]")
        name = name.strip().lower()
        if not name.isidentifier() or (bracket and not end) or more.strip():
            continue
        if name in found:
            raise rows.error(0, f"column {shortened(name, 40)} is there twice")
        found[name] = place, unit.strip()
    return found


def _header_told(rows: _Rows) -> str:
    """What the header holds; of a file that is no table of numbers nothing is repeated."""
    header, first = rows.words[0], rows.words[1]
    if not any(_is_number(word) for part in first for word in part.replace(";", " ").split()):
        return "; the file does not seem to be a table of numbers"
    hint = "; values must be separated by commas" if len(header) == 1 else ""
    return f", got {shortened(', '.join(header), 80)}{hint}"


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _table(rows: _Rows, columns: list[_Column]) -> Floats:
    """The numbers of all points in SI, (k, columns)."""
    width = len(rows.words[0])
    for row, words in enumerate(rows.words):
        if len(words) != width:
            raise rows.error(row, f"must have {width} values as the header, got {len(words)}")
    table = np.empty((len(rows.words) - 1, len(columns)))
    for k, column in enumerate(columns):
        table[:, k] = _numbers(rows, column)
    return table


def _numbers(rows: _Rows, column: _Column) -> Floats:
    """One column in SI; the first value that breaks its contract is refused with its line."""
    words = [row[column.place] for row in rows.words[1:]]
    try:
        numbers = np.array([float(word) for word in words])
    except ValueError:
        row, word = next((i, w) for i, w in enumerate(words, 1) if not _is_number(w))
        got = shortened(word.strip(), 40)
        raise rows.error(row, f"{column.name} must be a number, got '{got}'") from None
    _read(rows, 1, column, float(numbers[0]))  # tells a unit of another kind beside the number
    unit, factor = column.unit, _read(rows, 1, column, 1.0) if column.written else 1.0
    with np.errstate(over="ignore"):
        values = numbers * factor
    most = unit.largest if column.written else min(unit.plausible, unit.largest)
    bad = ~(np.abs(values) <= most)
    if bad.any():
        first = int(bad.argmax())
        _read(rows, 1 + first, column, float(numbers[first]))
    return values


def _read(rows: _Rows, row: int, column: _Column, number: float) -> float:
    """One number in SI, by the contract of its column."""
    try:
        if not column.written or not np.isfinite(number):
            return column.unit.read(number)
        return column.unit.read(f"{number!r} {column.written}")
    except ArmtwinError as error:
        raise rows.error(row, f"{column.name} {error}") from None
