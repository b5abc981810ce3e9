"""Order, names and units of the parameter vector: the one place that knows them.

The order is that of document 000: ten for each link, then rotors, balancers, friction elements.

    p = [p_links, p_rotors, p_balancers, p_friction]

Ref: [Waiboer 2007, eq. 4.21, 4.28, 4.30b]
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

from armtwin.drives.balancers import StrutForce
from armtwin.drives.friction.laws import Law
from armtwin.maths.batch import Flags, Floats, Indices, NamedTexts
from armtwin.maths.units import Unit
from armtwin.robot.dynamics.bodies import body_from, link_parameters, lump_mounted_load
from armtwin.robot.schema.description import Description, build_tree
from armtwin.robot.schema.drive_groups import Balancer, FrictionElement, Motor
from armtwin.robot.schema.groups import Link, Mounted

Renewed = Mapping[str, Mapping[str, bool]]  # key -> parameters that it holds, whether renewed

# keys under which an older source may speak of a number that is now written under another
ALSO = {"mass": ("body",), "first_moment": ("com", "body"), "inertia": ("body",)}


def renew_source(
    old: str | NamedTexts, source: str, numbers: Renewed, others: Iterable[str] = ()
) -> str | NamedTexts:
    """The source of a group with new numbers: one text where all have the same.

    Args:
        old: Its source before.
        source: The source of the numbers that were renewed.
        numbers: For each key with parameters their names, and whether each was renewed.
        others: Keys that hold no parameter.
    """
    texts = {}
    for key, parameters in numbers.items():
        texts[key] = _text(_of_key(old, key), source, parameters)
    for key in others:
        texts[key] = _of_key(old, key)
    different = set(texts.values())
    return different.pop() if len(different) == 1 else texts


def _of_key(old: str | NamedTexts, key: str) -> str:
    """What a source says of a key."""
    if isinstance(old, str):
        return old
    for name in (key, *ALSO.get(key, ())):
        if name in old:
            return old[name]
    return next(iter(old.values()))


def _text(old: str, source: str, parameters: Mapping[str, bool]) -> str:
    """The source of a key; numbers of it that were not renewed are named."""
    kept = [name for name, is_new in parameters.items() if not is_new]
    if len(kept) == len(parameters):
        return old
    if not kept:
        return source
    return f"{source}; {', '.join(kept)} as before ({old})"


TEN = (
    ("m{}", "kg"),
    ("mx{}", "kg m"),
    ("my{}", "kg m"),
    ("mz{}", "kg m"),
    ("Jxx{}", "kg m^2"),
    ("Jyy{}", "kg m^2"),
    ("Jzz{}", "kg m^2"),
    ("Jxy{}", "kg m^2"),
    ("Jxz{}", "kg m^2"),
    ("Jyz{}", "kg m^2"),
)

# which of the ten each key of a body holds
OF_BODY = {"mass": slice(0, 1), "first_moment": slice(1, 4), "inertia": slice(4, 10)}

MOTOR_KEYS = (
    "rotor_inertia",
    "torque_constant",
    "current_limit",
    "current_quantum",
    "encoder_counts",
)

L = TypeVar("L", Law, StrutForce)


@dataclass(frozen=True)
class Parameter:
    """One entry of the parameter vector.

    Attributes:
        name: Unique name; links and rotors are numbered from 1 along the tree.
        unit: SI unit.
        group: "link", "rotor", "balancer" or "friction".
        value: Value in the robot file.
        resists: Whether it is never negative: inertia, friction and stiffness of real drives.
    """

    name: str
    unit: str
    group: str
    value: float
    resists: bool = False


@dataclass(frozen=True)
class Layout:
    """Where each group of parameters lies in the vector.

    Attributes:
        links: Number of links, ten parameters each.
        motors: Number of rotors.
        balancers: Number of coefficients of each balancer.
        frictions: Number of coefficients of each friction element, its offset included.
    """

    links: int
    motors: int
    balancers: Indices
    frictions: Indices

    @property
    def sizes(self) -> Indices:
        """Number of parameters of each link, rotor, balancer and friction element, in order."""
        alike = self.links * (len(TEN),) + self.motors * (1,)
        return alike + self.balancers + self.frictions

    def link(self, k: int) -> slice:
        """The ten parameters of link k."""
        return slice(len(TEN) * k, len(TEN) * (k + 1))

    @property
    def all_links(self) -> slice:
        """The parameters of all links."""
        return slice(0, len(TEN) * self.links)

    @property
    def rotors(self) -> slice:
        """The rotor inertias."""
        start = self.all_links.stop
        return slice(start, start + self.motors)

    def balancer(self, k: int) -> slice:
        """The coefficients of balancer k."""
        start = self.rotors.stop + sum(self.balancers[:k])
        return slice(start, start + self.balancers[k])

    @property
    def friction(self) -> slice:
        """The coefficients of all friction elements."""
        start = self.rotors.stop + sum(self.balancers)
        return slice(start, start + sum(self.frictions))

    @property
    def total(self) -> int:
        """Number of parameters."""
        return self.friction.stop


def layout(description: Description) -> Layout:
    """Where the parameters of a checked description lie."""
    return Layout(
        links=len(description.joint),
        motors=len(description.motor),
        balancers=tuple(len(b.force.coefficients) for b in description.balancer),
        frictions=tuple(_count(e) for e in description.active_friction()),
    )


def _count(element: FrictionElement) -> int:
    coefficients = sum(len(law.coefficients) for law, _ in _laws(element))
    return coefficients + (element.offset is not None)


def parameter_table(description: Description) -> tuple[Parameter, ...]:
    """All parameters of a checked description, in order."""
    return tuple(parameter for parameter, _ in _parameters_of_parts(description))


def _parameters_of_parts(description: Description) -> Iterator[tuple[Parameter, Any]]:
    """All parameters in order, each with what says how it acts: its part, and the shape of it."""
    for k, joint in enumerate(build_tree(description).joints, 1):
        values = link_parameters(description, joint.child)
        for (name, unit), value in zip(TEN, values, strict=True):
            yield Parameter(name.format(k), unit, "link", float(value)), joint.child
    for k, motor in enumerate(description.motor, 1):
        yield Parameter(f"Jm{k}", "kg m^2", "rotor", motor.rotor_inertia, True), motor.name
    for balancer in description.balancer:
        force = balancer.force
        kind: Any = type(force)
        acting = balancer.pins, balancer.joint, balancer.linkage, _shape(force)
        for key, unit in force.coefficients:
            name = f"{balancer.name}.{key}"
            resists = _never_negative(kind, key)
            yield Parameter(name, unit, "balancer", getattr(force, key), resists), acting
    for element in description.active_friction():
        for law, side in _laws(element):
            shape = element.on, element.load, _shape(law)
            for key, unit in law.coefficients:
                name = f"{element.name}.{key}{side}"
                yield Parameter(name, unit, "friction", getattr(law, key), True), shape
        if element.offset is not None:
            name = f"{element.name}.offset"
            yield Parameter(name, "N m", "friction", element.offset), element.on


def _shape(law: Law | StrutForce) -> tuple[Any, ...]:
    """The kind of a law, and those of its numbers that are no parameters."""
    return type(law), *(getattr(law, key) for key in _other_numbers(law))


def actions(description: Description) -> dict[str, list[Any]]:
    """What each parameter is and how it acts, by name, whatever is mounted.

    A name that several sets of friction have means all of them.
    """
    found: dict[str, list[Any]] = {}
    bare = replace(description, mounted=Mounted())
    for name in {element.set for element in description.friction} | {description.friction_set}:
        for parameter, shape in _parameters_of_parts(replace(bare, friction_set=name)):
            found.setdefault(parameter.name, []).append((parameter.value, shape))
    return found


@cache
def _never_negative(part: type, key: str) -> bool:
    """Whether a robot file takes no negative number for a key of a part."""
    for unit in get_args(get_type_hints(part, include_extras=True)[key]):
        if isinstance(unit, Unit):
            return unit.at_least == 0 or unit.above == 0
    return False


def _laws(element: FrictionElement) -> list[tuple[Law, str]]:
    """The laws of an element with the mark their coefficients carry."""
    if element.negative is None:
        return [(element.law, "")]
    return [(element.law, "+"), (element.negative, "-")]


def with_values(
    description: Description, phi: Floats, source: str, identified: Flags
) -> Description:
    """The description with the values of a parameter vector; what is mounted stays as it was.

    Args:
        description: The description.
        phi: The values, (p,).
        source: The source of those that are identified.
        identified: Which are, (p,); the others keep their source.
    """
    values = iter(phi.tolist())  # both taken in the order of the vector
    flags = iter(identified.tolist())
    new = _New(values, flags, source)
    return replace(
        description,
        link=_replace_links(description, new),
        motor=tuple(_replace_motor(motor, new) for motor in description.motor),
        balancer=tuple(_replace_balancer(balancer, new) for balancer in description.balancer),
        friction=_replace_friction(description, new),
    )


@dataclass(frozen=True)
class _New:
    """New values, taken one by one.

    Attributes:
        values: The values.
        are_new: Whether each has the new source.
        source: The new source.
    """

    values: Iterator[float]
    are_new: Iterator[bool]
    source: str

    def take(self) -> tuple[float, bool]:
        """The next value, and whether it has the new source."""
        return next(self.values), next(self.are_new)


def _replace_links(description: Description, new: _New) -> tuple[Link, ...]:
    links = {link.name: link for link in description.link}
    flange = description.flange
    for k, joint in enumerate(build_tree(description).joints, 1):
        name = joint.child
        values, are_new = zip(*(new.take() for _ in TEN), strict=True)
        ten = np.array(values)
        if np.array_equal(ten, link_parameters(description, name)):
            continue
        if flange is not None and flange.link == name:
            ten = ten - lump_mounted_load(description)
        names = [parameter.format(k) for parameter, _ in TEN]
        numbers = {}
        for key, part in OF_BODY.items():
            numbers[key] = dict(zip(names[part], are_new[part], strict=True))
        source = renew_source(links[name].source, new.source, numbers)
        links[name] = replace(links[name], body=body_from(ten), source=source)
    return tuple(links.values())


def _replace_balancer(balancer: Balancer, new: _New) -> Balancer:
    force, numbers = _with_coefficients(balancer.name, balancer.force, new)
    made = replace(balancer, force=force)
    if made == balancer:
        return balancer
    others = _other_numbers(balancer.force)
    return replace(made, source=renew_source(balancer.source, new.source, numbers, others))


def _replace_friction(description: Description, new: _New) -> tuple[FrictionElement, ...]:
    """All friction elements, those in use with new values."""
    active = description.active_friction()
    elements = []
    for element in description.friction:
        elements.append(_replace_element(element, new) if element in active else element)
    return tuple(elements)


def _replace_element(element: FrictionElement, new: _New) -> FrictionElement:
    law, numbers = _with_coefficients(element.name, element.law, new)
    made = replace(element, law=law)
    others = _other_numbers(element.law)
    if element.negative is not None:
        negative, are_new = _with_coefficients(element.name, element.negative, new)
        made = replace(made, negative=negative)
        numbers["negative"] = {}
        for of_key in are_new.values():
            numbers["negative"] |= {f"{name}-": is_new for name, is_new in of_key.items()}
    if element.offset is not None:
        offset, is_new = new.take()
        made = replace(made, offset=offset)
        numbers["offset"] = {f"{element.name}.offset": is_new}
    for key in ("presliding", "thermal", "load"):
        if getattr(element, key) is not None:
            others.append(key)
    if made == element:
        return element
    return replace(made, source=renew_source(element.source, new.source, numbers, others))


def _with_coefficients(name: str, law: L, new: _New) -> tuple[L, dict[str, dict[str, bool]]]:
    """A law with the next values for its coefficients, and which of these have a new source."""
    changes: Any = {}
    are_new = {}
    for key, _ in law.coefficients:
        changes[key], is_new = new.take()
        are_new[key] = {f"{name}.{key}": is_new}
    return replace(law, **changes), are_new


def _other_numbers(law: Law | StrutForce) -> list[str]:
    """Keys of a law's numbers that are no parameters."""
    linear = {key for key, _ in law.coefficients}
    others = []
    for f in fields(law):
        value = getattr(law, f.name)
        if f.name not in linear and value is not None and not isinstance(value, str):
            others.append(f.name)
    return others


def _replace_motor(motor: Motor, new: _New) -> Motor:
    inertia, is_new = new.take()
    if motor.rotor_inertia == inertia:
        return motor
    if not is_new:
        return replace(motor, rotor_inertia=inertia)
    kept = motor.source  # the other numbers of the motor keep where they came from
    if isinstance(kept, str):
        given = [key for key in MOTOR_KEYS if getattr(motor, key) is not None]
        kept = dict.fromkeys(given, kept)
    return replace(motor, rotor_inertia=inertia, source={**kept, "rotor_inertia": new.source})
