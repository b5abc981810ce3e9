"""Building blocks of what a result shows: sections of texts, facts, tables, plots and pictures.

A result gives its sections once. Terminal, page, result.json, notebook card and matplotlib figures
are made of them: a table holds its records as SI numbers, its columns say how they are written, its
key where they stand in result.json. Charts, their layers and axes belong to the same vocabulary.
Nothing here knows what is reported on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from armtwin.maths.batch import Floats, Names, Pair, Record, Values
from armtwin.notebook.charts import Bars as Bars, Chart as Chart, Multiples as Multiples
from armtwin.notebook.layers import Curve as Curve, Layer as Layer, Points as Points, Rule as Rule
from armtwin.notebook.numbers import NONE, Number
from armtwin.notebook.scales import Axis as Axis

Tone = Literal["", "soft", "good", "fair", "bad"]
Role = Literal["", "answer", "numbers", "picture", "assumed"]
Wording = Callable[[Record], str]  # the words of a record
PAGE_ONLY = True  # of a column that the terminal leaves out
Head = str | tuple[str, Number | Wording | None] | tuple[str, Number | Wording | None, bool]


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Attributes:
        text: The words; they are escaped.
        tone: "good", "fair" or "bad" as a verdict; "soft" for an explanation, which the terminal
            leaves out.
        lead: Words that it begins with and that stand out, as IN TOLERANCE; "" for none.
    """

    text: str
    tone: Tone = ""
    lead: str = ""


@dataclass(frozen=True)
class Facts:
    """Short facts, a name and a text each; those without a text are left out."""

    facts: Sequence[tuple[str, str]]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The facts that have a text."""
        return [(name, text) for name, text in self.facts if text]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        key: Key of the records.
        head: What stands above it, without the unit.
        number: How its numbers are written; None for words.
        words: The words of a record, where they are not simply its value.
        page_only: Whether the terminal leaves it out.
        link: Gives the address that the page links a record's words to; "" for none.
    """

    key: str
    head: str
    number: Number | None = None
    words: Wording | None = None
    page_only: bool = False
    link: Wording | None = None

    @staticmethod
    def alike(number: Number, *keys: str, **heads: str) -> tuple[Column, ...]:
        """Columns whose numbers are written alike: what stands above each, else its key."""
        named = {key: key for key in keys} | heads
        return tuple(Column(key, head, number) for key, head in named.items())

    @property
    def title(self) -> str:
        """Head and unit."""
        unit = "" if self.number is None else self.number.unit
        return f"{self.head} {unit}".strip()

    def cell(self, record: Record) -> str:
        """What it shows of a record."""
        if self.words is not None:
            return self.words(record)
        value = record.get(self.key)
        if value is None:
            return NONE
        if self.number is not None:
            return self.number.text(value)
        return str(value)


def list_columns(**heads: Head) -> tuple[Column, ...]:
    """Columns by the keys of the records.

    Args:
        **heads: What stands above each; with how its numbers or words are written, and PAGE_ONLY
            where the terminal leaves it out.
    """
    columns = []
    for key, head in heads.items():
        text, form, *page = (head, None) if isinstance(head, str) else (*head, None)
        number, words = (form, None) if isinstance(form, Number) else (None, form)
        columns.append(Column(key, text, number, words, page_only=any(page)))
    return tuple(columns)


def keep_filled(columns: Iterable[Column], records: Sequence[Record]) -> tuple[Column, ...]:
    """The columns of which some record has a value other than zero."""
    kept = []
    for column in columns:
        if any(record.get(column.key) for record in records):
            kept.append(column)
    return tuple(kept)


def rename(record: Record, **keys: str) -> Record:
    """A record with other keys, as those of result.json, which have units."""
    return {keys.get(key, key): value for key, value in record.items()}


