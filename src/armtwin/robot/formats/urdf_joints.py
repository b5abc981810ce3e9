"""Joints of a URDF file and what they say of drives: limits, reductions, damping, friction."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from armtwin.drives.friction.coulomb import CoulombViscous
from armtwin.errors import did_you_mean
from armtwin.maths.batch import Floats, NamedArrays, NamedNumbers, Record
from armtwin.robot.formats.urdf_numbers import Reader
from armtwin.robot.formats.xml_tree import Node
from armtwin.robot.schema.drive_groups import FrictionElement, Gear, Motor
from armtwin.robot.schema.groups import Joint, Mimic, Pose, SlideLimits, TurnLimits

MOVING = ("revolute", "continuous", "prismatic")
# Files write "no limit" as a huge number; between the two an angle is most likely in degrees.
NO_LIMIT = 1000.0
LARGEST_ANGLE = 4 * math.pi
LARGEST_RATIO = 1e6
NO_ROTOR = "assumed: the URDF gives no rotor inertia"


@dataclass(frozen=True)
class UrdfJoint:
    """A joint as the file has it, its pose and axis read."""

    name: str
    type: str
    parent: str
    child: str
    X: Floats
    axis: Floats
    limits: NamedNumbers
    mimic: Mimic | None
    damping: float
    friction: float

    def group(self, link: str, X_link: Floats, source: str) -> Joint:
        """The joint on the link it is rigidly part of, for a robot file."""
        slides = self.type == "prismatic"
        kind: Any = SlideLimits if slides else TurnLimits
        limits = kind(**self.limits) if self.limits else None
        x, y, z = self.axis.tolist()
        return Joint(
            name=self.name,
            parent=link,
            child=self.child,
            source=source,
            type="prismatic" if slides else "revolute",
            origin=Pose.from_matrix(X_link @ self.X),
            axis=(x, y, z),
            limits=limits,
            mimic=self.mimic,
        )


def joint_group(reader: Reader, node: Node, bodies: NamedArrays) -> UrdfJoint:
    """Read one <joint>."""
    name = node.attributes.get("name", "")
    kind = node.attributes.get("type", "")
    what = f"joint '{name}'"
    if kind not in (*MOVING, "fixed"):
        reader.problem(node, f"{what} type must be one of {', '.join(MOVING)}, fixed, got '{kind}'")
    parent = _end(reader, node, "parent", bodies)
    child = _end(reader, node, "child", bodies)
    axis = reader.vector(node.first("axis"), "xyz", f"{what} axis", (1.0, 0.0, 0.0))
    if kind in MOVING and not np.linalg.norm(axis) > 1e-9:
        reader.problem(node, f"{what} axis must not be zero, got {axis.tolist()}")
    damping = _loss(reader, node, "damping")
    friction = _loss(reader, node, "friction")
    return UrdfJoint(
        name=name,
        type=kind,
        parent=parent,
        child=child,
        X=reader.origin(node.first("origin"), f"{what} origin"),
        axis=axis,
        limits=_limits(reader, node.first("limit"), kind, what),
        mimic=_mimic(reader, node.first("mimic"), what),
        damping=damping,
        friction=friction,
    )


def _end(reader: Reader, joint: Node, end: str, bodies: NamedArrays) -> str:
    """The link at the parent or child end of a joint."""
    node = joint.first(end)
    link = "" if node is None else node.attributes.get("link", "")
    if link not in bodies:
        what = f"joint '{joint.attributes.get('name', '')}' {end}"
        hint = "" if reader.full else did_you_mean(link, bodies)
        reader.problem(joint, f"{what} link '{link}' is not given. {hint}")
    return link


def _loss(reader: Reader, joint: Node, key: str) -> float:
    """Damping or friction of a joint; 0 where none is given."""
    node = joint.first("dynamics")
    if node is None:
        return 0.0
    what = f"joint '{joint.attributes.get('name', '')}'"
    value = reader.number(node, key, what, 0.0)
    if value < 0:
        reader.problem(joint, f"{what} {key} must not be negative, got {value:g}")
    return value


def _mimic(reader: Reader, node: Node | None, what: str) -> Mimic | None:
    if node is None:
        return None
    return Mimic(
        joint=node.attributes.get("joint", ""),
        multiplier=reader.number(node, "multiplier", f"{what} mimic", 1.0),
        offset=reader.number(node, "offset", f"{what} mimic", 0.0),
    )


def _limits(reader: Reader, node: Node | None, kind: str, what: str) -> NamedNumbers:
    """Limits by the names of a robot file; those that mean no limit are left out."""
    if node is None or kind == "fixed":
        return {}
    limits: NamedNumbers = {}
    for key, ours in (("velocity", "velocity"), ("effort", "torque")):
        value = reader.any_number(node, key, f"{what} limit", 0.0)
        if value < 0:
            reader.problem(node, f"{what} limit {key} must not be negative, got {value:g}")
        if 0 < value < 1e9:  # zero and huge numbers are written where none is known
            limits[ours] = value
    if kind == "continuous":
        return limits
    return {**limits, **_range(reader, node, kind, what)}


def _range(reader: Reader, node: Node, kind: str, what: str) -> NamedNumbers:
    """Lower and upper limit of the position, as far as there are any."""
    limits: NamedNumbers = {}
    for key in ("lower", "upper"):
        value = reader.any_number(node, key, f"{what} limit", 0.0)
        if kind == "revolute" and LARGEST_ANGLE < abs(value) <= NO_LIMIT:
            contract = f"{what} limit {key} must be in radians"
            reader.problem(node, f"{contract}, got {value:g}. Is it in degrees?")
        if abs(value) <= NO_LIMIT:
            limits[key] = value
    if len(limits) == 2 and limits["lower"] >= limits["upper"]:
        got = f"{limits['lower']} and {limits['upper']}"
        reader.problem(node, f"{what} limit lower must be less than upper, got {got}")
    return limits


def mechanical_reductions(reader: Reader, root: Node) -> NamedNumbers:
    """Gear ratio of each joint that a <transmission> names."""
    ratios: NamedNumbers = {}
    for transmission in root.all("transmission"):
        joint = transmission.first("joint")
        for node in transmission.walk():
            if node.tag != "mechanicalReduction":
                continue
            text = node.attributes.get("#text", "").strip()
            ratio = _ratio(text)
            if joint is not None and 0 < abs(ratio) <= LARGEST_RATIO:
                ratios[joint.attributes.get("name", "")] = ratio
            else:
                reader.note(f"Line {node.line}: mechanicalReduction '{text}' was ignored.")
    return ratios


def _ratio(text: str) -> float:
    """The number of a text, 0 where it is none."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def drive_groups(reader: Reader, joints: list[UrdfJoint], ratios: NamedNumbers) -> Record:
    """Motors, gear and friction groups of a robot file, as far as the URDF gives them."""
    groups: Record = {}
    motors = []
    rows = []
    friction = []
    for i, joint in enumerate(joints):
        if joint.name in ratios:
            motors.append(Motor(f"motor_{joint.name}", 0.0, NO_ROTOR))
            row = [0.0] * len(joints)
            row[i] = ratios[joint.name]
            rows.append(tuple(row))
        if (joint.damping or joint.friction) and joint.mimic is None:
            law = CoulombViscous(joint.friction, joint.damping)
            friction.append(FrictionElement(joint.name, joint.name, reader.source, law))
    if motors:
        groups["motor"] = tuple(motors)
        groups["gear"] = Gear(reader.source, matrix=tuple(rows))
    if friction:
        groups["friction"] = tuple(friction)
    return groups
