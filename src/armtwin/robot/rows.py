"""Rows of the joint coordinates on which drives act: gear matrix, friction, balancers."""

from __future__ import annotations

import numpy as np

from armtwin.drives.balancers import Strut
from armtwin.drives.linkage import Triangle
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import inverse
from armtwin.robot.description import Description
from armtwin.robot.drive_groups import Balancer
from armtwin.robot.groups import Joint
from armtwin.robot.tree import Tree


def gear_matrix(description: Description) -> Floats:
    """N, (motors, joints), in the order of the file's motors and joints."""
    gear = description.gear
    if gear is None:
        return np.zeros((0, len(description.joint)))
    return np.diag(gear.ratios) if gear.ratios is not None else np.array(gear.matrix, dtype=np.float64)


def ordered_gear_matrix(description: Description, tree: Tree) -> Floats:
    """N with its columns in the order of the coordinates q."""
    place = {joint.name: i for i, joint in enumerate(description.joint)}
    return np.ascontiguousarray(gear_matrix(description)[:, [place[j.name] for j in tree.joints]])


def row(description: Description, tree: Tree, on: str | dict[str, float]) -> Floats:
    """Row s of the coordinates that `on` names: a joint, a motor or weights of joints, (n,)."""
    s = np.zeros(len(tree.joints))
    if isinstance(on, dict):
        for name, weight in on.items():
            s[tree.joint(name)] = weight
        return s
    motors = [m.name for m in description.motor]
    if on in motors:
        return ordered_gear_matrix(description, tree)[motors.index(on)].copy()
    s[tree.joint(on)] = 1.0
    return s


def separating_joint(balancer: Balancer, joints: tuple[Joint, ...]) -> Joint | None:
    """The revolute joint between the two links of a balancer's pins, if there is just one."""
    pins = balancer.pins
    if pins is None:
        return next((j for j in joints if j.name == balancer.joint and j.type == "revolute"), None)
    ends = {pins.link_a, pins.link_b}
    return next((j for j in joints if {j.parent, j.child} == ends and j.type == "revolute"), None)


def triangle_across(joint: Joint, on_parent: Floats, on_child: Floats) -> Triangle:
    """Length of a strut between a point of the joint's parent and a point of its child.

    L² = |p|² + |b|² - 2 p·Rot(a, q) b = S - P cos(q + φ), both points in the joint's frame.
    """
    p = (inverse(joint.origin.matrix()) @ [*on_parent, 1.0])[:3]
    a = np.array(joint.axis) / np.linalg.norm(joint.axis)
    along = (p @ a) * (on_child @ a)
    c, s = p @ on_child - along, p @ np.cross(a, on_child)
    return Triangle(
        squares=float(p @ p + on_child @ on_child - 2 * along),
        product=float(2 * np.hypot(c, s)),
        angle=float(np.arctan2(-s, c)),
    )


def strut(balancer: Balancer, tree: Tree) -> Strut:
    """A balancer of a checked description, reduced to a joint, a triangle and a force law."""
    joint = separating_joint(balancer, tree.joints)
    assert joint is not None
    linkage, pins = balancer.linkage, balancer.pins
    if pins is not None:
        ends = {pins.link_a: np.array(pins.a), pins.link_b: np.array(pins.b)}
        linkage = triangle_across(joint, ends[joint.parent], ends[joint.child])
    assert linkage is not None
    return Strut(tree.joint(joint.name), linkage, balancer.force)
