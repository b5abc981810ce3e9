"""How a job shows itself in Python and notebooks: its facts, and its seam in space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.jobs.description import JobDescription
from armtwin.jobs.groups import Tolerance
from armtwin.motion.seam import Seam
from armtwin.report.figures import BLUE, GREY, RED, axes_in_space, equal_lengths

MM = 1e3
POINTS = 400  # of a stretch that are drawn


def allowed(tolerance: Tolerance) -> str:
    """A tolerance in words."""
    lateral, vertical = MM * tolerance.lateral, MM * tolerance.vertical
    if lateral == vertical:
        return f"±{lateral:g} mm"
    return f"±{lateral:g} mm lateral, ±{vertical:g} mm vertical"


def mounted(description: JobDescription) -> str:
    """The robot with what it carries."""
    names = [name for name in (description.tool, description.payload) if name]
    robot = Path(description.robot).name
    return f"{robot} with {' and '.join(names)}" if names else robot


def facts(description: JobDescription, origin: str) -> Iterator[tuple[str, str]]:
    """What one wants to know first about a job."""
    if description.title:
        yield "job", description.title
    yield "robot", mounted(description)
    yield "speed", f"{MM * description.speed:g} mm/s"
    yield "tolerance", allowed(description.tolerance)
    yield "segments", str(len(description.segment))
    model = description.model
    yield "model", f"{model.words}, {model.friction} friction, servo {model.servo}"
    if description.force:
        yield "forces", str(len(description.force))
    if origin:
        yield "file", Path(origin).name


def draw_seam(seam: Seam, process_on: Sequence[tuple[float, float]], axes: Any = None) -> Any:
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
