"""Modes of an elastic robot and their report: frequencies, dampings, shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armtwin.analysis.charts import chart_values
from armtwin.analysis.flexible import Flexible
from armtwin.analysis.states import States
from armtwin.maths.batch import Floats, NamedArrays, Names, Record
from armtwin.notebook.charts import Bars, Chart
from armtwin.notebook.dataframes import number_columns
from armtwin.notebook.numbers import HERTZ, PERCENT, Number
from armtwin.notebook.sampling import encode_series
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Column, Data, Report, Scene, Section, Table, Text
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.showing.scene import bar_length, skeleton, tool_of

Rotors = Literal["locked", "servo", "free"]
Complex = NDArray[np.complex128]
PLAYED = 3  # modes that the page plays
SECONDS, CYCLES, FRAMES = 3.0, 3, 90  # of each
WIDE = 0.04  # motion of the tool that is played, as a share of the robot's size
HELD = {"locked": "rotors locked", "servo": "rotors held by the servo", "free": "rotors free"}


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
        springs: Names of the joints, motors and flexures that are elastic.
        motors: Modes by what the rotors do: "locked", "servo" (where it has one) and "free".
        lowest: The lowest frequencies with rotors locked along the motion, (m, k) [Hz].
        flexible: The elastic robot at the first posture.
    """

    robot: Robot
    states: States
    load: str
    springs: Names
    motors: dict[Rotors, tuple[Mode, ...]]
    lowest: Floats
    flexible: Flexible

    def sections(self) -> Report:
        """Frequencies, dampings and shapes, and the lowest frequencies along the motion."""
        lowest = self.motors["locked"][0]
        spring = self.springs[int(lowest.shares.argmax())]
        verdict = Text(
            f"Lowest mode with rotors locked: {lowest.frequency:.3g} Hz, most of it in {spring}."
        )
        series, scene = _animate_modes(self)
        sections = (
            Section("", _mode_blocks(self)),
            Section("Lowest frequencies", (_lowest_chart(self),)),
            Section("Shapes", (scene,), page_only=True),
        )
        title = f"{self.robot.name}: natural frequencies and mode shapes"
        where = self.states.describe(self.robot, self.load)
        return Report(title, where, sections, (verdict,), series)

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


def _mode_blocks(result: Modes) -> Blocks:
    columns = (
        Column("mode", "mode", Number(digits=2)),
        Column("frequency_hz", "frequency", HERTZ),
        Column("damping", "damping", Number(digits=3)),
        Column("spring", "most in"),
        Column("share", "share", PERCENT),
        *Column.alike(Number(digits=2), tool_x="tool x", tool_y="y", tool_z="z"),
    )
    for rotors in result.motors:
        records = [record for record in result.table if record["rotors"] == rotors]
        yield Text(f"{HELD[rotors].capitalize()}; the tool's motion relative to its largest:")
        yield Table(columns, records, f"modes.{rotors}")
    yield Data({"load": result.load})


def _lowest_chart(result: Modes) -> Chart | Bars:
    seen = np.isfinite(result.lowest).any(axis=0)  # there may be fewer modes
    values = number_columns("mode ", result.lowest[:, seen])
    title = "Lowest frequencies, rotors locked"
    return chart_values(title, Axis("frequency", "Hz"), values, result.states.time)


def _animate_modes(result: Modes) -> tuple[NamedArrays, Scene]:
    """The lowest modes with rotors locked, one after the other in slow motion."""
    built, here = result.flexible.places.built, result.flexible
    joints, bars = skeleton(built)
    size = 0.7 * sum(bar_length(bar) for bar in bars)
    bodies = here.places.bodies
    played = result.motors["locked"][:PLAYED]
    q = np.concatenate([_animate_mode(mode, here.u[:bodies], WIDE * size) for mode in played])
    tip = built.forward_kinematics(q)[:, :3, 3]
    times = np.linspace(0.0, SECONDS * len(played), len(q))
    rest = built.forward_kinematics(here.u[:bodies])[:3, 3]
    # what the player reads beside the time: how far the tool is from rest as it is drawn
    series = {"time": times, "place": 1e3 * np.linalg.norm(tip - rest, axis=1)}
    for j, values in enumerate(q.T):
        series[f"q{j + 1}"] = values
    words = []
    for k, mode in enumerate(played):
        words.append(f"{SECONDS * k:g} s: {mode.frequency:.3g} Hz")
    model: Record = {
        "joints": joints,
        "bars": bars,
        "tool": tool_of(built),
        "size": size,
        "tip": encode_series(tip.ravel()),
        "seam": {
            "points": encode_series(tip.ravel()),
            "ratio": encode_series(np.full(len(tip), -1.0)),
            "error": encode_series(np.zeros(tip.size)),
        },
    }
    caption = (
        "Press play: the lowest modes with rotors locked, slow and much enlarged; from "
        f"{', from '.join(words)}."
    )
    return series, Scene(model, caption, judged=False)


def _animate_mode(mode: Mode, q: Floats, wide: float) -> Floats:
    """Joint positions of a mode in slow motion, (FRAMES, joints)."""
    phase = np.linspace(0.0, 2 * np.pi * CYCLES, FRAMES)
    shape = mode.shape[: len(q)]
    return np.asarray(q + wide * np.real(np.exp(1j * phase)[:, None] * shape))
