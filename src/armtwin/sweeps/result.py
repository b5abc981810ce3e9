"""What became of the runs of a sweep, and what that shows of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armtwin.files.digests import file_name
from armtwin.files.disk import Content
from armtwin.files.whole import write_file
from armtwin.maths.batch import Floats
from armtwin.notebook.dataframes import dataframe_of
from armtwin.notebook.numbers import FINE_PERCENT, PERCENT, SECONDS
from armtwin.notebook.sampling import Deferred
from armtwin.notebook.sections import (
    Block,
    Column,
    Data,
    Facts,
    Record,
    Report,
    Section,
    Table,
    Text,
)
from armtwin.prediction.predict import Prediction, predict
from armtwin.report.result import Result
from armtwin.sweeps.export import csv_content, parquet_content
from armtwin.sweeps.rows import COLUMNS, FAILED, REFUSED, STOPS, ResultRow
from armtwin.sweeps.settings import changed_job
from armtwin.sweeps.sweep import Sweep
from armtwin.sweeps.table import ResultTable

if TYPE_CHECKING:
    import pandas

    from armtwin.jobs.job import Job

BEST = 8  # runs that are listed
REASONS = 8  # kinds of failures that the terminal lists
AT_ONCE = 1000  # rows that are read together
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
    def numbers(self) -> dict[str, Floats]:
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
        return changed_job(self.sweep.bases[run.base].job, run.changes)

    def prediction(self, number: int) -> Prediction:
        """A run predicted again, alone, by its number from 0."""
        return predict(self.job(number), method=self.sweep.description.method)

    @property
    def table(self) -> list[dict[str, Any]]:
        """A record for each run: its number, job, robot, inputs in SI, and what became of it."""
        return list(self.records())

    def records(self) -> Iterator[dict[str, Any]]:
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

    def sections(self) -> Report:
        """How many runs hold, the best few, maps, placements over the cell."""
        from armtwin.sweeps.maps import map_blocks
        from armtwin.sweeps.scene import BestPlacement

        d = self.sweep.description
        placed = BestPlacement(self)
        several = [axis.label for axis in self.sweep.axes if len(axis.values) > 1]
        return Report(
            title=d.title or d.name,
            subtitle=f"{d.name}: {len(self.rows)} runs, {', '.join(several)}",
            sections=(
                Section("", _overview(self)),
                Section("The best runs", _best(self)),
                Section("Maps", map_blocks(self), page_only=True),
                Section("Over the cell", placed.blocks(), page_only=True),
                Section("Runs without an answer", _reasons(self)),
            ),
            verdict=(_verdict(self),),
            series=Deferred(placed.series),
        )


def result_of(sweep: Sweep, table: ResultTable, course: Course) -> SweepResult:
    """The result of a sweep whose runs are all in its table."""
    found: list[ResultRow] = []
    for first in range(0, len(sweep), AT_ONCE):
        keys = [run.key for run in sweep.runs(first, min(first + AT_ONCE, len(sweep)))]
        rows = table.rows(keys)
        found += [rows[key] for key in keys]
    return SweepResult(sweep, tuple(found), course)


def _verdict(result: SweepResult) -> Text:
    held, count = result.held, len(result.rows)
    band = result.sweep.description.band
    if not result.best(1):
        return Text(f"None of {count} runs could be run to its end.", "bad")
    (best,) = result.best(1)
    words = f"best is run {best + 1}: {_inputs(result, best)}: {result.rows[best].words}"
    if not held:
        how = "holds with 95 % confidence" if band else "holds, not even nominally"
        return Text(f"None of {count} runs {how}; {words}.", "bad")
    how = "hold with 95 % confidence" if band else "hold nominally"
    return Text(f"{held} of {count} runs {how}; {words}.", "good")


def _inputs(result: SweepResult, number: int) -> str:
    """Job, robot and values of a run, as far as they differ."""
    words = []
    bases = result.sweep.bases
    base = result.sweep.base(number)
    if len({x.job.name for x in bases}) > 1:
        words.append(base.job.name)
    if len({x.robot for x in bases}) > 1:
        words.append(base.robot)
    for axis, value in zip(result.sweep.axes, result.sweep.point(number), strict=True):
        if len(axis.values) > 1:
            words.append(f"{axis.label} {axis.words(value)}")
    return ", ".join(words)


def _facts(result: SweepResult) -> Iterator[tuple[str, str]]:
    d, course = result.sweep.description, result.course
    jobs = dict.fromkeys(base.job.name for base in result.sweep.bases)
    robots = dict.fromkeys(base.robot for base in result.sweep.bases)
    yield "jobs", ", ".join(jobs)
    yield "robots", ", ".join(robots)
    for axis in result.sweep.axes:
        ends = axis.words(axis.values[0]), axis.words(axis.values[-1])
        count = "" if d.design in ("sobol", "latin hypercube") else f", {len(axis.values)} values"
        factor = "times " if axis.relative else ""
        yield axis.label, f"{factor}{ends[0]} to {ends[1]}{count}"
    yield "design", d.design
    yield "runs", "nominal and with 90 % intervals" if d.band else "nominal"
    yield "computed now", f"{course.computed}, on {course.place}" if course.computed else "none"
    yield "known before", str(course.known) if course.known else ""
    yield "took", SECONDS.with_unit(round(course.seconds, 1)) if course.computed else ""
    cost = float(np.nanmean(result.numbers["cpu_s"]))
    yield "cost of a run", f"{1e3 * cost:.3g} ms of one core"


def _overview(result: SweepResult) -> Iterator[Block]:
    """What was asked for and what it took."""
    yield Facts(tuple(_facts(result)))
    asked = result.sweep
    yield Data("sweep", asked.name)
    yield Data("runs", len(result.rows))
    yield Data("held", result.held)
    yield Data("band", asked.description.band)
    yield Data("design", asked.description.design)
    axes = []
    for axis in asked.axes:
        values = [axis.si(value) for value in axis.values]
        axes.append({"key": axis.key, "relative": axis.relative, "values": values})
    yield Data("axes", axes)
    yield Data("computed", result.course.computed)


def _best(result: SweepResult) -> Iterator[Block]:
    """The best few, with links to the reports that were made of them."""
    records = []
    for number in result.best(BEST):
        row = result.rows[number]
        record: dict[str, Any] = {"run": number + 1, "job": result.sweep.base(number).job.name}
        record |= result.sweep.inputs(number)
        record |= {"inputs": _inputs(result, number), "outcome": row.outcome}
        record |= {"ratio": row.ratio, "probability": row.probability}
        record |= {"duration_s": row.duration_s, "report": result.reports.get(number)}
        records.append(record)
    columns = [
        Column("run", "run", words=lambda record: str(record["run"])),
        Column("inputs", "inputs"),
        Column("outcome", "outcome"),
        Column("ratio", "of tolerance", FINE_PERCENT),
    ]
    if result.sweep.description.band:
        columns.append(Column("probability", "P", PERCENT))
    columns.append(Column("duration_s", "time", SECONDS))
    if result.sweep.origin:
        columns.append(Column("report", "report", words=_report, link=_link))
    bad = frozenset(k for k, x in enumerate(records) if x["outcome"] != "holds")
    yield Table(tuple(columns), records, "best", bad=bad)
    if records and result.sweep.origin:
        file = file_name(result.sweep.origin, "SWEEP")
        yield Text(
            f"`armtwin sweep {file} --report RUN` makes the report of a run, "
            "with causes, from what is kept; it is linked here then.",
            "soft",
        )


def _report(record: Record) -> str:
    return "report" if record["report"] else f"--report {record['run']}"


def _link(record: Record) -> str:
    return record["report"] or ""


def _reasons(result: SweepResult) -> Iterator[Block]:
    """Why runs have no answer, those of the same kind together."""
    kinds: dict[tuple[str, str], list[int]] = {}
    for number, row in enumerate(result.rows):
        if row.outcome in (STOPS, REFUSED, FAILED):
            kind = re.sub(r"[-+]?[0-9][0-9.e]*", "#", row.sentence.split("\n")[0])
            kinds.setdefault((row.outcome, kind), []).append(number)
    records = []
    for (outcome, _), numbers in sorted(kinds.items(), key=lambda item: -len(item[1])):
        sentence = " ".join(result.rows[numbers[0]].sentence.split())
        records.append(
            {
                "outcome": outcome,
                "count": len(numbers),
                "first": numbers[0] + 1,
                "sentence": sentence[:300],
            }
        )
    columns = (
        Column("outcome", "outcome"),
        Column("count", "runs", words=lambda record: str(record["count"])),
        Column("first", "first", words=lambda record: str(record["first"])),
        Column("sentence", "such as"),
    )
    yield Table(columns, records, "without_answer", most=REASONS)
