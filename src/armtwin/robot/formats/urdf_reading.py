"""A validating URDF reader: every problem at once with its line, nothing guessed in silence.

Fixed joints are folded into their parent links and stay as named frames. Meshes are not
opened here.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from armtwin.errors import FileError, did_you_mean
from armtwin.maths.batch import Floats, NamedArrays
from armtwin.maths.rotations import inverse
from armtwin.mechanics.inertia import ten_parameters, transform_to_parent, why_unphysical
from armtwin.robot.dynamics.bodies import body_from
from armtwin.robot.formats.reading import MOST_GROUPS
from armtwin.robot.formats.urdf_joints import (
    MOVING,
    UrdfJoint,
    drive_groups,
    joint_group,
    mechanical_reductions,
)
from armtwin.robot.formats.urdf_numbers import Reader
from armtwin.robot.formats.xml_tree import Node, read_xml
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.groups import Flange, Frame, Link, Mounted, Pose, Tool

TOOL_FRAMES = ("tcp", "tool")
MOST_LINKS = 5000  # of a file
SIX = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
Carriers = dict[str, tuple[str, Floats]]
XACRO_ADVICE = (
    "is a xacro macro file, not a URDF. "
    "Expand it first: `xacro robot.urdf.xacro > robot.urdf` (pip install xacro)"
)


def read_urdf(path: Path, allow_unphysical: bool = False, tip: str = "") -> Description:
    """Description of a URDF file.

    Args:
        path: The file.
        allow_unphysical: Keep bodies that cannot exist, marked so, in place of refusing them.
        tip: The link at the end of the chain that is wanted; "" for all joints.
    """
    root = read_xml(path)
    if path.suffix == ".xacro" or any("xacro" in node.tag for node in root.walk()):
        raise FileError(path, XACRO_ADVICE)
    if root.tag != "robot":
        raise FileError(path, f"must have <robot> as its root element, got <{root.tag}>")
    _check_size(root, path)
    reader = Reader(f"public: URDF file {path.name}", tip=tip)
    bodies = _bodies(reader, root)
    joints = [joint_group(reader, node, bodies) for node in root.all("joint")]
    _check_names(reader, root, joints)
    if reader.problems:
        raise FileError(path, reader.problems, reader.more)
    if tip:
        joints = _fix_beside(reader, joints, path)
    described = _assemble(reader, root, bodies, joints, path)
    if not allow_unphysical:
        _refuse_unphysical(described.link, path)
    return described


def _fix_beside(reader: Reader, joints: list[UrdfJoint], path: Path) -> list[UrdfJoint]:
    """The joints with those that are not between the root and the wanted tip fixed at zero."""
    tip = reader.tip
    above = {joint.child: joint for joint in joints}
    if tip not in above:
        raise FileError(
            path, f"--tip: no joint leads to a link '{tip}'. {did_you_mean(tip, above)}"
        )
    chain: set[str] = set()
    link = tip
    while link in above and above[link].name not in chain:
        chain.add(above[link].name)
        link = above[link].parent
    chosen = []
    fixed = []
    for joint in joints:
        if joint.type in MOVING and joint.name not in chain:
            fixed.append(joint.name)
            joint = replace(joint, type="fixed", mimic=None)
        chosen.append(joint)
    if not any(joint.type in MOVING for joint in chosen):
        raise FileError(path, f"--tip: no joint that moves leads to link '{tip}'")
    if fixed:
        reader.note(f"Chain to '{tip}': fixed at zero are {', '.join(fixed)}.")
    return chosen


def _check_size(root: Node, path: Path) -> None:
    """Refuse what is no arm: a scene, or a file made to keep the reader busy."""
    links = len(list(root.all("link")))
    if links > MOST_LINKS:
        raise FileError(path, f"must have at most {MOST_LINKS} links, got {links}")
    kinds = [joint.attributes.get("type") for joint in root.all("joint")]
    moving = sum(kind in MOVING for kind in kinds)
    if moving > MOST_GROUPS:
        contract = f"must have at most {MOST_GROUPS} joints that move"
        raise FileError(path, f"{contract}, got {moving}")


def _bodies(reader: Reader, root: Node) -> NamedArrays:
    """Ten parameters of each link in its own frame."""
    bodies: NamedArrays = {}
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
        named = f"{len(meshes)} mesh references (first: {meshes[0]:.100})"
        reader.note(f"{named} are for drawing alone; `armtwin import` reads them.")
    return bodies


def _inertial(reader: Reader, node: Node | None, what: str) -> Floats:
    if node is None:
        return np.zeros(10)
    mass = 0.0
    mass_node = node.first("mass")
    if mass_node is not None:
        mass = reader.number(mass_node, "value", f"{what} mass")
    if mass < 0:
        reader.problem(node, f"{what} mass must be at least 0 kg, got {mass:g}")
    six = np.zeros(6)
    inertia = node.first("inertia")
    if inertia is not None:
        six = np.array([reader.number(inertia, key, f"{what} inertia", 0.0) for key in SIX])
    X = reader.origin(node.first("origin"), f"{what} inertial origin")
    return transform_to_parent(X, ten_parameters(mass, np.zeros(3), six, None))


def _check_names(reader: Reader, root: Node, joints: list[UrdfJoint]) -> None:
    _check_unique(reader, "joint", [joint.name for joint in joints])
    _check_unique(reader, "child link", [joint.child for joint in joints])
    if not any(joint.type in MOVING for joint in joints):
        reader.problem(root, "the robot has no joint that moves")


def _check_unique(reader: Reader, what: str, names: list[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            reader.problems.append(f"{what} '{name}' is given {count} times")


def _assemble(
    reader: Reader,
    root: Node,
    bodies: NamedArrays,
    joints: list[UrdfJoint],
    path: Path,
) -> Description:
    """Fold fixed joints, then put the groups together."""
    moving = [joint for joint in joints if joint.type in MOVING]
    fixed = {joint.child: joint for joint in joints if joint.type == "fixed"}
    carriers = _carriers(bodies, fixed, path)
    links = _links(reader, _lump_bodies(bodies, carriers), moving)
    rigid = {name: carriers[name] for name in bodies if carriers[name][0] != name}
    flange = _flange(reader, rigid, moving)
    frames = _frames(reader, rigid)
    tool, mounted = _tool(reader, rigid, flange)
    drives = drive_groups(reader, moving, mechanical_reductions(reader, root))
    return Description(
        name=root.attributes.get("name") or path.stem,
        note=" ".join([f"Imported from {path.name}.", *reader.notes]),
        joint=tuple(joint.group(*carriers[joint.parent], reader.source) for joint in moving),
        link=links,
        flange=flange,
        frame=frames,
        tool=tool,
        mounted=mounted,
        **drives,
    )


def _lump_bodies(bodies: NamedArrays, carriers: Carriers) -> NamedArrays:
    """Ten parameters of each carrying link with all that is rigidly part of it."""
    lumped: NamedArrays = {}
    for name, ten in bodies.items():
        home, X = carriers[name]
        lumped[home] = lumped.get(home, np.zeros(10)) + transform_to_parent(X, ten)
    return lumped


def _links(reader: Reader, bodies: NamedArrays, moving: list[UrdfJoint]) -> tuple[Link, ...]:
    """Links of a robot file; those that move and cannot exist say why."""
    carried = {joint.child for joint in moving}
    links = []
    for name, ten in bodies.items():
        body = body_from(ten) if ten.any() else None
        unphysical = why_unphysical(ten) if name in carried else ""
        links.append(Link(name, reader.source, body, unphysical=unphysical))
    return tuple(links)


def _refuse_unphysical(links: Iterable[Link], path: Path) -> None:
    advice = "Correct the file, or import it with --allow-unphysical"
    problems = []
    for link in links:
        if link.unphysical:
            problems.append(f"link '{link.name}': {link.unphysical}. {advice}")
    if problems:
        raise FileError(path, problems)


def _frames(reader: Reader, rigid: Carriers) -> tuple[Frame, ...]:
    """Named frames in place of the links that are rigidly part of others."""
    frames = []
    for name, (home, X) in rigid.items():
        if name in ("flange", *TOOL_FRAMES):
            continue
        if name == "base":
            reason = "base is the link that does not move."
            reader.note(f"Its frame 'base' is called base_frame here: {reason}")
            name = "base_frame"
        frames.append(Frame(name, home, reader.source, Pose.from_matrix(X)))
    return tuple(frames)


def _carriers(bodies: Iterable[str], fixed: dict[str, UrdfJoint], path: Path) -> Carriers:
    """For each link the link that it is rigidly part of, and its pose there; walked once."""
    found: Carriers = {}
    for name in bodies:
        link = name
        chain: dict[str, None] = {}
        while link in fixed and link not in found:
            if link in chain:
                circle = " -> ".join([*chain, link])
                raise FileError(path, f"fixed joints form a cycle ({circle})")
            chain[link] = None
            link = fixed[link].parent
        home, X = found.setdefault(link, (link, np.eye(4)))
        for link in reversed(chain):
            X = X @ fixed[link].X
            found[link] = home, X
    return found


def _flange(reader: Reader, rigid: Carriers, moving: list[UrdfJoint]) -> Flange:
    """The frame of the chosen tip, or called flange or tool0, else the end of the longest chain."""
    if reader.tip and reader.tip not in rigid:
        return Flange(reader.tip, f"{reader.source}, the tip that was chosen")
    for name in [reader.tip] if reader.tip else ["flange", "tool0"]:
        if name in rigid:
            link, X = rigid[name]
            return Flange(link, f"{reader.source}, frame '{name}'", Pose.from_matrix(X))
    above = {}
    for joint in moving:
        home, _ = rigid.get(joint.parent, (joint.parent, None))
        above[joint.child] = home

    def depth(link: str) -> int:
        steps = 0
        while link in above and steps <= len(above):
            link = above[link]
            steps += 1
        return steps

    tip = max(above, key=depth)
    return Flange(tip, f"assumed: the last link of the longest chain, '{tip}'")


def _tool(reader: Reader, rigid: Carriers, flange: Flange) -> tuple[dict[str, Tool], Mounted]:
    """A fixed frame called tcp or tool on the flange's link, as a mounted tool without mass."""
    for name in TOOL_FRAMES:
        link, X = rigid.get(name, ("", np.eye(4)))
        if link == flange.link:
            tcp = Pose.from_matrix(inverse(flange.origin.matrix()) @ X)
            tool = Tool(f"{reader.source}, frame '{name}'", tcp)
            return {name: tool}, Mounted(tool=name)
    return {}, Mounted()
