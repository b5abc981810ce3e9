"""How a robot shows itself in Python and notebooks: its facts, and its skeleton in space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.report.figures import BLUE, RED, axes_in_space, equal_lengths, plain
from armtwin.robot.assembly import Assembly
from armtwin.robot.description import Description
from armtwin.robot.provenance import Provenance

MM = 1e3
SAME_PLACE = 1.0  # neighbouring joints nearer than this share a label [mm]


def named(description: Description) -> str:
    """The robot's name with what is mounted."""
    mounted = description.mounted
    held = " and ".join(name for name in (mounted.tool, mounted.payload) if name)
    return f"{description.name!r} with {held}" if held else repr(description.name)


def facts(assembly: Assembly, provenance: Provenance, origin: str) -> Iterator[tuple[str, str]]:
    """What one wants to know first about a robot."""
    description = assembly.description
    if description.title:
        yield "robot", description.title
    names = [assembly.tree.joints[i].name for i in assembly.free]
    yield "joints", ", ".join(names)
    if description.motor:
        yield "motors", str(len(description.motor))
    if description.hydraulic:
        yield "hydraulic drives", str(len(description.hydraulic))
    yield "tools", ", ".join(description.tool) or "none"
    yield "payloads", ", ".join(description.payload) or "none"
    yield "sources", _sources(provenance)
    yield "a prediction lacks", "; ".join(provenance.missing) or "nothing"
    yield "file", Path(origin).name or "none"


def _sources(provenance: Provenance) -> str:
    """How many sources there are of each kind."""
    counts = [f"{count} {kind}" for kind, count in provenance.counts().items()]
    return ", ".join(counts) or "none given"


def draw_skeleton(assembly: Assembly, pose: Callable[[str], Floats], axes: Any = None) -> Any:
    """Draw bars between the joints of a posture, the joints' names, and the tool.

    Args:
        assembly: The robot.
        pose: Pose of a frame in the base frame, (4, 4), by the frame's name.
        axes: Axes in space; new ones where none are given.
    """
    axes = axes_in_space(axes)
    tree = assembly.tree
    names = []
    places = []
    for joint in tree.joints:
        names.append(joint.name)
        places.append(_origin(pose, joint.child))
    bodies = [*places, np.zeros(3)]  # the base is body -1
    for parent, place in zip(tree.parents, places, strict=True):
        _bar(axes, bodies[parent], place)
    body, _ = assembly.frame("flange")
    flange = _origin(pose, "flange")
    _bar(axes, bodies[body], flange)
    _tool(axes, flange, _origin(pose, "tool"))
    _write_names(axes, names, places)
    axes.legend(loc="upper left")
    equal_lengths(axes)
    return axes


def _origin(pose: Callable[[str], Floats], frame: str) -> Floats:
    """Where a frame's origin is [mm]."""
    return MM * pose(frame)[:3, 3]


def _bar(axes: Any, start: Floats, end: Floats) -> None:
    x, y, z = np.transpose([start, end])
    axes.plot(x, y, z, color=BLUE, linewidth=3, marker="o", markersize=4)


def _tool(axes: Any, flange: Floats, tip: Floats) -> None:
    x, y, z = np.transpose([flange, tip])
    axes.plot(x, y, z, color=RED, linestyle="--", linewidth=2)
    axes.plot(x[1:], y[1:], z[1:], color=RED, marker="x", linestyle="", label="tool")


def _write_names(axes: Any, names: list[str], places: list[Floats]) -> None:
    """Write the names of joints where these are; joints at one place share a label."""
    labels: list[str] = []
    labelled: list[Floats] = []
    for name, place in zip(names, places, strict=True):
        if labelled and np.linalg.norm(place - labelled[-1]) < SAME_PLACE:
            labels[-1] += f", {name}"
        else:
            labels.append(name)
            labelled.append(place)
    for label, (x, y, z) in zip(labels, labelled, strict=True):
        axes.text(x, y, z, f"  {plain(label)}", fontsize="small")
