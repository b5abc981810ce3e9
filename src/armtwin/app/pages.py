"""What the command line shows of robots: tables that fit into 80 columns."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from armtwin import Robot
from armtwin.errors import printable
from armtwin.logs.channels import CHANNELS, channel_kind
from armtwin.logs.log import Log
from armtwin.logs.plausibility import doubts
from armtwin.robot.fields import SOURCE_KINDS
from armtwin.robot.groups import Joint


def columns(*names: str, title: str = "") -> Table:
    """A table whose columns but the first are numbers."""
    table = Table(
        box=box.SIMPLE_HEAD,
        title=title or None,
        title_justify="left",
        pad_edge=False,
        title_style="bold",
    )
    for i, column in enumerate(names):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=i == 0)
    return table


def number(value: float | None, scale: float = 1.0, digits: int = 4) -> str:
    """A number in a table; a dash where there is none."""
    if value is None or not np.isfinite(value):
        return "-"
    return "0" if abs(value * scale) < 1e-12 else f"{value * scale:.{digits}g}"


def shelf(robots: Iterable[Robot]) -> RenderableType:
    """One line for each robot."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "robot", "joints", "parameters", "inverse kin.", "missing"):
        table.add_column(column, justify="right" if column in ("joints", "parameters") else "left")
    for robot in robots:
        missing = sorted(
            {phrase.partition(":")[0].partition(".")[0] for phrase in robot.provenance.missing}
        )
        kind = robot.inverse_kinematics_kind.partition(" (")[0]
        cells = [
            robot.name,
            robot.description.title,
            str(robot.n),
            str(len(robot.parameters)),
            kind,
            ", ".join(missing),
        ]
        table.add_row(*map(escape, cells))
    return Group(
        table, Text("Show one: armtwin robots NAME. What its numbers rest on: armtwin check NAME.")
    )


def robot_page(robot: Robot) -> RenderableType:
    """Joints, bodies, drives and tools of a robot."""
    d = robot.description
    mounted = " and ".join(x for x in (d.mounted.tool, d.mounted.payload) if x)
    head = Text(
        f"{robot.name}: {d.title or 'no title'}" + (f", with {mounted}" if mounted else ""),
        style="bold",
    )
    parts: list[RenderableType] = [head]
    if d.note:
        parts.append(Text(d.note))
    parts += [Text(), _joints(robot), _bodies(robot)]
    if d.active_friction():
        parts.append(_friction(robot))
    parts += [_facts(robot), _sources(robot)]
    return Group(*parts)


def _joints(robot: Robot) -> Table:
    table = columns(
        "joint",
        "from",
        "to",
        "speed",
        "torque",
        "gear",
        "rotor",
        title="Joints (deg, deg/s, N m; kg m²)",
    )
    for i, joint in enumerate(robot.assembly.tree.joints):
        limits = joint.limits
        turn = 180 / np.pi if joint.type == "revolute" else 1.0
        cells = [escape(joint.name) + _kind(joint)]
        cells += [
            number(limits.lower if limits else None, turn),
            number(limits.upper if limits else None, turn),
        ]
        cells += [
            number(limits.velocity if limits else None, turn),
            number(limits.torque if limits else None),
        ]
        gear, own = (
            robot.assembly.gear,
            [m for m, row in enumerate(robot.assembly.gear) if np.argmax(np.abs(row)) == i],
        )
        motor = own[-1] if own else None
        if len(gear) == len(robot.assembly.tree.joints):
            motor = i
        ratio = None if motor is None else float(gear[motor, i])
        inertia = None if motor is None else robot.description.motor[motor].rotor_inertia
        table.add_row(*cells, number(ratio), number(inertia))
    return table


def _kind(joint: Joint) -> str:
    if joint.mimic is not None:
        return f" (follows {escape(joint.mimic.joint)})"
    return "" if joint.type == "revolute" else " (slides, m)"


def _bodies(robot: Robot) -> Table:
    table = columns(
        "link",
        "mass",
        "x",
        "y",
        "z",
        "Jxx",
        "Jyy",
        "Jzz",
        title="Bodies (kg, mm; kg m² at the frame)",
    )
    tens = robot.parameters[robot.layout.all_links].reshape(-1, 10)
    for joint, ten in zip(robot.assembly.tree.joints, tens, strict=True):
        centre = 1e3 * ten[1:4] / ten[0] if ten[0] else np.full(3, np.nan)
        marks = [
            number(ten[0]),
            *(number(x, digits=3) for x in centre),
            *(number(x, digits=3) for x in ten[4:7]),
        ]
        table.add_row(escape(joint.child), *marks)
    return table


def _friction(robot: Robot) -> Table:
    table = columns(
        "friction",
        "acts on",
        "law",
        "at 0.1 rad/s",
        "at 1 rad/s",
        title="Friction (N m on its row)",
    )
    for element, _ in robot.assembly.friction:
        on = (
            element.on
            if isinstance(element.on, str)
            else " + ".join(f"{w:g} {j}" for j, w in element.on.items())
        )
        values = [getattr(element.law, name) for name, _ in element.law.coefficients]
        torque = element.law.columns(np.array([0.1, 1.0])) @ values + (element.offset or 0.0)
        table.add_row(
            escape(element.name), escape(on), element.law.law, *(number(x) for x in torque)
        )
    return table


