"""The arm as it is built: link lengths and joint zeros that differ, links that bend.

A controller knows the robot of its file. The arm has the same drives on a tree of bodies of its
own: deviations move the frames of joints, flexures are joints within a link that no motor drives.

    link:  foot --flexure--> ... --flexure--> tip,   which carries all that the link carries

Ref: [Soder-Hoorn 2015, fig. 3.4-3.6], [Waiboer 2007, section 6.2]
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from armtwin.maths.batch import Floats, Values
from armtwin.maths.rotations import about, pose
from armtwin.robot.dynamics.assembly import gear_matrix, separating_joint
from armtwin.robot.dynamics.bodies import body_from, parameters_of
from armtwin.robot.robot import Robot
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.drive_groups import Balancer, Pins
from armtwin.robot.schema.groups import Flexure, Joint, Link, Pose

RECENT = 16  # robots that are remembered: causes and corrections build one again and again


def as_built(robot: Robot, *, deviations: bool, flexures: bool) -> Robot:
    """The arm of a robot with the deviations and flexures of its file, or without.

    Args:
        robot: What the controller knows.
        deviations: Whether link lengths and joint zeros are those of the arm.
        flexures: Whether links bend.
    """
    d = robot.description
    deviates = deviations and bool(d.deviation)
    bends = flexures and bool(d.flexure)
    return _build_arm(robot, deviates, bends) if deviates or bends else robot


@lru_cache(RECENT)
def _build_arm(robot: Robot, deviates: bool, bends: bool) -> Robot:
    """The arm that differs from what the controller knows."""
    d = robot.description
    if deviates:
        d = apply_deviations(d)
    if bends:
        for name in dict.fromkeys(flexure.link for flexure in d.flexure):
            d = _split_at_flexures(d, name)
        d = replace(d, flexure=(), wrist=None)  # coordinates of a wrist are those of the controller
    built = Robot(replace(d, deviation=()), f"robot '{robot.name}' as it is built")
    return built.with_origin(robot.origin)


def apply_deviations(d: Description) -> Description:
    """The description with every joint's frame where the arm has it, and no deviation."""
    by_joint = {deviation.joint: deviation for deviation in d.deviation}
    joints = []
    for joint in d.joint:
        deviation = by_joint.get(joint.name)
        if deviation is not None:
            X = pose(np.eye(3), deviation.shift) @ joint.origin.matrix()
            X = X @ pose(about(joint.axis, deviation.zero), (0.0, 0.0, 0.0))
            joint = replace(joint, origin=Pose.from_matrix(X))
        joints.append(joint)
    return replace(d, joint=tuple(joints), deviation=())


def _split_at_flexures(d: Description, name: str) -> Description:
    """A link parted at its flexures, in the order of the file; its tip keeps its name."""
    flexures = [flexure for flexure in d.flexure if flexure.link == name]
    link = next(x for x in d.link if x.name == name)
    parts = [*(f"{name} before {flexure.name}" for flexure in flexures), name]
    places = [np.zeros(3), *(np.array(flexure.position) for flexure in flexures)]
    links = _parts(link, flexures, parts, places)
    bends = []
    for k, flexure in enumerate(flexures):
        position = tuple((places[k + 1] - places[k]).tolist())
        bend = Joint(
            name=flexure.name,
            parent=parts[k],
            child=parts[k + 1],
            source=f"derived: a flexure of {name}",
            origin=Pose(position=position),
            axis=flexure.axis,
        )
        bends.append(bend)
    return _replace_link(_with_gear_columns(d, name, len(bends)), link, links, bends, places[-1])


def _parts(
    link: Link, flexures: Sequence[Flexure], names: Sequence[str], places: Sequence[Floats]
) -> list[Link]:
    """The parts of a link with their bodies, each in a frame at its own flexure."""
    beyond = [parameters_of(link.body)]
    for flexure in flexures:
        own = beyond[-1] if flexure.beyond is None else parameters_of(flexure.beyond)
        beyond.append(own)
    beyond.append(np.zeros(10))
    parts = []
    for k, (name, place) in enumerate(zip(names, places, strict=True)):
        ten = beyond[k] - beyond[k + 1]
        seen = _seen_from(Pose(), place)
        body = replace(body_from(ten), frame=seen) if np.abs(ten).max() > 0 else None
        source = f"derived: a part of {link.name}"
        parts.append(replace(link, name=name, body=body, source=source))
    return parts


def _with_gear_columns(d: Description, name: str, count: int) -> Description:
    """The gear matrix with columns of zeros for the joints that follow the one of a link."""
    if d.gear is None:
        return d
    own = next(i for i, joint in enumerate(d.joint) if joint.child == name)
    N = np.insert(gear_matrix(d), [own + 1] * count, 0.0, axis=1)
    matrix = tuple(tuple(row) for row in N.tolist())
    return replace(d, gear=replace(d.gear, ratios=None, matrix=matrix))


def _replace_link(
    d: Description, link: Link, parts: list[Link], bends: list[Joint], tip: Floats
) -> Description:
    """The description with a link in parts: its children are carried by its tip."""
    joints: list[Joint] = []
    for joint in d.joint:
        if joint.child == link.name:
            joints += [replace(joint, child=parts[0].name), *bends]
        elif joint.parent == link.name:
            joints.append(replace(joint, origin=_seen_from(joint.origin, tip)))
        else:
            joints.append(joint)
    links: list[Link] = []
    for other in d.link:
        links += parts if other is link else [other]
    balancers = tuple(_move_pins(d, x, link.name, parts[0].name, tip) for x in d.balancer)
    rehung = replace(d, joint=tuple(joints), link=tuple(links), balancer=balancers)
    return _with_frames_on_tip(rehung, link.name, tip)


def _with_frames_on_tip(d: Description, name: str, tip: Floats) -> Description:
    """Named frames and the flange of a link as its tip sees them."""
    frames = []
    for frame in d.frame:
        if frame.link == name:
            frame = replace(frame, origin=_seen_from(frame.origin, tip))
        frames.append(frame)
    flange = d.flange
    if flange is not None and flange.link == name:
        flange = replace(flange, origin=_seen_from(flange.origin, tip))
    return replace(d, frame=tuple(frames), flange=flange)


def _seen_from(origin: Pose, place: Floats) -> Pose:
    return Pose.from_matrix(pose(np.eye(3), -place) @ origin.matrix())


def _move_pins(d: Description, balancer: Balancer, name: str, foot: str, tip: Floats) -> Balancer:
    """A balancer with its pin on the part of a link that is beside the joint it acts across."""
    pins = balancer.pins
    joint = separating_joint(balancer, d.joint)
    if pins is None or joint is None or name not in (pins.link_a, pins.link_b):
        return balancer
    at_foot = joint.child == name

    def pin(link: str, point: Values) -> tuple[str, tuple[float, float, float]]:
        if link != name:
            x, y, z = point
            return link, (x, y, z)
        x, y, z = point if at_foot else (np.array(point) - tip).tolist()
        return (foot if at_foot else name), (x, y, z)

    link_a, a = pin(pins.link_a, pins.a)
    link_b, b = pin(pins.link_b, pins.b)
    return replace(balancer, pins=Pins(link_a, a, link_b, b))
