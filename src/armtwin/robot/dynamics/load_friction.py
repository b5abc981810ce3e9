"""Loads of gears and the friction that follows them, from the links' side.

    load = ρ (N⁻ᵀ (τ_links + friction beyond the gear))_m

τ_links is what the bodies need, without rotors; motor m turns the element's row ρ times.
"""

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.load import dry_share, of_load
from armtwin.drives.friction.terms import Loaded
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics.assembly import Assembly, Row, turning_motor
from armtwin.robot.dynamics.friction_columns import friction_over_motion


def has_loads(assembly: Assembly) -> bool:
    """Whether friction of the robot depends on the load of a gear."""
    return any(element.follows_load for element, _ in assembly.friction)


def is_turned(assembly: Assembly, row: Row) -> bool:
    """Whether one motor alone turns a row."""
    try:
        turning_motor(row.weights, assembly.motor_rows, "")
    except ArmtwinError:
        return False
    return True


def load_of(assembly: Assembly, on_links: Floats, row: Row) -> Floats:
    """Torque that the gear of a row's motor passes on, (m,) [N m].

    Args:
        assembly: The robot's parts.
        on_links: Joint torques beyond the gears: without rotors and without friction of rows that
            motors turn, (m, n) [N m].
        row: A row that one motor turns.
    """
    k, ratio = turning_motor(row.weights, assembly.motor_rows, "a gear")
    return ratio * (on_links @ assembly.motor_inverse[:, k])


def beyond_gears(assembly: Assembly, rigid: Floats, v: Floats, a: Floats) -> Floats:
    """Joint torques beyond the gears, from those without friction, rotors included, (m, n)."""
    return rigid - a @ assembly.rotors.inertia + friction_beyond(assembly, v)


def friction_beyond(assembly: Assembly, v: Floats) -> Floats:
    """Friction of rows that no motor turns, between gears and links, (m, n) [N m]."""
    beyond = []
    for element, row in assembly.friction:
        if row.linkage is None and not is_turned(assembly, row):
            beyond.append((element, row))
    return friction_over_motion(beyond, v, None)


def load_column(
    assembly: Assembly, on_links: Floats, row: Row, law: Law, w: Floats, side: Floats | None = None
) -> Floats:
    """Friction on a row for a share of 1 of the load that its gear transmits, (..., m) [N m].

        |load| sign(w) s(w)

    Args:
        assembly: The robot's parts.
        on_links: Joint torques beyond the gears, (m, n) [N m].
        row: A row that one motor turns.
        law: The law whose dry friction grows with the load.
        w: Speed of the row, (m,) [rad/s].
        side: To which side the contact bears, -1 to 1, (..., m); by default that of its speed.
    """
    bears = np.sign(w) if side is None else side
    shape = 1.0 if isinstance(law, Loaded) else dry_share(law, w)
    return np.abs(load_of(assembly, on_links, row)) * bears * shape


def load_dependent_friction(
    assembly: Assembly, on_links: Floats, v: Floats, sides: Floats | None = None
) -> Floats:
    """Friction that loads add to that of the laws, on the joints, (m, n) [N m].

    Args:
        assembly: The robot's parts.
        on_links: Joint torques beyond the gears, (m, n) [N m].
        v: Joint speeds, (m, n) [rad/s].
        sides: To which side each friction element bears, -1 to 1, (m, elements); by default that
            of its speed.
    """
    found = np.zeros_like(v)
    for e, (element, row) in enumerate(assembly.friction):
        if not element.follows_load:
            continue
        share, level, usual = of_load(element.law, element.load)
        if level == 0:
            continue
        w = v @ row.weights
        side = np.sign(w) if sides is None else sides[:, e]
        column = load_column(assembly, on_links, row, element.law, w, side)
        more = share * (column - usual * side * dry_share(element.law, w))
        found += more[:, None] * row.weights
    return found
