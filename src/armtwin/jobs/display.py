"""What a job shows of itself: its facts, and its seam in space."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.jobs.description import JobDescription
from armtwin.jobs.groups import SHAPES, Tolerance
from armtwin.maths.batch import Record
from armtwin.motion.cell import Cell
from armtwin.motion.path import SplineFit, Stretch
from armtwin.motion.seam import Seam
from armtwin.notebook.numbers import ALLOWED, MILLIMETRES, MILLIMETRES_PER_SECOND, SECONDS, Number
from armtwin.notebook.sections import Blocks, Column, Facts, Report, Section, Table
from armtwin.report.figures import BLUE, GREY, RED, axes_in_space, equal_lengths

Ends = tuple[float, float]  # of a stretch, from and to [m]
ORIENTATIONS = {"fixed": "fixed", "follow": "follows the seam", "given": "given at points"}
LAWS = {"ramp": "s", "acceleration": "m/s²", "jerk": "m/s³"}
COORDINATE = Number(1e3, digits=6)
MM = 1e3  # a metre in mm
POINTS = 400  # of a stretch that are drawn


def describe_tolerance(tolerance: Tolerance) -> str:
    """A tolerance in words."""
    lateral, vertical = MM * tolerance.lateral, MM * tolerance.vertical
    if lateral == vertical:
        return f"±{lateral:g} mm"
    return f"±{lateral:g} mm lateral, ±{vertical:g} mm vertical"


def describe_equipment(description: JobDescription) -> str:
    """The robot with what it carries."""
    names = [name for name in (description.tool, description.payload) if name]
    robot = Path(description.robot).name
    return f"{robot} with {' and '.join(names)}" if names else robot


def describe_job(
    d: JobDescription, seam: Seam, process_on: Sequence[Ends], splines: Sequence[SplineFit]
) -> Report:
    """What a job is; nothing is run.

    Args:
        d: The keys of its file.
        seam: Its seam.
        process_on: Where its process is on, from and to [m].
        splines: How far its splines leave their points.
    """
    sections = (
        Section("", _facts(d, seam, process_on, splines)),
        Section(f"Seam of {MILLIMETRES.with_unit(seam.length)}", _segments(d, seam)),
    )
    return Report(f"{d.name}: {d.title or 'no title'}", "", sections)


def _segments(d: JobDescription, seam: Seam) -> Blocks:
    columns = (
        Column("name", "segment"),
        Column("from", "from", MILLIMETRES),
        Column("to", "to", MILLIMETRES),
        Column("speed", "speed", MILLIMETRES_PER_SECOND),
        Column("shape", "shape"),
    )
    records = [_stretch(d, stretch) for stretch in seam.path.stretches]
    yield Table(columns, records, "segments")


def _facts(
    d: JobDescription, seam: Seam, process_on: Sequence[Ends], splines: Sequence[SplineFit]
) -> Blocks:
    carried = f"{d.tool or 'no tool'} and {d.payload}" if d.payload else d.tool or "no tool"
    place = ", ".join(COORDINATE.text(x) for x in d.workpiece.position)
    tolerance = d.tolerance
    process = []
    for start, stop in process_on:
        process.append(f"{MILLIMETRES.text(start)} to {MILLIMETRES.with_unit(stop)}")
    model = f"friction {d.model.friction}, servo {d.model.servo}, {d.model.words}"
    duration = SECONDS.with_unit(seam.duration)
    moving = SECONDS.with_unit(seam.profile.duration)
    yield Facts(
        (
            ("robot, tool", f"{d.robot} with {carried}"),
            ("workpiece at", f"({place}) mm in the base frame"),
            ("orientation", ORIENTATIONS[d.orientation.mode]),
            (
                "tolerance",
                f"±{ALLOWED.with_unit(tolerance.lateral)} lateral, "
                f"±{ALLOWED.with_unit(tolerance.vertical)} vertical",
            ),
            ("time law", _time_law(d)),
            ("duration", f"{duration}, of which {moving} in motion"),
            ("process on", ", ".join(process)),
            ("model", model),
            ("cell", _cell(d.cell)),
            ("splines", "; ".join(_spline(fit) for fit in splines)),
            ("forces", ", ".join(f"at {force.at}" for force in d.force)),
            ("overrides", ", ".join(f"{key} = {value}" for key, value in d.override.items())),
        )
    )


def _cell(cell: Cell) -> str:
    """Obstacles around the robot; nothing where the file has none."""
    parts = []
    if cell.floor is not None:
        parts.append(f"floor at {MILLIMETRES.with_unit(cell.floor)}")
    parts += [f"plane '{plane.name or k}'" for k, plane in enumerate(cell.plane, 1)]
    parts += [f"box '{box.name or k}'" for k, box in enumerate(cell.box, 1)]
    return ", ".join(parts)


def _spline(fit: SplineFit) -> str:
    """Deviation of a spline from the polyline of its points."""
    place = MILLIMETRES.with_unit(fit.at_m)
    return (
        f"'{fit.name}' deviates from its polyline by {ALLOWED.with_unit(fit.deviation)} at {place}"
    )


def _time_law(d: JobDescription) -> str:
    law = d.time_law
    numbers = []
    for key, unit in LAWS.items():
        value = getattr(law, key)
        if value is not None:
            numbers.append(f"{key} {value:g} {unit}")
    return ", ".join([law.kind, *numbers])


def _stretch(d: JobDescription, stretch: Stretch) -> Record:
    """A stretch of the seam."""
    segment = d.segment[stretch.move]
    speed = segment.speed or d.speed
    shape = next(key for key in SHAPES if getattr(segment, key) is not None)
    if stretch.corner:
        speed = segment.blend_speed or speed
        size = segment.blend or segment.zone or 0.0
        shape = f"{'zone' if segment.zone else 'corner r'} {MILLIMETRES_PER_SECOND.text(size)} mm"
    return {
        "name": stretch.name,
        "from": stretch.start,
        "to": stretch.stop,
        "speed": speed,
        "shape": shape,
    }


def draw_seam(seam: Seam, process_on: Sequence[Ends], axes: Any = None) -> Any:
    """Draw a seam in space, base frame.

    Args:
        seam: The seam.
        process_on: Stretches on which the process is on, from and to [m].
        axes: Axes in space; new ones where none are given.
    """
    axes = axes_in_space(axes)
    whole = MM * seam.path.at(np.linspace(0.0, seam.length, POINTS)).p
    axes.plot(*whole.T, color=GREY, linestyle="--", linewidth=1, label="process off")
    for k, (start, stop) in enumerate(process_on):
        points = MM * seam.path.at(np.linspace(start, stop, POINTS)).p
        label = "process on" if k == 0 else None
        axes.plot(*points.T, color=BLUE, linewidth=3, label=label)
    axes.plot(*whole[:1].T, color=RED, marker="o", linestyle="", label="start")
    axes.legend(loc="upper left")
    equal_lengths(axes)
    return axes
