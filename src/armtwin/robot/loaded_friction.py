"""Loads of gears and the friction that follows them, from the links' side.

    load = ρ (N⁻ᵀ (τ_links + friction beyond the gear))_m

τ_links is what the bodies need, without rotors; motor m turns the element's row ρ times.
"""

from __future__ import annotations

import numpy as np

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.friction.load import dry_shape
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.assembly import Assembly
from armtwin.robot.rows import Row, turning_motor


def has_loads(assembly: Assembly) -> bool:
    """Whether friction of the robot follows the load of some gear."""
    return any(element.load is not None for element, _ in assembly.friction)


def is_turned(assembly: Assembly, row: Row) -> bool:
    """Whether one motor alone turns a row."""
    try:
        turning_motor(row.weights, assembly.motor_rows, "")
    except ArmtwinError:
        return False
    return True


def load_of(assembly: Assembly, rigid: Floats, a: Floats, beyond: Floats, row: Row) -> Floats:
    """Torque that the gear of a row's motor passes on, (m,) [N m].

    Args:
        assembly: The robot's parts.
        rigid: Joint torques without friction, rotors included, (m, n) [N m].
        a: Joint accelerations, (m, n).
        beyond: Friction between gear and links, on the joints, (m, n) [N m].
        row: A row that one motor turns.
    """
    N = assembly.motor_rows
    k, ratio = turning_motor(row.weights, N, "a gear")
    on_links = rigid - a @ assembly.rotors.inertia + beyond
    return np.asarray(ratio * (on_links @ assembly.motor_inverse)[:, k])


def friction_beyond(assembly: Assembly, v: Floats) -> Floats:
    """Friction of rows that no motor turns, between gears and links, (m, n) [N m]."""
    found = np.zeros_like(v)
    for element, row in assembly.friction:
        if row.linkage is None and not is_turned(assembly, row):
            values = np.array(list(coefficients(element.law).values()))
            torque = element.law.columns(v @ row.weights) @ values
            found += torque[:, None] * row.weights
    return found


def loaded_friction(assembly: Assembly, rigid: Floats, v: Floats, a: Floats) -> Floats:
    """Friction that loads add to that of the laws, on the joints, (m, n) [N m]."""
    found = np.zeros_like(v)
    beyond = friction_beyond(assembly, v)
    for element, row in assembly.friction:
        if element.load is None:
            continue
        load = load_of(assembly, rigid, a, beyond, row)
        shape = dry_shape(element.law, v @ row.weights)
        torque = element.load.share * np.abs(load) * shape
        found += torque[:, None] * row.weights
    return found
