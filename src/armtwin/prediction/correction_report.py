"""What is shown of a correction: the error before and after, round by round, and the shift."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Report, Section, Table, Text
from armtwin.prediction.correct import Correction
from armtwin.prediction.path_error import PathError

MICROMETRES = Number(1e6, "µm", digits=3)
SAMPLES = 800  # of a curve


def correction_report(result: Correction) -> Report:
    """Corrected set-points of a job."""
    p = result.prediction
    before, after = result.before, result.best.size
    fall = 100 * (1 - after.rms / before.rms) if before.rms > 0 else 0.0
    holds = "holds" if result.verdict.within else "does not hold"
    was, becomes = MICROMETRES.with_unit(before.rms), MICROMETRES.with_unit(after.rms)
    verdict = Text(
        f"On the twin the path error falls by {fall:.0f} %, from {was} to {becomes} (root mean "
        f"square, lateral and vertical); corrected, the seam {holds}.",
        "good" if result.verdict.within else "bad",
    )
    title = f"{p.job.description.title or p.job.name}: corrected"
    joints = p.job.description.model.words
    subtitle = f"{p.job.name}: {p.robot.description.title or p.robot.name}, {joints}"
    sections = (
        Section("", tuple(_blocks(result))),
        Section("Along the seam", tuple(_charts(result)), page_only=True),
    )
    return Report(title, subtitle, sections, (verdict,))


def _blocks(result: Correction) -> Iterator[Block]:
    columns = (
        Column("command", "command"),
        Column("rms_m", "rms", MICROMETRES),
        Column("lateral_peak_m", "lateral peak", MICROMETRES),
        Column("vertical_peak_m", "vertical peak", MICROMETRES),
    )
    yield Text("Predicted error while the process is on:")
    yield Table(columns, result.table, "commands")
    largest = float(np.abs(result.best.shift).max())
    yield Text(
        f"The commanded tool point is shifted by at most {MICROMETRES.with_unit(largest)}; the "
        f"program has {len(result.program)} points, one each {1e3 * result.spacing:.4g} mm."
    )
    yield Text(
        "setpoints.csv holds the joint set-points at the controller's rate; points.csv the tool's "
        "poses in the workpiece's frame, angles A, B, C.",
        "soft",
    )
    yield Data("job", result.prediction.job.name)
    yield Data("robot", result.prediction.robot.name)
    yield Data("largest_shift_m", largest)
    yield Data("holds", result.verdict.within)


def _charts(result: Correction) -> Iterator[Block]:
    p = result.prediction
    charts = []
    for name in ("lateral", "vertical"):
        layers = (
            _curve("as programmed", p.path_error, getattr(p.path_error, name)),
            _curve("corrected", result.best.error, getattr(result.best.error, name)),
        )
        axes = Axis("along the seam", "mm"), Axis("error", "µm")
        charts.append(Chart(f"{name} error", *axes, layers))
    yield Multiples(tuple(charts), columns=2, shared="x", title="Predicted error")
    s = p.motion.command.s
    thin = slice(None, None, max(1, len(s) // SAMPLES))
    shifts = []
    for name, values in zip(("lateral", "vertical"), result.best.shift.T, strict=True):
        shifts.append(Curve(name, 1e3 * s[thin], 1e6 * values[thin]))
    yield Chart(
        "Shift of the commanded tool point",
        Axis("along the seam", "mm"),
        Axis("shift", "µm"),
        tuple(shifts),
    )


def _curve(name: str, error: PathError, values: Floats) -> Curve:
    moving = error.speed_ref > 0
    thin = slice(None, None, max(1, int(moving.sum()) // SAMPLES))
    return Curve(name, 1e3 * error.s[moving][thin], 1e6 * values[moving][thin])
