"""The robot as bars between its joints, for the viewer."""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot


def skeleton(robot: Robot) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Joints with their frames, and bars from each link's frame to what hangs on it."""
    tree = robot.assembly.tree
    joints, bars = [], []
    for parent, joint in zip(tree.parents, tree.joints, strict=True):
        X = joint.origin.matrix()
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        joints.append(
            {
                "parent": int(parent),
                "origin": X.T.ravel().tolist(),  # column by column
                "axis": axis.tolist(),
                "slides": joint.type == "prismatic",
            }
        )
        bars.append(_bar(parent, X))
    bars.append(_bar(*robot.assembly.frame("flange")))
    return joints, bars


def _bar(body: int, X: Floats) -> dict[str, Any]:
    return {"body": int(body), "from": [0.0, 0.0, 0.0], "to": X[:3, 3].tolist()}


def bar_length(bar: dict[str, Any]) -> float:
    """Length of a bar [m]."""
    return float(np.linalg.norm(np.subtract(bar["to"], bar["from"])))


def tool_of(robot: Robot) -> dict[str, Any]:
    """Flange, tip and beam of the tool in the frame of the body that carries it."""
    body, X_BF = robot.assembly.frame("flange")
    _, X_BT = robot.assembly.frame("tool")
    return {
        "body": int(body),
        "flange": X_BF[:3, 3].tolist(),
        "tip": X_BT[:3, 3].tolist(),
        "beam": X_BT[:3, 2].tolist(),
    }
