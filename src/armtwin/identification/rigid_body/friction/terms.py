"""Friction terms that may be added to the robot file's laws: pre-sliding, shape and load.

A term is a friction element like any other, on the row of its host. A pre-sliding term is dry
friction whose contact deflects by a pre-sliding distance before it slides; a shape is a decrease or
a root of the speed; a load is dry friction by the torque that the gear of its row transmits. While
they are fitted they are kept beside the robot, whose own columns are compiled for its structure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter

import numpy as np

from armtwin.drives.friction.coulomb import Coulomb
from armtwin.drives.friction.curves import breakaway
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.lubricated import GearedJoint, GearPair, RollerBearing
from armtwin.drives.friction.terms import Drop, Loaded, Power
from armtwin.identification.rigid_body.data.clean_log import Motion
from armtwin.identification.rigid_body.friction import presliding
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.dynamics.friction_columns import sliding_columns
from armtwin.robot.dynamics.load_friction import is_turned, load_column
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import LEAST_TORQUE, FrictionElement, Presliding

PRESLIDING, SHAPE, LOAD = "_memory", "_shape", "_load"
ENDINGS = (PRESLIDING, SHAPE, LOAD)
LEAST_SPEED = 1e-9  # [rad/s]
SLOW = 1e-3  # of a joint's highest speed at which dry friction is distinguished from viscous
SOURCE = "assumed: added for identification"


@dataclass(frozen=True, eq=False)
class Term:
    """A friction element that may be added to a robot.

    Attributes:
        element: The element, its coefficient zero.
        row: The row that it acts on.
        host: Number of the friction element that it is added to.
        tied: Parameter of the host whose place it takes in part, None where of none.
        presliding_distance: Pre-sliding distance of its host by the file [rad].
    """

    element: FrictionElement
    row: Row
    host: int
    tied: str | None = None
    presliding_distance: float = 0.0

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
        geared: Whether one gear alone carries the load of its row, which the file does not give.
    """

    number: int
    element: FrictionElement
    row: Row
    speed: float
    geared: bool

    def memory(self, distance: float, *, damped: bool = False) -> Term:
        """Dry friction with a pre-sliding distance [rad], with the file's damping where damped."""
        term = self._build_term(PRESLIDING, self._dry_law, distance, damped)
        return replace(term, tied=self._sharpest())

    def fall(self, share: float, distance: float | None, *, damped: bool = False) -> Term:
        """Dry friction that decreases within a share of the top speed, with a distance [rad]."""
        return self._build_term(SHAPE, Drop(0.0, share * self.speed), distance, damped)

    def root(self, exponent: float) -> Term:
        """Friction that grows with a power of the speed."""
        return self._build_term(SHAPE, Power(0.0, self.speed, exponent), None, False)

    def load(self, usual: float, distance: float | None, *, damped: bool = False) -> Term:
        """Dry friction by the load of a usual size [N m], with a pre-sliding distance [rad]."""
        term = self._build_term(LOAD, Loaded(0.0, usual), distance, damped)
        return replace(term, presliding_distance=self.element.radius)

    @cached_property
    def _dry_law(self) -> Law:
        """Dry friction of its law as one term of coefficient zero; a constant if it is not one."""
        law = self.element.law
        if isinstance(law, GearPair | GearedJoint | RollerBearing):
            return Drop(0.0, law.speed, law.exponent)
        return Coulomb(0.0)

    def _build_term(self, ending: str, law: Law, distance: float | None, damped: bool) -> Term:
        host = self.element
        element = FrictionElement(
            f"{host.name}{ending}",
            host.on,
            SOURCE,
            law,
            presliding=self._build_stiffness(distance, damped),
            set=host.set,
            side=host.side,
        )
        return Term(element, self.row, self.number)

    @property
    def is_damped(self) -> bool:
        """Whether the file gives its pre-sliding stiffness a damping."""
        return self.element.lead > 0 and self.element.radius > 0

    def _build_stiffness(self, distance: float | None, damped: bool) -> Presliding | None:
        """Presliding of a distance, else the host's, so that every element has a stiffness.

        With the damping of the file relative to critical, the lead grows with the root of the
        distance: c1 / c0 = 2 ζ √(J / c0), c0 = level / distance.
        """
        if distance is None:
            return self.element.presliding
        if not (damped and self.is_damped):
            return Presliding(radius=distance)
        lead = self.element.lead * float(np.sqrt(distance / self.element.radius))
        return Presliding(radius=distance, lead=lead)

    def _sharpest(self) -> str | None:
        """The host's dry parameter that at low speed acts most."""
        law = self.element.law
        slow = np.abs(law.columns(np.array([SLOW * self.speed]))[0])
        best, most = None, 0.0
        for (key, _), size in zip(law.coefficients, slow, strict=True):
            if key in law.dry and size > most:
                best, most = f"{self.element.name}.{key}", float(size)
        return best


def find_hosts(robot: Robot, recipe: Recipe, fastest: Floats) -> list[Host]:
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
    top = presliding.of_all_joints(robot, fastest)
    for number, (element, row) in enumerate(robot.assembly.friction):
        own = {f"{element.name}.{key}" for key, _ in element.law.coefficients}
        added = {element.name + ending for ending in ENDINGS}
        if element.negative is not None or row.linkage is not None:
            continue
        if element.name.endswith(ENDINGS) or own & bound or added & names:
            continue
        speed = float(top @ np.abs(row.weights))
        if speed < LEAST_SPEED:  # logs in which it is at rest show nothing of its friction
            continue
        found.append(Host(number, element, row, speed, _is_geared(robot, element, row)))
    return found


