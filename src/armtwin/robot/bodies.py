"""Ten parameters of the bodies of a robot file, mounted tool and payload included, and whether they are real."""

from __future__ import annotations

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.units import SMALLEST
from armtwin.mechanics.inertia import moved_to_parent, ten_parameters, why_unphysical
from armtwin.robot.description import Description
from armtwin.robot.groups import Body, SixInertias


def parameters_of(body: Body | None) -> Floats:
    """Ten parameters of a body in the frame of the link or flange it belongs to."""
    if body is None:
        return np.zeros(10)
    if body.first_moment is not None:
        moment = np.array(body.first_moment)
    else:
        moment = body.mass * np.array(body.com if body.com is not None else (0.0, 0.0, 0.0))
    six, centre = body.inertia, None
    if six is None or six.about == "com":
        centre = moment / body.mass if body.mass else np.zeros(3)
    values = (six.xx, six.yy, six.zz, six.xy, six.xz, six.yz) if six else np.zeros(6)
    ten = ten_parameters(body.mass, moment, values, centre)
    return ten if body.frame == Body(mass=0.0).frame else moved_to_parent(body.frame.matrix(), ten)


def body_from(ten: Floats) -> Body:
    """A body of a robot file that has exactly these ten parameters."""
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = (float(x) for x in ten)
    inertia = SixInertias(xx, yy, zz, xy, xz, yz, about="origin")
    return Body(mass=m, first_moment=(hx, hy, hz), inertia=inertia)


def mounted_load(description: Description) -> Floats:
    """Ten parameters of the mounted tool and payload together, in the frame of the flange's link."""
    flange, mounted = description.flange, description.mounted
    load = np.zeros(10)
    if flange is None:
        return load
    if mounted.tool:
        load += parameters_of(description.tool[mounted.tool].body)
    if mounted.payload:
        load += parameters_of(description.payload[mounted.payload].body)
    return moved_to_parent(flange.origin.matrix(), load)


def link_parameters(description: Description, link: str) -> Floats:
    """Ten parameters of a moving link with what is mounted on it, in the link's frame."""
    body = next(x.body for x in description.link if x.name == link)
    ten = parameters_of(body)
    if description.flange is not None and description.flange.link == link:
        ten = ten + mounted_load(description)
    return ten


def body_problems(description: Description) -> list[str]:
    """Sentences on bodies that cannot exist, and on bodies given in two ways."""
    problems = []
    moving = {j.child for j in description.joint}
    places = [(f"link.{i} ('{x.name}')", x.body) for i, x in enumerate(description.link, 1)]
    places += [(f"tool.{name}", tool.body) for name, tool in description.tool.items()]
    places += [(f"payload.{name}", load.body) for name, load in description.payload.items()]
    for place, body in places:
        if body is None:
            continue
        if body.com is not None and body.first_moment is not None:
            problems.append(f"{place}: body must have com or first_moment, not both")
        if body.mass < 0:
            problems.append(f"{place}: mass must be at least 0 kg, got {body.mass:g}")
        elif 0 < body.mass < SMALLEST:
            contract = f"mass must be 0 or at least {SMALLEST:g} kg"
            problems.append(f"{place}: {contract}, got {body.mass:g}")
        elif not place.startswith("link.") and body.inertia is not None:
            problems += [f"{place}: {why}" for why in [why_unphysical(parameters_of(body))] if why]
    if problems:
        return problems
    for i, link in enumerate(description.link, 1):
        why = why_unphysical(link_parameters(description, link.name)) if link.name in moving else ""
        if why and link.body is not None and link.body.inertia is None:
            why = "a link with mass needs an inertia"
        if why and not link.unphysical:
            problems.append(
                f"link.{i} ('{link.name}'): {why}. If the source lumps it so, say why in its key unphysical"
            )
    return problems
