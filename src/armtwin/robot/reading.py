"""From the tables of a robot file to a Description, with every error of the file at once."""

from __future__ import annotations

from armtwin.errors import FileError
from armtwin.files.reading import checked_format
from armtwin.files.schema import Schema
from armtwin.files.shape import Tables
from armtwin.robot import denavit_hartenberg
from armtwin.robot.description import FORMAT, Description
from armtwin.robot.older_formats import changes_since_format_1

MOST_GROUPS = 300  # of one kind in a robot file
SCHEMA = Schema(Description, "robot file")


def read_robot(tables: Tables, origin: str) -> Description:
    """Description of a robot file; an older format is refused with the keys to change."""
    if tables.get("format") == 1:
        old = f"format 1 is older than this armtwin reads ({FORMAT})"
        todo = f"write format = {FORMAT} on its first line"
        raise FileError(origin, [f"{old}; {todo}", *changes_since_format_1(tables)])
    return describe(checked_format(tables, origin, FORMAT), origin)


def describe(tables: Tables, origin: str) -> Description:
    """Description of the tables of a robot file; a FileError lists all problems of form."""
    if denavit_hartenberg.KEY in tables:
        return of_table(tables, denavit_hartenberg.table_of(tables, origin), origin)
    return _read(tables, origin)


def of_table(tables: Tables, table: denavit_hartenberg.DhTable, origin: str) -> Description:
    """Description of a robot file whose joints are rows of a Denavit-Hartenberg table."""
    description = _read(denavit_hartenberg.expanded(tables, table), origin)
    return denavit_hartenberg.placed(description, table)


def _read(tables: Tables, origin: str) -> Description:
    for key, groups in tables.items():
        if isinstance(groups, list) and len(groups) > MOST_GROUPS:
            contract = f"{key} must have at most {MOST_GROUPS} entries"
            raise FileError(origin, [f"{contract}, got {len(groups)}"])
    description: Description = SCHEMA.read(tables, origin)
    return description
