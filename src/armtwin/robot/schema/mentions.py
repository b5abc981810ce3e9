"""Names that a robot file mentions: each must be one that the file gives."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from armtwin.errors import did_you_mean
from armtwin.maths.batch import NamedNumbers, Sentences
from armtwin.robot.schema.description import Description, build_tree


class Mention(NamedTuple):
    """A name that refers to something else of the file.

    Attributes:
        place: Key path.
        what: What the name refers to.
        name: The name.
        known: The names of this kind that the file gives.
    """

    place: str
    what: str
    name: str
    known: Iterable[str]


def name_problems(description: Description) -> Sentences:
    """Sentences on names that refer to nothing or to two things; the links must form a tree."""
    mentions = (
        *_link_mentions(description),
        *_beam_mentions(description),
        *_loop_mentions(description),
        *_joint_mentions(description),
        *_coordinate_mentions(description),
        *_choice_mentions(description),
    )
    for place, what, name, known in mentions:
        if name not in known:
            yield f"{place}: {what} '{name}' is not given. {did_you_mean(name, known)}"
    for name in {*_joints(description)} & {*_drives(description)}:
        yield f"drive '{name}' has the name of a joint; friction on '{name}' would be ambiguous"
    mounted = description.mounted
    if description.flange is None and (mounted.tool or mounted.payload):
        yield "mounted: a tool needs a flange to be mounted on, and the file has none"


def _joints(description: Description) -> list[str]:
    return [joint.name for joint in description.joint]


def _drives(description: Description) -> list[str]:
    motors = [motor.name for motor in description.motor]
    return [*motors, *(cylinder.name for cylinder in description.hydraulic)]


def _beam_mentions(description: Description) -> Iterator[Mention]:
    """Beams must end at something that their link carries."""
    for i, link in enumerate(description.link, 1):
        carried = [joint.name for joint in description.joint if joint.parent == link.name]
        if description.flange is not None and description.flange.link == link.name:
            carried += ["flange", "tool"]
        for k, beam in enumerate(link.beam, 1):
            place = f"link.{i}.beam.{k}.to"
            yield Mention(place, f"what link '{link.name}' carries,", beam.to, carried)


def _link_mentions(description: Description) -> Iterator[Mention]:
    links = [link.name for link in description.link]
    if description.flange is not None:
        yield Mention("flange.link", "link", description.flange.link, links)
    yield from _each(description, "frame.link", "link", links)
    for i, motor in enumerate(description.motor, 1):
        if motor.spin is not None:
            yield Mention(f"motor.{i}.spin.link", "link", motor.spin.link, links)
    if description.wrist is not None:
        frames = [*links, *(frame.name for frame in description.frame)]
        yield Mention("wrist.frame", "link or frame", description.wrist.frame, frames)
    with_base = [*links, build_tree(description).root]
    for i, balancer in enumerate(description.balancer, 1):
        pins = balancer.pins
        if pins is not None:
            yield Mention(f"balancer.{i}.pins", "link", pins.link_a, with_base)
            yield Mention(f"balancer.{i}.pins", "link", pins.link_b, with_base)


def _loop_mentions(description: Description) -> Iterator[Mention]:
    links = [build_tree(description).root, *(link.name for link in description.link)]
    yield from _each(description, "loop.link_a", "link", links)
    yield from _each(description, "loop.link_b", "link", links)
    joints = _joints(description)
    for i, loop in enumerate(description.loop, 1):
        for name in loop.passive:
            yield Mention(f"loop.{i}.passive", "joint", name, joints)


def _joint_mentions(description: Description) -> Iterator[Mention]:
    moving = [joint.child for joint in description.joint]
    yield from _each(description, "flexure.link", "moving link", moving)
    motors = [motor.name for motor in description.motor]
    yield from _each(description, "transmission.motor", "motor", motors)
    for path in ("transmission.joint", "deviation.joint", "balancer.joint"):
        yield from _each(description, path, "joint", _joints(description))


def _each(
    description: Description, path: str, what: str, known: Iterable[str]
) -> Iterator[Mention]:
    """The names under a key of each group of a list, where they are given."""
    groups, key = path.split(".")
    for i, group in enumerate(getattr(description, groups), 1):
        name = getattr(group, key)
        if name:
            yield Mention(f"{groups}.{i}.{key}", what, name, known)


def _coordinate_mentions(description: Description) -> Iterator[Mention]:
    """Names of joints and drives on whose coordinates friction and cylinders act."""
    joints = _joints(description)
    for i, element in enumerate(description.friction, 1):
        place = f"friction.{i}.on ('{element.name}')"
        yield from _row_mentions(place, element.on, joints, [*joints, *_drives(description)])
    for i, cylinder in enumerate(description.hydraulic, 1):
        place = f"hydraulic.{i}.on ('{cylinder.name}')"
        yield from _row_mentions(place, cylinder.on, joints, joints)
    wrist = description.wrist
    if wrist is not None:
        for name in ("phi", "gamma", "psi"):
            yield from _row_mentions(f"wrist.{name}", getattr(wrist, name), joints, joints)


def _row_mentions(
    place: str, on: str | NamedNumbers, joints: list[str], single: list[str]
) -> Iterator[Mention]:
    """What names a row: weights of joints, or one name."""
    if isinstance(on, str):
        yield Mention(place, "joint or drive", on, single)
        return
    for joint in on:
        yield Mention(place, "joint or drive", joint, joints)


def _choice_mentions(description: Description) -> Iterator[Mention]:
    """The tool, the payload and the set of friction elements in use."""
    mounted = description.mounted
    if mounted.tool:
        yield Mention("mounted.tool", "tool", mounted.tool, list(description.tool))
    if mounted.payload:
        yield Mention("mounted.payload", "payload", mounted.payload, list(description.payload))
    sets = sorted({element.set for element in description.friction} - {""})
    if sets or description.friction_set:
        yield Mention("friction_set", "friction set", description.friction_set, sets)
