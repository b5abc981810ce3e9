"""Pre-sliding friction: the relative deflection of each element's contact along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.drives.friction.curves import breakaway
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.lubricated import GearedJoint, GearPair, RollerBearing, asperities
from armtwin.drives.friction.terms import Drop
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.maths.compiled import compiled
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.dynamics.friction_columns import SLOWEST, Elements
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement

Integers = NDArray[np.intp]

PLAY = 0.05  # share of a radius within which a logged position may tremble
FORGETS = 40.0  # radii of travel after which a deflection has decayed in double precision


@compiled
def stop_operators(x: Floats, radii: Floats, places: Integers, shares: Floats) -> None:
    """Fill rows of shares (..., m) with s / r, -1 to 1, along positions x (m,).

    Args:
        x: The positions; there is no displacement at the first.
        radii: Radius of each contact, (k,).
        places: The row of each, (k,).
        shares: What is filled.
    """
    for c in range(len(radii)):
        radius, share = radii[c], shares[places[c]]
        s = 0.0
        share[0] = 0.0
        for k in range(1, len(x)):
            s = min(max(s + x[k] - x[k - 1], -radius), radius)
            share[k] = s / radius


@compiled
def bristle_operators(
    x: Floats, dry: Floats, radii: Floats, places: Integers, shares: Floats
) -> None:
    """Fill rows of shares (..., m) with s / r of bristles along positions x (m,).

    Args:
        x: The positions; there is no displacement at the first.
        dry: Share of its radius that a contact has at each, above zero, (m,).
        radii: Radius of each contact at rest, (k,).
        places: The row of each, (k,).
        shares: What is filled.
    """
    for c in range(len(radii)):
        radius, share = radii[c], shares[places[c]]
        play = PLAY * radius
        s, here = 0.0, x[0]
        share[0] = 0.0
        for k in range(1, len(x)):
            before, r = here, radius * dry[k]
            here = min(max(here, x[k] - play), x[k] + play)
            moved = here - before
            if moved != 0.0:
                end = r if moved > 0.0 else -r
                far = abs(moved) / r
                s = end + (s - end) * np.exp(-far) if far < FORGETS else end
            s = min(max(s, -r), r)
            share[k] = s / r


# pre-sliding distance below which a logged position does not show the deflection of a contact
LEAST_DISTANCE = 1e-5  # [rad]
LEAST_SHARE = 1e-9  # of dry friction at rest that a law has at least at any speed
SETTLING_DISTANCES = (
    3.0  # pre-sliding distances of travel after which the initial deflection hardly matters
)

VelocityWeakening = (
    Drop | GearPair | GearedJoint | RollerBearing
)  # laws whose dry friction decreases with speed


def has_presliding(element: FrictionElement) -> bool:
    """Whether an element has a pre-sliding distance that a log can show.

    Only where the file gives one: that of a stiffness changes with the level that is fitted.
    """
    pre = element.presliding
    if pre is None or pre.radius is None or element.negative is not None:
        return False
    return pre.radius >= LEAST_DISTANCE


def compute_deflections(robot: Robot, elements: Elements, q: Floats, v: Floats) -> Floats | None:
    """Share of its dry friction that each element bears along a motion (m, n), (m, elements).

    It is nan for elements without hysteresis; None where none has any. A motion begins without
    deflection. A contact whose torque leads its deflection bears more while it deflects:

        share = s / r + lead d(s / r)/dt,    ds/dt = w (1 - sign(w) s / r)

    of a stop operator w up to its corner. Other damping of a file is not counted: it is assumed.
    """
    every = list(elements)
    return deflect_bundles(robot, bundles_of(every), len(every), q, v)


def deflect_bundles(
    robot: Robot, bundles: Sequence[Bundle], elements: int, q: Floats, v: Floats
) -> Floats | None:
    """Shares of dry friction from the bundles of all elements, (m, elements)."""
    if not bundles:
        return None
    joints, speeds = joint_positions(robot, q), of_all_joints(robot, v)
    shares = np.full((elements, len(q)), np.nan)
    travels: dict[int, TwoArrays] = {}  # several laws may share a row
    for bundle in bundles:
        row = bundle.row
        if id(row) not in travels:
            x = np.ascontiguousarray(along(row, joints))
            travels[id(row)] = x, speeds @ row.weights * row.lever(joints)
        bundle.bend(*travels[id(row)], shares)
    return shares.T


@dataclass(frozen=True, eq=False)
class Bundle:
    """Contacts of one law on one row.

    Attributes:
        row: The row.
        law: The law.
        places: Their numbers among all elements.
        radii: Their pre-sliding distances [rad].
        leads: Time by which the torque of each leads its deflection [s].
    """

    row: Row
    law: Law
    places: list[int]
    radii: list[float]
    leads: list[float]

    def bend(self, x: Floats, w: Floats, shares: Floats) -> None:
        """Fill shares (elements, m) of dry friction along positions and speeds, (m,) each."""
        radii, places = np.array(self.radii), np.array(self.places)
        dry = np.ones(1)
        if isinstance(self.law, VelocityWeakening):
            dry = _dry_share(self.law, w)
            bristle_operators(x, dry, radii, places, shares)
        else:
            stop_operators(x, radii, places, shares)
        for place, radius, lead in zip(self.places, self.radii, self.leads, strict=True):
            if lead:
                share = shares[place]
                share += lead * w / (radius * dry) * _deflecting_share(self.law, w, share)


def bundles_of(every: Elements) -> list[Bundle]:
    """Elements with pre-sliding hysteresis, those of one law on one row together."""
    found: dict[tuple[int, int], Bundle] = {}
    for place, (element, row) in enumerate(every):
        if element.presliding is None or not has_presliding(element):
            continue
        key = id(row), id(element.law)
        bundle = found.setdefault(key, Bundle(row, element.law, [], [], []))
        bundle.places.append(place)
        bundle.radii.append(element.radius)
        bundle.leads.append(element.presliding.lead or 0.0)
    return list(found.values())


def _deflecting_share(law: Law, w: Floats, share: Floats) -> Floats:
    """Share of a speed w (m,) that deflects a contact which bears a share of its friction."""
    if isinstance(law, VelocityWeakening):
        return 1 - np.sign(w) * share
    return np.where(np.sign(w) * share < 1, 1.0, 0.0)


def find_settled(robot: Robot, bundles: Sequence[Bundle], q: Floats) -> Flags:
    """Whether every contact on a joint is independent of its initial deflection, (m, n).

    A log does not show that deflection: it depends on the motion before.
    """
    joints = joint_positions(robot, q)
    contacts: dict[int, tuple[Row, list[float]]] = {}
    for bundle in bundles:
        _, radii = contacts.setdefault(id(bundle.row), (bundle.row, []))
        radii += bundle.radii
    found = np.ones(q.shape, dtype=bool)
    for row, radii in contacts.values():
        acts = of_coordinates(robot, row.weights) != 0
        found[:, acts] &= _is_settled(along(row, joints), max(radii))[:, None]
    return found


def estimate_undetermined_friction(robot: Robot, q: Floats) -> TwoArrays:
    """Standard deviations of friction that a motion and that a rest leave open, (m, n) each [N m].

    A contact whose initial deflection still matters has any, each as likely as another: a third of
    the square of dry friction. Another one at rest bears any torque up to break-away, the larger
    the less likely: a sixth.

    Args:
        robot: The robot.
        q: Positions, (m, n).
    """
    joints = joint_positions(robot, q)
    unsettled, borne = np.zeros((2, *q.shape))
    for element, row in robot.assembly.friction:
        weights = of_coordinates(robot, row.weights)
        power = (breakaway(element.law) * weights) ** 2
        settled = np.ones(len(q), dtype=bool)
        if has_presliding(element):
            settled = _is_settled(along(row, joints), element.radius)
        unsettled += np.outer(~settled, power / 3)
        borne += np.outer(settled, power / 6)
    return np.sqrt(unsettled), np.sqrt(borne)


def _is_settled(x: Floats, distance: float) -> Flags:
    """Whether a contact is independent of its initial deflection along a travel x, (m,).

    It is after a few pre-sliding distances. Where the travel is shorter, its joint counts all the
    same after half of it.
    """
    travel = np.maximum.accumulate(x) - np.minimum.accumulate(x)
    return travel >= min(SETTLING_DISTANCES * distance, 0.5 * float(travel[-1]))


def mean_sign(w: Floats, doubt: Floats) -> Floats:
    """Mean sign of speeds within w ± doubt, (m,)."""
    return w / np.maximum(np.abs(w), np.maximum(doubt, SLOWEST))


def _dry_share(law: VelocityWeakening, w: Floats) -> Floats:
    """Share of its dry friction at rest that a law has at speeds w (m,), above 0 and at most 1.

    A law that is smooth about rest has none there: its contact bears what it has at any speed.
    """
    decreasing = np.abs(asperities(w, law.speed, law.exponent))
    return np.where(w == 0, 1.0, np.maximum(decreasing, LEAST_SHARE))


def along(row: Row, joints: Floats) -> Floats:
    """Position on a row, (m,), at those of all joints, (m, n)."""
    angle = joints @ row.weights
    return angle if row.linkage is None else row.linkage.length(angle)


def joint_positions(robot: Robot, q: Floats) -> Floats:
    """Positions of all joints from those of the coordinates, (m, joints)."""
    coupling = robot.assembly.coupling
    joints = of_all_joints(robot, q)
    return joints if coupling is None else joints + coupling.c


def of_coordinates(robot: Robot, weights: Floats) -> Floats:
    """Torques of the coordinates from those of all joints, (..., n)."""
    coupling = robot.assembly.coupling
    return weights if coupling is None else weights @ coupling.G


def of_all_joints(robot: Robot, x: Floats) -> Floats:
    """Changes, or speeds, of all joints from those of the coordinates."""
    coupling = robot.assembly.coupling
    return x if coupling is None else x @ coupling.G.T
