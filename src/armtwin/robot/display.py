"""How a robot shows itself in Python and notebooks: its facts, and its skeleton in space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.notebook.figures import BLUE, RED, axes_in_space, equal_lengths, plain
from armtwin.robot.assembly import Assembly
from armtwin.robot.description import Description
from armtwin.robot.provenance import Provenance

MM = 1e3
SAME_PLACE = 1e-3  # joints nearer than this share a label [m]


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
    counts = [f"{count} {kind}" for kind, count in provenance.counts().items()]
    yield "sources", ", ".join(counts) or "none given"
    if provenance.missing:
        yield "a prediction lacks", "; ".join(provenance.missing)
    if origin:
        yield "file", Path(origin).name


def draw_skeleton(assembly: Assembly, pose: Callable[[str], Floats], axes: Any = None) -> Any:
    """Draw bars between the joints of a posture, the joints' names, and the tool.

    Args:
        assembly: The robot.
        pose: Pose of a frame in the base frame, (4, 4), by the frame's name.
        axes: Axes in space; new ones where none are given.
    """
    tree = assembly.tree
    axes = axes_in_space(axes)
    places = [MM * pose(joint.child)[:3, 3] for joint in tree.joints]
    base = np.zeros(3)
    for parent, end in zip(tree.parents, places, strict=True):
        _bar(axes, base if parent < 0 else places[parent], end)
    flange = MM * pose("flange")[:3, 3]
    tip = MM * pose("tool")[:3, 3]
    body, _ = assembly.frame("flange")
    _bar(axes, base if body < 0 else places[body], flange)
    axes.plot(*np.transpose([flange, tip]), color=RED, linestyle="--", linewidth=2)
    axes.plot(*tip[:, None], color=RED, marker="x", linestyle="", label="tool")
    for place, names in _labels([joint.name for joint in tree.joints], places):
        axes.text(*place, f"  {plain(names)}", fontsize="small")
    axes.legend(loc="upper left")
    equal_lengths(axes)
    return axes


def _bar(axes: Any, start: Floats, end: Floats) -> None:
    axes.plot(*np.transpose([start, end]), color=BLUE, linewidth=3, marker="o", markersize=4)


def _labels(names: list[str], places: list[Floats]) -> Iterator[tuple[Floats, str]]:
    """Each place with the names of all joints that are there."""
    left = dict(zip(names, places, strict=True))
    while left:
        place = next(iter(left.values()))
        here = [name for name in left if np.linalg.norm(left[name] - place) < MM * SAME_PLACE]
        yield place, ", ".join(here)
        for name in here:
            del left[name]
