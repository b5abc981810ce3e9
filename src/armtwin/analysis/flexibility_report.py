"""What is shown of an elastic robot: its modes, its sag, its compliance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armtwin.analysis.compliance import AXES, Sag, ToolCompliance
from armtwin.analysis.modes import Mode, Modes
from armtwin.analysis.states import States
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import PERCENT, Number
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
from armtwin.robot.robot import Robot
from armtwin.robot.sag import Outside
from armtwin.robot.scene import bar_length, skeleton, tool_of

HERTZ = Number(1.0, "Hz", digits=4)
MICROMETRES = Number(1e6, "µm", digits=4)
MICRORADIANS = Number(1e6, "µrad", digits=4)
NEWTON_METRES = Number(1.0, "N m", digits=4)
PLAYED = 3  # modes that the page plays
SECONDS, CYCLES, FRAMES = 3.0, 3, 90  # of each
WIDE = 0.04  # motion of the tool that is played, as a share of the robot's size
HELD = {
    "locked": "rotors locked",
    "servo": "rotors held by the servo",
    "free": "rotors free",
}


def modes_report(result: Modes) -> Report:
    """How a robot swings."""
    title = f"{result.robot.name}: how it swings"
    lowest = result.motors["locked"][0]
    spring = result.springs[int(lowest.shares.argmax())]
    verdict = Text(
        f"Lowest mode with rotors locked: {lowest.frequency:.3g} Hz, most of it in {spring}."
    )
    series, scene = _played(result)
    sections = [Section("", tuple(_mode_blocks(result)))]
    if not result.states.alone:
        sections.append(Section("Along the motion", (_along(result),)))
    sections.append(Section("Shapes", (scene,), page_only=True))
    where = _where(result.robot, result.states, result.load)
    return Report(title, where, tuple(sections), (verdict,), series)


def _mode_blocks(result: Modes) -> Iterator[Block]:
    columns = (
        Column("mode", "mode", Number(digits=2)),
        Column("frequency_hz", "frequency", HERTZ),
        Column("damping", "damping", Number(digits=3)),
        Column("spring", "most in"),
        Column("share", "share", PERCENT),
        Column("tool_x", "tool x", Number(digits=2)),
        Column("tool_y", "y", Number(digits=2)),
        Column("tool_z", "z", Number(digits=2)),
    )
    for rotors in result.motors:
        records = [record for record in result.table if record["rotors"] == rotors]
        yield Text(f"{HELD[rotors].capitalize()}; the tool's motion relative to its largest:")
        yield Table(columns, records, f"modes.{rotors}")
    yield Data("load", result.load)


def _along(result: Modes) -> Chart:
    layers = []
    for k, values in enumerate(result.lowest.T, 1):
        layers.append(Curve(f"mode {k}", result.states.time, values))
    return Chart(
        "Lowest frequencies along the motion, rotors locked",
        Axis("time", "s"),
        Axis("frequency", "Hz"),
        tuple(layers),
    )


def _played(result: Modes) -> tuple[dict[str, Floats], Scene]:
    """The lowest modes with rotors locked, one after the other in slow motion."""
    built, here = result.flexible.places.built, result.flexible
    joints, bars = skeleton(built)
    size = 0.7 * sum(bar_length(bar) for bar in bars)
    bodies = here.places.bodies
    played = result.motors["locked"][:PLAYED]
    q = np.concatenate([_swing(mode, here.u[:bodies], WIDE * size) for mode in played])
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
    model: dict[str, Any] = {
        "joints": joints,
        "bars": bars,
        "tool": tool_of(built),
        "size": size,
        "tip": packed(tip.ravel()),
        "seam": {
            "points": packed(tip.ravel()),
            "ratio": packed(np.full(len(tip), -1.0)),
            "error": packed(np.zeros(tip.size)),
        },
    }
    caption = (
        "Press play: the lowest modes with rotors locked, slow and much enlarged; from "
        f"{', from '.join(words)}."
    )
    return series, Scene(model, caption, judged=False)


def _swing(mode: Mode, q: Floats, wide: float) -> Floats:
    """Joint positions of a mode in slow motion, (FRAMES, joints)."""
    phase = np.linspace(0.0, 2 * np.pi * CYCLES, FRAMES)
    shape = mode.shape[: len(q)]
    return np.asarray(q + wide * np.real(np.exp(1j * phase)[:, None] * shape))


def sag_report(result: Sag) -> Report:
    """Where gravity and a force move the tool."""
    title = f"{result.robot.name}: how far it sags"
    down = 1e6 * float(np.linalg.norm(result.weight[:, :3], axis=1).max())
    words = f"Its weight moves the tool by {down:.4g} µm" + (
        "" if result.states.alone else " at most"
    )
    if result.outside is not None:
        pushed = 1e6 * float(np.linalg.norm(result.pushed[:, :3], axis=1).max())
        words += f", {_name_of(result.outside)} by {pushed:.4g} µm more"
    most = "" if result.states.alone else " at most along the motion"
    blocks: list[Block] = [
        Text(f"Motors hold their positions; what each spring bears of the weight{most}:"),
        Table(
            (
                Column("spring", "spring"),
                Column("torque_n_m", "torque", NEWTON_METRES),
                Column("twist_rad", "twist", MICRORADIANS),
            ),
            result.table,
            "springs",
        ),
        Text("Shift and turn of the tool, base axes:"),
        _shifts(result),
    ]
    if not result.states.alone:
        blocks.append(_sag_charts(result))
    where = _where(result.robot, result.states, result.load)
    return Report(title, where, (Section("", tuple(blocks)),), (Text(f"{words}."),))


def _name_of(outside: Outside) -> str:
    """What acts from outside, in words: a force that is always the same, or the job's."""
    wrench = outside.wrench
    if outside.torque is not None or wrench is None or np.ptp(wrench, axis=0).any():
        return "the job's forces"
    return f"force {', '.join(f'{x:g}' for x in wrench[0, :3])} N"


