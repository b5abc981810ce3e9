"""The robot as bars between its joints, for the viewer."""

from dataclasses import dataclass

import numpy as np

from armtwin.drives.linkage import Triangle
from armtwin.maths.batch import Floats, Pair, Record
from armtwin.maths.rotations import pose
from armtwin.robot.robot import Robot

BESIDE = 0.03  # distance of cylinders along the axis [m]
WIDTHS = {"lever": 0.006, "barrel": 0.011, "rod": 0.005}  # radii that are drawn [m]
BARREL = 0.55  # length of the barrel as a share of the shortest stroke that is shown


@dataclass(frozen=True, eq=False)
class CylinderFigure:
    """More joints and bars of a viewer's model, and their positions over the samples.

    Attributes:
        joints: Joints, to follow those of the robot.
        bars: Bars on them.
        positions: Angles and displacements of the joints, (k, joints).
    """

    joints: list[Record]
    bars: list[Record]
    positions: Floats


def sides(linkage: Triangle) -> Pair:
    """The longer and the shorter side of a triangle [m]."""
    total = np.sqrt(linkage.squares + linkage.product)
    difference = np.sqrt(linkage.squares - linkage.product)
    return float(total + difference) / 2, float(total - difference) / 2


def cylinder_figure(robot: Robot, q: Floats) -> CylinderFigure:
    """The cylinders of a robot at joint positions (k, n)."""
    tree = robot.assembly.tree
    joints: list[Record] = []
    bars: list[Record] = []
    columns: list[Floats] = []
    first_free = len(tree.joints)
    for _, row in robot.assembly.drives:
        if row.linkage is None:
            continue
        hinge = int(np.flatnonzero(row.weights)[0])
        origin = tree.joints[hinge].origin.matrix()
        beside = BESIDE * (1 + len(joints) // 3)
        frame = origin @ pose(np.eye(3), (0.0, 0.0, beside))
        long, short = sides(row.linkage)
        pin = long * np.array([np.cos(-row.linkage.angle), np.sin(-row.linkage.angle)])
        angle = q @ row.weights
        tip = short * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        way = tip - pin
        length = np.linalg.norm(way, axis=1)
        parent = int(tree.parents[hinge])
        at = first_free + len(joints)
        seat = frame @ pose(np.eye(3), (*pin, 0.0))
        joints += [
            _joint(parent, frame, "lever"),
            _joint(parent, seat, "barrel"),
            _joint(at + 1, np.eye(4), "rod"),
        ]
        barrel = BARREL * float(length.min())
        bars += [
            _cylinder_bar(at, (0.0, 0.0), (short, 0.0), "joint"),
            _cylinder_bar(at + 1, (0.0, 0.0), (barrel, 0.0), "barrel"),
            _cylinder_bar(at + 2, (-0.9 * barrel, 0.0), (0.0, 0.0), "rod"),
        ]
        columns += [angle, np.unwrap(np.arctan2(way[:, 1], way[:, 0])), length]
    positions = np.stack(columns, axis=1) if columns else np.zeros((len(q), 0))
    return CylinderFigure(joints, bars, positions)


def _joint(parent: int, X: Floats, part: str) -> Record:
    slides = part == "rod"
    axis = [1.0, 0.0, 0.0] if slides else [0.0, 0.0, 1.0]
    place = {"parent": parent, "origin": X.T.ravel().tolist()}
    return {**place, "axis": axis, "slides": slides, "width": WIDTHS[part]}


def _cylinder_bar(body: int, start: Pair, end: Pair, tone: str) -> Record:
    return {"body": body, "from": [*start, 0.0], "to": [*end, 0.0], "tone": tone}


def robot_figure(robot: Robot) -> Record:
    """What the viewer draws of a robot: joints, bars, tool, size [m], and meshes it has."""
    joints, bars = skeleton(robot)
    size = 0.7 * sum(float(np.linalg.norm(np.subtract(bar["to"], bar["from"]))) for bar in bars)
    found = {"joints": joints, "bars": bars, "tool": tool_of(robot), "size": size}
    meshes = robot.description.meshes
    if meshes is not None and meshes.links:
        body = robot.assembly.tree.body
        found["meshes"] = [mesh.figure(body(mesh.link)) for mesh in meshes.links]
    return found


def skeleton(robot: Robot) -> tuple[list[Record], list[Record]]:
    """Joints with their frames, and bars from each link's frame to its children."""
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


def _bar(body: int, X: Floats) -> Record:
    return {"body": int(body), "from": [0.0, 0.0, 0.0], "to": X[:3, 3].tolist()}


def tool_of(robot: Robot) -> Record:
    """Flange, tip and beam of the tool in the frame of the body that carries it."""
    body, X_BF = robot.assembly.frame("flange")
    _, X_BT = robot.assembly.frame("tool")
    return {
        "body": int(body),
        "flange": X_BF[:3, 3].tolist(),
        "tip": X_BT[:3, 3].tolist(),
        "beam": X_BT[:3, 2].tolist(),
    }
