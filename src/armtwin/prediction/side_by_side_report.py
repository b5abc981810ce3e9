"""The report of several runs side by side: one table, and their errors over each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armtwin.jobs.job import Job
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Rule
from armtwin.notebook.numbers import MILLIMETRES_PER_SECOND, NONE
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import (
    Block,
    Column,
    Data,
    Record,
    Report,
    Section,
    Table,
    Text,
    Tone,
)
from armtwin.prediction.answer import Answer
from armtwin.prediction.band.band_report import size_of, tenths
from armtwin.prediction.predict import Prediction
from armtwin.prediction.prediction_report import prediction_report
from armtwin.prediction.side_by_side import SideBySide
from armtwin.prediction.verdict import DIRECTIONS, Direction, process_is_on
from armtwin.report.result_file import to_result

SAMPLES = 600  # of a curve
CANNOT = "cannot be run"
NOMINAL_WORDS = {True: "holds nominally", False: "does not hold"}
OWN_KEYS = ("format", "armtwin")  # of the whole result


def side_by_side_report(runs: SideBySide) -> Report:
    """The report of several runs."""
    records = []
    for job, answer in zip(runs.jobs, runs.answers, strict=True):
        records.append(_record(job, answer))
    held = sum(answer is not None and answer.holds for answer in runs.answers)
    tone: Tone = "good" if runs.hold else "bad"
    return Report(
        title="Runs side by side",
        subtitle=", ".join(dict.fromkeys(job.name for job in runs.jobs)),
        sections=(
            Section("", tuple(_table(runs, records))),
            Section("Errors along the seam", tuple(_charts(runs)), page_only=True),
            Section("", (Data("runs", _results(runs, records)),)),
        ),
        verdict=(Text(f"{held} of {len(runs.jobs)} runs hold.", tone),),
    )


def _record(job: Job, answer: Answer | None) -> Record:
    """A run as a row of the table."""
    d = job.description
    record: dict[str, Any] = {
        "job": job.name,
        "robot": d.robot if answer is None else answer.prediction.robot.name,
        "speed_m_s": d.speed,
        "outcome": CANNOT,
        "probability": None,
        "direction": None,
        "nominal": None,
        "allowed": None,
        "low": None,
        "high": None,
        "holds": answer is not None and answer.holds,
    }
    if answer is not None:
        record["outcome"] = NOMINAL_WORDS[answer.prediction.verdict.within]
        record |= _errors(answer)
    return record


def _errors(answer: Answer) -> Record:
    """The direction that uses most of its tolerance: its nominal peak and its band."""
    verdict, band = answer.prediction.verdict, answer.band
    if verdict.stopped is not None:
        return {"outcome": "stops"}
    if band is None:
        direction, nominal, allowed = _worst(answer)
        return {"direction": direction, "nominal": nominal, "allowed": allowed}
    k = band.ensemble.directions.index(band.direction)
    low, high = band.peak
    return {
        "outcome": band.outcome,
        "probability": band.probability,
        "direction": band.direction,
        "nominal": float(band.nominal[k]),
        "allowed": float(band.tolerances[k]),
        "low": low,
        "high": high,
    }


def _worst(answer: Answer) -> tuple[Direction, float, float]:
    """Direction, peak and tolerance of the largest error over its tolerance."""
    verdict = answer.prediction.verdict
    ratios = {}
    for direction, peak in verdict.peaks.items():
        ratios[direction] = peak / getattr(verdict.tolerance, direction)
    worst = max(ratios, key=lambda direction: ratios[direction])
    return worst, verdict.peaks[worst], getattr(verdict.tolerance, worst)


def _table(runs: SideBySide, records: list[Record]) -> Iterator[Block]:
    columns = [
        Column("job", "job"),
        Column("robot", "robot"),
        Column("speed_m_s", "speed", MILLIMETRES_PER_SECOND),
        Column("outcome", "outcome"),
        Column("nominal", "expected", words=_nominal),
    ]
    if any(record["probability"] is not None for record in records):
        columns.append(Column("probability", "holds", words=_likely))
        columns.append(Column("low", "9 of 10 robots", words=_band))
    bad = frozenset(k for k, record in enumerate(records) if not record["holds"])
    yield Table(tuple(columns), records, bad=bad)
    for record, refusal in zip(records, runs.refusals, strict=True):
        if refusal:
            speed = MILLIMETRES_PER_SECOND.with_unit(record["speed_m_s"])
            yield Text(f"{record['job']} with {record['robot']}, {speed}: {refusal}", "bad")


def _likely(record: Record) -> str:
    likely = record["probability"]
    return NONE if likely is None else tenths(likely)


def _nominal(record: Record) -> str:
    """The nominal peak of what is allowed, as "93 of 100 µm"."""
    if record["nominal"] is None:
        return NONE
    number = size_of(record["direction"])
    return f"{number.text(record['nominal'])} of {number.with_unit(record['allowed'])}"


def _band(record: Record) -> str:
    if record["low"] is None:
        return NONE
    number = size_of(record["direction"])
    return f"{number.text(record['low'])} to {number.with_unit(record['high'])}"


def _charts(runs: SideBySide) -> Iterator[Block]:
    """The nominal errors of all runs over each other, in each direction that is judged."""
    charts = []
    for direction in DIRECTIONS:
        chart = _chart(runs, direction)
        if chart is not None:
            charts.append(chart)
    if charts:
        caption = "Nominal runs where the process is on, over the commanded place on the seam."
        yield Multiples(tuple(charts), columns=1, shared="x", title="Errors", caption=caption)


def _chart(runs: SideBySide, direction: Direction) -> Chart | None:
    """The errors of all runs that are judged in a direction."""
    number = size_of(direction)
    layers: list[Curve | Rule] = []
    allowed = []
    labels = _labels(runs)
    for answer, label in zip(runs.answers, labels, strict=True):
        if answer is None:
            continue
        p = answer.prediction
        tolerance = getattr(p.job.description.tolerance, direction)
        if tolerance is None:
            continue
        allowed.append(number.scale * tolerance)
        layers.append(_curve(p, direction, label))
    if not layers:
        return None
    for limit in sorted(set(allowed)):
        label = "tolerance" if limit == max(allowed) else ""
        layers += [Rule(limit, label), Rule(-limit)]
    axes = Axis("along the seam", "mm"), Axis("error", number.unit)
    return Chart(direction, *axes, tuple(layers))


def _curve(p: Prediction, direction: Direction, label: str) -> Curve:
    """The error of a run where its process is on, with gaps where it is off."""
    error = p.path_error
    moving = np.flatnonzero(error.speed_ref > 0)
    thin = moving[:: max(1, len(moving) // SAMPLES)]
    on = process_is_on(p.job, error.s[thin])
    values = size_of(direction).scale * getattr(error, direction)[thin]
    return Curve(label, 1e3 * error.s[thin], np.where(on, values, np.nan))


def _labels(runs: SideBySide) -> list[str]:
    """A name of each run: what tells it from the others."""
    names = [job.name for job in runs.jobs]
    robots = [job.description.robot for job in runs.jobs]
    speeds = [MILLIMETRES_PER_SECOND.with_unit(job.description.speed) for job in runs.jobs]
    labels = []
    for row in zip(names, robots, speeds, strict=True):
        parts = []
        for word, column in zip(row, (names, robots, speeds), strict=True):
            if len(set(column)) > 1:
                parts.append(word)
        labels.append(", ".join(parts) or row[0])
    return labels


def _results(runs: SideBySide, records: list[Record]) -> list[dict[str, Any]]:
    """Each run as result.json has a single one, with the row of the table."""
    found = []
    rows = zip(records, runs.answers, runs.refusals, strict=True)
    for record, answer, refusal in rows:
        result: dict[str, Any] = {"summary": dict(record), "refusal": refusal or None}
        if answer is not None:
            single = to_result(prediction_report(answer))
            result |= {key: value for key, value in single.items() if key not in OWN_KEYS}
        found.append(result)
    return found