def tabulate(**columns: Iterable[object]) -> list[Record]:
    """Records of columns of equal length by their keys, one for each row."""
    lists = [x.tolist() if isinstance(x, np.ndarray) else x for x in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


@dataclass(frozen=True)
class Table:
    """A table of records.

    Attributes:
        columns: Its columns.
        records: One mapping of keys to SI values for each row.
        key: Where the records stand in result.json, as "feasibility.violations"; "" for nowhere.
        bad: Numbers of the rows that are out of tolerance.
        samples: For each row the sample it points to, or None.
        folded: Title under which the page folds it away and the terminal leaves it out, or "".
        most: Rows that the terminal shows at most.
    """

    columns: tuple[Column, ...]
    records: Sequence[Record]
    key: str = ""
    bad: frozenset[int] = frozenset()
    samples: tuple[int | None, ...] = ()
    folded: str = ""
    most: int | None = None

    @staticmethod
    def of(key: str = "", folded: str = "", /, **columns: tuple[Any, ...]) -> Table:
        """A table by its columns.

        Args:
            key: Where the records stand in result.json.
            folded: Title under which it is folded away.
            **columns: The values of each by its key, then what stands above it and how it is
                written, as in `list_columns`; values alone stand in result.json only.
        """
        heads = {name: head for name, (_, *head) in columns.items() if head}
        values = {name: own for name, (own, *_) in columns.items()}
        shown = list_columns(**{name: (*head,) for name, head in heads.items()})
        return Table(shown, tabulate(**values), key, folded=folded)

    @property
    def in_brief(self) -> Table:
        """The table with the columns that a terminal shows; itself where these are all."""
        if not any(column.page_only for column in self.columns):
            return self
        return replace(self, columns=tuple(x for x in self.columns if not x.page_only))

    @property
    def head(self) -> Names:
        """Names of the columns."""
        return tuple(column.title for column in self.columns)

    @property
    def rows(self) -> list[list[str]]:
        """Cells as text."""
        return [[column.cell(record) for column in self.columns] for record in self.records]

    @property
    def words(self) -> bool:
        """Whether words stand beside its first column, not numbers alone."""
        beside = self.columns[1:] or self.columns
        return any(column.number is None for column in beside)


@dataclass(frozen=True)
class Data:
    """Values that only result.json shows, by their keys, as "feasibility.violations"."""

    values: Record

    @staticmethod
    def of(**values: object) -> Data:
        """Values whose keys are words."""
        return Data(values)


@dataclass(frozen=True)
class Line:
    """A line of a plot.

    Attributes:
        label: Its label.
        series: Name of its series.
        colour: Number of its colour.
        dashed: Whether it is dashed.
    """

    label: str
    series: str
    colour: int
    dashed: bool = False


@dataclass(frozen=True)
class Mark:
    """A flag in a plot: where on x, its text, whether it is bad."""

    x: float
    text: str
    bad: bool = False


@dataclass(frozen=True)
class Plot:
    """Lines over a common series, from sample `first` up to `last`.

    The sample is chosen everywhere.

    Attributes:
        x: Name of the series on the x axis; it never decreases.
        x_label: Its label with the unit.
        y_label: Label of the y axis.
        unit: Unit of the y axis.
        lines: The lines.
        first: First sample.
        last: One after the last sample.
        shaded: Stretches of x that are greyed.
        rules: Values of y with a dashed line, the tolerance.
        marks: Flags.
        caption: What is seen.
    """

    x: str
    x_label: str
    y_label: str
    unit: str
    lines: tuple[Line, ...]
    first: int
    last: int
    shaded: tuple[Pair, ...] = ()
    rules: Values = ()
    marks: tuple[Mark, ...] = ()
    caption: str = ""


OF_THE_TOLERANCE = ("below half of the tolerance", "above half", "out of tolerance (wider)")


@dataclass(frozen=True)
class Scene:
    """The robot in 3-D with its path; the tables are those the viewer reads.

    Attributes:
        model: Joints, bars, tool, seam and sizes; a `pace` where the player is to be slower.
        caption: What is seen.
        judged: Whether its path has a tolerance, and so an error to draw.
        legend: What the good, fair and bad colours of the seam say.
        start: Sample that the page shows first.
    """

    model: dict[str, Any]
    caption: str = ""
    judged: bool = True
    legend: tuple[str, str, str] = OF_THE_TOLERANCE
    start: int = 0

    @property
    def series(self) -> Names:
        """Names of the series that it moves by."""
        joints = (f"q{k}" for k, _ in enumerate(self.model["joints"], 1))
        return ("time", "place", *joints)


@dataclass(frozen=True)
class Picture:
    """A drawing.

    Attributes:
        svg: The drawing as SVG, made by `drawings`.
        caption: What is seen.
    """

    svg: str
    caption: str = ""


Block = Text | Facts | Table | Data | Plot | Scene | Picture | Chart | Multiples | Bars
Blocks = Iterator[Block]


def list_sentences(sentences: Sequence[str], key: str, otherwise: str = "") -> Blocks:
    """Sentences one by one, or what is said where there are none; and as data."""
    for sentence in sentences or ([otherwise] if otherwise else []):
        yield Text(sentence)
    yield Data({key: sentences})


@dataclass(frozen=True, eq=False)
class Section:
    """A titled part of a report.

    Attributes:
        title: Its title, or "" for none.
        content: Its blocks, or a generator of them, which runs when they are first read.
        page_only: Whether the terminal leaves it out.
        role: What it is on the first screen and on the sheet: the "answer" in a few sentences, the
            "numbers" behind it, the "picture" beside it, what it "assumed"; "" for none of these.
    """

    title: str
    content: Iterable[Block]
    page_only: bool = False
    role: Role = ""

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its blocks."""
        return tuple(self.content)


@dataclass(frozen=True, eq=False)
class Report:
    """What a result shows of itself: sections under a title and a verdict.

    Attributes:
        title: Its title.
        subtitle: One line below.
        sections: Its sections; the first may have no title.
        verdict: What it comes to, the headline first; terminal and page begin with it.
        series: Series of equal length by name, for plots and scene; may be computed when read.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    verdict: tuple[Text, ...] = ()
    series: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def blocks(self) -> Iterator[Block]:
        """Blocks of all sections."""
        for section in self.sections:
            yield from section.blocks

    def of_role(self, role: Role) -> tuple[Block, ...]:
        """Blocks of the sections that have a role on the first screen."""
        parts = (section.blocks for section in self.sections if section.role == role)
        return tuple(block for blocks in parts for block in blocks)

    @property
    def tables(self) -> dict[str, Table]:
        """Tables by name: where they stand in result.json, else the title above them."""
        tables: dict[str, Table] = {}
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Table):
                    name = block.key or block.folded or section.title or self.title
                    tables.setdefault(name, block)
        return tables
