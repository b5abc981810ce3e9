"""What an answer shows: verdict first, then where, why, and what to change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from armtwin.analysis.bearing_loads import load_blocks
from armtwin.maths.batch import Floats, NamedArrays, Record
from armtwin.notebook import numbers, sections as show
from armtwin.notebook.sampling import Deferred, sample_at
from armtwin.prediction.answer import Answer
from armtwin.prediction.band.band import Band
from armtwin.prediction.causes import Explanation, explain, find_worst
from armtwin.prediction.cautions import describe_judged
from armtwin.prediction.circle import circle_test
from armtwin.prediction.comparison import Comparison
from armtwin.prediction.correction import LONGEST_TRIAL
from armtwin.prediction.parts import error_parts
from armtwin.prediction.predict import Prediction
from armtwin.prediction.seams import program_blocks, state_seams
from armtwin.prediction.sections import interval as intervals
from armtwin.prediction.sections.basis import basis_blocks, joint_blocks, limit_blocks
from armtwin.prediction.sections.causes import SHOWN, cause_blocks, state_cause, state_place
from armtwin.prediction.sections.headline import number_of, verdict_text
from armtwin.prediction.sections.plots import path_plots, select_times, series_of
from armtwin.prediction.sections.scene import figure
from armtwin.prediction.verdict import Verdict

TURN = (
    "Drag or use the arrow keys to turn the view. Exaggerated, the tube around the path as it was "
    "run is the tolerance, exaggerated alike."
)
SPEED = numbers.Number(1e3, "mm/s", places=1)
FINE_MILLIMETRES = numbers.Number(1e3, "mm", digits=3)


@dataclass(frozen=True, eq=False)
class _Shown:
    """What sections of an answer share, computed when it is first read."""

    answer: Answer

    @cached_property
    def explanations(self) -> tuple[Explanation, ...]:
        """Causes, computed now where the answer has none."""
        found = self.answer.explanations
        return explain(self.answer.prediction) if found is None else found

    @property
    def worst(self) -> Explanation | None:
        """What explains the largest error; None where nothing is to be explained."""
        return find_worst(self.explanations)

    @cached_property
    def times(self) -> Floats:
        """Times of the samples that are shown, (k,) [s]."""
        return select_times(self.answer.prediction)

    @cached_property
    def series(self) -> NamedArrays:
        """Series of the plots at these times."""
        return series_of(self.answer, self.times)

    @cached_property
    def plots(self) -> tuple[show.Plot, ...]:
        """Errors and speed along the seam, first the error that decides."""
        found = path_plots(self.answer.prediction, self.explanations, self.times, self.series)
        peaks = self.answer.prediction.verdict.peaks
        decisive = self.answer.prediction.verdict.worst if peaks else "lateral"
        if self.worst is not None:
            decisive = self.worst.span.direction
        return tuple(sorted(found, key=lambda plot: plot.lines[0].series != decisive))


def describe_prediction(prediction: Prediction) -> show.Report:
    """A predicted job, its causes sought when they are first shown."""
    return describe_answer(Answer(prediction, explanations=None))


def draw_prediction(prediction: Prediction) -> show.Report:
    """A predicted job for its figures, for which no causes are sought."""
    return describe_answer(Answer(prediction))


def draw_comparison(comparison: Comparison) -> show.Report:
    """A logged run beside the predicted one for its figures, for which no causes are sought."""
    return describe_answer(Answer(comparison.prediction, comparison=comparison))


def describe_comparison(comparison: Comparison) -> show.Report:
    """A logged run beside the predicted one, and all that the prediction shows."""
    return describe_answer(Answer(comparison.prediction, None, comparison=comparison))


def describe_answer(answer: Answer) -> show.Report:
    """A predicted job, with a logged run beside it where one was compared."""
    p, shown = answer.prediction, _Shown(answer)
    loads = () if answer.loads is None else load_blocks(answer.loads)
    sections = [
        show.Section("", _sentences(shown), role="answer"),
        show.Section(
            "Predicted run" if answer.comparison else "", _outcome(answer), role="numbers"
        ),
        show.Section("", _data(answer)),
        show.Section(
            "Uncertainty", () if answer.band is None else intervals.interval_blocks(answer.band)
        ),
        show.Section("Seams and cycle time", program_blocks(p, answer.band)),
        show.Section("The robot and its seam", _scene(shown), role="picture"),
        show.Section("Where and why", _where_and_why(shown)),
        show.Section("Motor side and link side", _parts(p)),
        show.Section("Circle test", _circle(p)),
        show.Section("What to change", _changes(answer)),
        show.Section("Segments", _segments(p)),
        show.Section("Joints", _joints(shown)),
        show.Section("Loads on bearings and links", loads),
        show.Section("Feasibility", limit_blocks(p)),
        show.Section("What this assumes", _basis(answer), role="assumed"),
    ]
    return show.Report(
        title=p.job.description.title or p.job.name,
        subtitle=_subtitle(p),
        sections=(*_show_comparison(answer), *sections),
        verdict=tuple(_verdict(answer)),
        series=Deferred(lambda: shown.series),
    )


def _subtitle(p: Prediction) -> str:
    """What was run, on what, how."""
    d = p.job.description
    robot = p.robot.description.title or p.robot.name
    mounted = p.robot.description.mounted.tool
    tool = f" with {mounted}" if mounted else ""
    speed = numbers.MILLIMETRES_PER_SECOND.with_unit(d.speed)
    joints = f"{d.model.words}, friction {d.model.friction}, servo {d.model.servo}"
    return f"{p.job.name}: {robot}{tool}, {speed}, {p.method} method, {joints}"


def _verdict(answer: Answer) -> Iterator[show.Text]:
    p = answer.prediction
    if answer.comparison is not None:
        yield answer.comparison.verdict_text
    if answer.band is not None:
        yield from intervals.interval_verdict(answer.band)
    else:
        yield verdict_text(p, beside="" if answer.comparison is None else "Predicted: ")
        yield show.Text(describe_judged(p))
    if answer.is_brief:
        return
    for remark in p.remarks:
        yield show.Text(remark)
    for caution in p.cautions:
        yield show.Text(caution, "bad")


def _show_comparison(answer: Answer) -> Iterator[show.Section]:
    """A logged run, where one was compared."""
    if answer.comparison is not None:
        yield show.Section("Beside the logged run", answer.comparison.blocks())


def _sentences(shown: _Shown) -> show.Blocks:
    """Where, why, and what to change: a sentence each."""
    p = shown.answer.prediction
    yield show.Facts(
        (
            ("Where", state_place(p, shown.worst)),
            ("Why", _why(shown)),
            ("Seams", state_seams(p)),
            ("What to change", _remedy(shown.answer)),
            ("After it", _after(shown.answer)),
        )
    )


def _why(shown: _Shown) -> str:
    """What stops the robot, or why the error is largest where it is."""
    p = shown.answer.prediction
    if p.verdict.stopped is not None:
        return p.log.events[-1].text
    return state_cause(shown.worst)


def _remedy(answer: Answer) -> str:
    """What to change, as it was searched; the corrected set-points where nothing was asked for."""
    name, found = answer.prediction.job.argument, answer.correction
    if answer.advice is not None:
        return answer.advice.verdict_text.text
    if answer.holds:
        return "Nothing: the seam holds as it is."
    if found is None and answer.remedy:
        return answer.remedy
    search = f"`armtwin predict {name} --advise` searches other changes."
    if found is None and answer.prediction.motion.trajectory.duration > LONGEST_TRIAL:
        return f"`armtwin correct {name}` corrects set-points; {search}"
    if found is None or not found.helps:
        return search
    return f"{found.gain} {'' if found.band else search}".strip()


def _after(answer: Answer) -> str:
    """The verdict with corrected points, where it was sampled."""
    if answer.correction is None or answer.correction.decisive.band is None:
        return ""
    decisive = answer.correction.decisive
    return verdict_text(decisive.prediction, decisive.band).text


def _outcome(answer: Answer) -> show.Blocks:
    """What happened on the seam."""
    p = answer.prediction
    yield show.Facts(tuple(_facts(p, answer.band)))
    if answer.band is not None:
        yield intervals.interval_bars({"": answer.band}, "Dashed: the tolerance.")
    for event in p.log.events:
        yield show.Text(f"At {numbers.SECONDS.with_unit(event.time)}: {event.text}", "bad")
    yield _outside_window(p.verdict)


def _facts(p: Prediction, band: Band | None) -> Iterator[tuple[str, str]]:
    """Largest errors and their intervals beside what is allowed, and where they are judged."""
    for k, (direction, peak) in enumerate(p.verdict.peaks.items()):
        number = number_of(direction)
        allowed = number.with_unit(getattr(p.verdict.tolerance, direction))
        interval = ""
        if band is not None:
            low, _, high = band.bounds[k]
            interval = f", 90 % interval {number.text(low)} to {number.with_unit(high)}"
        yield (
            f"largest {direction} error",
            f"{number.with_unit(peak)}{interval}, ±{allowed} allowed",
        )
    yield (
        "out of tolerance",
        f"{numbers.MILLIMETRES.with_unit(p.verdict.out_of_tolerance_m)} of the seam",
    )
    stretches = []
    for start, stop in p.job.process_on():
        stretches.append(
            f"{numbers.MILLIMETRES.text(start)} to {numbers.MILLIMETRES.with_unit(stop)}"
        )
    length = numbers.MILLIMETRES.with_unit(p.job.seam.length)
    yield "process on", f"{', '.join(stretches)} of {length}"


def _outside_window(verdict: Verdict) -> show.Table:
    """Where the tool speed is outside the process window of its segment."""
    records = [asdict(span) for span in verdict.outside_window]
    columns = show.list_columns(
        segment="outside the process window",
        from_m=("from", numbers.MILLIMETRES),
        to_m=("to", numbers.MILLIMETRES),
        speed_m_s=("tool speed", SPEED),
    )
    bad = frozenset(range(len(records)))
    return show.Table(columns, records, "outside_window", bad=bad, most=SHOWN)


def _data(answer: Answer) -> Iterator[show.Data]:
    """What result.json says of job and verdict."""
    p = answer.prediction
    d = p.job.description
    yield show.Data(
        {
            "job": p.job.name,
            "robot": p.robot.name,
            "tool": p.robot.description.mounted.tool,
            "method": p.method,
            "model": asdict(d.model),
            "speed_m_s": d.speed,
            "length_m": p.job.seam.length,
            "duration_s": p.job.seam.duration,
            "process_on_m": p.job.process_on(),
            "verdict": p.verdict.record,
            "verdict.servo": asdict(p.servo),
            "verdict.cautions": list(p.cautions),
            "verdict.remarks": list(p.remarks),
            "verdict.judged_m": p.job.judged_length,
            "verdict.asked_m": p.job.asked_length,
            "events": [event.record for event in p.log.events],
        }
    )
    yield intervals.verdict_data(p, answer.band)


def _scene(shown: _Shown) -> show.Blocks:
    """The robot in 3-D; the page begins where the error is largest."""
    answer, times = shown.answer, shown.times
    worst, p = shown.worst, answer.prediction
    start = 0
    if worst is not None:
        start = sample_at(times, worst.time)
    elif p.verdict.peaks:
        start = sample_at(times, p.time_of_peak(p.verdict.worst))
    legend = show.OF_THE_TOLERANCE if answer.band is None else _legend(answer.band)
    model = figure(p, answer.band)
    yield show.Scene(model, TURN, legend=legend, start=start)
    yield shown.plots[0]


def _legend(band: Band) -> tuple[str, str, str]:
    """What the colours of the seam say of the variants."""
    window = intervals.describe_window(band)
    return f"95 % of the variants hold within {window} of it", "fewer", "most are out (wider)"


def _where_and_why(shown: _Shown) -> show.Blocks:
    p, explanations = shown.answer.prediction, shown.explanations
    yield from cause_blocks(p.verdict.spans, explanations, shown.times)
    yield from shown.plots[1:]


def _parts(p: Prediction) -> show.Blocks:
    """What the controller sees of the error, and what it does not, where the two differ."""
    parts = error_parts(p)
    if parts is not None:
        yield from parts.blocks()


def _circle(p: Prediction) -> show.Blocks:
    """How round it is, of a job that runs a whole circle."""
    test = circle_test(p)
    if test is not None:
        yield from test.blocks()


def _changes(answer: Answer) -> show.Blocks:
    """Advice, where it was asked for, and what corrected points make of it."""
    if answer.advice is None:
        yield show.Data({"advice": None})
    else:
        yield answer.advice.verdict_text
        yield from answer.advice.blocks()
    if answer.correction is not None:
        yield show.Text(answer.correction.gain)
        yield from answer.correction.charts()


def _segments(p: Prediction) -> show.Blocks:
    """Largest errors of each segment, and deviation of splines from their points."""
    records = [asdict(segment) for segment in p.verdict.segments]
    own = p.job.description.segment
    lines = [own[x.move].line for x in p.job.seam.path.stretches]
    for record, line in zip(records, lines, strict=True):
        record |= {"line": line} if line else {}
    columns = (
        show.Column("name", "segment"),
        *((show.Column("line", "line"),) if any(lines) else ()),
        show.Column("from_m", "from", numbers.MILLIMETRES),
        show.Column("to_m", "to", numbers.MILLIMETRES),
        *show.Column.alike(
            numbers.MICROMETRES, lateral_peak_m="lateral", vertical_peak_m="vertical", lag_m="lag"
        ),
        show.Column("speed_m_s", "speed", SPEED, words=_speeds, page_only=True),
        show.Column("lateral_off_m", "lateral off", numbers.MICROMETRES, page_only=True),
        show.Column("vertical_off_m", "vertical off", numbers.MICROMETRES, page_only=True),
        show.Column("out_of_tolerance_m", "out", numbers.MILLIMETRES),
    )
    bad = frozenset(k for k, x in enumerate(records) if x["out_of_tolerance_m"] > 0)
    yield show.Table(columns, records, "segments", bad=bad)
    yield show.Data({"splines": [asdict(spline) for spline in p.job.splines]})
    for spline in p.job.splines:
        largest = FINE_MILLIMETRES.with_unit(spline.deviation)
        place = numbers.MILLIMETRES.with_unit(spline.at_m)
        yield show.Text(
            f"The spline '{spline.name}' deviates from the straight lines of its points by at most "
            f"{largest}, at {place}."
        )


def _speeds(record: Record) -> str:
    """Lowest and highest tool speed."""
    low, high = record["speed_m_s"]
    return "-" if np.isnan(low) else f"{SPEED.text(low)} to {SPEED.text(high)}"


def _joints(shown: _Shown) -> show.Blocks:
    yield from joint_blocks(shown.answer.prediction, shown.times, shown.series)


def _basis(answer: Answer) -> show.Blocks:
    """What the prediction assumes: what was varied, sources, inputs."""
    band = answer.band
    yield from intervals.uncertainty_blocks(band)
    yield from basis_blocks(answer.prediction, None if band is None else band.seed)
