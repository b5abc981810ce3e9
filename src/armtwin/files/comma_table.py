"""Small tables of comma-separated text with a header: numbers in SI, or with their unit.

The unit stands beside a number ("90 deg") or for a whole column in the header ("alpha [deg]").
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from armtwin.errors import MOST_PROBLEMS, ArmtwinError, FileError
from armtwin.maths.units import Unit

T = TypeVar("T")
Row = Mapping[str, float | str]


def comma_table(text: str, each: str, origin: str) -> list[dict[str, float | str]]:
    """Rows by the keys of the header; what is empty is left out.

    Args:
        text: The text.
        each: What a row is for, as "a row for each joint".
        origin: The file.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        raise FileError(origin, f"must have a header and {each}")
    heads = [word.partition("[") for word in lines[0].split(",")]
    keys = [(name.strip(), unit.partition("]")[0].strip()) for name, _, unit in heads]
    rows = []
    for number, line in enumerate(lines[1:], 2):
        words = [word.strip() for word in line.split(",")]
        if len(words) != len(keys):
            raise FileError(
                origin, f"line {number}: must have {len(keys)} values, got {len(words)}"
            )
        given = zip(keys, words, strict=True)
        rows.append({key: _value(word, unit) for (key, unit), word in given if word})
    return rows


def read_rows(rows: Sequence[Row], read: Callable[[Row], T], origin: str) -> list[T]:
    """What a function makes of each row; all rows that it refuses are named at once."""
    found, problems = [], []
    for number, row in enumerate(rows, 2):
        try:
            found.append(read(row))
        except ArmtwinError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise FileError(origin, problems[:MOST_PROBLEMS], len(problems[MOST_PROBLEMS:]))
    return found


def read_quantity(row: Row, key: str, unit: Unit) -> float:
    """The SI number of a key; an error names the key."""
    try:
        return unit.read(row[key])
    except ArmtwinError as error:
        raise ArmtwinError(f"{key} {error}") from None


def _value(word: str, unit: str) -> float | str:
    """A number, a number with the unit of its column, or another word."""
    try:
        number = float(word)
    except ValueError:
        return word
    return f"{word} {unit}" if unit else number
