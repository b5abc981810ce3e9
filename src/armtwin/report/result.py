"""What every result shows of itself: all of it follows from its `sections()`.

A result is a frozen dataclass (eq=False, repr=False) in the folder of its experiment. It derives
from `Result` and gives its sections once; line, card, plot, tables and report are made of them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from armtwin.errors import ArmtwinError
from armtwin.files.atomic import write_file
from armtwin.maths.batch import Record
from armtwin.notebook import cards
from armtwin.notebook.dataframes import dataframe_of
from armtwin.notebook.sections import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas
    from matplotlib.axes import Axes


class Result:
    """A result, shown by what it describes of itself.

    Attributes:
        described_by: "module:function" that gives the sections, where these need what is computed
            from the result, as the causes of a prediction; it is loaded when they are asked for.
        drawn_by: The same for figures, where they need less.
    """

    described_by: ClassVar[str] = ""
    drawn_by: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.sections is Result.sections and not cls.described_by:
            raise TypeError(f"{cls.__name__} must give its sections, or name what describes it")

    def sections(self) -> Report:
        """Title, verdict and sections; blocks of a section are computed when they are read."""
        return _describe(self, self.described_by)

    def __repr__(self) -> str:
        report = self.sections()
        sentence = " ".join(text.text for text in report.verdict)
        return cards.line(type(self).__name__, sentence or report.title)

    def _repr_html_(self) -> str:
        return cards.card(self.sections())

    @property
    def tables(self) -> dict[str, Sequence[Record]]:
        """Records of its tables, SI values, by name."""
        return {name: table.records for name, table in self.sections().tables.items()}

    def to_dataframe(self, name: str = "") -> pandas.DataFrame:
        """A table as a data frame, by default the first; needs pandas."""
        tables = self.tables
        if not tables:
            raise ArmtwinError(f"a {type(self).__name__} has no table")
        chosen = name or next(iter(tables))
        if chosen not in tables:
            raise ArmtwinError(f"there is no table '{chosen}'; there are {', '.join(tables)}")
        return dataframe_of(tables[chosen])

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> Any:
        """Draw its charts with matplotlib.

        Args:
            axes: One for each chart; new ones under each other where none are given.
        """
        from armtwin.report.figures import draw_report

        report = _describe(self, self.drawn_by) if self.drawn_by else self.sections()
        return draw_report(report, axes)

    def report(self, path: str | Path) -> None:
        """Write its report as one HTML file that needs nothing else."""
        write_report(self, path)


def _describe(result: Result, name: str) -> Report:
    """The report that a function gives, named as "module:function"."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)(result)


def write_report(result: Result, path: str | Path) -> None:
    """Write the report of a result as one HTML file that needs nothing else.

    Args:
        result: Any result, a robot, a job or a log.
        path: The file.
    """
    from armtwin.report.page import to_html

    write_file(Path(path), to_html(result.sections()))
