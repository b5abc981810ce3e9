"""What became of the runs of a sweep, and what that shows of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from armtwin.files.atomic import write_file
from armtwin.files.staging import Content
from armtwin.maths.batch import NamedArrays, Record
from armtwin.notebook.dataframes import dataframe_of
from armtwin.prediction.predict import Prediction, predict
from armtwin.report.result import Result
from armtwin.sweeps.export import csv_content, parquet_content
from armtwin.sweeps.rows import COLUMNS, ResultRow
from armtwin.sweeps.settings import change_job
from armtwin.sweeps.sweep import Sweep
from armtwin.sweeps.table import ResultTable

if TYPE_CHECKING:
    import pandas

    from armtwin.jobs.job import Job

NUMBERS = ("ratio", "probability", "lateral_m", "vertical_m", "duration_s", "cpu_s")


@dataclass(frozen=True)
class Course:
    """How a sweep went.

    Attributes:
        computed: Runs that were computed now.
        known: Runs that were there already.
        seconds: How long it took [s].
        place: Where it was run, in words.
    """

    computed: int
    known: int
    seconds: float
    place: str


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult(Result):
    """A sweep with what became of each run.

    Attributes:
        sweep: What was asked for.
        rows: A row for each run, by its number.
        course: How it went.
        reports: Where reports of single runs lie, seen from its own, by the run's number from 0.
    """

    sweep: Sweep
    rows: tuple[ResultRow, ...]
    course: Course
    reports: Mapping[int, str] = field(default_factory=dict)

    @property
    def held(self) -> int:
        """How many runs hold."""
        return sum(row.holds for row in self.rows)

    @cached_property
    def numbers(self) -> NamedArrays:
        """Numbers of the rows by name, NaN where there is none."""
        found = {}
        for name in NUMBERS:
            values = [getattr(row, name) for row in self.rows]
            found[name] = np.array([np.nan if x is None else x for x in values], dtype=np.float64)
        return found

    @property
    def measure(self) -> str:
        """The number that runs are ranked and mapped by."""
        return "probability" if self.sweep.description.band else "ratio"

    def best(self, count: int = 5) -> list[int]:
        """Numbers from 0 of the best runs: likeliest to hold, then least of the tolerance used."""
        ratio = np.nan_to_num(self.numbers["ratio"], nan=np.inf)
        likely = np.nan_to_num(self.numbers["probability"], nan=0.0)
        order = np.lexsort((ratio, -likely))
        known = [int(k) for k in order if np.isfinite(ratio[k])]
        return known[:count]

    def job(self, number: int) -> Job:
        """The job of a run, by its number from 0; `at.predict` gives the same numbers for it."""
        run = self.sweep.run(number)
        return change_job(self.sweep.bases[run.base].job, run.changes)

    def prediction(self, number: int) -> Prediction:
        """A run predicted again, alone, by its number from 0."""
        return predict(self.job(number), method=self.sweep.description.method)

    @property
    def table(self) -> list[Record]:
        """A record for each run: its number, job, robot, inputs in SI, and what became of it."""
        return list(self.records())

    def records(self) -> Iterator[Record]:
        """Records of the table, one after another."""
        for number, row in enumerate(self.rows):
            base = self.sweep.base(number)
            head = {"run": number + 1, "job": base.job.name, "robot": base.robot}
            yield {**head, **self.sweep.inputs(number), **asdict(row)}

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the table."""
        keys = [axis.key for axis in self.sweep.axes]
        return ["run", "job", "robot", *keys, *COLUMNS]

    def write_csv(self, path: str | Path) -> None:
        """Write the table as a CSV file."""
        write_file(Path(path), self.csv())

    def write_parquet(self, path: str | Path) -> None:
        """Write the table as a Parquet file, with the extra `parquet`."""
        write_file(Path(path), self.parquet())

    def csv(self) -> Content:
        """What a CSV file of the table holds."""
        return csv_content(self.columns, self.records)

    def parquet(self) -> Content:
        """What a Parquet file of the table holds."""
        words = {"job", "robot", "outcome", "sentence"}
        words |= {axis.key for axis in self.sweep.axes if not axis.is_number}
        return parquet_content(self.columns, words, self.records)

    def to_dataframe(self, name: str = "") -> pandas.DataFrame:
        """All runs as a DataFrame of pandas, or a table of its report by name."""
        return super().to_dataframe(name) if name else dataframe_of(self.table)

    described_by = "armtwin.sweeps.sections:describe_sweep"


def result_of(sweep: Sweep, table: ResultTable, course: Course) -> SweepResult:
    """The result of a sweep whose runs are all in its table."""
    found: list[ResultRow] = []
    for keys in sweep.key_groups():
        rows = table.rows(keys)
        found += [rows[key] for key in keys]
    return SweepResult(sweep, tuple(found), course)
