"""A report is a list of sections; a section is a title and blocks of text, tables, plots and pictures.

Nothing here knows what is reported on: predictions, comparisons and what comes later share these blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from armtwin.maths.batch import Floats
from armtwin.report.charts import Bars, Chart, Multiples


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Attributes:
        text: The words; they are escaped.
        tone: "", "soft", or as a verdict "good" or "bad".
    """

    text: str
    tone: Literal["", "soft", "good", "bad"] = ""
    kind: Literal["text"] = "text"


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        head: Names of the columns.
        rows: Cells as text.
        words: Whether the cells are words, not numbers.
        bad: Numbers of the rows that are out of tolerance.
        samples: For each row the sample it points to, or None.
        folded: Title under which the table is folded away, or "".
    """

    head: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    words: bool = False
    bad: frozenset[int] = frozenset()
    samples: tuple[int | None, ...] = ()
    folded: str = ""
    kind: Literal["table"] = "table"


@dataclass(frozen=True)
class Line:
    """A line of a plot: its label, the name of its series, the number of its colour, whether it is dashed."""

    label: str
    series: str
    colour: int
    dashed: bool = False


@dataclass(frozen=True)
class Mark:
    """A flag in a plot: where on x, its text, its row from the top, whether it is out of tolerance."""

    x: float
    text: str
    row: int = 0
    bad: bool = False


@dataclass(frozen=True)
class Plot:
    """Lines over a common series, from sample `first` up to `last`.

    Attributes:
        x: Name of the series on the x axis; it never falls.
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
    shaded: tuple[tuple[float, float], ...] = ()
    rules: tuple[float, ...] = ()
    marks: tuple[Mark, ...] = ()
    caption: str = ""
    kind: Literal["plot"] = "plot"


@dataclass(frozen=True)
class Scene:
    """The robot in 3-D with its path; the tables are those the viewer reads.

    Attributes:
        model: Joints, bars, tool, seam and sizes.
        caption: What is seen.
    """

    model: dict[str, Any]
    caption: str = ""
    kind: Literal["scene"] = "scene"


@dataclass(frozen=True)
class Picture:
    """A drawing.

    Attributes:
        svg: The drawing as SVG, made by `drawings`.
        caption: What is seen.
    """

    svg: str
    caption: str = ""
    kind: Literal["picture"] = "picture"


Block = Text | Table | Plot | Scene | Picture | Chart | Multiples | Bars


@dataclass(frozen=True)
class Section:
    """A titled part of a report."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """A whole report.

    Attributes:
        title: Its title.
        subtitle: One line below.
        sections: Its sections; the first may have no title.
        series: Series of equal length by name, for plots and scene.
        start: Sample that is shown first.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    series: dict[str, Floats] = field(default_factory=dict)
    start: int = 0
