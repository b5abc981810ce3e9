"""A report for the terminal: what people read first comes first, tables fit any width.

A table that does not fit is written record by record, so that no digit is lost however narrow
the window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import wrap

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Words

from armtwin.errors import printable
from armtwin.maths.batch import Names
from armtwin.notebook.sections import Block, Column, Facts, Report, Section, Table, Text

STYLES = {"": "", "good": "bold green", "fair": "bold yellow", "bad": "bold red"}
GAP = 2  # blanks between columns
NARROWEST_WORDS = 16  # characters that a column of words needs
NARROWEST_FACT = 24  # characters beside its name
INDENT = 2  # characters
SCREEN = 17  # lines of the short form, so that with what was written it fits 80 x 24


ANSWER = "answer"
Spelling = Callable[[str], str]


def to_terminal(report: Report, spelled: Spelling = printable) -> RenderableType:
    """What a terminal shows of a report.

    Args:
        report: The report.
        spelled: Spells a text in the letters that the terminal has.
    """
    parts: list[RenderableType] = []
    for text in report.verdict:
        parts += _block(text, spelled)
    if report.verdict:
        parts.append(Words())
    parts += _titles(report, spelled)
    for section in report.sections:
        parts += _section(section, spelled)
    return Group(*parts)


def to_screen(report: Report, spelled: Spelling = printable) -> RenderableType:
    """The answer of a report on one screen; what does not fit is named.

    Args:
        report: The report.
        spelled: Spells a text in the letters that the terminal has.
    """
    return _Screen(report, spelled)


def closing_line(report: Report, spelled: Spelling = printable) -> Words | None:
    """The verdict once more, its first sentence; None where there is none."""
    if not report.verdict:
        return None
    verdict = report.verdict[0]
    sentence = verdict.text.partition(". ")[0].removesuffix(".")
    return Words(spelled(f"{sentence}."), style=STYLES[verdict.tone])


def _titles(report: Report, spelled: Spelling) -> Iterator[RenderableType]:
    yield Words(spelled(report.title), style="bold")
    if report.subtitle:
        yield Words(spelled(report.subtitle))


class _Screen:
    """Verdict, answer and cautions, and as many notes and sections as fit a screen."""

    def __init__(self, report: Report, spelled: Spelling) -> None:
        self.report = report
        self.spelled = spelled

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report, spelled = self.report, self.spelled
        lines = 0
        for text in report.verdict:
            if text is report.verdict[0] or text.tone in ("fair", "bad"):
                part = Group(*_block(text, spelled))
                lines += len(console.render_lines(part, options))
                yield part
        left_out, notes = [], 0
        for title, blocks in self._parts():
            if not blocks:
                continue
            part = Group(*blocks)
            height = len(console.render_lines(part, options))
            if lines + height <= SCREEN or title == ANSWER:
                lines += height
                yield part
            elif title:
                left_out.append(title)
            else:
                notes += 1
        if notes:
            left_out.insert(0, f"{notes} more to note")
        if left_out:
            yield Words(spelled(f"--full shows: {', '.join(left_out)}"))

    def _parts(self) -> Iterator[tuple[str, list[RenderableType]]]:
        """What follows the verdict, by title, the most wanted first."""
        report, spelled = self.report, self.spelled
        yield ANSWER, [x for block in report.of_role("answer") for x in _block(block, spelled)]
        yield "", list(_titles(report, spelled))
        for text in report.verdict[1:]:
            if text.tone not in ("fair", "bad"):
                yield "", list(_block(text, spelled))
        for section in report.sections:
            if section.role == "answer" or section.page_only:
                continue
            if section.title:
                yield section.title, list(_section(section, spelled))
                continue
            part: list[RenderableType] = []
            for block in section.blocks:
                part += _block(block, spelled)
                if not isinstance(block, Text) or not block.text.endswith(":"):
                    yield "", part
                    part = []


def _section(section: Section, spelled: Spelling) -> Iterator[RenderableType]:
    """Title and blocks of a section that has something to show."""
    if section.page_only:
        return
    blocks = [shown for block in section.blocks for shown in _block(block, spelled)]
    if not blocks:
        return
    yield Words()
    if section.title:
        yield Words(spelled(section.title), style="bold")
    yield from blocks


def _block(block: Block, spelled: Spelling) -> Iterator[RenderableType]:
    """What is shown of a block; plots and pictures are for the page."""
    if isinstance(block, Text) and block.tone != "soft":
        yield Words(spelled(block.text), style=STYLES[block.tone])
    if isinstance(block, Facts) and block.shown:
        yield _Facts(block, spelled)
    if isinstance(block, Table) and block.records and not block.folded:
        yield _Sheet(block, spelled)


class _Facts:
    """Facts beside their names, or below them where there is little room."""

    def __init__(self, facts: Facts, spelled: Spelling) -> None:
        self.facts = [(name, spelled(text)) for name, text in facts.shown]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = max(len(name) for name, _ in self.facts)
        if names + GAP + NARROWEST_FACT > options.max_width:
            for name, text in self.facts:
                yield Words(f"{name}: {text}")
            return
        grid = Grid.grid(padding=(0, GAP, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for name, text in self.facts:
            grid.add_row(Words(name), Words(text))
        yield grid


class _Sheet:
    """A table in rows and columns where it fits, else record by record."""

    def __init__(self, table: Table, spelled: Spelling) -> None:
        self.spelled = spelled
        self.columns = table.in_brief.columns
        most = len(table.records) if table.most is None else table.most
        self.records = list(table.records)[:most]
        self.left_out = len(table.records) - len(self.records)
        self.bad = table.bad
        self.key = table.key

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = [[self.spelled(c.cell(record)) for c in self.columns] for record in self.records]
        whole, least = self._widths(cells, narrow=False), self._widths(cells, narrow=True)
        room = options.max_width - GAP * (len(whole) - 1)
        if sum(whole) <= room:
            yield self._grid(cells, whole, broken=False)
        elif sum(least) <= room:
            yield self._grid(cells, _share_room(least, whole, room), broken=True)
        else:
            yield from self._cards(cells)
        if self.left_out:
            where = " in result.json" if self.key else ""
            yield Words(f"and {self.left_out} more{where}")

    def _widths(self, cells: list[list[str]], narrow: bool) -> list[int]:
        """Width of each column; where it is narrow, heads and words are broken between words."""
        widths = []
        for column, texts in zip(self.columns, zip(*cells, strict=True), strict=True):
            head = _length(self.spelled(column.title), narrow)
            widths.append(max(head, self._widest(column, texts, narrow)))
        return widths

    @staticmethod
    def _widest(column: Column, texts: Names, narrow: bool) -> int:
        """Width of the cells of a column; numbers are never broken."""
        longest = max(len(text) for text in texts)
        if column.number is not None or not narrow:
            return longest
        longest_word = max(_length(text, narrow) for text in texts)
        return max(longest_word, min(longest, NARROWEST_WORDS))

    def _grid(self, cells: list[list[str]], widths: list[int], broken: bool) -> Grid:
        """The table in columns of some widths, its words broken where they are narrow."""
        grid = Grid(
            box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, GAP - 1, 0, 0), show_edge=False
        )
        for column, width in zip(self.columns, widths, strict=True):
            head = self.spelled(column.title)
            numbers = column.number is not None
            grid.add_column(
                _wrap_head(head, width) if broken else head,
                justify="right" if numbers else "left",
                no_wrap=numbers or not broken,
                overflow="fold",
                width=width,
            )
        for number, row in enumerate(cells):
            style = "red" if number in self.bad else ""
            grid.add_row(*(Words(text, style=style) for text in row))
        return grid

    def _cards(self, cells: list[list[str]]) -> Iterator[RenderableType]:
        for number, row in enumerate(cells):
            style = "red" if number in self.bad else ""
            first = self.columns[0]
            name = row[0] if first.number is None else self._label_cell(first, row[0])
            yield Words(name, style=style or "bold")
            for column, text in zip(self.columns[1:], row[1:], strict=True):
                yield Padding(Words(self._label_cell(column, text)), (0, 0, 0, INDENT))

    def _label_cell(self, column: Column, text: str) -> str:
        title = self.spelled(column.title)
        return f"{title}: {text}" if title else text


def _share_room(least: list[int], wanted: list[int], room: int) -> list[int]:
    """Widths of columns from the least on; those that want more share what is left of the room."""
    widths = list(least)
    while sum(widths) < room and widths != wanted:
        for k, full in enumerate(wanted):
            if widths[k] < full and sum(widths) < room:
                widths[k] += 1
    return widths


def _wrap_head(head: str, width: int) -> str:
    """A head in lines of some width, its words whole."""
    lines = wrap(head, max(width, 1), break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def _length(text: str, narrow: bool) -> int:
    """Length of a text, or of its longest word where it may be broken."""
    return max((len(word) for word in text.split()), default=0) if narrow else len(text)
