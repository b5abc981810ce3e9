"""What a sweep shows: how many runs hold, the best few, maps, placements over the cell."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from armtwin.files.digests import file_name
from armtwin.maths.batch import Floats, NamedArrays, Record, Values
from armtwin.notebook import sections as show
from armtwin.notebook.cards import words_that_differ
from armtwin.notebook.numbers import FINE_PERCENT, PERCENT, SECONDS
from armtwin.notebook.sampling import Deferred, encode_series
from armtwin.prediction.answer import Answer
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.plots import select_times, series_of
from armtwin.prediction.sections.scene import figure
from armtwin.sweeps.maps import map_blocks
from armtwin.sweeps.result import SweepResult
from armtwin.sweeps.rows import FAILED, REFUSED, STOPS

POSITION = "workpiece.position."
COLOURS = {"holds": 0.25, "may hold": 0.75, "does not hold": 1.0}  # ratios of the viewer's colours


@dataclass(frozen=True, eq=False)
class BestPlacement:
    """The best run of a sweep that moves the workpiece, predicted again when it is shown."""

    result: SweepResult

    @cached_property
    def prediction(self) -> Prediction | None:
        """The best run; None where none was run to its end, or nothing is moved."""
        return self.result.prediction(self.result.best(1)[0]) if self.moves else None

    @property
    def moves(self) -> bool:
        """Whether the workpiece is moved, and some run was run to its end."""
        moved = any(axis.varies for axis in self.result.sweep.axes if _moves(axis.key))
        return moved and bool(self.result.best(1))

    def series(self) -> NamedArrays:
        """Series of the best run, for the player."""
        if self.prediction is None:
            return {}
        return series_of(Answer(self.prediction), select_times(self.prediction))

    def blocks(self) -> Iterator[show.Scene]:
        """The best run, with a tile for each place of the workpiece that was tried."""
        if self.prediction is None:
            return
        tiles = _tiles(self.result)
        model = figure(self.prediction)
        points = np.array(list(tiles), dtype=np.float64)
        ratios = np.array(list(tiles.values()), dtype=np.float64)
        model["map"] = {
            "points": encode_series(points.ravel()),
            "ratio": encode_series(ratios),
            "tile": _tile_size(points),
        }
        others = any(not _moves(axis.key) for axis in self.result.sweep.axes)
        what = "the best run there" if others else "its run"
        caption = (
            f"The robot on the best placement, run {self.result.best(1)[0] + 1}; each tile is a "
            f"place of the workpiece's frame, coloured by {what}; grey where it cannot be run."
        )
        yield show.Scene(model, caption)


def _moves(key: str) -> bool:
    """Whether a key moves the workpiece."""
    return key.startswith(POSITION)


def _tiles(result: SweepResult) -> dict[Values, float]:
    """Places of the workpiece with the ratio of the best run there, -1 where none can be run."""
    found: dict[Values, float] = {}
    ranked = result.best(len(result.rows))
    rest = sorted(set(range(len(result.rows))) - set(ranked))
    for number in [*ranked, *rest]:
        row = result.rows[number]
        place = list(result.sweep.base(number).job.description.workpiece.position)
        for key, value in result.sweep.inputs(number).items():
            if _moves(key):
                place[int(key.removeprefix(POSITION)) - 1] = float(value)
        ratio = -1.0 if row.ratio is None else row.ratio
        if row.probability is not None:
            ratio = COLOURS[row.outcome]
        found.setdefault(tuple(place), ratio)
    return found


def _tile_size(points: Floats) -> list[float]:
    """Width and depth of a tile: nearly the distance to the next one."""
    found = []
    for values in points.T[:2]:
        steps = np.diff(np.unique(np.round(values, 9)))
        found.append(0.92 * float(steps.min()) if len(steps) else 0.05)
    return found


BEST = 8  # runs that are listed
REASONS = 8  # kinds of failures that the terminal lists


def describe_sweep(result: SweepResult) -> show.Report:
    """How many runs hold, the best few, maps, placements over the cell."""
    d = result.sweep.description
    placed = BestPlacement(result)
    first = int(placed.moves)  # maps beside the robot; without it the first is the picture
    several = [axis.label for axis in result.sweep.axes if axis.varies]
    return show.Report(
        title=d.title or d.name,
        subtitle=f"{d.name}: {len(result.rows)} runs, {', '.join(several)}",
        sections=(
            show.Section("Runs", _overview(result)),
            show.Section("The best runs", _best(result)),
            show.Section("Map", islice(map_blocks(result), first), page_only=True, role="numbers"),
            show.Section("More maps", islice(map_blocks(result), first, None), page_only=True),
            show.Section("Over the cell", placed.blocks(), page_only=True, role="picture"),
            show.Section("Runs without an answer", _reasons(result)),
        ),
        verdict=(_verdict(result),),
        series=Deferred(placed.series),
    )


def _verdict(result: SweepResult) -> show.Text:
    held, count = result.held, len(result.rows)
    band = result.sweep.description.band
    if not result.best(1):
        return show.Text(f"None of {count} runs could be run to its end.", "bad")
    (best,) = result.best(1)
    words = f"best is run {best + 1}: {_inputs(result, best)}: {result.rows[best].words}"
    if not held:
        how = "holds with 95 % confidence" if band else "holds, not even nominally"
        return show.Text(f"None of {count} runs {how}; {words}.", "bad")
    how = "hold with 95 % confidence" if band else "hold nominally"
    return show.Text(f"{held} of {count} runs {how}; {words}.", "good")


def _inputs(result: SweepResult, number: int) -> str:
    """Job, robot and values of a run, as far as they differ."""
    asked = result.sweep
    rows = words_that_differ([x.job.name for x in asked.bases], [x.robot for x in asked.bases])
    words = list(rows[number // asked.design.count])
    for axis, value in zip(result.sweep.axes, result.sweep.point(number), strict=True):
        if axis.varies:
            words.append(axis.named(value))
    return ", ".join(words)


def _facts(result: SweepResult) -> Iterator[tuple[str, str]]:
    d, course = result.sweep.description, result.course
    jobs = dict.fromkeys(base.job.name for base in result.sweep.bases)
    robots = dict.fromkeys(base.robot for base in result.sweep.bases)
    yield "jobs", ", ".join(jobs)
    yield "robots", ", ".join(robots)
    for axis in result.sweep.axes:
        count = "" if d.design in ("sobol", "latin hypercube") else f", {len(axis.values)} values"
        factor = "times " if axis.relative else ""
        yield axis.label, f"{factor}{axis.ends}{count}"
    yield "design", d.design
    yield "runs", "nominal and with 90 % intervals" if d.band else "nominal"
    yield "computed now", f"{course.computed}, on {course.place}" if course.computed else "none"
    yield "known before", str(course.known) if course.known else ""
    yield "took", f"{course.seconds:.3g} s" if course.computed else ""
    cost = float(np.nanmean(result.numbers["cpu_s"]))
    yield "cost of a run", f"{cost:.2g} s of one core"


def _overview(result: SweepResult) -> show.Blocks:
    """What was asked for and what it took."""
    yield show.Facts(tuple(_facts(result)))
    asked = result.sweep
    yield show.Data(
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
    yield show.Data({"axes": axes, "computed": result.course.computed})


def _best(result: SweepResult) -> show.Blocks:
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
    columns = show.list_columns(
        run=("run", lambda record: str(record["run"])),
        inputs="inputs",
        outcome="outcome",
        ratio=("of tolerance", FINE_PERCENT),
    )
    if result.sweep.description.band:
        columns += show.list_columns(probability=("P", PERCENT))
    columns += show.list_columns(duration_s=("time", SECONDS))
    if result.sweep.origin:
        columns += (
            show.Column("report", "report", words=_report, link=lambda x: x["report"] or ""),
        )
    bad = frozenset(k for k, x in enumerate(records) if x["outcome"] != "holds")
    yield show.Table(columns, records, "best", bad=bad)
    if records and result.sweep.origin:
        file = file_name(result.sweep.origin, "SWEEP")
        yield show.Text(
            f"`armtwin sweep {file} --report RUN` makes the report of a run, "
            "with causes, from what is kept; it is linked here then.",
            "soft",
        )


def _report(record: Record) -> str:
    return "report" if record["report"] else f"--report {record['run']}"


def _reasons(result: SweepResult) -> show.Blocks:
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
    columns = show.list_columns(
        outcome="outcome",
        count=("runs", lambda record: str(record["count"])),
        first=("first", lambda record: str(record["first"])),
        sentence="such as",
    )
    yield show.Table(columns, records, "without_answer", most=REASONS)
