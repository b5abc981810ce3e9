"""A URDF file of a robot: same kinematics and bodies; drives only as far as URDF knows them."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.rotations import to_rpy
from armtwin.mechanics.inertia import about_centre
from armtwin.robot.bodies import mounted_load, parameters_of
from armtwin.robot.description import Description
from armtwin.robot.groups import Joint
from armtwin.robot.tree import grow

UNLIMITED = 1e9


def to_urdf(description: Description) -> str:
    """Text of the URDF file; what is mounted on the flange is a fixed link called mounted."""
    tree = grow(description)
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(description.name)}>"]
    bodies = {x.name: parameters_of(x.body) for x in description.link}
    lines += _link(tree.root, bodies.get(tree.root, np.zeros(10)))
    for joint in tree.joints:
        lines += _link(joint.child, bodies[joint.child])
        lines += _joint(joint)
    fixed = [(f.name, f.link, f.origin.matrix(), np.zeros(10)) for f in description.frame]
    flange = description.flange
    if flange is not None:
        fixed.append(("flange", flange.link, flange.origin.matrix(), np.zeros(10)))
        if description.mounted.tool:
            X = flange.origin.matrix() @ description.tool[description.mounted.tool].tcp.matrix()
            fixed.append(("tcp", flange.link, X, np.zeros(10)))
        load = mounted_load(description)
        if load.any():
            fixed.append(("mounted", flange.link, np.eye(4), load))
    taken = {tree.root, *bodies}
    for wanted, parent, X, ten in fixed:
        name = wanted
        while name in taken:
            name += "_"
        taken.add(name)
        lines += [
            *_link(name, ten),
            f'  <joint name={quoteattr(f"{parent}-{name}")} type="fixed">',
            _origin(X, 4),
        ]
        lines += [
            f"    <parent link={quoteattr(parent)}/>",
            f"    <child link={quoteattr(name)}/>",
            "  </joint>",
        ]
    return "\n".join([*lines, "</robot>", ""])


def _numbers(values: Floats) -> str:
    return " ".join(repr(float(x)) for x in values)


def _origin(X: Floats, indent: int) -> str:
    return f'{" " * indent}<origin xyz="{_numbers(X[:3, 3])}" rpy="{_numbers(to_rpy(X[:3, :3]))}"/>'


def _link(name: str, ten: Floats) -> list[str]:
    if not ten.any():
        return [f"  <link name={quoteattr(name)}/>"]
    m = float(ten[0])
    centre = ten[1:4] / m if m else np.zeros(3)
    J = (
        about_centre(ten)
        if m
        else np.array(
            [[ten[4], ten[7], ten[8]], [ten[7], ten[5], ten[9]], [ten[8], ten[9], ten[6]]]
        )
    )
    six = " ".join(
        f'i{key}="{float(J[r, c])!r}"'
        for key, r, c in (
            ("xx", 0, 0),
            ("xy", 0, 1),
            ("xz", 0, 2),
            ("yy", 1, 1),
            ("yz", 1, 2),
            ("zz", 2, 2),
        )
    )
    return [
        f"  <link name={quoteattr(name)}>",
        "    <inertial>",
        f'      <origin xyz="{_numbers(centre)}" rpy="0 0 0"/>',
        f'      <mass value="{m!r}"/>',
        f"      <inertia {six}/>",
        "    </inertial>",
        "  </link>",
    ]


def _joint(joint: Joint) -> list[str]:
    limits = joint.limits
    bounded = limits is not None and (limits.lower is not None or limits.upper is not None)
    kind = joint.type if bounded or joint.type == "prismatic" else "continuous"
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    lower = -UNLIMITED if limits is None or limits.lower is None else limits.lower
    upper = UNLIMITED if limits is None or limits.upper is None else limits.upper
    effort = limits.torque if limits and limits.torque else UNLIMITED
    velocity = limits.velocity if limits and limits.velocity else UNLIMITED
    lines = [
        f"  <joint name={quoteattr(joint.name)} type={quoteattr(kind)}>",
        _origin(joint.origin.matrix(), 4),
        f"    <parent link={quoteattr(joint.parent)}/>",
        f"    <child link={quoteattr(joint.child)}/>",
        f'    <axis xyz="{_numbers(axis)}"/>',
        f'    <limit lower="{lower!r}" upper="{upper!r}" effort="{effort!r}" velocity="{velocity!r}"/>',
    ]
    if joint.mimic is not None:
        m = joint.mimic
        lines.append(
            f'    <mimic joint={quoteattr(m.joint)} multiplier="{m.multiplier!r}" offset="{m.offset!r}"/>'
        )
    return [*lines, "  </joint>"]
