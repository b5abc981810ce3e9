"""The report of an experiment: what was driven, what came, what was read off it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields

import numpy as np

from armtwin.files.digests import digest_of
from armtwin.identification.clamping.clamping_report import clamping_report, clamping_verdict
from armtwin.jobs.experiment_description import BenchSetup
from armtwin.jobs.experiment_run import ExperimentRun
from armtwin.jobs.features import Response
from armtwin.jobs.recreation import recreate
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.sampling import at_times, extremes
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import (
    Block,
    Column,
    Data,
    Facts,
    Line,
    Plot,
    Report,
    Section,
    Table,
    Text,
)
from armtwin.simulation.response_report import valve_words, what_sensors_show

GRID, BUCKETS = 1500, 200


def experiment_report(run: ExperimentRun) -> Report:
    """The report of an experiment."""
    d = run.experiment.description
    shown, series = _shown(run)
    sections = [Section("", tuple(_head(run))), *shown]
    verdict = _verdict(run)
    clamping = run.clamping
    if clamping is not None:
        verdict.append(Text(clamping_verdict(clamping)))
        told = clamping_report(clamping, recreate(clamping))
        sections += told.sections
    sections.append(Section("Energy", tuple(_energy(run))))
    return Report(
        title=d.title or d.name,
        subtitle=_subtitle(run),
        sections=tuple(sections),
        verdict=tuple(verdict),
        series=series,
    )


def _shown(run: ExperimentRun) -> tuple[list[Section], dict[str, Floats]]:
    """Sections on the responses, and the series that they draw."""
    if run.answer is not None:
        return what_sensors_show(run.answer)
    times = _times(run)
    responses = Section("Responses", tuple(_responses(run, times)), page_only=True)
    return [responses], _series(run, times)


def _subtitle(run: ExperimentRun) -> str:
    d = run.experiment.description
    setup = d.setup
    what = "a bench" if isinstance(setup, BenchSetup) else f"robot {setup.robot}"
    if isinstance(setup, BenchSetup) and setup.robot:
        what = f"{setup.axis} of {setup.robot} on a bench"
    if run.answer is not None:
        what = f"{what} from equilibrium, {valve_words(run.answer)}"
    held = ", clamped" if run.clamped else ""
    points = ", ".join(f"{point.kind} on {point.on}" for point in d.setpoint)
    return f"{what}{held}: {points}, {np.ptp(run.log.time):.4g} s"


def _verdict(run: ExperimentRun) -> list[Text]:
    if run.log.events:
        return [Text(event.text, "bad") for event in run.log.events]
    samples = len(run.log.time)
    told = [Text(f"The experiment ran to its end: {samples} samples are logged.")]
    for response in run.responses:
        sentence = _step_words(run, response.of)
        if sentence:
            told.append(Text(sentence))
    return told


def _step_words(run: ExperimentRun, of: str) -> str:
    """How a response answers a step, in a sentence; "" where that is not asked or not seen."""
    values = {}
    for feature in run.table:
        if feature.of == of:
            values[feature.name] = feature.value
    when, over = values.get("first_peak_time"), values.get("overshoot")
    if when is None or over is None:
        return ""
    side = "beyond" if over >= 0 else "short of"
    sentence = f"{of} peaks {1e3 * when:.4g} ms after the step, {abs(100 * over):.1f} % {side} it"
    period = values.get("period")
    if period is None:
        return f"{sentence}."
    return f"{sentence}, and swings with a period of {1e3 * period:.4g} ms."


def _head(run: ExperimentRun) -> Iterator[Block]:
    columns = (
        Column("of", "response of"),
        Column("name", "feature"),
        Column("value", "value", PLAIN),
        Column("unit", "unit"),
    )
    records = [asdict(feature) for feature in run.table]
    if records:
        yield Table(columns, records, "features")
    else:
        yield Data("features", [])
    yield Data("experiment", run.experiment.description.name)
    yield Data("events", [event.to_list() for event in run.log.events])
    origin = run.experiment.origin
    yield Data("provenance.inputs_sha256", {"experiment file": digest_of(origin)})


def _times(run: ExperimentRun) -> Floats:
    """Times that are shown: an even grid and the extremes of each response."""
    time = run.log.time
    times = [np.linspace(time[0], time[-1], min(GRID, len(time)))]
    for response in run.responses:
        times.append(extremes(time, response.got, BUCKETS))
        times.append(extremes(time, response.wanted, BUCKETS))
    return np.unique(np.concatenate(times))


def _series(run: ExperimentRun, times: Floats) -> dict[str, Floats]:
    series = {"time": times}
    for k, response in enumerate(run.responses):
        series[f"wanted{k}"] = at_times(times, response.time, response.wanted)
        series[f"got{k}"] = at_times(times, response.time, response.got)
    return series


def _responses(run: ExperimentRun, times: Floats) -> Iterator[Block]:
    for k, response in enumerate(run.responses):
        yield _response_plot(k, response, times)
    if "q_m" in run.log and "tau_m" in run.log and run.gear_ratio is not None:
        step = max(1, len(run.log.time) // 4000)
        q, tau = run.log.q_m[::step, 0], run.log.tau_m[::step, 0]
        layers = (Curve("simulated", q, tau, dash="solid"),)
        yield Chart(
            "Torque over angle", Axis("motor angle", "rad"), Axis("motor torque", "N m"), layers
        )


def _response_plot(k: int, response: Response, times: Floats) -> Plot:
    lines = [Line("response", f"got{k}", 0)]
    if response.distance is not None:
        lines.append(Line("set-point", f"wanted{k}", 6, dashed=True))
    label, unit = response.of, response.unit
    return Plot("time", "time [s]", label, unit, tuple(lines), 0, len(times), caption=label)


def _energy(run: ExperimentRun) -> Iterator[Block]:
    number = Number(1.0, "J", digits=4)
    facts = []
    values = {}
    for part in fields(run.energy):
        value = getattr(run.energy, part.name)
        values[f"{part.name}_j"] = value
        facts.append((part.name, number.with_unit(value)))
    yield Facts(facts)
    yield Data("energy", values)
