"""What of links and tool is not known exactly: density and size, so that every draw is a body."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from armtwin.files.fields import SOURCE_KINDS
from armtwin.prediction.band.asked import Asked
from armtwin.prediction.band.quantity import (
    Quantity,
    Variant,
    changed_robot,
    source_kind,
    uncertain,
)
from armtwin.prediction.band.widths import Kind
from armtwin.robot.groups import Body, SixInertias, Tool
from armtwin.robot.robot import Robot

Change = Callable[[Body, float], Body]


def link_quantities(robot: Robot, asked: Asked) -> Iterator[Quantity]:
    """Density and size of all links."""
    links = [link for link in robot.description.link if link.body is not None]
    inertial = robot.uncertainty.known[robot.layout.all_links]
    if not links or inertial.any():
        return
    trust = list(SOURCE_KINDS)
    source = max((source_kind(link, "mass") for link in links), key=trust.index)
    width = max(asked.width("links", source, link, "mass") for link in links)
    yield uncertain(
        "links",
        "masses of the links",
        source,
        width,
        partial(_with_links, heavier),
        "identify",
    )
    yield uncertain(
        "links",
        "where the links' masses are",
        source,
        width,
        partial(_with_links, larger),
        "identify",
    )


def tool_quantities(robot: Robot, asked: Asked) -> Iterator[Quantity]:
    """Mass and size of the mounted tool."""
    name = robot.description.mounted.tool
    if not name or robot.description.tool[name].body is None:
        return
    tool = robot.description.tool[name]
    yield _of_tool(tool, name, "mass", asked)
    yield _of_tool(tool, name, "size", asked)


def _of_tool(tool: Tool, name: str, what: str, asked: Asked) -> Quantity:
    assert tool.body is not None
    kind: Kind = "tool_mass" if what == "mass" else "tool_size"
    if what == "mass":
        source = source_kind(tool, "mass")
        width = asked.width(kind, source, tool, "mass")
        basis, change = f"{source} {tool.body.mass:g} kg", heavier
    else:
        source = source_kind(tool, "com")
        width = asked.width(kind, source, tool, "size")
        basis, change = source, larger
    return uncertain(
        kind,
        f"{what} of the tool",
        basis,
        width,
        partial(_with_tool, name, change),
        "tool",
    )


def heavier(body: Body, factor: float) -> Body:
    """A body of the same shape, denser."""
    moment = body.first_moment
    if moment is not None:
        moment = (factor * moment[0], factor * moment[1], factor * moment[2])
    inertia = None if body.inertia is None else _scaled(body.inertia, factor)
    return replace(body, mass=factor * body.mass, first_moment=moment, inertia=inertia)


def larger(body: Body, factor: float) -> Body:
    """A body of the same mass, larger about its frame."""
    com, moment = body.com, body.first_moment
    if com is not None:
        com = (factor * com[0], factor * com[1], factor * com[2])
    if moment is not None:
        moment = (factor * moment[0], factor * moment[1], factor * moment[2])
    inertia = None if body.inertia is None else _scaled(body.inertia, factor**2)
    return replace(body, com=com, first_moment=moment, inertia=inertia)


def _scaled(six: SixInertias, factor: float) -> SixInertias:
    return replace(
        six,
        xx=factor * six.xx,
        yy=factor * six.yy,
        zz=factor * six.zz,
        xy=factor * six.xy,
        xz=factor * six.xz,
        yz=factor * six.yz,
    )


def _with_links(change: Change, variant: Variant, factor: float) -> Variant:
    links = []
    for link in variant.description.link:
        if link.body is not None:
            link = replace(link, body=change(link.body, factor))
        links.append(link)
    return changed_robot(variant, link=tuple(links))


def _with_tool(name: str, change: Change, variant: Variant, factor: float) -> Variant:
    tool = variant.description.tool[name]
    assert tool.body is not None
    changed = replace(tool, body=change(tool.body, factor))
    return changed_robot(variant, tool={**variant.description.tool, name: changed})
