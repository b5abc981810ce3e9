"""Points of a seam from a CSV file: x, y, z and the tool's angles, units in the header as "x [mm]"."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.maths import rotations
from armtwin.maths.batch import Floats
from armtwin.maths.units import Unit

ANGLES = {"rpy": ("roll", "pitch", "yaw"), "abc": ("a", "b", "c"), "quaternion": ("qw", "qx", "qy", "qz")}
_LENGTH, _ANGLE, _NUMBER = Unit("m", plausible=20, hint="mm"), Unit("rad", plausible=6.3, hint="deg"), Unit("1")
_COLUMN = re.compile(r"\s*(\w+)\s*(?:\[\s*(.+?)\s*\])?\s*")


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a file.

    Attributes:
        p: Positions, (k, 3) [m].
        R: Orientations, (k, 3, 3); None where the file has no angles.
    """

    p: Floats
    R: Floats | None


def read_points(path: Path, angles: str | None) -> Points:
    """Read a file of points; holes, text and wrong counts are refused with the line."""
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except OSError as error:
        raise ArmtwinError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error):
        raise FileError(str(path), ["is not a CSV file in UTF-8"]) from None
    lines = [(i, row) for i, row in enumerate(rows, 1) if any(word.strip() for word in row)]
    if len(lines) < 3:
        count = max(len(lines) - 1, 0)
        got = f"{count} point{'' if count == 1 else 's'}"
        raise FileError(str(path), [f"needs a header and at least two points, got {got}"])
    columns = _columns(path, lines[0][1], angles)
    table = np.array([[_value(path, i, row, c, len(lines[0][1])) for c in columns] for i, row in lines[1:]])
    p, turns = table[:, :3], table[:, 3:]
    same = np.linalg.norm(np.diff(p, axis=0), axis=1) < 1e-9
    if same.any():
        line = lines[2 + int(same.argmax())][0]
        raise FileError(str(path), [f"line {line}: the point is the same as the one before"])
    if angles is None:
        return Points(p, None)
    if angles == "quaternion":
        sizes = np.linalg.norm(turns, axis=1)
        if (np.abs(sizes - 1) > 1e-3).any():
            line = lines[1 + int((np.abs(sizes - 1) > 1e-3).argmax())][0]
            size = float(sizes[(np.abs(sizes - 1) > 1e-3).argmax()])
            raise FileError(str(path), [f"line {line}: the quaternion must have length 1, got {size:.6g}"])
        return Points(p, np.array([rotations.from_quaternion(*row) for row in turns / sizes[:, None]]))
    order = turns if angles == "rpy" else turns[:, ::-1]
    return Points(p, np.array([rotations.from_rpy(*row) for row in order]))


@dataclass(frozen=True)
class _Column:
    name: str
    place: int
    unit: Unit
    written: str


def _columns(path: Path, header: list[str], angles: str | None) -> list[_Column]:
    """The columns that are wanted, in order."""
    found: dict[str, tuple[int, str]] = {}
    for place, word in enumerate(header):
        match = _COLUMN.fullmatch(word)
        if match is not None:
            if match[1].lower() in found:
                raise FileError(str(path), [f"line 1: column {match[1]} is there twice"])
            found[match[1].lower()] = place, match[2] or ""
    held = [k for k, names in ANGLES.items() if any(name in found for name in names)]
    if held and angles is None:
        sentence = f'has the angles {", ".join(ANGLES[held[0]])}: state their convention, angles = "{held[0]}"'
        raise FileError(str(path), [sentence])
    wanted = [("x", _LENGTH), ("y", _LENGTH), ("z", _LENGTH)]
    if angles is not None:
        wanted += [(name, _NUMBER if angles == "quaternion" else _ANGLE) for name in ANGLES[angles]]
    missing = [name for name, _ in wanted if name not in found]
    if missing:
        hint = "; values must be separated by commas" if len(header) == 1 else ""
        raise FileError(str(path), [f"line 1: column {missing[0]} is missing, got {', '.join(header)[:80]}{hint}"])
    return [_Column(name, *found[name][:1], unit, found[name][1]) for name, unit in wanted]


def _value(path: Path, line: int, row: list[str], column: _Column, width: int) -> float:
    if len(row) != width:
        raise FileError(str(path), [f"line {line}: must have {width} values as the header, got {len(row)}"])
    word = row[column.place].strip()
    try:
        number = float(word)
        if not np.isfinite(number):
            contract = f"must be a finite number in {column.unit.symbol}"
            raise FileError(str(path), [f"line {line}: {column.name} {contract}, got {word}"])
        return column.unit.read(f"{number!r} {column.written}" if column.written else number)
    except ValueError:
        raise FileError(str(path), [f"line {line}: {column.name} must be a number, got '{word}'"]) from None
    except FileError:
        raise
    except ArmtwinError as error:
        raise FileError(str(path), [f"line {line}: {column.name} {error}"]) from None
