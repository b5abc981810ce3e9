"""The report of a prediction: verdict first, then where, why, and what to change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from armtwin.analysis.loads_report import load_blocks
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import (
    MICROMETRES,
    MILLIMETRES,
    MILLIMETRES_PER_SECOND,
    PERCENT,
    SECONDS,
    Number,
)
from armtwin.notebook.sampling import sample_at
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import (
    OF_THE_TOLERANCE,
    Block,
    Column,
    Data,
    Record,
    Report,
    Scene,
    Section,
    Table,
    Text,
)
from armtwin.prediction.answer import Answer
from armtwin.prediction.band.band import Band
from armtwin.prediction.band.band_report import (
    band_section,
    band_verdict,
    uncertainty_blocks,
    verdict_data,
)
from armtwin.prediction.causes import Cause, Explanation
from armtwin.prediction.comparison_report import comparison_blocks, logged_verdict
from armtwin.prediction.parts import error_parts
from armtwin.prediction.predict import Prediction
from armtwin.prediction.prediction_basis import basis_blocks, joint_blocks, limit_blocks
from armtwin.prediction.prediction_plots import kept_times, path_plots, series_of
from armtwin.prediction.scene import figure
from armtwin.prediction.verdict import Span, Verdict
from armtwin.prediction.verdicts import (
    ALLOWED,
    event_record,
    peak_size,
    segment_records,
    tolerance_use,
    verdict_record,
    verdict_sentence,
)

PART_SAMPLES = 600  # of a chart of the error's parts
PART_WORDS = {
    "servo": "motor side: what the controller sees",
    "deviations": "deviations of link lengths and joint zeros",
    "ripple": "ripple of gears",
    "sag": "sag by gravity",
    "force": "force from outside",
    "dynamic": "swing of gears and links",
    "total": "link side: what the seam gets",
}
TURN = "Drag or use the arrow keys to turn the view."
OF_THE_ROBOTS = (
    "there 95 of 100 drawn robots keep the tolerance",
    "fewer do",
    "most leave it (wider)",
)
SHOWN = 12  # rows of a table in the terminal
SPEED = Number(1e3, "mm/s", places=1)
FINE_MILLIMETRES = Number(1e3, "mm", digits=3)


def prediction_report(answer: Answer) -> Report:
    """The report of a predicted job, with a logged run over it where one was compared."""
    p, comparison = answer.prediction, answer.comparison
    times = kept_times(p)
    series = series_of(p, comparison, times)
    sections = [Section("", tuple(_outcome(p, answer.band)))]
    if answer.band is not None:
        sections.append(band_section(answer.band))
    if comparison is not None:
        sections.append(Section("Beside the logged run", tuple(comparison_blocks(comparison))))
    legend = OF_THE_TOLERANCE if answer.band is None else OF_THE_ROBOTS
    scene = Scene(figure(p, times, answer.band), TURN, legend=legend)
    why = [*_causes(answer, times), *path_plots(answer, times, series)]
    sections += [
        Section("The robot and its seam", (scene,)),
        Section("Where and why", tuple(why)),
        *_by_parts(p),
        *_what_to_change(answer),
        Section("Segments", (_segments(p.verdict), *_splines(p))),
        Section("Joints", tuple(joint_blocks(p, times, series))),
        *_loads(answer),
        Section("Feasibility", tuple(limit_blocks(p))),
        Section("What this rests on", tuple(_basis(answer))),
    ]
    return Report(
        title=p.job.description.title or p.job.name,
        subtitle=_subtitle(p),
        sections=tuple(sections),
        verdict=tuple(_verdict(answer)),
        series=series,
        start=_first_sample(answer, times),
    )


def _basis(answer: Answer) -> Iterator[Block]:
    """What the prediction rests on: what was drawn, sources, inputs."""
    band = answer.band
    yield from uncertainty_blocks(band)
    yield from basis_blocks(answer.prediction, None if band is None else band.seed)


def _loads(answer: Answer) -> Iterator[Section]:
    """Peaks on bearings and in links along the commanded motion."""
    if answer.loads is not None:
        yield Section("Loads on bearings and links", load_blocks(answer.loads))


def _subtitle(p: Prediction) -> str:
    """What was run, on what, how."""
    d = p.job.description
    robot = p.robot.description.title or p.robot.name
    mounted = p.robot.description.mounted.tool
    tool = f" with {mounted}" if mounted else ""
    speed = MILLIMETRES_PER_SECOND.with_unit(d.speed)
    joints = f"{d.model.words}, friction {d.model.friction}, servo {d.model.servo}"
    return f"{p.job.name}: {robot}{tool}, {speed}, {p.method} method, {joints}"


def _first_sample(answer: Answer, times: Floats) -> int:
    """The sample of the largest error."""
    worst = max(answer.explanations, key=lambda x: abs(x.span.peak_m), default=None)
    return 0 if worst is None else sample_at(times, worst.time)


def _verdict(answer: Answer) -> Iterator[Text]:
    p, comparison = answer.prediction, answer.comparison
    if answer.band is not None:
        yield from band_verdict(answer.band)
    else:
        sentence = verdict_sentence(p, logged=comparison is not None)
        yield Text(sentence, "good" if p.verdict.within else "bad")
        if comparison is not None:
            yield logged_verdict(comparison)
    for caution in p.cautions:
        yield Text(caution, "bad")


def _outcome(p: Prediction, band: Band | None) -> Iterator[Block]:
    """What happened on the seam."""
    yield Text(tolerance_use(p.verdict))
    for event in p.log.events:
        yield Text(f"At {SECONDS.with_unit(event.time)}: {event.text}", "bad")
    yield from _outside_window(p.verdict)
    yield Text(_judged_where(p), "soft")
    yield from _data(p)
    yield from verdict_data(p, band)


def _judged_where(p: Prediction) -> str:
    stretches = []
    for start, stop in p.job.process_on():
        stretches.append(f"{MILLIMETRES.text(start)} to {MILLIMETRES.with_unit(stop)}")
    tolerance = p.verdict.tolerance
    return (
        f"Tolerance ±{ALLOWED.with_unit(tolerance.lateral)} lateral, "
        f"±{ALLOWED.with_unit(tolerance.vertical)} vertical, judged where the process is on: "
        f"{', '.join(stretches)} of {MILLIMETRES.with_unit(p.job.seam.length)}."
    )


def _outside_window(verdict: Verdict) -> Iterator[Block]:
    """Where the tool speed leaves the process window of its segment."""
    records = [asdict(span) for span in verdict.outside_window]
    columns = (
        Column("segment", "outside of the process window"),
        Column("from_m", "from", MILLIMETRES),
        Column("to_m", "to", MILLIMETRES),
        Column("speed_m_s", "tool speed", SPEED),
    )
    bad = frozenset(range(len(records)))
    yield Table(columns, records, "outside_window", bad=bad, most=SHOWN)


def _data(p: Prediction) -> Iterator[Data]:
    """What result.json says of job and verdict."""
    d = p.job.description
    yield Data("job", p.job.name)
    yield Data("robot", p.robot.name)
    yield Data("tool", p.robot.description.mounted.tool)
    yield Data("method", p.method)
    yield Data("model", asdict(d.model))
    yield Data("speed_m_s", d.speed)
    yield Data("length_m", p.job.seam.length)
    yield Data("duration_s", p.job.seam.duration)
    yield Data("process_on_m", p.job.process_on())
    yield Data("verdict", verdict_record(p.verdict))
    yield Data("verdict.servo", asdict(p.servo))
    yield Data("verdict.cautions", list(p.cautions))
    yield Data("events", [event_record(event) for event in p.log.events])


def _causes(answer: Answer, times: Floats) -> Iterator[Block]:
    """Where the errors are largest, and why."""
    yield Data("spans", [_span(x, answer) for x in answer.prediction.verdict.spans])
    yield Data("peaks", [_peak(x) for x in answer.explanations if x.within])
    if not answer.explanations:
        yield Text("No causes were sought.", "soft")
    records = [_explained(x) for x in answer.explanations]
    samples: list[int | None] = [sample_at(times, x.time) for x in answer.explanations]
    for span in _unexplained(answer):
        records.append(_row(span, "out", "not sought"))
        samples.append(None)
    if not records:
        return
    columns = (
        Column("peak_at_m", "at", MILLIMETRES),
        Column("place", "span mm", page_only=True),
        Column("direction", "direction"),
        Column("peak", "peak"),
        Column("state", "tolerance"),
        Column("causes", "causes, share explained"),
    )
    bad = frozenset(k for k, record in enumerate(records) if record["state"] == "out")
    yield Table(columns, records, bad=bad, samples=tuple(samples), most=SHOWN)
    yield Text(
        "Each cause was taken out of the simulation by itself; its share is "
        "1 - |error without it| / |error| over the span. Effects act on each other through the "
        "servo, so shares need not sum to one.",
        "soft",
    )


def _by_parts(p: Prediction) -> Iterator[Section]:
    """What the controller sees of the error, and what it does not, where the two differ."""
    parts = error_parts(p)
    if parts is None:
        return
    columns = (
        Column("part", "part", words=lambda record: PART_WORDS[record["part"]]),
        Column("lateral_peak_m", "lateral peak", MICROMETRES),
        Column("lateral_rms_m", "rms", MICROMETRES),
        Column("vertical_peak_m", "vertical peak", MICROMETRES),
        Column("vertical_rms_m", "rms", MICROMETRES),
    )
    moving = p.path_error.speed_ref > 0
    thin = slice(None, None, max(1, int(moving.sum()) // PART_SAMPLES))
    charts = []
    for direction in ("lateral", "vertical"):
        layers = []
        for name, values in getattr(parts, direction).items():
            words = PART_WORDS[name].partition(":")[0].partition(" of ")[0]
            layers.append(Curve(words, 1e3 * parts.s[moving][thin], 1e6 * values[moving][thin]))
        axes = Axis("along the seam", "mm"), Axis("error", "µm")
        charts.append(Chart(direction, *axes, tuple(layers)))
    yield Section(
        "Motor side and link side",
        (
            Text("Parts of the error while the process is on; they add up to the total."),
            Table(columns, parts.table, "parts"),
            Multiples(tuple(charts), columns=2, shared="x", title="Part by part"),
        ),
    )


def _unexplained(answer: Answer) -> list[Span]:
    """Spans out of tolerance whose causes were not sought."""
    explained = [x.span for x in answer.explanations]
    return [span for span in answer.prediction.verdict.spans if span not in explained]


def _explained(x: Explanation) -> Record:
    causes = "; ".join(_cause(cause) for cause in x.causes)
    return _row(x.span, "within" if x.within else "out", causes or "none above 10 %")


def _row(span: Span, state: str, causes: str) -> Record:
    """A span as it is shown."""
    return {
        "peak_at_m": span.peak_at_m,
        "place": f"{MILLIMETRES.text(span.from_m)} to {MILLIMETRES.text(span.to_m)}",
        "direction": span.direction,
        "peak": peak_size(span),
        "state": state,
        "causes": causes,
    }


def _cause(cause: Cause) -> str:
    joint = f" ({cause.joint})" if cause.joint else ""
    return f"{cause.cause}{joint} {PERCENT.with_unit(cause.share)}"


def _span(span: Span, answer: Answer) -> Record:
    """A span out of tolerance with its causes, as plain values."""
    causes: tuple[Cause, ...] = ()
    for x in answer.explanations:
        if not x.within and x.span == span:
            causes = x.causes
    return {**asdict(span), "causes": [asdict(cause) for cause in causes]}


def _peak(x: Explanation) -> Record:
    """A peak within tolerance with its causes, as plain values."""
    return {
        **asdict(x.span),
        "time_s": x.time,
        "causes": [asdict(cause) for cause in x.causes],
    }


def _what_to_change(answer: Answer) -> Iterator[Section]:
    """Advice, where it was asked for."""
    if answer.advice is None:
        yield Section("", (Data("advice", None),))
        return
    from armtwin.prediction.advice_report import advice_section

    yield advice_section(answer.advice)


def _segments(verdict: Verdict) -> Table:
    """Largest errors of each segment."""
    columns = (
        Column("name", "segment"),
        Column("from_m", "from", MILLIMETRES),
        Column("to_m", "to", MILLIMETRES),
        Column("lateral_peak_m", "lateral", MICROMETRES),
        Column("vertical_peak_m", "vertical", MICROMETRES),
        Column("lag_m", "lag", MICROMETRES),
        Column("speed_m_s", "speed", SPEED, words=_speeds, page_only=True),
        Column("lateral_off_m", "lateral off", MICROMETRES, page_only=True),
        Column("vertical_off_m", "vertical off", MICROMETRES, page_only=True),
        Column("out_of_tolerance_m", "out", MILLIMETRES),
    )
    bad = frozenset(k for k, x in enumerate(verdict.segments) if x.out_of_tolerance_m > 0)
    return Table(columns, segment_records(verdict), "segments", bad=bad)


def _splines(p: Prediction) -> Iterator[Block]:
    """How far splines leave the straight lines between their points."""
    yield Data("splines", [asdict(spline) for spline in p.job.splines])
    for spline in p.job.splines:
        largest = FINE_MILLIMETRES.with_unit(spline.deviation)
        place = MILLIMETRES.with_unit(spline.at_m)
        yield Text(
            f"The spline '{spline.name}' leaves the straight lines between its points by at most "
            f"{largest}, at {place}."
        )


def _speeds(record: Record) -> str:
    """Lowest and highest tool speed."""
    low, high = record["speed_m_s"]
    return "-" if np.isnan(low) else f"{SPEED.text(low)} to {SPEED.text(high)}"
