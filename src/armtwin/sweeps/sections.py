"""What a sweep shows: how many runs hold, the best few, maps, placements over the cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from armtwin.files.digests import file_name
from armtwin.notebook.numbers import FINE_PERCENT, PERCENT, SECONDS
from armtwin.notebook.sampling import Deferred
from armtwin.notebook.sections import (
    Blocks,
    Column,
    Data,
    Facts,
    Record,
    Report,
    Section,
    Table,
    Text,
)
from armtwin.sweeps.rows import FAILED, REFUSED, STOPS

if TYPE_CHECKING:
    pass
from armtwin.sweeps.maps import map_blocks
from armtwin.sweeps.result import SweepResult
from armtwin.sweeps.scene import BestPlacement

BEST = 8  # runs that are listed
REASONS = 8  # kinds of failures that the terminal lists


def describe_sweep(result: SweepResult) -> Report:
    """How many runs hold, the best few, maps, placements over the cell."""
    d = result.sweep.description
    placed = BestPlacement(result)
    several = [axis.label for axis in result.sweep.axes if len(axis.values) > 1]
    return Report(
        title=d.title or d.name,
        subtitle=f"{d.name}: {len(result.rows)} runs, {', '.join(several)}",
        sections=(
            Section("", _overview(result)),
            Section("The best runs", _best(result)),
            Section("Maps", map_blocks(result), page_only=True),
            Section("Over the cell", placed.blocks(), page_only=True),
            Section("Runs without an answer", _reasons(result)),
        ),
        verdict=(_verdict(result),),
        series=Deferred(placed.series),
    )


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


def _overview(result: SweepResult) -> Blocks:
    """What was asked for and what it took."""
    yield Facts(tuple(_facts(result)))
    asked = result.sweep
    yield Data(
        {
            "sweep": asked.name,
            "runs": len(result.rows),
            "held": result.held,
            "band": asked.description.band,
            "design": asked.description.design,
        }
    )
    axes = []
    for axis in asked.axes:
        values = [axis.si(value) for value in axis.values]
        axes.append({"key": axis.key, "relative": axis.relative, "values": values})
    yield Data(
        {
            "axes": axes,
            "computed": result.course.computed,
        }
    )


def _best(result: SweepResult) -> Blocks:
    """The best few, with links to the reports that were made of them."""
    records = []
    for number in result.best(BEST):
        row = result.rows[number]
        record: Record = {"run": number + 1, "job": result.sweep.base(number).job.name}
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


def _reasons(result: SweepResult) -> Blocks:
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
