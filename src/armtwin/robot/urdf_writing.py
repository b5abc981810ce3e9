"""A URDF file of a robot: same kinematics and bodies; drives only as far as URDF knows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.rotations import to_rpy
from armtwin.mechanics.inertia import about_centre, inertia_matrix
from armtwin.robot.bodies import mounted_load, parameters_of
from armtwin.robot.description import Description
from armtwin.robot.groups import Joint, SlideLimits, TurnLimits
from armtwin.robot.tree import grow

UNLIMITED = 1e9


def to_urdf(description: Description) -> str:
    """Text of the URDF file; what is mounted on the flange is a fixed link called mounted."""
    tree = grow(description)
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(description.name)}>"]
    bodies = {link.name: parameters_of(link.body) for link in description.link}
    lines += _link(tree.root, bodies.get(tree.root, np.zeros(10)))
    for joint in tree.joints:
        lines += _link(joint.child, bodies[joint.child])
        lines += _joint(joint)
    taken = {tree.root, *bodies}
    for part in _fixed_parts(description):
        name = part.name
        while name in taken:
            name += "_"
        taken.add(name)
        lines += _link(name, part.ten)
        lines += _fixed_joint(part.parent, name, part.X)
    return "\n".join([*lines, "</robot>", ""])


class _FixedPart(NamedTuple):
    """A link that hangs on another one by a fixed joint: its pose there and its ten parameters."""

    name: str
    parent: str
    X: Floats
    ten: Floats


def _fixed_parts(description: Description) -> Iterator[_FixedPart]:
    """Frames, flange, tool point and what is mounted."""
    nothing = np.zeros(10)
    for frame in description.frame:
        yield _FixedPart(frame.name, frame.link, frame.origin.matrix(), nothing)
    flange = description.flange
    if flange is None:
        return
    X = flange.origin.matrix()
    yield _FixedPart("flange", flange.link, X, nothing)
    tool = description.mounted.tool
    if tool:
        yield _FixedPart("tcp", flange.link, X @ description.tool[tool].tcp.matrix(), nothing)
    load = mounted_load(description)
    if load.any():
        yield _FixedPart("mounted", flange.link, np.eye(4), load)


def _fixed_joint(parent: str, child: str, X: Floats) -> list[str]:
    return [
        f'  <joint name={quoteattr(f"{parent}-{child}")} type="fixed">',
        _origin(X, 4),
        f"    <parent link={quoteattr(parent)}/>",
        f"    <child link={quoteattr(child)}/>",
        "  </joint>",
    ]


def _numbers(values: Floats) -> str:
    return " ".join(repr(float(x)) for x in values)


def _origin(X: Floats, indent: int) -> str:
    xyz = _numbers(X[:3, 3])
    rpy = _numbers(to_rpy(X[:3, :3]))
    return f'{" " * indent}<origin xyz="{xyz}" rpy="{rpy}"/>'


def _link(name: str, ten: Floats) -> list[str]:
    if not ten.any():
        return [f"  <link name={quoteattr(name)}/>"]
    mass = float(ten[0])
    centre = np.zeros(3)
    J = inertia_matrix(ten)
    if mass:
        centre = ten[1:4] / mass
        J = about_centre(ten)
    six = []
    for i, j in zip(*np.triu_indices(3), strict=True):
        six.append(f'i{"xyz"[i]}{"xyz"[j]}="{float(J[i, j])!r}"')
    return [
        f"  <link name={quoteattr(name)}>",
        "    <inertial>",
        f'      <origin xyz="{_numbers(centre)}" rpy="0 0 0"/>',
        f'      <mass value="{mass!r}"/>',
        f"      <inertia {' '.join(six)}/>",
        "    </inertial>",
        "  </link>",
    ]


def _joint(joint: Joint) -> list[str]:
    limits = TurnLimits() if joint.limits is None else joint.limits
    bounded = limits.lower is not None or limits.upper is not None
    kind = joint.type if bounded or joint.type == "prismatic" else "continuous"
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    lines = [
        f"  <joint name={quoteattr(joint.name)} type={quoteattr(kind)}>",
        _origin(joint.origin.matrix(), 4),
        f"    <parent link={quoteattr(joint.parent)}/>",
        f"    <child link={quoteattr(joint.child)}/>",
        f'    <axis xyz="{_numbers(axis)}"/>',
        _limit(limits),
    ]
    mimic = joint.mimic
    if mimic is not None:
        leader = quoteattr(mimic.joint)
        rule = f'multiplier="{mimic.multiplier!r}" offset="{mimic.offset!r}"'
        lines.append(f"    <mimic joint={leader} {rule}/>")
    return [*lines, "  </joint>"]


def _limit(limits: TurnLimits | SlideLimits) -> str:
    lower = -UNLIMITED if limits.lower is None else limits.lower
    upper = UNLIMITED if limits.upper is None else limits.upper
    effort = limits.torque or UNLIMITED
    velocity = limits.velocity or UNLIMITED
    bounds = f'lower="{lower!r}" upper="{upper!r}" effort="{effort!r}" velocity="{velocity!r}"'
    return f"    <limit {bounds}/>"
