"""A validating URDF reader: every problem at once with its line, nothing guessed in silence.

Fixed joints are folded into the links they hang on and stay as named frames. Meshes are never opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.errors import FileError
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import inverse
from armtwin.mechanics.inertia import moved_to_parent, ten_parameters, why_unphysical
from armtwin.robot.bodies import body_from
from armtwin.robot.description import Description
from armtwin.robot.groups import Flange, Frame, Link, Mounted, Pose, Tool
from armtwin.robot.reading import MOST_GROUPS
from armtwin.robot.urdf_joints import (
    MOVING,
    UrdfJoint,
    drive_groups,
    joint_group,
    mechanical_reductions,
)
from armtwin.robot.urdf_numbers import Reader
from armtwin.robot.xml_tree import Node, read_xml

TOOL_FRAMES = ("tcp", "tool")
MOST_LINKS = 5000
Carriers = dict[str, tuple[str, Floats]]
XACRO_ADVICE = "is a xacro macro file, not a URDF. Expand it first: `xacro robot.urdf.xacro > robot.urdf` (pip install xacro)"


def read_urdf(path: Path, allow_unphysical: bool = False) -> Description:
    """Description of a URDF file.

    Args:
        path: The file.
        allow_unphysical: Keep bodies that cannot exist, marked so, in place of refusing them.
    """
    root = read_xml(path)
    if path.suffix == ".xacro" or any("xacro" in node.tag for node in root.walk()):
        raise FileError(str(path), [XACRO_ADVICE])
    if root.tag != "robot":
        raise FileError(str(path), [f"must have <robot> as its root element, got <{root.tag}>"])
    _check_size(root, path)
    reader = Reader(f"public: URDF file {path.name}")
    bodies = _bodies(reader, root)
    joints = [joint_group(reader, node, bodies) for node in root.all("joint")]
    _check_names(reader, root, joints)
    if reader.problems:
        raise FileError(str(path), reader.problems, reader.more)
    return _assembled(reader, root, bodies, joints, path, allow_unphysical)


def _check_size(root: Node, path: Path) -> None:
    """Refuse what is no arm: a scene, or a file made to keep the reader busy."""
    links = sum(1 for _ in root.all("link"))
    moving = sum(1 for joint in root.all("joint") if joint.attributes.get("type") in MOVING)
    counts = (("links", links, MOST_LINKS), ("joints that move", moving, MOST_GROUPS))
    for what, count, most in counts:
        if count > most:
            raise FileError(str(path), [f"must have at most {most} {what}, got {count}"])


def _bodies(reader: Reader, root: Node) -> dict[str, Floats]:
    """Ten parameters of each link in its own frame."""
    bodies: dict[str, Floats] = {}
    for node in root.all("link"):
        name = node.attributes.get("name", "")
        what = f"link '{name}'"
        if not name:
            reader.problem(node, "link name is missing")
        if name in bodies:
            reader.problem(node, f"{what} is given twice")
        bodies[name] = _inertial(reader, node.first("inertial"), what)
    meshes = [m.attributes.get("filename", "") for m in root.walk() if m.tag == "mesh"]
    if meshes:
        ignored = f"{len(meshes)} mesh references were ignored (first: {meshes[0]:.100})"
        reader.note(f"{ignored}; meshes are not opened.")
    return bodies


def _inertial(reader: Reader, node: Node | None, what: str) -> Floats:
    if node is None:
        return np.zeros(10)
    mass_node, six_node = node.first("mass"), node.first("inertia")
    mass = reader.number(mass_node, "value", f"{what} mass") if mass_node is not None else 0.0
    if mass < 0:
        reader.problem(node, f"{what} mass must be at least 0 kg, got {mass:g}")
    keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    six = [
        reader.number(six_node, key, f"{what} inertia", 0.0) if six_node is not None else 0.0
        for key in keys
    ]
    X = reader.origin(node.first("origin"), f"{what} inertial origin")
    return moved_to_parent(X, ten_parameters(mass, np.zeros(3), six, None))


def _check_names(reader: Reader, root: Node, joints: list[UrdfJoint]) -> None:
    for group, names in (
        ("joint", [j.name for j in joints]),
        ("child link", [j.child for j in joints]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                reader.problems.append(f"{group} '{name}' is given {count} times")
    if not any(j.type in MOVING for j in joints):
        reader.problem(root, "the robot has no joint that moves")


def _assembled(
    reader: Reader,
    root: Node,
    bodies: dict[str, Floats],
    joints: list[UrdfJoint],
    path: Path,
    allow: bool,
) -> Description:
    """Fold fixed joints, then put the groups together."""
    moving = [j for j in joints if j.type in MOVING]
    carrier = _carriers(bodies, {j.child: j for j in joints if j.type == "fixed"}, path)
    lumped: dict[str, Floats] = {}
    frames = []
    for name, ten in bodies.items():
        home, X = carrier[name]
        lumped[home] = lumped.get(home, np.zeros(10)) + moved_to_parent(X, ten)
        if home != name and name not in ("flange", *TOOL_FRAMES):
            if name == "base":
                reason = "base is the link that does not move."
                reader.note(f"Its frame 'base' is called base_frame here: {reason}")
                name = "base_frame"
            frames.append(Frame(name, home, reader.source, Pose.from_matrix(X)))
    carried = {j.child for j in moving}
    unphysical = {
        name: why
        for name, ten in lumped.items()
        if name in carried and (why := why_unphysical(ten))
    }
    if unphysical and not allow:
        advice = "Correct the file, or import it with --allow-unphysical"
        raise FileError(
            str(path), [f"link '{name}': {why}. {advice}" for name, why in unphysical.items()]
        )
    links = tuple(
        Link(name, reader.source, body_from(ten) if ten.any() else None, unphysical.get(name, ""))
        for name, ten in lumped.items()
    )
    groups = [j.group(*carrier[j.parent], reader.source) for j in moving]
    drives = drive_groups(reader, moving, mechanical_reductions(reader, root))
    rigid = {name: (home, X) for name, (home, X) in carrier.items() if home != name}
    flange = _flange(reader, rigid, moving)
    tools = _tools(reader, rigid, flange)
    note = " ".join([f"Imported from {path.name}.", *reader.notes])
    arm = {"joint": tuple(groups), "link": links, "flange": flange, "frame": tuple(frames)}
    name = root.attributes.get("name") or path.stem
    return Description(name=name, note=note, **arm, **tools, **drives)  # type: ignore[arg-type]


def _carriers(bodies: Iterable[str], fixed: dict[str, UrdfJoint], path: Path) -> Carriers:
    """For each link the link that it is rigidly part of, and its pose there; walked once."""
    found: Carriers = {}
    for name in bodies:
        link, chain = name, dict[str, None]()
        while link in fixed and link not in found:
            if link in chain:
                circle = " -> ".join([*chain, link])
                raise FileError(str(path), [f"fixed joints form a cycle ({circle})"])
            chain[link] = None
            link = fixed[link].parent
        home, X = found.setdefault(link, (link, np.eye(4)))
        for link in reversed(chain):
            X = X @ fixed[link].X
            found[link] = home, X
    return found


def _flange(
    reader: Reader, rigid: dict[str, tuple[str, Floats]], moving: list[UrdfJoint]
) -> Flange:
    """The frame called flange or tool0, else the frame of the link at the end of the longest chain."""
    for name in ("flange", "tool0"):
        if name in rigid:
            link, X = rigid[name]
            return Flange(link, f"{reader.source}, frame '{name}'", Pose.from_matrix(X))
    above = {j.child: rigid[j.parent][0] if j.parent in rigid else j.parent for j in moving}

    def depth(link: str) -> int:
        steps = 0
        while link in above and steps <= len(above):
            link, steps = above[link], steps + 1
        return steps

    tip = max(above, key=depth)
    return Flange(tip, f"assumed: the last link of the longest chain, '{tip}'")


def _tools(reader: Reader, rigid: dict[str, tuple[str, Floats]], flange: Flange) -> dict[str, Any]:
    """A fixed frame called tcp or tool on the flange's link, as a mounted tool without mass of its own."""
    for name in TOOL_FRAMES:
        if name in rigid and rigid[name][0] == flange.link:
            tcp = Pose.from_matrix(inverse(flange.origin.matrix()) @ rigid[name][1])
            return {
                "tool": {name: Tool(f"{reader.source}, frame '{name}'", tcp)},
                "mounted": Mounted(tool=name),
            }
    return {}
