"""Order, names and units of the parameter vector: the one place that knows them.

The order is that of document 000: ten for each link, then rotors, balancers, friction elements.

    p = [p_links, p_rotors, p_balancers, p_friction]

Ref: [Waiboer 2007, eq. 4.21, 4.28, 4.30b]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.maths.batch import Floats
from armtwin.robot.bodies import body_from, link_parameters, mounted_load
from armtwin.robot.description import Description
from armtwin.robot.drive_groups import Balancer, FrictionElement, Motor
from armtwin.robot.tree import grow

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

G = TypeVar("G", Balancer, FrictionElement)


@dataclass(frozen=True)
class Parameter:
    """One entry of the parameter vector.

    Attributes:
        name: Unique name; links and rotors are numbered from 1 along the tree.
        unit: SI unit.
        group: "link", "rotor", "balancer" or "friction".
        value: Value in the robot file.
    """

    name: str
    unit: str
    group: str
    value: float


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
    balancers: tuple[int, ...]
    frictions: tuple[int, ...]

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
    table = []
    for k, joint in enumerate(grow(description).joints, 1):
        values = link_parameters(description, joint.child)
        table += [
            Parameter(name.format(k), unit, "link", float(x))
            for (name, unit), x in zip(TEN, values, strict=True)
        ]
    for k, motor in enumerate(description.motor, 1):
        table.append(Parameter(f"Jm{k}", "kg m^2", "rotor", motor.rotor_inertia))
    for b in description.balancer:
        for name, unit in b.force.coefficients:
            table.append(Parameter(f"{b.name}.{name}", unit, "balancer", getattr(b.force, name)))
    for e in description.active_friction():
        for law, side in _laws(e):
            for name, unit in law.coefficients:
                table.append(
                    Parameter(f"{e.name}.{name}{side}", unit, "friction", getattr(law, name))
                )
        if e.offset is not None:
            table.append(Parameter(f"{e.name}.offset", "N m", "friction", e.offset))
    return tuple(table)


def _laws(element: FrictionElement) -> list[tuple[Law, str]]:
    """The laws of an element with the mark their coefficients carry."""
    if element.negative is None:
        return [(element.law, "")]
    return [(element.law, "+"), (element.negative, "-")]


def with_values(description: Description, phi: Floats, source: str) -> Description:
    """The description with the values of a parameter vector; what is mounted stays as it was."""
    values = iter(float(x) for x in phi)
    tree = grow(description)
    links = {x.name: x for x in description.link}
    load = mounted_load(description)
    for joint in tree.joints:
        ten = np.array([next(values) for _ in TEN])
        if np.array_equal(ten, link_parameters(description, joint.child)):
            continue
        if description.flange is not None and description.flange.link == joint.child:
            ten = ten - load
        links[joint.child] = replace(links[joint.child], body=body_from(ten), source=source)
    motors = tuple(_replaced_motor(m, next(values), source) for m in description.motor)
    balancers = []
    for b in description.balancer:
        changes: Any = {name: next(values) for name, _ in b.force.coefficients}
        balancers.append(_sourced(replace(b, force=replace(b.force, **changes)), b, source))
    friction = {id(e): e for e in description.friction}
    for e in description.active_friction():
        laws = []
        for law, _ in _laws(e):
            changes = {name: next(values) for name, _ in law.coefficients}
            laws.append(replace(law, **changes))
        offset = None if e.offset is None else next(values)
        changed = replace(
            e, law=laws[0], negative=laws[1] if len(laws) > 1 else None, offset=offset
        )
        friction[id(e)] = _sourced(changed, e, source)
    return replace(
        description,
        link=tuple(links.values()),
        motor=motors,
        balancer=tuple(balancers),
        friction=tuple(friction.values()),
    )


def _sourced(new: G, old: G, source: str) -> G:
    """The new group, its source replaced where its numbers changed."""
    return old if new == old else replace(new, source=source)


def _replaced_motor(motor: Motor, inertia: float, source: str) -> Motor:
    if motor.rotor_inertia == inertia:
        return motor
    # The other numbers of the motor keep where they came from.
    kept = (
        dict(motor.source)
        if isinstance(motor.source, dict)
        else dict.fromkeys(_motor_keys(motor), motor.source)
    )
    return replace(motor, rotor_inertia=inertia, source={**kept, "rotor_inertia": source})


def _motor_keys(motor: Motor) -> list[str]:
    keys = (
        "rotor_inertia",
        "torque_constant",
        "current_limit",
        "current_quantum",
        "encoder_counts",
    )
    return [key for key in keys if getattr(motor, key) is not None]
