"""A cell from a file: its `[cell]` table, alone in a file or that of a job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.reading import checked_format, read_tables
from armtwin.files.schema import Schema
from armtwin.motion.cell import Cell

FORMAT = 1


@dataclass(frozen=True)
class CellDescription:
    """What is read of a file.

    Attributes:
        cell: What stands around the robot.
    """

    cell: Cell


SCHEMA = Schema(CellDescription, "cell file")


def read_cell(path: Path) -> Cell:
    """The cell of a TOML file; what else the file holds is that of a job and not looked at."""
    tables = checked_format(read_tables(path), str(path), FORMAT)
    if "cell" not in tables:
        raise FileError(str(path), ["[cell] is missing: the floor, planes and boxes"])
    try:
        description: CellDescription = SCHEMA.read({"cell": tables["cell"]}, str(path))
    except FileError:
        raise
    except ArmtwinError as error:  # what a group refuses when it is made
        raise FileError(str(path), [str(error)]) from None
    return description.cell
