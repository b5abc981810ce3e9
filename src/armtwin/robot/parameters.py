"""Order, names and units of the parameter vector: the one place that knows them.

The order is that of document 000: ten for each link, then rotors, balancers, friction elements.

    p = [p_links, p_rotors, p_balancers, p_friction]

Ref: [Waiboer 2007, eq. 4.21, 4.28, 4.30b]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from armtwin.drives.balancers import StrutForce
from armtwin.drives.friction.laws import Law
from armtwin.maths.batch import Floats
from armtwin.robot.bodies import body_from, link_parameters, mounted_load
from armtwin.robot.description import Description
from armtwin.robot.drive_groups import Balancer, FrictionElement, Motor
from armtwin.robot.groups import Link
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

MOTOR_KEYS = (
    "rotor_inertia",
    "torque_constant",
    "current_limit",
    "current_quantum",
    "encoder_counts",
)

G = TypeVar("G", Balancer, FrictionElement)
L = TypeVar("L", Law, StrutForce)


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
        for (name, unit), value in zip(TEN, values, strict=True):
            table.append(Parameter(name.format(k), unit, "link", float(value)))
    for k, motor in enumerate(description.motor, 1):
        table.append(Parameter(f"Jm{k}", "kg m^2", "rotor", motor.rotor_inertia))
    for balancer in description.balancer:
        force = balancer.force
        for key, unit in force.coefficients:
            name = f"{balancer.name}.{key}"
            table.append(Parameter(name, unit, "balancer", getattr(force, key)))
    for element in description.active_friction():
        for law, side in _laws(element):
            for key, unit in law.coefficients:
                name = f"{element.name}.{key}{side}"
                table.append(Parameter(name, unit, "friction", getattr(law, key)))
        if element.offset is not None:
            table.append(Parameter(f"{element.name}.offset", "N m", "friction", element.offset))
    return tuple(table)


def _laws(element: FrictionElement) -> list[tuple[Law, str]]:
    """The laws of an element with the mark their coefficients carry."""
    if element.negative is None:
        return [(element.law, "")]
    return [(element.law, "+"), (element.negative, "-")]


def with_values(description: Description, phi: Floats, source: str) -> Description:
    """The description with the values of a parameter vector; what is mounted stays as it was."""
    values = iter(phi.tolist())  # taken in the order of the vector
    return replace(
        description,
        link=_replaced_links(description, values, source),
        motor=tuple(_replaced_motor(m, next(values), source) for m in description.motor),
        balancer=tuple(_replaced_balancer(b, values, source) for b in description.balancer),
        friction=_replaced_friction(description, values, source),
    )


def _replaced_links(
    description: Description, values: Iterator[float], source: str
) -> tuple[Link, ...]:
    links = {link.name: link for link in description.link}
    flange = description.flange
    for joint in grow(description).joints:
        name = joint.child
        ten = np.array([next(values) for _ in TEN])
        if np.array_equal(ten, link_parameters(description, name)):
            continue
        if flange is not None and flange.link == name:
            ten = ten - mounted_load(description)
        links[name] = replace(links[name], body=body_from(ten), source=source)
    return tuple(links.values())


def _replaced_balancer(balancer: Balancer, values: Iterator[float], source: str) -> Balancer:
    new = replace(balancer, force=_with_coefficients(balancer.force, values))
    return _sourced(new, balancer, source)


def _replaced_friction(
    description: Description, values: Iterator[float], source: str
) -> tuple[FrictionElement, ...]:
    """All friction elements, those in use with new values."""
    active = description.active_friction()
    elements = []
    for element in description.friction:
        if element in active:
            new = replace(element, law=_with_coefficients(element.law, values))
            if element.negative is not None:
                new = replace(new, negative=_with_coefficients(element.negative, values))
            if element.offset is not None:
                new = replace(new, offset=next(values))
            element = _sourced(new, element, source)
        elements.append(element)
    return tuple(elements)


def _with_coefficients(law: L, values: Iterator[float]) -> L:
    """A law with the next values for its coefficients."""
    changes: Any = {name: next(values) for name, _ in law.coefficients}
    return replace(law, **changes)


def _sourced(new: G, old: G, source: str) -> G:
    """The new group, its source replaced where its numbers changed."""
    return old if new == old else replace(new, source=source)


def _replaced_motor(motor: Motor, inertia: float, source: str) -> Motor:
    if motor.rotor_inertia == inertia:
        return motor
    kept = motor.source  # the other numbers of the motor keep where they came from
    if isinstance(kept, str):
        given = [key for key in MOTOR_KEYS if getattr(motor, key) is not None]
        kept = dict.fromkeys(given, kept)
    return replace(motor, rotor_inertia=inertia, source={**kept, "rotor_inertia": source})
