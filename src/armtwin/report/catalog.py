"""What is shipped of one kind, as a table."""

from __future__ import annotations

from dataclasses import dataclass

from armtwin.maths.batch import Sentences
from armtwin.notebook.sections import Report, Section, Table, Text
from armtwin.report.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class Catalog(Result):
    """What is shipped of one kind; it is iterated by name.

    Attributes:
        title: What it lists.
        listing: A row for each, with its name.
        hint: What to do with a name.
    """

    title: str
    listing: Table
    hint: str

    def sections(self) -> Report:
        """The table, and what to do with a name of it."""
        return Report(self.title, "", (Section("", (self.listing, Text(self.hint))),))

    def __iter__(self) -> Sentences:
        return (str(record["name"]) for record in self.listing.records)

    def __len__(self) -> int:
        return len(self.listing.records)

    def __repr__(self) -> str:
        rows = [list(self.listing.head), *self.listing.rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [self.title]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)
