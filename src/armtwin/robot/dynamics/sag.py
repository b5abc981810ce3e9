"""Where an elastic robot rests: its motors held, its gears and links bent by what they bear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armtwin.drives.rows import Springs, deflection_from_torque, pack_springs
from armtwin.maths.batch import Floats
from armtwin.maths.interpolation import interpolate_columns
from armtwin.robot.kinematics.coordinates import Coordinates

SETTLING = 50  # rounds in which the sag of elastic joints at the start is found
SLACK = 1e-6  # torque below which a gear rests in the middle of its backlash [N m]
NOTHING = 1e-12  # share of the largest singular value of what is held that counts as zero
STILL = 1e-13  # change of the sag that ends them [rad]


@dataclass(frozen=True, eq=False)
class Outside:
    """What acts on a robot from outside, at the set-points.

    Attributes:
        torque: Torques on the joints, (set-points, n) [N m]; None for none.
        wrench: Force and torque on the tool point, base axes, (set-points, 6); None for none.
    """

    torque: Floats | None = None
    wrench: Floats | None = None

    def at(self, k: int) -> Outside:
        """What acts at one of the set-points."""
        return self._each(lambda values: values[k : k + 1])

    def at_times(self, time: Floats, others: Floats) -> Outside:
        """What acts at other times, linear between those of the set-points."""
        return self._each(lambda values: interpolate_columns(others, time, values))

    def _each(self, select: Callable[[Floats], Floats]) -> Outside:
        """What acts, selected from each table that is there."""
        torque = None if self.torque is None else select(self.torque)
        wrench = None if self.wrench is None else select(self.wrench)
        return Outside(torque, wrench)


def solve_sag(
    places: Coordinates,
    q: Floats,
    outside: Outside | None = None,
    springs: Springs | None = None,
    hold: Callable[[Coordinates, Floats, Outside], Floats] | None = None,
) -> Floats:
    """Coordinates at rest with the motors on q: elastic joints and links sag in their springs.

        Z = null space of the held rows,   T = - (S Z)⁻ᵀ Zᵀ load(u),   S u = twist(T)

    With the motors held there are as many springs as degrees of freedom: what each bears is known.

    Args:
        places: What the coordinates mean.
        q: Joint positions as the motors have them, (n,).
        outside: What acts from outside.
        springs: Numbers of the springs, those of the gears and links first; by default those of the
            robot's file.
        hold: Torques that hold the joints at some coordinates; by default those of rigid links.
    """
    holding = hold or holding_torques
    u = places.both_sides(q)
    if not places.elastic:
        return u
    rows = np.array([compliance.twist for compliance in places.elastic])
    if springs is None:
        springs = pack_springs(range(len(rows)), [x.spring for x in places.elastic])
    first: list[Any] = [values[: len(rows)] for values in springs]
    own = Springs(*first)
    freedom = freedom_of(places)
    bears = np.linalg.inv(rows @ freedom)
    for _ in range(SETTLING):
        load = np.zeros(places.count)
        load[: places.bodies] = -holding(places, u, outside or Outside())
        bears_torque = bears.T @ (freedom.T @ load)
        twist = twists_under_load(own, bears_torque) - ripple_of(places, u, len(rows))
        moved = freedom @ (bears @ (twist - rows @ u))
        u = u + moved
        if np.abs(moved).max() < STILL:
            break
    return u


def twists_under_load(springs: Springs, torque: Floats) -> Floats:
    """Twists of springs that bear torques, each on the flank that it presses, (springs,) [rad]."""
    bending = deflection_from_torque(torque, springs.stiffness, springs.soft, springs.knee)
    side = np.sign(torque) * (np.abs(torque) > SLACK)
    return bending + side * springs.gap


def freedom_of(places: Coordinates) -> Floats:
    """Degrees of freedom while motors hold and brakes are on, (N, N - held)."""
    _, sizes, rows = np.linalg.svd(places.held_rows)
    rank = int((sizes > NOTHING * sizes.max(initial=0.0)).sum())
    return rows[rank:].T


def ripple_of(places: Coordinates, u: Floats, count: int) -> Floats:
    """Unevenness of the elastic gears at one place, (springs,) [rad]."""
    errors = np.zeros(count, dtype=u.dtype)
    for gear in places.rippling:
        if gear.compliance is not None:
            errors[gear.compliance] += gear.ripple.at(u @ gear.motor)
    return errors


def holding_torques(places: Coordinates, u: Floats, outside: Outside) -> Floats:
    """Torques that hold the built arm at rest against weight and what acts at first, (joints,)."""
    q = u[: places.bodies]
    torque = places.built.gravity(q)
    if outside.torque is not None:
        torque = torque - places.on_links(outside.torque[0])[: places.bodies]
    if outside.wrench is not None:
        torque = torque - places.built.jacobian(q).T @ outside.wrench[0]
    return torque
