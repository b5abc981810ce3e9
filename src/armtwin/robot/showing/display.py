"""The skeleton of a robot, drawn in space."""

from collections.abc import Callable
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.report.figures import BLUE, RED, axes_in_space, equal_lengths, plain
from armtwin.robot.dynamics.assembly import Assembly

MM = 1e3  # a metre in mm
GREY, SHEER = "0.6", 0.4  # of meshes
SAME_PLACE = 1.0  # neighbouring joints nearer than this share a label [mm]


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
    meshes = assembly.description.meshes
    for mesh in () if meshes is None else meshes.links:
        X = pose(mesh.link)
        corners = MM * (mesh.corners @ X[:3, :3].T + X[:3, 3])
        axes.plot_trisurf(*corners.T, triangles=mesh.faces, color=GREY, alpha=SHEER)
    body, _ = assembly.frame("flange")
    flange = _origin(pose, "flange")
    _bar(axes, bodies[body], flange)
    x, y, z = np.transpose([flange, _origin(pose, "tool")])
    axes.plot(x, y, z, color=RED, linestyle="--", linewidth=2)
    axes.plot(x[1:], y[1:], z[1:], color=RED, marker="x", linestyle="", label="tool")
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
