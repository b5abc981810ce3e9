"""A URDF file of a robot: same kinematics and bodies; drives only as far as URDF knows them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Names, Sentences
from armtwin.maths.rotations import to_rpy
from armtwin.mechanics.inertia import about_centre, inertia_matrix
from armtwin.robot.dynamics.assembly import Assembly
from armtwin.robot.dynamics.bodies import lump_mounted_load, parameters_of
from armtwin.robot.kinematics.limits import highest_speeds
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.groups import Joint, SlideLimits, TurnLimits

FrictionTorque = Callable[[Floats], Floats]
UNLIMITED = 1e9  # limit that is written where there is none
SPEEDS = 50  # in each direction at which the friction of a joint is fitted
EXACT = 1e-6  # relative misfit of a law that is Coulomb and viscous friction
NOT_IN_URDF = (
    "gear",
    "balancer",
    "transmission",
    "flexure",
    "deviation",
    "hydraulic",
    "servo",
    "payload",
    "standard_deviation",
)


def to_urdf(robot: Assembly, friction_torque: FrictionTorque) -> tuple[str, Names]:
    """Text of the URDF file, and what it does not hold or holds approximately, in numbers.

    What is mounted on the flange is a fixed link called mounted.

    Args:
        robot: The robot.
        friction_torque: Its steady sliding friction at joint speeds, both (m, n).
    """
    description = robot.description
    if description.loop:
        raise ArmtwinError(
            f"robot '{description.name}' has closed loops ([[loop]]), which a URDF file cannot hold"
        )
    tree = robot.tree
    friction = fit_joint_friction(robot, friction_torque)
    drives = tuple(_describe_drives(robot, friction))
    lines = ['<?xml version="1.0"?>']
    for phrase in drives:
        lines.append(f"<!-- {phrase.replace('--', '- -')} -->")
    lines.append(f"<robot name={quoteattr(description.name)}>")
    bodies = {link.name: parameters_of(link.body) for link in description.link}
    lines += _link(tree.root, bodies.get(tree.root, np.zeros(10)))
    for joint in tree.joints:
        lines += _link(joint.child, bodies[joint.child])
        lines += _joint(joint, friction.get(joint.name))
    taken = {tree.root, *bodies}
    for part in _collect_fixed_parts(description):
        name = part.name
        while name in taken:
            name += "_"
        taken.add(name)
        lines += _link(name, part.ten)
        lines += _write_fixed_joint(part.parent, name, part.X)
    return "\n".join([*lines, "</robot>", ""]), (*drives, *_describe_groups(description))


def _describe_groups(d: Description) -> list[str]:
    """Groups of a robot file that a URDF has no place for."""
    lost = [name for name in NOT_IN_URDF if getattr(d, name)]
    if any(x.presliding or x.load or x.thermal for x in d.active_friction()):
        lost.append("friction before sliding, and its dependence on load and temperature")
    lost += [f"tool {name} (not mounted)" for name in d.tool if name != d.mounted.tool]
    if d.gravity != (0.0, 0.0, -9.81):
        lost.append("gravity of a tilted base")
    for link in d.link:
        if link.unphysical:
            lost.append(f"why {link.name} is unphysical (import needs --allow-unphysical)")
    return [f"left out: {what}" for what in lost]


class JointFriction(NamedTuple):
    """Friction of one joint as URDF can say it, τ = level sign(v) + viscous v.

    Attributes:
        level: Friction [N m or N].
        viscous: Damping [N m s/rad or N s/m].
        remarks: What is lost of the robot's friction, in numbers.
    """

    level: float
    viscous: float
    remarks: Names


def fit_joint_friction(
    robot: Assembly, friction_torque: FrictionTorque
) -> dict[str, JointFriction]:
    """Friction of each joint that has any, by its name; arguments as of `to_urdf`.

    Least squares of level and viscous >= 0 over the speeds of the joint in both directions, the
    others at rest.
    """
    if not robot.friction:
        return {}
    from scipy.optimize import nnls

    found = {}
    share = np.linspace(-1.0, 1.0, 2 * SPEEDS + 1)
    columns = np.stack([np.sign(share), share], axis=1)
    for j, fastest in enumerate(highest_speeds(robot).tolist()):
        v = np.zeros((len(share), len(robot.free)))
        v[:, j] = fastest * share
        torque = friction_torque(v)
        (level, rise), _ = nnls(columns, torque[:, j])
        misfit = np.abs(torque[:, j] - columns @ (level, rise)).max()
        others = np.delete(torque - torque[SPEEDS], j, axis=1)  # beyond what they have at rest
        coupled = np.abs(others).max(initial=0.0)
        joint = robot.free_joints[j]
        force, way = ("N", "m") if joint.type == "prismatic" else ("N m", "rad")
        remarks = []
        if misfit > EXACT * (level + rise):
            remarks.append(
                f"friction of {joint.name} written as {level:.4g} {force} + {rise / fastest:.4g} "
                f"{force} s/{way}: fitted up to {fastest:.4g} {way}/s, off by at most {misfit:.3g} "
                f"{force}"
            )
        if coupled > EXACT * (level + rise):
            remarks.append(
                f"left out: friction of {joint.name} on other joints, up to {coupled:.4g} {force}"
            )
        if level > 0 or rise > 0:
            found[joint.name] = JointFriction(float(level), float(rise) / fastest, tuple(remarks))
    return found


def _describe_drives(robot: Assembly, friction: dict[str, JointFriction]) -> Sentences:
    """Rotor inertias, which have no place in a URDF, and what is lost of the friction."""
    reflected = robot.rotor_inertias @ robot.motor_rows**2
    parts = []
    for joint, inertia in zip(robot.free_joints, reflected.tolist(), strict=True):
        if inertia > 0:
            unit = "kg" if joint.type == "prismatic" else "kg m²"
            parts.append(f"{joint.name} {inertia:.4g} {unit}")
    if parts:
        yield f"left out: rotor inertias, on the joint side {', '.join(parts)}"
    for joint_friction in friction.values():
        yield from joint_friction.remarks


class _FixedPart(NamedTuple):
    """A link on another one by a fixed joint: its pose there and its ten parameters."""

    name: str
    parent: str
    X: Floats
    ten: Floats


def _collect_fixed_parts(description: Description) -> Iterator[_FixedPart]:
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
    load = lump_mounted_load(description)
    if load.any():
        yield _FixedPart("mounted", flange.link, np.eye(4), load)


def _write_fixed_joint(parent: str, child: str, X: Floats) -> list[str]:
    return [*_begin_joint(f"{parent}-{child}", "fixed", (parent, child), X), "  </joint>"]


def _begin_joint(name: str, kind: str, links: tuple[str, str], X: Floats) -> list[str]:
    """The lines that every joint has: its name and kind, its pose, its parent and child."""
    parent, child = map(quoteattr, links)
    return [
        f"  <joint name={quoteattr(name)} type={quoteattr(kind)}>",
        _origin(X, 4),
        f"    <parent link={parent}/>",
        f"    <child link={child}/>",
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


def _joint(joint: Joint, friction: JointFriction | None) -> list[str]:
    limits = TurnLimits() if joint.limits is None else joint.limits
    bounded = limits.lower is not None or limits.upper is not None
    kind = joint.type if bounded or joint.type == "prismatic" else "continuous"
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    links = joint.parent, joint.child
    lines = [
        *_begin_joint(joint.name, kind, links, joint.origin.matrix()),
        f'    <axis xyz="{_numbers(axis)}"/>',
        _limit(limits),
    ]
    if friction is not None:
        losses = f'damping="{friction.viscous!r}" friction="{friction.level!r}"'
        lines.append(f"    <dynamics {losses}/>")
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
