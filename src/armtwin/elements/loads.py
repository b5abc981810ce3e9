"""Loads on nodes and laws of stress along deformations.

    σ = σ0 + Σ S e + Σ B de/dt + strength/(stroke - e)        the last one for a gas strut

A dead force acts on a point, a moment on a triad about its own axes or about those of the base (the
latter has no energy in large rotation).
"""

from __future__ import annotations

from typing import NamedTuple

from armtwin.elements.beam import ends_of
from armtwin.elements.blocks import Integers
from armtwin.elements.masses import Masses, add_beam, add_body
from armtwin.elements.rotations import add_four, add_three, four, moment_force, rotate_back_by_triad
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import Vector, scale_vector, vector

FORCE, OWN_MOMENT, BASE_MOMENT = range(3)


class Laws(NamedTuple):
    """Stress on rows of the deformations, packed.

    Attributes:
        preload: σ0 on every row, (rows,) [N, N m].
        spring_rows: Row of the stress and row of the deformation, (s, 2).
        springs: Stiffness of each pair, (s,).
        damper_rows: The same for dampers, (d, 2).
        dampers: Damping of each pair, (d,).
        gas_rows: Rows with a gas strut, (g,).
        gas: Strength [J] and stroke [m] at which the gas has no room left, (g, 2).
    """

    preload: Floats
    spring_rows: Integers
    springs: Floats
    damper_rows: Integers
    dampers: Floats
    gas_rows: Integers
    gas: Floats


class LoadTables(NamedTuple):
    """Loads on nodes, packed.

    Attributes:
        kind: FORCE, OWN_MOMENT or BASE_MOMENT, (loads,).
        at: Where the loaded points and triads start, (loads,).
        value: Forces [N] and moments [N m], (loads, 3).
    """

    kind: Integers
    at: Integers
    value: Floats


@inlined
def add_stress(laws: Laws, e: Floats, rate: Floats, sigma: Floats) -> None:
    """Add the stress of all laws at deformations e with rates de/dt."""
    for i in range(len(e)):
        sigma[i] += laws.preload[i]
    for i in range(len(laws.springs)):
        sigma[laws.spring_rows[i, 0]] += laws.springs[i] * e[laws.spring_rows[i, 1]]
    for i in range(len(laws.dampers)):
        sigma[laws.damper_rows[i, 0]] += laws.dampers[i] * rate[laws.damper_rows[i, 1]]
    for i in range(len(laws.gas_rows)):
        row = laws.gas_rows[i]
        sigma[row] += laws.gas[i, 0] / (laws.gas[i, 1] - e[row])


@inlined
def add_load(kind: int, T: Vector, at: int, x: Floats, g: Floats) -> None:
    """Add a load on the node that starts at a place of x."""
    if kind == FORCE:
        add_three(g, at, T)
    elif kind == OWN_MOMENT:
        add_four(g, at, moment_force(four(x, at), T))
    else:
        turn = four(x, at)
        add_four(g, at, moment_force(turn, rotate_back_by_triad(turn, T)))


@inlined
def add_forces(
    masses: Masses, loads: LoadTables, share: float, x: Floats, vx: Floats, ax: Floats, g: Floats
) -> None:
    """Add M ax + h(x, vx) of all masses, less a share of their weight and of all loads."""
    gravity = (share * masses.gravity[0], share * masses.gravity[1], share * masses.gravity[2])
    bodies, beams = masses.bodies, masses.beams
    for i in range(len(bodies)):
        add_body(masses, i, (bodies[i, 0], bodies[i, 1]), x, vx, ax, gravity, g)
    for i in range(len(beams)):
        add_beam(masses, i, ends_of(beams, i), x, vx, ax, gravity, g)
    for i in range(len(loads.kind)):
        T = scale_vector(-share, vector(loads.value, i))
        add_load(loads.kind[i], T, loads.at[i], x, g)