def _shifts(result: Sag) -> Table:
    """Shift and turn of the tool by each cause, where it is largest."""
    columns = [Column("cause", "by")]
    if not result.states.alone:
        columns.append(Column("time_s", "at", Number(1.0, "s", digits=4)))
    for name in AXES[:3]:
        columns.append(Column(f"{name}_m", name, MICROMETRES))
    for name in AXES[3:]:
        columns.append(Column(f"{name}_rad", name, MICRORADIANS))
    moved = {"gravity": result.weight}
    if result.outside is not None:
        moved[_name_of(result.outside)] = result.pushed
    records: list[Record] = []
    for cause, shift in moved.items():
        most = int(np.linalg.norm(shift[:, :3], axis=1).argmax())
        record: dict[str, Any] = {"cause": cause, "time_s": float(result.states.time[most])}
        for k, name in enumerate(AXES):
            record[f"{name}_{'m' if k < 3 else 'rad'}"] = float(shift[most, k])
        records.append(record)
    return Table(tuple(columns), records, "tool")


def _sag_charts(result: Sag) -> Multiples:
    """How far the tool is moved along the motion, by gravity and by what acts from outside."""
    moved = {"By gravity": result.weight}
    if result.outside is not None:
        name = _name_of(result.outside)
        moved[f"By {name}"] = result.pushed
    charts = []
    for title, shift in moved.items():
        layers = []
        for k, name in enumerate(AXES[:3]):
            layers.append(Curve(name, result.states.time, 1e6 * shift[:, k]))
        charts.append(Chart(title, Axis("time", "s"), Axis("shift", "µm"), tuple(layers)))
    title = "Shift of the tool along the motion"
    return Multiples(tuple(charts), columns=2, shared="x", title=title)


def compliance_report(result: ToolCompliance) -> Report:
    """How far the tool gives way to a small force."""
    title = f"{result.robot.name}: how far its tool gives way"
    values, directions = result.principal
    softest = int(values[:, 0].argmax())
    direction = ", ".join(f"{x:.2f}" for x in directions[softest, :, 0])
    verdict = Text(
        f"Softest direction ({direction}): {1e6 * values[softest, 0]:.4g} µm/N, "
        f"{1e-6 / values[softest, 0]:.4g} N/µm."
    )
    columns = [Column("axis", "")]
    for name in AXES[:3]:
        columns.append(Column(name, f"{name}, N", Number(1e6, "", digits=4)))
    for name in AXES[3:]:
        columns.append(Column(name, f"{name}, N m", Number(1e6, "", digits=4)))
    blocks: list[Block] = [
        Text("Micrometres and microradians per newton and newton metre, base axes:"),
        Table(tuple(columns), result.table, "compliance"),
        _principal(values[0], directions[0]),
    ]
    if not result.states.alone:
        layers = []
        for k, name in enumerate(("softest", "middle", "stiffest")):
            layers.append(Curve(name, result.states.time, 1e6 * values[:, k]))
        chart = Chart(
            "Principal compliances along the motion",
            Axis("time", "s"),
            Axis("compliance", "µm/N"),
            tuple(layers),
        )
        blocks.append(chart)
    where = _where(result.robot, result.states, result.load)
    return Report(title, where, (Section("", tuple(blocks)),), (verdict,))


def _principal(values: Floats, directions: Floats) -> Table:
    columns = (
        Column("compliance_m_n", "compliance", Number(1e6, "µm/N", digits=4)),
        Column("stiffness_n_m", "stiffness", Number(1e-6, "N/µm", digits=4)),
        Column("x", "x", Number(digits=3)),
        Column("y", "y", Number(digits=3)),
        Column("z", "z", Number(digits=3)),
    )
    records: list[Record] = []
    for k, value in enumerate(values):
        x, y, z = directions[:, k].tolist()
        stiff = float(1 / value) if value > 0 else None
        records.append(
            {"compliance_m_n": float(value), "stiffness_n_m": stiff, "x": x, "y": y, "z": z}
        )
    return Table(columns, records, "principal")


def _where(robot: Robot, states: States, load: str) -> str:
    """The states in words."""
    mounted = robot.description.mounted
    held = [name for name in (mounted.tool, load or mounted.payload) if name]
    carrying = f", carrying {' and '.join(held)}" if held else ""
    if states.alone:
        return f"at one posture{carrying}"
    length = states.time[-1] - states.time[0]
    return f"along {length:.4g} s of motion, {len(states.time)} states{carrying}"
