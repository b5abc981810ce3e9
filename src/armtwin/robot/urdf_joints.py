"""Joints of a URDF file and what they say of drives: limits, mimics, reductions, damping and friction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from armtwin.drives.friction.coulomb import CoulombViscous
from armtwin.errors import did_you_mean
from armtwin.maths.batch import Floats
from armtwin.robot.drive_groups import FrictionElement, Gear, Motor
from armtwin.robot.groups import Joint, Mimic, Pose, SlideLimits, TurnLimits
from armtwin.robot.urdf_numbers import Reader
from armtwin.robot.xml_tree import Node

MOVING = ("revolute", "continuous", "prismatic")
# Files write "no limit" as a huge number; between the two an angle is most likely given in degrees.
NO_LIMIT = 1000.0
LARGEST_ANGLE = 4 * math.pi
LARGEST_RATIO = 1e6


@dataclass(frozen=True)
class UrdfJoint:
    """A joint as the file has it, its pose and axis read."""

    name: str
    type: str
    parent: str
    child: str
    X: Floats
    axis: Floats
    limits: dict[str, Any]
    mimic: Mimic | None
    damping: float
    friction: float

    def group(self, link: str, X_link: Floats, source: str) -> Joint:
        """The joint on the link it is rigidly part of, for a robot file."""
        kind = SlideLimits if self.type == "prismatic" else TurnLimits
        limits: Any = kind(**self.limits) if self.limits else None
        return Joint(
            name=self.name,
            parent=link,
            child=self.child,
            source=source,
            type="prismatic" if self.type == "prismatic" else "revolute",
            origin=Pose.from_matrix(X_link @ self.X),
            axis=(float(self.axis[0]), float(self.axis[1]), float(self.axis[2])),
            limits=limits,
            mimic=self.mimic,
        )


def joint_group(reader: Reader, node: Node, bodies: dict[str, Floats]) -> UrdfJoint:
    """Read one <joint>."""
    name, kind = node.attributes.get("name", ""), node.attributes.get("type", "")
    what = f"joint '{name}'"
    if kind not in (*MOVING, "fixed"):
        reader.problem(node, f"{what} type must be one of {', '.join(MOVING)}, fixed, got '{kind}'")
    ends: dict[str, Any] = {}
    for end in ("parent", "child"):
        child = node.first(end)
        link = child.attributes.get("link", "") if child is not None else ""
        if link not in bodies:
            hint = "" if reader.full else did_you_mean(link, bodies)
            reader.problem(node, f"{what} {end} link '{link}' is not given. {hint}")
        ends[end] = link
    axis = reader.vector(node.first("axis"), "xyz", f"{what} axis", (1.0, 0.0, 0.0))
    if kind in MOVING and not np.linalg.norm(axis) > 1e-9:
        reader.problem(node, f"{what} axis must not be zero, got {axis.tolist()}")
    mimic, dynamics = node.first("mimic"), node.first("dynamics")
    rubs: dict[str, Any] = {
        key: reader.number(dynamics, key, what, 0.0) if dynamics else 0.0
        for key in ("damping", "friction")
    }
    for key, value in rubs.items():
        if value < 0:
            reader.problem(node, f"{what} {key} must not be negative, got {value:g}")
    return UrdfJoint(
        name=name,
        type=kind,
        X=reader.origin(node.first("origin"), f"{what} origin"),
        axis=axis,
        limits=_limits(reader, node.first("limit"), kind, what),
        mimic=_mimic(reader, mimic, what) if mimic is not None else None,
        **rubs,
        **ends,
    )


def _mimic(reader: Reader, node: Node, what: str) -> Mimic:
    return Mimic(
        joint=node.attributes.get("joint", ""),
        multiplier=reader.number(node, "multiplier", f"{what} mimic", 1.0),
        offset=reader.number(node, "offset", f"{what} mimic", 0.0),
    )


def _limits(reader: Reader, node: Node | None, kind: str, what: str) -> dict[str, Any]:
    if node is None or kind == "fixed":
        return {}
    limits: dict[str, float] = {}
    for key, ours in (("velocity", "velocity"), ("effort", "torque")):
        value = reader.any_number(node, key, f"{what} limit", 0.0)
        if value < 0:
            reader.problem(node, f"{what} limit {key} must not be negative, got {value:g}")
        if 0 < value < 1e9:  # zero and huge numbers are written where none is known
            limits[ours] = value
    if kind == "continuous":
        return limits
    for key in ("lower", "upper"):
        value = reader.any_number(node, key, f"{what} limit", 0.0)
        if kind == "revolute" and LARGEST_ANGLE < abs(value) <= NO_LIMIT:
            reader.problem(
                node, f"{what} limit {key} must be in radians, got {value:g}. Is it in degrees?"
            )
        if abs(value) <= NO_LIMIT:
            limits[key] = value
    if limits.get("lower", -1.0) >= limits.get("upper", 1.0):
        low, high = limits.get("lower"), limits.get("upper")
        reader.problem(node, f"{what} limit lower must be less than upper, got {low} and {high}")
    return limits


def mechanical_reductions(reader: Reader, root: Node) -> dict[str, float]:
    """Gear ratio of each joint that a <transmission> names."""
    ratios: dict[str, float] = {}
    for node in root.all("transmission"):
        joint = node.first("joint")
        for reduction in (n for n in node.walk() if n.tag == "mechanicalReduction"):
            text = reduction.attributes.get("#text", "").strip()
            try:
                ratio = float(text)
            except ValueError:
                ratio = 0.0
            if joint is not None and 0 < abs(ratio) <= LARGEST_RATIO:
                ratios[joint.attributes.get("name", "")] = ratio
            else:
                reader.note(f"Line {reduction.line}: mechanicalReduction '{text}' was ignored.")
    return ratios


def drive_groups(
    reader: Reader, joints: list[UrdfJoint], ratios: dict[str, float]
) -> dict[str, Any]:
    """Motors, gear and friction groups of a robot file, as far as the URDF gives them."""
    groups: dict[str, Any] = {}
    driven = [j for j in joints if j.name in ratios]
    if driven:
        absent = "assumed: the URDF gives no rotor inertia"
        groups["motor"] = tuple(Motor(f"motor_{j.name}", 0.0, absent) for j in driven)
        rows = tuple(tuple(ratios[j.name] if j is k else 0.0 for k in joints) for j in driven)
        groups["gear"] = Gear(reader.source, matrix=rows)
    rubbing = [j for j in joints if (j.damping or j.friction) and j.mimic is None]
    if rubbing:
        groups["friction"] = tuple(
            FrictionElement(j.name, j.name, reader.source, CoulombViscous(j.friction, j.damping))
            for j in rubbing
        )
    return groups
