"""Modes of an elastic robot and their report: frequencies, dampings, shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armtwin.analysis.flexible import Flexible
from armtwin.analysis.states import States, chart_values
from armtwin.maths.batch import Floats, NamedArrays, Names, Record
from armtwin.notebook import sections as show
from armtwin.notebook.charts import Bars, Chart
from armtwin.notebook.dataframes import number_columns
from armtwin.notebook.numbers import HERTZ, PERCENT, Number
from armtwin.notebook.sampling import encode_series
from armtwin.notebook.scales import Axis
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.showing.scene import robot_figure

Rotors = Literal["locked", "servo", "free"]
Complex = NDArray[np.complex128]
PLAYED = 3  # modes that the page plays
SECONDS, CYCLES, FRAMES = 3.0, 3, 90  # of each
WIDE = 0.04  # motion of the tool that is played, as a share of the robot's size
HELD: dict[Rotors, str] = {
    "locked": "rotors locked",
    "servo": "rotors held by the servo",
    "free": "rotors free",
}


@dataclass(frozen=True, eq=False)
class Mode:
    """One mode of vibration.

    Attributes:
        frequency: Natural frequency, |s| / 2π [Hz].
        damping: Relative damping, -Re s / |s|.
        shape: Motion of the coordinates, (N,), complex; the tool moves by one metre at most.
        tool: Motion of the tool, linear then angular, (6,), complex.
        shares: Share of each spring in the energy of all springs, (springs,).
    """

    frequency: float
    damping: float
    shape: Complex
    tool: Complex
    shares: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Result):
    """Modes of vibration of a robot at one posture, or along a motion.

    Attributes:
        robot: The robot, with what is mounted on it.
        states: The postures; modes are those of the first.
        load: What it carries besides, in words.
        motors: Modes by what the rotors do: "locked", "servo" (where it has one) and "free"; of a
            hydraulic robot "locked" has the valves closed.
        lowest: The lowest frequencies with rotors locked along the motion, (m, k) [Hz].
        flexible: The elastic robot at the first posture.
        cautions: A sentence where the equilibrium is unstable.
    """

    robot: Robot
    states: States
    load: str
    motors: dict[Rotors, tuple[Mode, ...]]
    lowest: Floats
    flexible: Flexible
    cautions: Names = ()

    @property
    def springs(self) -> Names:
        """Names of gears, flexures and cylinders that are elastic, and of links that bend."""
        return self.flexible.springs

    @property
    def held(self) -> dict[Rotors, str]:
        """What the rotors, or the valves, do in each set of modes."""
        if len(self.flexible.motor_rows):
            return HELD
        has_oil = bool(self.robot.description.hydraulic)
        return {"locked": "valves closed" if has_oil else "brakes on"}

    def sections(self) -> show.Report:
        """Frequencies, dampings and shapes, and the lowest frequencies along the motion."""
        verdict = [show.Text(caution, "bad") for caution in self.cautions]
        sections = [show.Section("", _mode_blocks(self))]
        series: NamedArrays = {}
        if self.motors["locked"]:
            lowest = self.motors["locked"][0]
            spring = self.springs[int(lowest.shares.argmax())]
            words = f"{lowest.frequency:.3g} Hz, most of it in {spring}"
            verdict.insert(0, show.Text(f"Lowest mode with {self.held['locked']}: {words}."))
            series, scene = _animate_modes(self)
            sections.append(show.Section("Lowest frequencies", (_lowest_chart(self),)))
            sections.append(show.Section("Shapes", (scene,), page_only=True))
        title = f"{self.robot.name}: natural frequencies and mode shapes"
        where = self.states.describe(self.robot, self.load)
        return show.Report(title, where, tuple(sections), tuple(verdict), series)

    @property
    def table(self) -> list[Record]:
        """A record for each mode."""
        records = []
        for rotors, modes in self.motors.items():
            for k, mode in enumerate(modes, 1):
                x, y, z = np.abs(mode.tool[:3])
                records.append(
                    {
                        "rotors": rotors,
                        "mode": k,
                        "frequency_hz": mode.frequency,
                        "damping": mode.damping,
                        "spring": self.springs[int(mode.shares.argmax())],
                        "share": float(mode.shares.max()),
                        "tool_x": float(x),
                        "tool_y": float(y),
                        "tool_z": float(z),
                    }
                )
        return records


def _mode_blocks(result: Modes) -> show.Blocks:
    columns = show.list_columns(
        mode=("mode", Number(digits=2)),
        frequency_hz=("frequency", HERTZ),
        damping=("damping", Number(digits=3)),
        spring="most in",
        share=("share", PERCENT),
        tool_x=("tool x", Number(digits=2)),
        tool_y=("y", Number(digits=2)),
        tool_z=("z", Number(digits=2)),
    )
    if result.robot.description.hydraulic:
        yield show.Text("With oil, its leakage and viscous friction; dry friction is left out.")
    for rotors in result.motors:
        records = [record for record in result.table if record["rotors"] == rotors]
        yield show.Text(
            f"{result.held[rotors].capitalize()}; the tool's motion relative to its largest:"
        )
        yield show.Table(columns, records, f"modes.{rotors}")
    yield show.Data({"load": result.load})


def _lowest_chart(result: Modes) -> Chart | Bars:
    seen = np.isfinite(result.lowest).any(axis=0)  # there may be fewer modes
    values = number_columns("mode ", result.lowest[:, seen])
    title = f"Lowest frequencies, {result.held['locked']}"
    return chart_values(title, Axis("frequency", "Hz"), values, result.states.time)


def _animate_modes(result: Modes) -> tuple[NamedArrays, show.Scene]:
    """The lowest modes with the drives held, one after the other in slow motion."""
    here = result.flexible
    built, links = here.places.built, here.links
    figure = robot_figure(built)
    size = figure["size"]
    played = result.motors["locked"][:PLAYED]
    swing = WIDE * size * np.exp(1j * np.linspace(0.0, 2 * np.pi * CYCLES, FRAMES))[:, None]
    moved = [np.real(swing * (links.joints @ mode.shape)) for mode in played]
    shift = np.concatenate([np.real(swing * mode.tool[:3]) for mode in played])
    tip = links.pose[:3, 3] + shift
    times = np.linspace(0.0, SECONDS * len(played), len(tip))
    # what the player reads beside the time: how far the tool is from rest as it is drawn
    series = {"time": times, "place": 1e3 * np.linalg.norm(shift, axis=1)}
    for j, values in enumerate((links.positions + np.concatenate(moved)).T):
        series[f"q{j + 1}"] = values
    words = []
    for k, mode in enumerate(played):
        words.append(f"{SECONDS * k:g} s: {mode.frequency:.3g} Hz")
    model: Record = {
        **figure,
        "tip": encode_series(tip.ravel()),
        "seam": {
            "points": encode_series(tip.ravel()),
            "ratio": encode_series(np.full(len(tip), -1.0)),
            "error": encode_series(np.zeros(tip.size)),
        },
    }
    straight = " Links that bend look straight here." if len(links.stiffness) else ""
    caption = (
        f"Press play: the lowest modes with {result.held['locked']}, slow and much enlarged; from "
        f"{', from '.join(words)}.{straight}"
    )
    return series, show.Scene(model, caption, judged=False)