def _is_geared(robot: Robot, element: FrictionElement, row: Row) -> bool:
    """Whether one gear alone carries the load of a row, and its friction ignores that load."""
    parts = robot.assembly
    motors, joints = parts.motor_rows.shape
    if parts.coupling is not None or motors != joints or element.follows_load:
        return False
    return is_turned(parts, row)


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of a motion as friction terms need them.

    Attributes:
        motion: The motion.
        doubt: Half widths of the speeds that samples average over, (m, n) [rad/s].
        deflections: Deflections of the terms, None without pre-sliding hysteresis, (m, terms).
        on_links: Joint torques beyond the gears; None where no term needs them, (m, n) [N m].
    """

    motion: Motion
    doubt: Floats
    deflections: Floats | None
    on_links: Floats | None


def term_values(robot: Robot, terms: Terms, some: Samples) -> Floats:
    """Torque of each term on its row, per unit of its coefficient, (m, terms)."""
    v = presliding.of_all_joints(robot, some.motion.v)
    found = np.empty((len(terms), len(v)))
    first = 0
    for (_, _, bent), alike in groupby(_kinds(terms, some), key=itemgetter(0)):
        last = first + len(list(alike))
        term = terms[first]
        law, w = term.element.law, v @ term.row.weights
        deflections = (
            some.deflections[:, first:last].T if bent and some.deflections is not None else None
        )
        if isinstance(law, Loaded):
            found[first:last] = _load_values(robot, term, w, some, deflections)
        elif deflections is None:
            found[first:last] = law.columns(w)[:, 0]
        else:
            np.multiply(deflections, sliding_columns(law, w)[:, 0], out=found[first:last])
        first = last
    return found.T


def _kinds(terms: Terms, some: Samples) -> Iterator[tuple[tuple[int, int, bool], Term]]:
    """Terms, each with row, law and whether its contact deflects; neighbours may share these."""
    for k, term in enumerate(terms):
        law = term.element.law
        dry = (
            bool(law.dry) and some.deflections is not None and not np.isnan(some.deflections[0, k])
        )
        yield (id(term.row), id(law), dry), term


def _load_values(
    robot: Robot, term: Term, w: Floats, some: Samples, deflections: Floats | None
) -> Floats:
    """Friction by the load of a term's gear, per unit of its share, (..., m)."""
    assert some.on_links is not None
    side = deflections
    if side is None:
        doubt = presliding.of_all_joints(robot, some.doubt) @ np.abs(term.row.weights)
        side = presliding.mean_sign(w, doubt)
    return load_column(robot.assembly, some.on_links, term.row, term.element.law, w, side)


def elements_of(terms: Terms) -> list[tuple[FrictionElement, Row]]:
    """The friction elements of terms and their rows."""
    return [(term.element, term.row) for term in terms]


def term_weights(robot: Robot, terms: Terms) -> Floats:
    """Torque of each joint per torque on the row of a term, (n, terms)."""
    if not terms:
        return np.zeros((robot.n, 0))
    weights = np.array([term.row.weights for term in terms])
    return presliding.of_coordinates(robot, weights).T


def with_terms(robot: Robot, terms: Terms) -> Robot:
    """The robot with terms among its friction elements, their coefficients last."""
    if not terms:
        return robot
    added = tuple(term.element for term in terms)
    description = replace(robot.description, friction=(*robot.description.friction, *added))
    return robot.with_description(description)


def without_terms(robot: Robot) -> Robot:
    """The robot without friction elements that an identification has added to others."""
    names = {element.name for element in robot.description.friction}
    kept = []
    for element in robot.description.friction:
        host, _, ending = element.name.rpartition("_")
        if f"_{ending}" not in ENDINGS or host not in names:
            kept.append(element)
    if len(kept) == len(names):
        return robot
    return robot.with_description(replace(robot.description, friction=tuple(kept)))


def list_presliding_distances(terms: Sequence[Term]) -> Iterator[tuple[str, float]]:
    """Names of the pre-sliding elements, and their pre-sliding distances [rad]."""
    for term in terms:
        if term.element.name.endswith(PRESLIDING):
            yield term.element.name, term.element.radius


def set_own_stiffness(
    friction: tuple[FrictionElement, ...], terms: Terms
) -> tuple[FrictionElement, ...]:
    """Friction elements of which added loads have a pre-sliding stiffness by their own level.

    A load without a distance of its own has that of its host, which is for the host's level.
    """
    distances = {term.element.name: term.presliding_distance for term in terms}
    found = []
    for element in friction:
        distance, pre = distances.get(element.name, 0.0), element.presliding
        if distance > 0 and pre is not None and pre.stiffness is not None:
            stiffness = max(breakaway(element.law), LEAST_TORQUE) / distance
            damping = None if pre.damping is None else pre.damping * stiffness / pre.stiffness
            own = replace(pre, stiffness=stiffness, damping=damping)
            element = replace(element, presliding=own)
        found.append(element)
    return tuple(found)
