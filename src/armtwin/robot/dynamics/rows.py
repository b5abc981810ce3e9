"""Rows of the joint coordinates on which drives act: gear matrix, friction, balancers."""

from dataclasses import dataclass

import numpy as np

from armtwin.drives.balancers import Strut
from armtwin.drives.linkage import Triangle
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, NamedNumbers
from armtwin.maths.rotations import inverse
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.drive_groups import Balancer, Hydraulic
from armtwin.robot.schema.groups import Joint
from armtwin.robot.schema.servo import Side
from armtwin.robot.schema.tree import Tree


def gear_matrix(description: Description) -> Floats:
    """N, (motors, joints), in the order of the file's motors and joints."""
    gear = description.gear
    if gear is None:
        return np.zeros((0, len(description.joint)))
    if gear.ratios is not None:
        return np.diag(gear.ratios)
    return np.array(gear.matrix, dtype=np.float64)


def order_gear_matrix(description: Description, tree: Tree) -> Floats:
    """N with its columns in the order of the coordinates q."""
    place = {joint.name: i for i, joint in enumerate(description.joint)}
    order = [place[joint.name] for joint in tree.joints]
    return np.ascontiguousarray(gear_matrix(description)[:, order])


@dataclass(frozen=True, eq=False)
class Row:
    """What a drive or a friction element sees of the joints, and along which it acts back.

        x = s · q,  or the length of a linkage at the angle s · q

    Attributes:
        weights: s, (n,).
        side: Side of the gear on which it lies, "motor" or "link"; of a rigid gear both are one.
        linkage: Length as a function of the angle, where there is a lever.
        motor: Number of the motor whose turn it is; None where it is no motor's.
    """

    weights: Floats
    side: Side = "link"
    linkage: Triangle | None = None
    motor: int | None = None

    def lever(self, q: Floats | None) -> Floats | float:
        """dx / d(s · q) at joint positions (m, n), (m,); 1 without a linkage."""
        if self.linkage is None:
            return 1.0
        if q is None:
            raise ArmtwinError(
                "friction of a cylinder depends on its lever: give joint positions q too"
            )
        return self.linkage.rate(q @ self.weights)


def row(
    description: Description, tree: Tree, on: str | NamedNumbers, side: Side | None = None
) -> Row:
    """The row that `on` names: a joint, a motor, a hydraulic drive or weights of joints."""
    for i, motor in enumerate(description.motor):
        if motor.name == on:
            return Row(order_gear_matrix(description, tree)[i].copy(), "motor", motor=i)
    for cylinder in description.hydraulic:
        if cylinder.name == on:
            return hydraulic_row(cylinder, tree)
    return Row(_weights(tree, on), side or "link")


def hydraulic_row(drive: Hydraulic, tree: Tree) -> Row:
    """Stroke of a cylinder, or angle of a vane motor."""
    return Row(_weights(tree, drive.on), "link", drive.linkage)


def _weights(tree: Tree, on: str | NamedNumbers) -> Floats:
    s = np.zeros(len(tree.joints))
    weights = {on: 1.0} if isinstance(on, str) else on
    for name, weight in weights.items():
        s[tree.joint(name)] = weight
    return s


def separating_joint(balancer: Balancer, joints: tuple[Joint, ...]) -> Joint | None:
    """The revolute joint that a balancer acts across, None if there is none."""
    pins = balancer.pins
    for joint in joints:
        if joint.type != "revolute":
            continue
        if pins is None and joint.name == balancer.joint:
            return joint
        if pins is not None and {joint.parent, joint.child} == {pins.link_a, pins.link_b}:
            return joint
    return None


def triangle_across(joint: Joint, on_parent: Floats, on_child: Floats) -> Triangle:
    """Length of a strut between a point of the joint's parent and a point of its child.

    L² = |p|² + |b|² - 2 p·Rot(a, q) b = S - P cos(q + φ), both points in the joint's frame.
    """
    p = (inverse(joint.origin.matrix()) @ [*on_parent, 1.0])[:3]
    a = np.array(joint.axis) / np.linalg.norm(joint.axis)
    along = (p @ a) * (on_child @ a)
    c = p @ on_child - along
    s = p @ np.cross(a, on_child)
    return Triangle(
        squares=float(p @ p + on_child @ on_child - 2 * along),
        product=float(2 * np.hypot(c, s)),
        angle=float(np.arctan2(-s, c)),
    )


def strut(balancer: Balancer, tree: Tree) -> Strut:
    """A balancer of a checked description, reduced to a joint, a triangle and a force law."""
    joint = separating_joint(balancer, tree.joints)
    assert joint is not None
    linkage = balancer.linkage
    pins = balancer.pins
    if pins is not None:
        ends = {pins.link_a: np.array(pins.a), pins.link_b: np.array(pins.b)}
        linkage = triangle_across(joint, ends[joint.parent], ends[joint.child])
    assert linkage is not None
    return Strut(tree.joint(joint.name), linkage, balancer.force)


def turning_motor(row: Floats, motors: Floats, name: str) -> tuple[int, float]:
    """The motor whose turn a row is a multiple of, and its turns for one of the row.

    Args:
        row: A row of the coordinates, (N,).
        motors: Rows of the motors, (motors, N).
        name: The friction element whose row it is.
    """
    for k, motor in enumerate(motors):
        ratio = float(row @ motor) / float(row @ row)
        if ratio and np.allclose(motor, ratio * row, rtol=1e-9, atol=1e-9 * abs(ratio)):
            return k, ratio
    raise ArmtwinError(
        f"friction of {name}: load needs a row that one motor turns, so that the torque it "
        "carries is that motor's; name the motor as `on`, or the joints as they turn it"
    )
