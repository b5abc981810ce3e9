"""What a measured tool path shows of itself beside the predicted one."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import product

import numpy as np

from armtwin.files.digests import digest_of, file_name
from armtwin.files.versions import versions
from armtwin.maths.batch import Record
from armtwin.notebook.cards import format_count
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import MICROMETRES, PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Data, Report, Section, Table, Text, list_columns
from armtwin.prediction.agreement import agreement_table
from armtwin.prediction.reference_comparison import PATH
from armtwin.prediction.registration import CLOCK, FRAME, POINT_PRIOR, TOOL
from armtwin.prediction.tool_path import ToolPathComparison
from armtwin.prediction.verdict import DIRECTIONS

FINE = Number(digits=7)
HALF_INTERVAL = 1.96  # standard deviations to the end of a 95 % interval
VECTORS = (("rotation", "deg", FRAME), ("position", "mm", FRAME), ("point", "mm", TOOL))


def describe_tool_path(comparison: ToolPathComparison) -> Report:
    """Measured beside predicted errors, the registration, and the runs."""
    c = comparison
    files = ", ".join(file_name(log.origin, "a log") for log in c.logs)
    return Report(
        title=f"{c.job.name}: measured tool path of {format_count(len(c.runs), 'run')}",
        subtitle=files,
        sections=(
            Section("", _outcome(c)),
            Section("Registration", _registration(c)),
            Section("Measured and predicted", _charts(c), page_only=True),
            Section("", _data(c)),
        ),
        verdict=(_verdict(c),),
    )


def _verdict(c: ToolPathComparison) -> Text:
    noise = MICROMETRES.with_unit(c.noise)
    if c.exceeded:
        where = " and ".join(c.exceeded)
        return Text(
            f"The measured path exceeded the tolerance ({where}) beyond its noise of {noise}.",
            "bad",
        )
    return Text(f"The measured path was within the tolerance, within its noise of {noise}.", "good")


def _outcome(c: ToolPathComparison) -> Blocks:
    yield Table(
        list_columns(
            direction="direction",
            measured=("measured", MICROMETRES),
            predicted=("predicted", MICROMETRES),
            low=("5 %", MICROMETRES),
            high=("95 %", MICROMETRES),
            repeatability=("repeatability", MICROMETRES),
            registration=("registration", MICROMETRES),
        ),
        [_peaks(c, direction) for direction in PATH],
        "comparison.peaks",
    )
    yield Text(
        "Peaks with the process on; repeatability is the standard deviation between runs without "
        "the instrument's noise, the floor of any prediction; registration the standard deviation "
        "that it adds."
    )
    yield agreement_table(c.rows, "pred.", "share_explained")
    if c.orientation is not None:
        measured, predicted = np.degrees(c.orientation)
        yield Text(
            f"Orientation beside the seam's: at most {measured:.3g}° measured, {predicted:.3g}° "
            "predicted; a constant turn between target and tool is not measured."
        )
    if CLOCK not in c.registration.given:
        yield Text("The clock is estimated: a constant lag along the path is not measured.")
    if FRAME not in c.registration.given:
        yield Text(
            "The frame is estimated from the path: an error of the whole path that is a shift or a "
            "turn is not measured."
        )
    if len(c.runs) == 1:
        yield Text("One run: measure several for the repeatability.")


def _peaks(c: ToolPathComparison, direction: str) -> Record:
    measured, predicted = np.abs(c.channels[direction][:, c.is_judged]).max(axis=1)
    low = high = None
    if c.band is not None and direction in DIRECTIONS:
        bounds = dict(zip(c.band.ensemble.directions, c.band.bounds, strict=True))
        if direction in bounds:
            low, high = bounds[direction][0], bounds[direction][-1]
    return {
        "direction": direction,
        "measured": float(measured),
        "predicted": float(predicted),
        "low": low,
        "high": high,
        "repeatability": c.spread.get(direction),
        "registration": c.registration_deviation(direction),
    }


def _registration(c: ToolPathComparison) -> Blocks:
    columns = list_columns(
        name="quantity",
        value=("value", FINE),
        half=("± (95 %)", PLAIN),
        unit="unit",
        source="source",
    )
    yield Table(columns, list(_rows(c)), "comparison.registration")
    yield Text(
        "Frame of the instrument in the robot's base, rotation as a vector; point in the tool's "
        "frame; clock is the instrument's time at which the job begins."
    )
    found = c.registration
    if not found.is_determined.all():
        yield Text(
            "The tool turns too little to determine all of it: the measured point is taken as the "
            f"tool's, to ±{1e3 * POINT_PRIOR:.0f} mm, which only shifts the frame."
        )
    if found.memory > 2:
        yield Text(
            f"Residuals of {MICROMETRES.with_unit(found.noise)} are correlated over time (factor "
            f"{found.memory:.3g}): the run is not the predicted one, and the intervals are as much "
            "wider as noise of that kind makes them."
        )


def _rows(c: ToolPathComparison) -> Iterator[Record]:
    from scipy.spatial.transform import Rotation

    found = c.registration
    turn = Rotation.from_matrix(found.X[:3, :3]).as_rotvec()
    values = [*np.degrees(turn), *1e3 * found.X[:3, 3], *1e3 * found.point, *found.clocks]
    scales = [180 / np.pi] * 3 + [1e3] * 6 + [1.0] * len(found.clocks)
    names = []
    for (what, unit, group), axis in product(VECTORS, "xyz"):
        names.append((f"{what} {axis}", unit, group))
    names += [(f"clock of run {k + 1}", "s", CLOCK) for k in range(len(found.clocks))]
    halves = HALF_INTERVAL * np.array(scales) * found.std
    for k, (name, unit, group) in enumerate(names):
        is_given = group in found.given
        source = "estimated" if found.is_determined[k] else "not determined, assumed"
        yield {
            "name": name,
            "value": float(values[k]),
            "half": None if is_given else float(halves[k]),
            "unit": unit,
            "source": "given" if is_given else source,
        }


def _charts(c: ToolPathComparison) -> Iterator[Multiples]:
    charts = []
    for direction in PATH:
        layers = [
            Curve("measured" if k == 0 else "", run.time, 1e6 * getattr(run, direction), colour=6)
            for k, run in enumerate(c.runs)
        ]
        predicted = 1e6 * c.channels[direction][1]
        layers.append(Curve("predicted", c.time, predicted, colour=0, dash="solid"))
        charts.append(Chart(direction, Axis("time", "s"), Axis("", "µm"), tuple(layers)))
    yield Multiples(tuple(charts), columns=1, shared="x", title="", caption="Every run measured.")


def _data(c: ToolPathComparison) -> Blocks:
    """What only result.json shows."""
    found = c.registration
    yield Data(
        {
            "job": c.job.name,
            "robot": c.prediction.robot.name,
            "comparison.runs": len(c.runs),
            "comparison.exceeded": list(c.exceeded),
            "comparison.noise_m": c.noise,
            "comparison.repeatability_m": c.spread,
            "comparison.orientation_rad": c.orientation,
            "comparison.given": list(found.given),
            "comparison.frame": found.X,
            "comparison.frame_std": found.std[:6],
            "comparison.point_m": found.point,
            "comparison.clocks_s": found.clocks,
            "comparison.memory": found.memory,
            "model": asdict(c.job.description.model),
        }
    )
    digests = {file_name(log.origin, "log"): digest_of(log.origin) for log in c.logs}
    yield Data({"provenance.inputs_sha256": digests, "provenance.versions": versions()})
