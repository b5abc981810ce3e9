"""What is shown of a response: features, every coordinate over time, the robot in 3-D."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.sampling import packed
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import (
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
from armtwin.robot.cylinder_scene import cylinder_figure
from armtwin.robot.robot import Robot
from armtwin.robot.scene import bar_length, skeleton, tool_of
from armtwin.robot.strokes import drives_slide
from armtwin.robot.wrist import ANGLES
from armtwin.simulation.responses import Response

SAMPLES = 600  # of a run that the page shows
MILLISECONDS = Number(1e3, "ms", digits=4)
SHARE = Number(100.0, "%", digits=3)
PLAYED = 6.0  # for which the player shows a run [s]
LEAST_PATH = 1e-5  # path of the tool that is drawn [m]


def response_report(result: Response) -> Report:
    """A step response, or the answer to a record of set-points."""
    moved = ", ".join(str(record["name"]) for record in result.table) or "set-points"
    subtitle = f"{result.run.log.time[-1]:.4g} s from equilibrium, {valve_words(result)}"
    shown, series = what_sensors_show(result)
    events = tuple(Text(event.text, "bad") for event in result.run.log.events)
    first = Section("", (*_features(result), *events))
    title = f"{result.robot.name}: response of {moved}"
    return Report(title, subtitle, (first, *shown), series=series)


def valve_words(result: Response) -> str:
    """How valves are simulated, and the order that the circuits then have."""
    circuits = len(result.names) if result.unit != "wrist" else len(result.robot.assembly.drives)
    if result.model.valves == "spool":
        return f"valves as spools (order {5 * circuits})"
    return f"valves as delays (order {3 * circuits})"


def what_sensors_show(result: Response) -> tuple[list[Section], dict[str, Floats]]:
    """Sections on all coordinates and on the robot in 3-D, and the series of the latter."""
    kept = np.linspace(0, len(result.time) - 1, min(SAMPLES, len(result.time))).astype(int)
    sections = []
    others = list(_others(result))
    if others:
        columns = Column("name", "set-point"), Column("largest", "by", PLAIN), Column("unit", "")
        table = Table(columns, others, "others")
        sections.append(Section("How far the others were moved", (table,)))
    charts = _charts(result, kept)
    sections.append(Section("What the sensors show", (charts,), page_only=True))
    path = result.robot.forward_kinematics(result.run.log.q[kept])[:, :3, 3]
    if np.ptp(path, axis=0).max() <= LEAST_PATH or _size(result.robot) == 0.0:
        return sections, {}
    model, series = _scene(result, kept, path)
    caption = (
        "Cylinders beside the arm: lever, barrel and rod. The player tells how far the tool is "
        f"from where it started; a second of play is {1e3 * model['pace']:.3g} ms."
    )
    scene = Scene(model, caption, judged=False)
    sections.append(Section("The robot", (scene,), page_only=True))
    return sections, series


def _features(result: Response) -> Iterator[Block]:
    columns = (
        Column("name", "set-point"),
        Column("step", "step", PLAIN),
        Column("unit", ""),
        Column("first_peak_s", "first peak", MILLISECONDS),
        Column("period_s", "period", MILLISECONDS),
        Column("overshoot", "overshoot", SHARE),
        Column("settling_s", "settled", MILLISECONDS),
        Column("final", "end", SHARE),
    )
    units = dict(zip(result.names, _units(result), strict=True))
    records = [{**record, "unit": units[str(record["name"])]} for record in result.table]
    yield Table(columns, records, "steps")
    yield Text("Overshoot and end are shares of the step; settled within 5 % of the end.", "soft")
    yield Data("unit", result.unit)


def _others(result: Response) -> Iterator[Record]:
    """Coordinates whose set-points stand still."""
    for k, (name, unit) in enumerate(zip(result.names, _units(result), strict=True)):
        if not result.setpoint[:, k].any():
            yield {"name": name, "largest": result.disturbance(name), "unit": unit}


def _units(result: Response) -> list[str]:
    """Unit of each coordinate."""
    if result.unit == "volts":
        return ["V"] * len(result.names)
    if result.unit == "wrist":
        return ["rad" if name in ANGLES else "m" for name in result.names]
    return ["m" if slides else "rad" for slides in drives_slide(result.robot)]


def _charts(result: Response, kept: Any) -> Multiples:
    charts = []
    milliseconds = 1e3 * result.time[kept]
    for k, (name, unit) in enumerate(zip(result.names, _units(result), strict=True)):
        layers = (
            Curve("set-point", milliseconds, result.setpoint[kept, k], colour=3),
            Curve("sensor", milliseconds, result.reading[kept, k], colour=0, dash="solid"),
        )
        charts.append(Chart(name, Axis("time", "ms"), Axis("", unit), layers))
    return Multiples(tuple(charts), columns=min(2, len(charts)), shared="x")


def _size(robot: Robot) -> float:
    """Size of a robot as it is drawn [m]; 0 where all is in one place, as on a test set-up."""
    _, bars = skeleton(robot)
    return 0.7 * sum(bar_length(bar) for bar in bars)


def _scene(result: Response, kept: Any, path: Floats) -> tuple[dict[str, Any], dict[str, Floats]]:
    """The model the viewer draws, and its joints over the samples."""
    robot, log = result.robot, result.run.log
    q = log.q[kept]
    joints, bars = skeleton(robot)
    cylinders = cylinder_figure(robot, q)
    nothing = np.zeros((len(path), 3))
    model = {
        "joints": [*joints, *cylinders.joints],
        "bars": [*bars, *cylinders.bars],
        "tool": tool_of(robot),
        "size": _size(robot),
        "pace": min(1.0, float(np.ptp(log.time)) / PLAYED),
        "tip": packed(path.ravel()),
        "seam": {
            "points": packed(path.ravel()),
            "ratio": packed(np.full(len(path), -1.0)),
            "error": packed(nothing.ravel()),
        },
    }
    moved = np.linalg.norm(path - path[0], axis=1)
    series = {"time": log.time[kept], "place": 1e3 * moved}
    for j, column in enumerate(np.concatenate([q, cylinders.positions], axis=1).T, 1):
        series[f"q{j}"] = column
    return model, series
