"""Several runs side by side: jobs, robots and speeds, each with its verdict and interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.maths.batch import Names, OnProgress, Record
from armtwin.notebook import sections as show
from armtwin.notebook.cards import words_that_differ
from armtwin.notebook.numbers import MILLIMETRES_PER_SECOND, NONE
from armtwin.notebook.sampling import thin_out
from armtwin.prediction.answer import Answer
from armtwin.prediction.band.band import assess_run
from armtwin.prediction.predict import Prediction, predict
from armtwin.prediction.sections.headline import chart_along_seam, likelihood, number_of
from armtwin.prediction.verdict import DIRECTIONS, Direction, process_is_on
from armtwin.report.result import Result
from armtwin.report.result_file import to_result
from armtwin.simulation.options import Method

MOST_RUNS = 64  # side by side: more are no picture any more
SAMPLES = 600  # of a curve
CANNOT = "cannot be run"
NOMINAL_WORDS = {True: "holds nominally", False: "does not hold"}
OWN_KEYS = ("format", "armtwin")  # of the whole result


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Result):
    """Several jobs, each with what became of it.

    Attributes:
        jobs: The jobs.
        answers: Prediction and 90 % interval of each; None of one that cannot be run.
        refusals: Why a job cannot be run, as a sentence; "" of one that was.
    """

    jobs: tuple[Job, ...]
    answers: tuple[Answer | None, ...]
    refusals: Names

    @property
    def hold(self) -> bool:
        """Whether every one of them was run and holds."""
        return all(answer is not None and answer.holds for answer in self.answers)

    def sections(self) -> show.Report:
        """One table, and the errors of all runs over each other."""
        held = sum(answer is not None and answer.holds for answer in self.answers)
        tone: show.Tone = "good" if self.hold else "bad"
        return show.Report(
            title="Runs side by side",
            subtitle=", ".join(dict.fromkeys(job.name for job in self.jobs)),
            sections=(
                show.Section("", _table(self)),
                show.Section("Errors along the seam", _charts(self), page_only=True),
                show.Section("", _results(self)),
            ),
            verdict=(show.Text(f"{held} of {len(self.jobs)} runs hold.", tone),),
        )

    @property
    def records(self) -> list[Record]:
        """A row of the table for each run."""
        return [_record(*pair) for pair in zip(self.jobs, self.answers, strict=True)]


def side_by_side(
    jobs: Sequence[Job],
    *,
    nominal: bool = False,
    method: Method = "nonlinear",
    progress: OnProgress | None = None,
) -> SideBySide:
    """Predict several jobs, each with its 90 % interval.

    One that cannot be run, as at a speed beyond the robot's limits, is listed with the reason;
    where none can, the first refusal is raised.

    Args:
        jobs: The jobs.
        nominal: Whether nominal runs alone are made, without their 90 % intervals.
        method: As of `predict`.
        progress: Called with the share that is done.
    """
    if not 1 <= len(jobs) <= MOST_RUNS:
        raise ArmtwinError(f"from 1 to {MOST_RUNS} runs can be compared, got {len(jobs)}")
    answers: list[Answer | None] = []
    refusals: list[ArmtwinError | None] = []
    for job in jobs:
        answer, refusal = _predict_one(job, nominal, method)
        answers.append(answer)
        refusals.append(refusal)
        if progress is not None:
            progress(len(answers) / len(jobs))
    first = refusals[0]
    if first is not None and not any(answers):
        raise first
    words = ["" if refusal is None else str(refusal) for refusal in refusals]
    return SideBySide(tuple(jobs), tuple(answers), tuple(words))


def _predict_one(
    job: Job, nominal: bool, method: Method
) -> tuple[Answer, None] | tuple[None, ArmtwinError]:
    """A job predicted, or why it cannot be."""
    try:
        prediction = predict(job, method=method)
    except ArmtwinError as error:
        return None, error
    return Answer(prediction, band=None if nominal else assess_run(prediction)), None


def _record(job: Job, answer: Answer | None) -> Record:
    """A run as a row of the table."""
    d = job.description
    record: Record = {
        "job": job.name,
        "robot": d.robot if answer is None else answer.prediction.robot.name,
        "speed_m_s": d.speed,
        "outcome": CANNOT,
        **dict.fromkeys(("probability", "direction", "nominal", "allowed", "low", "high")),
        "holds": answer is not None and answer.holds,
    }
    if answer is not None:
        record["outcome"] = NOMINAL_WORDS[answer.prediction.verdict.within]
        record |= _errors(answer)
    return record


def _errors(answer: Answer) -> Record:
    """The direction that uses most of its tolerance: its nominal peak and its 90 % interval."""
    verdict, band = answer.prediction.verdict, answer.band
    if verdict.stopped is not None:
        return {"outcome": "stops"}
    if band is None:
        direction = verdict.worst
        return {
            "direction": direction,
            "nominal": verdict.peaks[direction],
            "allowed": getattr(verdict.tolerance, direction),
        }
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


def _table(runs: SideBySide) -> show.Blocks:
    records = runs.records
    columns = show.list_columns(
        job="job",
        robot="robot",
        speed_m_s=("speed", MILLIMETRES_PER_SECOND),
        outcome="outcome",
        nominal=("expected", _nominal),
    )
    if any(record["probability"] is not None for record in records):
        columns += show.list_columns(probability=("holds", _likely))
        columns += show.list_columns(low=("90 % interval", _band))
    bad = frozenset(k for k, record in enumerate(records) if not record["holds"])
    yield show.Table(tuple(columns), records, bad=bad)
    for record, refusal in zip(records, runs.refusals, strict=True):
        if refusal:
            speed = MILLIMETRES_PER_SECOND.with_unit(record["speed_m_s"])
            yield show.Text(f"{record['job']} with {record['robot']}, {speed}: {refusal}", "bad")


def _likely(record: Record) -> str:
    likely = record["probability"]
    return NONE if likely is None else likelihood(likely)


def _nominal(record: Record) -> str:
    """The nominal peak of what is allowed, as "93 of 100 µm"."""
    if record["nominal"] is None:
        return NONE
    number = number_of(record["direction"])
    return f"{number.text(record['nominal'])} of {number.with_unit(record['allowed'])}"


def _band(record: Record) -> str:
    if record["low"] is None:
        return NONE
    number = number_of(record["direction"])
    return f"{number.text(record['low'])} to {number.with_unit(record['high'])}"


def _charts(runs: SideBySide) -> show.Blocks:
    """The nominal errors of all runs over each other, in each direction that is judged."""
    charts = []
    for direction in DIRECTIONS:
        chart = _chart(runs, direction)
        if chart is not None:
            charts.append(chart)
    if charts:
        caption = "Nominal runs with the process on, over the commanded place on the seam."
        yield show.Multiples(tuple(charts), columns=1, shared="x", title="Errors", caption=caption)


def _chart(runs: SideBySide, direction: Direction) -> show.Chart | None:
    """The errors of all runs that are judged in a direction."""
    number = number_of(direction)
    layers: list[show.Curve | show.Rule] = []
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
        layers += [show.Rule(limit, label), show.Rule(-limit)]
    return chart_along_seam(direction, number.unit, layers)


def _curve(p: Prediction, direction: Direction, label: str) -> show.Curve:
    """The error of a run where its process is on, with gaps where it is off."""
    error = p.path_error
    moving = np.flatnonzero(error.speed_ref > 0)
    thin = thin_out(moving, SAMPLES)
    on = process_is_on(p.job, error.s[thin])
    values = number_of(direction).scale * getattr(error, direction)[thin]
    return show.Curve(label, 1e3 * error.s[thin], np.where(on, values, np.nan))


def _labels(runs: SideBySide) -> list[str]:
    """A label of each run: what differs from the others."""
    names = [job.name for job in runs.jobs]
    robots = [job.description.robot for job in runs.jobs]
    speeds = [MILLIMETRES_PER_SECOND.with_unit(job.description.speed) for job in runs.jobs]
    rows = words_that_differ(names, robots, speeds)
    return [", ".join(row) or name for row, name in zip(rows, names, strict=True)]


def _results(runs: SideBySide) -> Iterator[show.Data]:
    """Each run as result.json has a single one, with the row of the table."""
    results = []
    rows = zip(runs.records, runs.answers, runs.refusals, strict=True)
    for record, answer, refusal in rows:
        result: Record = {"summary": dict(record), "refusal": refusal or None}
        if answer is not None:
            single = to_result(answer.sections())
            result |= {key: value for key, value in single.items() if key not in OWN_KEYS}
        results.append(result)
    yield show.Data({"runs": results})
