"""Lengths, masses and inertias of an arm by link, as they are or with other units.

What can be compared between a desktop arm and a palletiser has no unit: lengths over that of the
arm, mass over its length cubed, and the compactness of a body,

    k / k_ball,    k = √(J / m),    k_ball = √(2/5) (3 m / 4πρ)^(1/3)

with its radius of gyration k over that of a ball of gold, which no body of its mass undercuts.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats, Indices, Names, TwoArrays
from armtwin.maths.units import SMALLEST
from armtwin.mechanics.inertia import about_centre, inertia_matrix
from armtwin.robot.dynamics.bodies import parameters_of
from armtwin.robot.schema.description import Description, build_tree
from armtwin.robot.schema.mounting import STANDARD

DENSEST = 2e4  # density of gold and tungsten [kg/m³]
NO_INERTIA = 1e-30  # of a body whose inertia is less than its mass at its centre [kg m²]
ROUNDING = 1e-15  # of an inertia that is zero [kg m²]
Factor = float | Floats  # of all links, or (n,)


class UnitScale(NamedTuple):
    """What the numbers of a file are multiplied by to be SI, by kind."""

    length: Factor = 1.0
    centre: Factor = 1.0
    mass: Factor = 1.0
    inertia: Factor = 1.0


UNCHANGED = UnitScale()


class Inertial(NamedTuple):
    """Mass [kg], distance of its centre [m] and largest principal inertia there [kg m²]."""

    mass: Floats
    centre: Floats
    inertia: Floats

    @property
    def gyration(self) -> Floats:
        """Radius of gyration of each body, (n,) [m]; NaN where it has no mass or inertia."""
        known = (self.mass > 0) & (self.inertia > 0)
        return np.sqrt(np.where(known, self.inertia, np.nan) / np.where(known, self.mass, 1.0))

    @property
    def compactness(self) -> Floats:
        """Radius of gyration over that of a ball of gold of the same mass, (n,)."""
        volume = np.where(self.mass > 0, self.mass, np.nan) / DENSEST
        ball = np.sqrt(0.4) * np.cbrt(3.0 * volume / (4.0 * np.pi))
        return np.asarray(self.gyration / ball)


def inertial_of(bodies: Floats, scale: UnitScale = UNCHANGED) -> Inertial:
    """Sizes of bodies given by ten parameters, (n, 10), with factors on their numbers."""
    n = len(bodies)
    mass = np.broadcast_to(scale.mass, n) * bodies[:, 0]
    by_inertia = np.broadcast_to(scale.inertia, n)
    given = np.where(bodies[:, :1] > 0, bodies[:, :1], 1.0)
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are refused afterwards
        centres = np.broadcast_to(scale.centre, n)[:, None] * bodies[:, 1:4] / given
        inertia = np.array(
            [
                _central_inertia(*body)
                for body in zip(bodies, centres, mass, by_inertia, strict=True)
            ]
        )
        return Inertial(mass, np.linalg.norm(centres, axis=1), inertia)


def _central_inertia(ten: Floats, centre: Floats, mass: float, by_inertia: float) -> float:
    """Largest principal inertia of a body at its centre, with factors on its numbers [kg m²]."""
    J = about_centre(ten) if ten[0] > 0 else inertia_matrix(ten)
    if not _is_real(J):  # given about the origin, where mass or centre may be off
        c = centre
        J = inertia_matrix(ten) - mass / by_inertia * (c @ c * np.eye(3) - np.outer(c, c))
    return float(by_inertia * np.linalg.eigvalsh(J)[2]) if _is_real(J) else NO_INERTIA


def _is_real(J: Floats) -> bool:
    """Whether no principal inertia is negative, but for rounding."""
    if not np.isfinite(J).all():
        return False
    least, _, most = np.linalg.eigvalsh(J)
    return bool(least >= -1e-9 * abs(most) - ROUNDING)


@dataclass(frozen=True, eq=False)
class Proportions:
    """The numbers of an arm's joints and links, in the order of the tree.

    Attributes:
        joints: Names of the joints.
        links: Names of the links that they move.
        parents: Index of the body that carries each joint; -1 is the base.
        offsets: Distance of each joint from the one before, (n,) [m].
        bodies: Ten parameters of each link, (n, 10).
        ends: Distance of the flange from its joint, (n,), 0 elsewhere [m].
    """

    joints: Names
    links: Names
    parents: Indices
    offsets: Floats
    bodies: Floats
    ends: Floats

    def length(self, scale: UnitScale = UNCHANGED) -> float:
        """Distances between joints from the base to the furthest end, added up [m].

        No point of the arm is further from its base.
        """
        return float(self.distances(scale).max(initial=0.0))

    def distances(self, scale: UnitScale = UNCHANGED) -> Floats:
        """Distances between joints from the base to each link's end, added up, (n,) [m]."""
        offsets = self.offsets * scale.length
        found = np.zeros(len(offsets))
        for i, parent in enumerate(self.parents):
            found[i] = offsets[i] + (found[parent] if parent >= 0 else 0.0)
        return np.asarray(found + self.ends * scale.length)

    def carried(self) -> TwoArrays:
        """Largest torque of its weight on each joint [N m], and how far what it moves reaches [m].

        Both with everything stretched out level from the joint.
        """
        sizes = inertial_of(self.bodies)
        torque, reach = np.zeros((2, len(self.offsets)))
        for i, mass in enumerate(sizes.mass):
            joint, centre, end = i, sizes.centre[i], max(sizes.centre[i], self.ends[i])
            while joint >= 0:
                torque[joint] += STANDARD * mass * centre
                reach[joint] = max(reach[joint], end)
                centre, end = centre + self.offsets[joint], end + self.offsets[joint]
                joint = self.parents[joint]
        return torque, reach


def proportions(description: Description) -> Proportions:
    """The proportions of a description whose `tree_problems` are none."""
    tree = build_tree(description)
    bodies = {link.name: link.body for link in description.link}
    ends = np.zeros(len(tree.joints))
    tens = np.array([parameters_of(bodies.get(joint.child)) for joint in tree.joints])
    tens[np.abs(tens[:, 0]) < SMALLEST] = 0.0  # it has no mass, or is refused
    flange = description.flange
    if flange is not None and tree.body(flange.link) >= 0:
        ends[tree.body(flange.link)] = np.linalg.norm(flange.origin.position)
    return Proportions(
        joints=tuple(joint.name for joint in tree.joints),
        links=tuple(joint.child for joint in tree.joints),
        parents=tree.parents,
        offsets=np.array([np.linalg.norm(joint.origin.position) for joint in tree.joints]),
        bodies=tens,
        ends=ends,
    )
