"""Ten parameters of the bodies of a robot file with what is mounted, and whether they are real."""

import numpy as np

from armtwin.maths.batch import Floats, Sentences
from armtwin.maths.units import SMALLEST
from armtwin.mechanics.inertia import ten_parameters, transform_to_parent, why_unphysical
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.groups import Body, Pose, SixInertias


def parameters_of(body: Body | None) -> Floats:
    """Ten parameters of a body in the frame of the link or flange it belongs to."""
    if body is None:
        return np.zeros(10)
    moment = _first_moment(body)
    six = body.inertia
    values = np.zeros(6)
    if six is not None:
        values = np.array([six.xx, six.yy, six.zz, six.xy, six.xz, six.yz])
    centre = None
    if six is None or six.about == "com":
        centre = moment / body.mass if body.mass else np.zeros(3)
    ten = ten_parameters(body.mass, moment, values, centre)
    if body.frame == Pose():
        return ten
    return transform_to_parent(body.frame.matrix(), ten)


def _first_moment(body: Body) -> Floats:
    """Mass times centre of mass, (3,) [kg m]."""
    if body.first_moment is not None:
        return np.array(body.first_moment)
    com = np.zeros(3) if body.com is None else np.array(body.com)
    return body.mass * com


def body_from(ten: Floats) -> Body:
    """A body of a robot file that has exactly these ten parameters."""
    mass, hx, hy, hz, xx, yy, zz, xy, xz, yz = ten.tolist()
    inertia = SixInertias(xx, yy, zz, xy, xz, yz, about="origin")
    return Body(mass=mass, first_moment=(hx, hy, hz), inertia=inertia)


def lump_mounted_load(description: Description) -> Floats:
    """Ten parameters of the mounted tool and payload together, in the flange's link's frame."""
    flange, mounted = description.flange, description.mounted
    load = np.zeros(10)
    if flange is None:
        return load
    if mounted.tool:
        load += parameters_of(description.tool[mounted.tool].body)
    if mounted.payload:
        load += parameters_of(description.payload[mounted.payload].body)
    return transform_to_parent(flange.origin.matrix(), load)


def link_parameters(description: Description, link: str) -> Floats:
    """Ten parameters of a moving link with what is mounted on it, in the link's frame."""
    body = next(x.body for x in description.link if x.name == link)
    ten = parameters_of(body)
    if description.flange is not None and description.flange.link == link:
        ten = ten + lump_mounted_load(description)
    return ten


def body_problems(description: Description) -> list[str]:
    """Sentences on bodies that cannot exist, and on bodies given in two ways."""
    problems: list[str] = []
    for i, link in enumerate(description.link, 1):
        place = f"link.{i} ('{link.name}')"
        problems += _contradictions(place, link.body, description.torques_only)
    for name, tool in description.tool.items():
        problems += _load_problems(f"tool.{name}", tool.body)
    for name, payload in description.payload.items():
        problems += _load_problems(f"payload.{name}", payload.body)
    return problems or list(_impossible_links(description))


def _contradictions(place: str, body: Body | None, torques_only: str = "") -> Sentences:
    """What no body can have, whatever it is part of; a model of torques may have any mass."""
    if body is None:
        return
    if body.com is not None and body.first_moment is not None:
        yield f"{place}: body must have com or first_moment, not both"
    if torques_only:
        return
    if body.mass < 0:
        yield f"{place}: mass must be at least 0 kg, got {body.mass:g}"
    elif 0 < body.mass < SMALLEST:
        yield f"{place}: mass must be 0 or at least {SMALLEST:g} kg, got {body.mass:g}"


def _load_problems(place: str, body: Body | None) -> list[str]:
    """What is wrong with a tool or a payload; without an inertia it is a point."""
    problems = list(_contradictions(place, body))
    if problems or body is None or body.inertia is None:
        return problems
    why = why_unphysical(parameters_of(body))
    return [f"{place}: {why}"] if why else []


def _impossible_links(description: Description) -> Sentences:
    """Moving links that cannot exist with what is mounted on them; those marked so may stay."""
    moving = {joint.child for joint in description.joint}
    for i, link in enumerate(description.link, 1):
        if link.name not in moving or link.unphysical:
            continue
        if link.body is not None and link.body.mass > 0 and link.body.inertia is None:
            why = "a link with mass needs an inertia"
        else:
            why = why_unphysical(link_parameters(description, link.name))
        if not why:
            continue
        advice = "If the source lumps it so, say why in its key unphysical"
        yield f"link.{i} ('{link.name}'): {why}. {advice}"
