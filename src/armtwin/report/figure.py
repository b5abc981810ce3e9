"""The robot as bars between its joints and the seam as coloured points, for the viewer."""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import judged
from armtwin.report.page import packed
from armtwin.robot.robot import Robot

SEAM_POINTS = 700


def figure(p: Prediction, times: Floats) -> dict[str, Any]:
    """Everything the viewer draws in 3-D.

    The tool's positions are those at the times of the samples.
    """
    robot, error = p.robot, p.path_error
    places = np.linspace(0, p.job.seam.length, SEAM_POINTS)
    points = p.job.seam.path.at(places).p
    q = np.stack([np.interp(times, p.run.trace_time, x) for x in p.run.link_side.T], axis=1)
    joints, bars = _skeleton(robot)
    size = float(sum(np.linalg.norm(np.subtract(b["to"], b["from"])) for b in bars)) * 0.7
    middle = 0.65 * points.mean(axis=0) + 0.35 * np.array([0.0, 0.0, 0.6 * size])
    return {
        "joints": joints,
        "bars": bars,
        "tool": _tool(robot),
        "size": size,
        "target": [float(x) for x in middle],
        "tip": packed(robot.forward_kinematics(q)[:, :3, 3].ravel()),
        "seam": {
            "points": packed(points.ravel()),
            "ratio": packed(_ratios(p, error.place, places)),
        },
    }


def _ratios(p: Prediction, place: Floats, places: Floats) -> Floats:
    """Largest error over its tolerance around each point of the seam.

    -1 where the process is off or not reached.
    """
    tolerance, error = p.verdict.tolerance, p.path_error
    relative = np.maximum(
        np.abs(error.lateral) / tolerance.lateral, np.abs(error.vertical) / tolerance.vertical
    )
    on = judged(p.job, error.s)
    bucket = np.clip(
        np.round(place / places[-1] * (len(places) - 1)).astype(int), 0, len(places) - 1
    )
    largest = np.full(len(places), -1.0)
    np.maximum.at(largest, bucket[on], relative[on])
    if on.any():  # points between two samples take the larger neighbour
        first, last = int(bucket[on].min()), int(bucket[on].max())
        empty = np.flatnonzero(largest[first:last] < 0) + first
        inside = [k for k in empty if judged(p.job, places[k : k + 1])[0]]
        for k in inside:
            largest[k] = largest[k - 1]
    return largest


def _skeleton(robot: Robot) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Joints with their frames, and bars from each link's frame to what hangs on it."""
    tree = robot.assembly.tree
    joints, bars = [], []
    for parent, joint in zip(tree.parents, tree.joints, strict=True):
        X = joint.origin.matrix()
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        joints.append(
            {
                "parent": int(parent),
                "origin": [float(x) for x in X.T.ravel()],  # column by column
                "axis": [float(x) for x in axis],
                "slides": joint.type == "prismatic",
            }
        )
        bars.append(
            {"body": int(parent), "from": [0.0, 0.0, 0.0], "to": [float(x) for x in X[:3, 3]]}
        )
    body, X = robot.assembly.frame("flange")
    bars.append({"body": int(body), "from": [0.0, 0.0, 0.0], "to": [float(x) for x in X[:3, 3]]})
    return joints, bars


def _tool(robot: Robot) -> dict[str, Any]:
    (body, X_BF), (_, X_BT) = robot.assembly.frame("flange"), robot.assembly.frame("tool")
    place = {"flange": X_BF[:3, 3], "tip": X_BT[:3, 3], "beam": X_BT[:3, 2]}
    return {"body": int(body), **{key: [float(x) for x in value] for key, value in place.items()}}
