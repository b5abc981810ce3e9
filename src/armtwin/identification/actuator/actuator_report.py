"""What is shown of an actuator's identification: its oil, its valve, its flow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from armtwin.files.digests import file_name
from armtwin.identification.actuator.identify import (
    ActuatorIdentification,
    FlowIdentification,
    FoundNumber,
    ValveIdentification,
)
from armtwin.identification.actuator.oil import OilFit, resonance
from armtwin.identification.actuator.response_fit import small_signal
from armtwin.identification.actuator.valve import spool_gain
from armtwin.maths.batch import Floats
from armtwin.maths.frequency_response import FrequencyResponse
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Points
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Record, Report, Section, Table, Text

HELD = 1.645  # deviations of a normal distribution within which 90 % lie
TURN = 180 / np.pi
DOUBTFUL = 3.0  # residuals, over what the coherence lets expect, from which a fit is doubted
DRAWN = 200  # points of a fitted curve


def oil_report(result: OilFit) -> Report:
    """Oil of a cylinder from its resonances with weights."""
    title = f"{file_name(result.origin, 'resonances')}: oil of a cylinder"
    columns = (
        Column("name", "number"),
        Column("unit", "unit"),
        Column("document", "document", PLAIN),
        Column("value", "exact", PLAIN),
        Column("half_width", "± 90 %", PLAIN),
    )
    exact = result.exact
    dropped = 1 + exact.viscous * exact.leakage
    blocks: list[Block] = [
        Table(columns, result.table, "oil"),
        Text(
            "Document: the compliance is the mean of 1/(M ω²), then damping is linear in the "
            f"others; that takes 1 + B c_h for 1, which is {dropped:.3f} here. Exact: all three "
            "together; Student's intervals from how well the resonances agree.",
            "soft",
        ),
    ]
    fitted = (
        Column("mass", "mass", Number(1.0, "kg", digits=4)),
        Column("frequency", "frequency", Number(1.0, "Hz", digits=4)),
        Column("frequency_fit", "fit", Number(1.0, "Hz", digits=4)),
        Column("damping", "damping", Number(digits=3)),
        Column("damping_fit", "fit", Number(digits=3)),
    )
    rows = Table(fitted, list(_weights(result)), "weights")
    sections = (
        Section("", tuple(blocks)),
        Section("Weights", (rows,)),
        Section("Resonances over the weight", (_resonance_charts(result),), page_only=True),
    )
    weights = f"{len(result.resonances)} weights"
    return Report(title, weights, sections)


def _weights(result: OilFit) -> Iterator[Record]:
    exact = result.exact
    for row, frequency, damping in zip(
        result.resonances, exact.frequency, exact.damping, strict=True
    ):
        record = {**asdict(row), "frequency_fit": float(frequency)}
        yield {**record, "damping_fit": float(damping)}


def _resonance_charts(result: OilFit) -> Multiples:
    mass = np.array([row.mass for row in result.resonances])
    even = np.linspace(mass.min(), mass.max(), DRAWN)
    charts = []
    for k, (name, unit) in enumerate((("frequency", "Hz"), ("damping", ""))):
        measured = np.array([getattr(row, name) for row in result.resonances])
        layers = [Points("measured", mass, measured)]
        curves = []
        for label, estimate in (("exact", result.exact), ("document", result.document)):
            numbers = estimate.compliance, estimate.leakage, estimate.viscous
            curves.append(Curve(label, even, resonance(*numbers, even)[k]))
        charts.append(Chart(name, Axis("mass", "kg"), Axis(name, unit), (*layers, *curves)))
    return Multiples(tuple(charts), columns=2, shared="x")


def actuator_report(result: ActuatorIdentification) -> Report:
    """An actuator from logs of noise with several weights."""
    fit = result.fit
    sections = [Section("", tuple(_numbers(result.table, fit.misfit)))]
    for mass, gain, response in zip(result.weights, fit.gains, fit.responses, strict=True):
        fitted = gain * small_signal(fit.values, mass, response.frequency)
        charts = _bode(response, fitted)
        sections.append(Section(f"Current to speed with {mass:g} kg", (charts,), page_only=True))
    logs = ", ".join(_log_names(result.logs))
    sections.append(Section("", (Data("weights_kg", list(result.weights)),)))
    title = f"{result.prior.name}: actuator from noise"
    return Report(title, logs, tuple(sections), tuple(_doubt(fit.misfit)))


def _log_names(logs: Sequence[str]) -> list[str]:
    """Names of logs; with their folders where results of several runs are called alike."""
    names = [file_name(log, "log") for log in logs]
    if len(set(names)) == len(names):
        return names
    return [f"{Path(log).parent.name}/{name}" for log, name in zip(logs, names, strict=True)]


def valve_report(result: ValveIdentification) -> Report:
    """A valve from a log of noise on a bare piston."""
    fit = result.fit
    natural, damping, delay = fit.by_peak
    by_peak = Text(
        f"By the peak alone, {fit.peak_db:.2f} dB at {fit.peak_hz:.4g} Hz: damping {damping:.3f}, "
        f"{natural:.4g} Hz, and by the phase there a delay of {1e3 * delay:.3f} ms. Without the "
        f"square root of 1 - 2 β² it would be {fit.without_root:.4g} Hz, the slip by which "
        "document 003 has 240 Hz for 201.",
    )
    peak = {"frequency_hz": fit.peak_hz, "height_db": fit.peak_db, "natural_hz": float(natural)}
    peak |= {"damping": float(damping), "delay_s": float(delay)}
    peak["without_square_root_hz"] = fit.without_root
    fitted = fit.gain * spool_gain(fit.values, result.response.frequency)
    sections = (
        Section("", (*_numbers(result.table, fit.misfit), by_peak, Data("peak", peak))),
        Section(
            "Current to flow: oil and load of the file taken out of the speed",
            (_bode(result.response, fitted),),
            page_only=True,
        ),
    )
    title, log = f"{result.prior.name}: servovalve", file_name(result.log, "log")
    return Report(title, log, sections, tuple(_doubt(fit.misfit)))


def flow_report(result: FlowIdentification) -> Report:
    """The no-load flow of a valve from triangular set-points."""
    columns = (
        Column("current", "current", Number(1e3, "mA", digits=4)),
        Column("speed", "speed", Number(1e3, "mm/s", digits=4)),
        Column("std", "std", Number(1e3, "mm/s", digits=2)),
        Column("prior", "file", Number(1e3, "mm/s", digits=4)),
    )
    table = result.table
    points = [1e3 * np.array([row[key] for row in table]) for key in ("current", "speed", "std")]
    currents, speeds = _prior_flow(result, 1e-3 * points[0])
    layers = (
        Curve("file", 1e3 * currents, 1e3 * speeds, colour=3),
        Points("found", points[0], points[1], y_error=HELD * points[2]),
    )
    chart = Chart("No-load flow", Axis("current", "mA"), Axis("speed", "mm/s"), layers)
    note = Text(
        "Each ramp is one point: speed + leakage x force at its mean current. Between points the "
        "flow is taken as straight, beyond them as held: laps and limits need ramps of their own.",
        "soft",
    )
    sections = (
        Section("", (Table(columns, table, "flow"), note)),
        Section("The flow", (chart,), page_only=True),
    )
    title = f"{result.prior.name}: no-load flow of its valve"
    return Report(title, file_name(result.log, "log"), sections)


def _doubt(misfit: float) -> Iterator[Text]:
    """A warning where a log does not behave as the model of its set-up."""
    if misfit > DOUBTFUL:
        yield Text(
            f"The log does not fit this set-up: residuals are {misfit:.0f} times what its noise "
            "lets expect. Are weight, friction and gains of the test those that were given?",
            "bad",
        )


def _prior_flow(result: FlowIdentification, found: Floats) -> tuple[Floats, Floats]:
    """The flow that the file had, with its own corners, as far as it was found anew."""
    currents, speeds = result.prior.description.hydraulic[0].circuit.oil.flow.T
    inside = currents[(currents > found.min()) & (currents < found.max())]
    shown = np.unique(np.concatenate([inside, found]))
    return shown, np.interp(shown, currents, speeds)


def _numbers(table: Sequence[FoundNumber], misfit: float) -> Iterator[Block]:
    columns = (
        Column("name", "number"),
        Column("unit", "unit"),
        Column("prior", "file", PLAIN),
        Column("value", "found", PLAIN),
        Column("half_width", "± 90 %", PLAIN),
    )
    records = []
    for row in table:
        records.append({**asdict(row), "half_width": HELD * row.std})
    yield Table(columns, records, "numbers")
    yield Text(
        f"Residuals are {misfit:.2f} times what the coherence lets expect; intervals are widened "
        "by that where it is more than 1.",
        "soft",
    )
    yield Data("misfit", misfit)


def _bode(response: FrequencyResponse, fitted: np.ndarray) -> Multiples:
    hertz = Axis("frequency", "Hz", logarithmic=True)
    f = response.frequency
    size = Axis("|H|", "m/(A s)", logarithmic=True)
    parts: list[tuple[str, Axis, Floats, Floats]] = [
        ("Magnitude", size, response.magnitude, np.abs(fitted)),
        ("Phase", Axis("phase", "°"), TURN * response.phase, TURN * np.unwrap(np.angle(fitted))),
    ]
    charts = []
    for title, axis, measured, model in parts:
        layers = (Curve("measured", f, measured, colour=0), Curve("fit", f, model, colour=1))
        charts.append(Chart(title, hertz, axis, layers))
    return Multiples(tuple(charts), columns=1, shared="x")
