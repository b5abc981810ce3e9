"""What a result shows of itself: one short line in Python, a small table in a notebook."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeGuard

from armtwin.errors import printable, shorten
from armtwin.notebook.sections import Block, Facts, Report, Table

LONGEST = 98  # characters of a line
LONGEST_CELL = 200  # characters
MOST_ROWS = 30  # of a table on a card
LEFT = ' style="text-align:left"'  # notebooks set tables to the right


def line(kind: str, *parts: str) -> str:
    """One short line, as "Robot('rx90b', 6 joints)"; its end is left out if too long."""
    given = [part for part in parts if part]
    inside = printable(", ".join(given))
    room = LONGEST - len(f"{kind}()")
    return f"{kind}({shorten(inside, room)})"


def format_count(number: int, noun: str) -> str:
    """How many there are of something, as "1 joint" or "6 joints"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def words_that_differ(*columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Of each row of several columns the words by which it differs from some other row."""
    differing = [column for column in columns if len(set(column)) > 1]
    return list(zip(*differing, strict=True)) or [()] * len(columns[0])


def card(report: Report) -> str:
    """What a notebook shows of a result: title, verdict, and its first facts and table."""
    parts = [f"<p><b>{_format_cell(report.title)}</b></p>"]
    for text in report.verdict:
        parts.append(f"<p>{_format_cell(text.text)}</p>")
    for section in report.sections:
        if section.role == "answer":  # its causes take time
            continue
        shown = [_block(section.title, block) for block in section.blocks if _is_filled(block)]
        if shown:
            return "\n".join([*parts, *shown])
    return "\n".join(parts)


def _is_filled(block: Block) -> TypeGuard[Facts | Table]:
    """Whether a block is facts or a table with something in it."""
    return isinstance(block, Facts) or (isinstance(block, Table) and bool(block.records))


def _block(caption: str, block: Facts | Table) -> str:
    """Facts or a table in HTML; long tables are cut off."""
    if isinstance(block, Facts):
        return table(caption, block.shown)
    rows = block.rows[:MOST_ROWS]
    if len(block.records) > MOST_ROWS:
        rows.append([f"and {len(block.records) - MOST_ROWS} more"])
    return table(caption, rows, block.head)


def table(caption: str, rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """A table in HTML; whatever its texts hold, they are shown and never obeyed.

    Args:
        caption: What it is of.
        rows: The texts of each row.
        heads: Names of the columns, where they need some.
    """
    parts = [f"<table><caption{LEFT}>{_format_cell(caption)}</caption>"]
    if heads:
        parts.append(_row("th", heads))
    for cells in rows:
        parts.append(_row("td", cells))
    parts.append("</table>")
    return "\n".join(parts)


def _row(tag: str, cells: Sequence[str]) -> str:
    parts = ["<tr>"]
    for cell in cells:
        parts.append(f"<{tag}{LEFT}>{_format_cell(cell)}</{tag}>")
    parts.append("</tr>")
    return "".join(parts)


def _format_cell(text: str) -> str:
    return escape(shorten(printable(text), LONGEST_CELL))
