"""Friction terms that logs may ask for beside the robot file's laws: memory, and a shape in speed.

A term is a friction element like any other, on the row of its host. Memory is dry friction whose
contact bends by a radius before it slides; a shape is a fall or a root of the speed. While they are
fitted they stand beside the robot, whose own columns are compiled for its structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.drives.friction.coulomb import Coulomb
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.lubricated import GearedJoint, GearPair, RollerBearing
from armtwin.drives.friction.terms import Drop, Power
from armtwin.identification.rigid_body.clean_log import Motion
from armtwin.identification.rigid_body.memory import bends, of_all_joints
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.drive_groups import FrictionElement, Presliding
from armtwin.robot.friction_columns import friction_columns
from armtwin.robot.robot import Robot
from armtwin.robot.rows import Row

MEMORY, SHAPE = "_memory", "_shape"
SLOW = 1e-3  # of a joint's highest speed at which dry friction is told from viscous
SOURCE = "assumed: added for identification"


@dataclass(frozen=True, eq=False)
class Term:
    """A friction element that may be added to a robot.

    Attributes:
        element: The element, its coefficient zero.
        row: The row that it acts on.
        host: Number of the friction element that it is added to.
        tied: Parameter of the host whose place it takes in part, None where of none.
    """

    element: FrictionElement
    row: Row
    host: int
    tied: str | None

    @property
    def name(self) -> str:
        """Name of its parameter."""
        key, _ = self.element.law.coefficients[0]
        return f"{self.element.name}.{key}"


Terms = tuple[Term, ...]


@dataclass(frozen=True)
class Host:
    """A friction element that terms can be added to.

    Attributes:
        number: Its number among the friction elements in use.
        element: The element.
        row: Its row.
        speed: Its highest speed in the logs [rad/s].
    """

    number: int
    element: FrictionElement
    row: Row
    speed: float

    def memory(self, radius: float) -> Term:
        """Dry friction that bends by a radius [rad]."""
        presliding = Presliding(radius=radius)
        element = self._added(MEMORY, _dry_shape(self.element.law), presliding)
        return Term(element, self.row, self.number, self._sharpest())

    def fall(self, share: float, radius: float | None) -> Term:
        """Dry friction that falls within a share of the highest speed, with a radius [rad]."""
        presliding = self._bristle(radius)
        element = self._added(SHAPE, Drop(0.0, share * self.speed), presliding)
        return Term(element, self.row, self.number, None)

    def root(self, exponent: float) -> Term:
        """Friction that grows with a power of the speed."""
        element = self._added(SHAPE, Power(0.0, self.speed, exponent), self._bristle(None))
        return Term(element, self.row, self.number, None)

    def _added(self, ending: str, law: Law, presliding: Presliding | None) -> FrictionElement:
        host = self.element
        name = f"{host.name}{ending}"
        return FrictionElement(
            name, host.on, SOURCE, law, presliding=presliding, set=host.set, side=host.side
        )

    def _bristle(self, radius: float | None) -> Presliding | None:
        """Presliding of a radius, else the host's, so that a robot with bristles has all."""
        return self.element.presliding if radius is None else Presliding(radius=radius)

    def _sharpest(self) -> str | None:
        """The host's dry parameter that at low speed acts most."""
        law = self.element.law
        slow = np.abs(law.columns(np.array([SLOW * self.speed]))[0])
        best, most = None, 0.0
        for (key, _), size in zip(law.coefficients, slow, strict=True):
            if key in law.dry and size > most:
                best, most = f"{self.element.name}.{key}", float(size)
        return best


def _dry_shape(law: Law) -> Law:
    """Dry friction of a law as one term of coefficient zero; a constant where it is not one."""
    if isinstance(law, GearPair | GearedJoint | RollerBearing):
        return Drop(0.0, law.speed, law.exponent)
    return Coulomb(0.0)


def hosts(robot: Robot, recipe: Recipe, fastest: Floats) -> list[Host]:
    """Friction elements that terms can be added to.

    Args:
        robot: The robot.
        recipe: What may change.
        fastest: Highest speeds of its joints in the logs, (n,) [rad/s].
    """
    names = {element.name for element in robot.description.friction}
    bound = recipe.held(robot.parameter_table)
    for pair in recipe.equal:
        bound |= set(pair)
    found = []
    top = of_all_joints(robot, fastest)
    for number, (element, row) in enumerate(robot.assembly.friction):
        own = {f"{element.name}.{key}" for key, _ in element.law.coefficients}
        added = {element.name + MEMORY, element.name + SHAPE}
        if element.negative is not None or row.linkage is not None:
            continue
        if element.name.endswith((MEMORY, SHAPE)) or own & bound or added & names:
            continue
        found.append(Host(number, element, row, float(top @ np.abs(row.weights))))
    return found


def term_bends(robot: Robot, terms: Terms, motion: Motion) -> Floats | None:
    """Bends of the terms along a motion, None where none has a memory, (m, terms)."""
    return bends(robot, _elements(terms), motion.q, motion.v)


def term_columns(robot: Robot, terms: Terms, motion: Motion, bent: Floats | None) -> Floats:
    """Torque per unit of each term at samples of a motion with their bends, (m, n, terms)."""
    q, v = of_all_joints(robot, motion.q), of_all_joints(robot, motion.v)
    Z = np.zeros((*q.shape, len(terms)))
    for k, (row, columns, _) in enumerate(friction_columns(_elements(terms), v, q, bent)):
        Z[:, :, k] = row * columns[:, :1]
    coupling = robot.assembly.coupling
    return Z if coupling is None else np.asarray(coupling.G.T @ Z)


def _elements(terms: Terms) -> list[tuple[FrictionElement, Row]]:
    return [(term.element, term.row) for term in terms]


def busy_joints(robot: Robot, terms: Terms) -> Flags:
    """Which terms each joint has, (n, terms)."""
    if not terms:
        return np.zeros((robot.n, 0), dtype=bool)
    weights = np.array([term.row.weights for term in terms])
    coupling = robot.assembly.coupling
    if coupling is not None:
        weights = weights @ coupling.G
    return np.asarray(weights.T != 0)


def with_terms(robot: Robot, terms: Terms) -> Robot:
    """The robot with terms among its friction elements, their coefficients last."""
    if not terms:
        return robot
    added = tuple(term.element for term in terms)
    description = replace(robot.description, friction=(*robot.description.friction, *added))
    return Robot(description, robot.origin)


def radii_of(terms: Sequence[Term]) -> Iterator[tuple[str, float]]:
    """Names of the elements with memory, and their radii [rad]."""
    for term in terms:
        if term.element.name.endswith(MEMORY):
            yield term.element.name, term.element.radius