def _facts(robot: Robot) -> Table:
    """Short facts, a line each."""
    d = robot.description
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    tens = robot.parameters[robot.layout.all_links].reshape(-1, 10)
    rows = [
        ("moving mass", f"{tens[:, 0].sum():.4g} kg"),
        ("parameters", f"{len(robot.parameters)}: " + _grouped(robot)),
        ("inverse kinematics", robot.inverse_kinematics_kind),
        ("tools, payloads", ", ".join([*d.tool, *d.payload])),
        ("balancers", ", ".join(f"{b.name} ({b.force.kind})" for b in d.balancer)),
        ("friction sets", _friction_sets(robot)),
        ("transmissions", ", ".join(t.joint for t in d.transmission if t.stiffness is not None)),
        ("hydraulic drives", ", ".join(h.name for h in d.hydraulic)),
        (
            "servos",
            ", ".join(
                f"{name} ({s.kind})" if name != s.kind else name for name, s in d.servo.items()
            ),
        ),
    ]
    for name, value in rows:
        if value:
            table.add_row(name, escape(value))
    return table


def _friction_sets(robot: Robot) -> str:
    sets = sorted({f.set for f in robot.description.friction if f.set})
    return ", ".join(x + (" (in use)" if x == robot.description.friction_set else "") for x in sets)


def _grouped(robot: Robot) -> str:
    counts: dict[str, int] = defaultdict(int)
    for parameter in robot.parameter_table:
        counts[parameter.group] += 1
    return ", ".join(f"{count} {group}" for group, count in counts.items())


def _sources(robot: Robot) -> RenderableType:
    counts = ", ".join(f"{count} {kind}" for kind, count in robot.provenance.counts().items())
    lines = [Text(f"\nSources of its numbers: {counts}.")]
    if robot.provenance.missing:
        lines.append(Text("Missing for a prediction:"))
        lines += [Text(f"  {phrase}") for phrase in robot.provenance.missing]
    if robot.provenance.not_given:
        lines.append(Text("Not given, and so not simulated or not checked:"))
        lines += [Text(f"  {phrase}") for phrase in robot.provenance.not_given]
    return Group(*lines)


def provenance_page(robot: Robot) -> RenderableType:
    """Every source, grouped by kind; groups that differ only in a name or number are one line."""
    parts: list[RenderableType] = []
    for kind in SOURCE_KINDS:
        merged: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for origin in robot.provenance.of_kind(kind):
            merged[origin.text][_pattern(origin.path)].append(origin.path)
        if not merged:
            continue
        table = Table(
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            title=f"{kind}: {SOURCE_KINDS[kind]}",
            title_justify="left",
        )
        table.add_column("group", max_width=30)
        table.add_column("source")
        for text, paths in merged.items():
            groups = ", ".join(
                k[0] if len(k) == 1 else f"{pattern} ({len(k)})" for pattern, k in paths.items()
            )
            table.add_row(escape(groups), escape(text))
        parts.append(table)
    return Group(*parts)


def _pattern(path: str) -> str:
    """A key path with the numbers of its items left out."""
    return re.sub(r"(?<=[a-z])_?\d+(?=\.|$)", "_*", path)


def lost_in_urdf(robot: Robot) -> list[str]:
    """Groups of a robot file that a URDF has no place for."""
    d = robot.description
    names = (
        "motor",
        "gear",
        "balancer",
        "friction",
        "transmission",
        "hydraulic",
        "servo",
        "payload",
    )
    lost = [name for name in names if getattr(d, name)]
    lost += [f"tool {name} (not mounted)" for name in d.tool if name != d.mounted.tool]
    if d.gravity != (0.0, 0.0, -9.81):
        lost.append("gravity of a tilted base")
    lost += [
        f"why {x.name} is unphysical (import needs --allow-unphysical)"
        for x in d.link
        if x.unphysical
    ]
    return lost


def log_page(log: Log, name: str) -> RenderableType:
    """Channels, rate and events of a log, and what in it cannot be."""
    steps = np.diff(log.time)
    step = float(np.median(steps)) if len(steps) else float("nan")
    uneven = float(np.abs(steps - step).max()) if len(steps) else 0.0
    head = f"{name}: a log of {len(log.time)} samples, {log.time[-1] - log.time[0]:.6g} s"
    rate = (
        f"about {1 / step:.6g} Hz, steps uneven by at most {1e3 * uneven:.3g} ms"
        if len(steps)
        else "one sample"
    )
    table = columns("channel", "columns", "smallest", "largest")
    for channel, values in log.channels.items():
        label = escape(f"{channel}: {CHANNELS[channel_kind(channel) or channel]}")
        table.add_row(
            label, str(values.shape[1]), number(float(values.min())), number(float(values.max()))
        )
    told = [f"at {event.time:.3f} s: {event.text}" for event in log.events] or ["No events."]
    events = [Text(printable(text)) for text in told]
    doubtful = [Text(sentence, style="red") for sentence in doubts(log)]
    return Group(Text(head, style="bold"), Text(rate), *doubtful, table, *events)
