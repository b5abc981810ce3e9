"""The response of a robot to set-points, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.maths.batch import Floats, NamedArrays, Names, Record
from armtwin.maths.responses import StepFeatures, step_features
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import MILLISECONDS, PLAIN, Number
from armtwin.notebook.sampling import encode_series
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.showing.scene import cylinder_figure, robot_figure
from armtwin.simulation.model import Model
from armtwin.simulation.outcome import Run
from armtwin.simulation.setpoints import Unit, list_units

SAMPLES = 600  # of a run that the page shows
SHARE = Number(100.0, "%", digits=3)
PLAYED = 6.0  # for which the player shows a run [s]
LEAST_PATH = 1e-5  # path of the tool that is drawn [m]


@dataclass(frozen=True, eq=False, repr=False)
class Response(Result):
    """What the sensors of a robot show of a run that started in equilibrium.

    Attributes:
        robot: The robot.
        model: How it was simulated.
        unit: "volts", "strokes" or "wrist".
        names: Names of the coordinates.
        start: Set-points at the start, (k,).
        time: Times, (m,) [s].
        setpoint: Set-points less their start, (m, k).
        reading: What sensors show less their start, as late as they are, (m, k).
        run: The simulated run.
    """

    robot: Robot
    model: Model
    unit: Unit
    names: Names
    start: Floats
    time: Floats
    setpoint: Floats
    reading: Floats
    run: Run

    @property
    def units(self) -> list[str]:
        """Unit of each coordinate."""
        return list_units(self.robot, self.unit)

    @property
    def step(self) -> Floats:
        """By how much each set-point ends beyond its start, (k,)."""
        return self.setpoint[-1]

    def features(self, name: str) -> StepFeatures:
        """Features of the response of a coordinate whose set-point jumped."""
        k = self._place(name)
        if self.step[k] == 0:
            raise ArmtwinError(
                f"the set-point of {name} did not jump; {', '.join(self._jumps)} did"
            )
        return step_features(self.time, self.reading[:, k], float(self.step[k]))

    def disturbance(self, name: str) -> float:
        """Largest deviation of a coordinate from its start, in its unit."""
        return float(np.abs(self.reading[:, self._place(name)]).max())

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ArmtwinError(f"'{name}' is not known. {did_you_mean(name, self.names)}")
        return self.names.index(name)

    @property
    def table(self) -> list[Record]:
        """A record for each coordinate that ends elsewhere than it began."""
        records: list[Record] = []
        for name in self._jumps:
            k, found = self._place(name), self.features(name)
            records.append(
                {
                    "name": name,
                    "step": float(self.step[k]),
                    "unit": self.units[k],
                    "first_peak_s": found.first_peak,
                    "period_s": found.period,
                    "overshoot": found.overshoot,
                    "settling_s": found.settling,
                    "final": found.final,
                }
            )
        return records

    def sections(self) -> show.Report:
        """Features of the jumps, every coordinate over time, the robot in 3-D."""
        moved = ", ".join(self._jumps) or "set-points"
        seconds = f"{self.run.log.time[-1]:.4g} s"
        shown, series = what_sensors_show(self)
        return show.Report(
            title=f"{self.robot.name}: response of {moved}",
            subtitle=f"{seconds} from equilibrium, {valve_words(self)}",
            sections=(show.Section("", _features(self)), *shown),
            verdict=(_verdict(self, seconds),),
            series=series,
        )

    @property
    def _jumps(self) -> list[str]:
        """Coordinates that end elsewhere than they began."""
        return [name for name, step in zip(self.names, self.step, strict=True) if step != 0]


def _verdict(result: Response, seconds: str) -> show.Text:
    """How the first coordinate that jumped answers."""
    events = result.run.log.events
    if events:
        return show.Text(events[0].text, "bad")
    for name in result._jumps:
        found = result.features(name)
        if found.first_peak is not None and found.overshoot is not None:
            side = "beyond" if found.overshoot >= 0 else "short of"
            over = f"{abs(100 * found.overshoot):.1f} % {side} its final value"
            return show.Text(f"{name} peaks after {1e3 * found.first_peak:.4g} ms, {over}.")
        if found.first_peak is not None:
            when = f"{1e3 * found.first_peak:.4g} ms"
            return show.Text(
                f"{name} peaks after {when} and does not settle within {seconds}.", "bad"
            )
    largest = int(np.abs(result.reading).max(axis=0).argmax())
    return show.Text(f"{result.names[largest]} moves most within {seconds}; no step has a peak.")


def valve_words(result: Response) -> str:
    """How valves are simulated, and the order that the circuits then have."""
    circuits = len(result.names) if result.unit != "wrist" else len(result.robot.assembly.drives)
    if result.model.valves == "spool":
        return f"valves as spools (order {5 * circuits})"
    return f"valves as delays (order {3 * circuits})"


def what_sensors_show(result: Response) -> tuple[list[show.Section], NamedArrays]:
    """Sections on all coordinates and on the robot in 3-D, and the series of the latter."""
    kept = np.linspace(0, len(result.time) - 1, min(SAMPLES, len(result.time))).astype(int)
    sections = []
    others = list(_others(result))
    if others:
        columns = show.list_columns(name="set-point", largest=("by", PLAIN), unit="")
        table = show.Table(columns, others, "others")
        sections.append(show.Section("Largest deviation of the other coordinates", (table,)))
    charts = _charts(result, kept)
    sections.append(show.Section("What the sensors show", (charts,), page_only=True))
    path = result.robot.forward_kinematics(result.run.log.q[kept])[:, :3, 3]
    # a test set-up has all in one place
    if np.ptp(path, axis=0).max() <= LEAST_PATH or robot_figure(result.robot)["size"] == 0.0:
        return sections, {}
    model, series = _scene(result, kept, path)
    caption = (
        "Cylinders beside the arm: lever, barrel and rod. The player shows how far the tool is "
        f"from where it started; a second of playback is {1e3 * model['pace']:.3g} ms."
    )
    scene = show.Scene(model, caption, judged=False)
    sections.append(show.Section("The robot", (scene,), page_only=True))
    return sections, series


def _features(result: Response) -> show.Blocks:
    columns = show.list_columns(
        name="set-point",
        step=("step", PLAIN),
        unit="",
        first_peak_s=("first peak", MILLISECONDS),
        period_s=("period", MILLISECONDS),
        overshoot=("overshoot", SHARE),
        settling_s=("settled", MILLISECONDS),
        final=("end", SHARE),
    )
    yield show.Table(columns, result.table, "steps")
    yield show.Text(
        "Overshoot and end are shares of the step; settled within 5 % of the end.", "soft"
    )
    yield show.Data({"unit": result.unit})
    for event in result.run.log.events:
        yield show.Text(event.text, "bad")


def _others(result: Response) -> Iterator[Record]:
    """Coordinates whose set-points are constant."""
    for k, (name, unit) in enumerate(zip(result.names, result.units, strict=True)):
        if not result.setpoint[:, k].any():
            yield {"name": name, "largest": result.disturbance(name), "unit": unit}


def _charts(result: Response, kept: Any) -> show.Multiples:
    charts = []
    milliseconds = 1e3 * result.time[kept]
    for k, (name, unit) in enumerate(zip(result.names, result.units, strict=True)):
        layers = (
            show.Curve("set-point", milliseconds, result.setpoint[kept, k], colour=3),
            show.Curve("sensor", milliseconds, result.reading[kept, k], colour=0, dash="solid"),
        )
        charts.append(show.Chart(name, show.Axis("time", "ms"), show.Axis("change", unit), layers))
    return show.Multiples(tuple(charts), columns=min(2, len(charts)), shared="x")


def _scene(result: Response, kept: Any, path: Floats) -> tuple[Record, NamedArrays]:
    """The model the viewer draws, and its joints over the samples."""
    robot, log = result.robot, result.run.log
    q = log.q[kept]
    figure = robot_figure(robot)
    cylinders = cylinder_figure(robot, q)
    nothing = np.zeros((len(path), 3))
    model = {
        **figure,
        "joints": [*figure["joints"], *cylinders.joints],
        "bars": [*figure["bars"], *cylinders.bars],
        "pace": min(1.0, float(np.ptp(log.time)) / PLAYED),
        "tip": encode_series(path.ravel()),
        "seam": {
            "points": encode_series(path.ravel()),
            "ratio": encode_series(np.full(len(path), -1.0)),
            "error": encode_series(nothing.ravel()),
        },
    }
    moved = np.linalg.norm(path - path[0], axis=1)
    series = {"time": log.time[kept], "place": 1e3 * moved}
    for j, column in enumerate(np.concatenate([q, cylinders.positions], axis=1).T, 1):
        series[f"q{j}"] = column
    return model, series
