"""Loads on nodes and laws of stress along deformations.

    σ = σ0 + Σ S e + Σ B de/dt + strength/(stroke - e)        the last one for a gas strut

A dead force acts on a point, a moment on a triad about its own axes or about those of the base (the
latter has no energy in large rotation).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from armtwin.elements.masses import Masses, MassRoom, add_inertia
from armtwin.elements.rotations import add_moment, rate_forms, rotation
from armtwin.maths.compiled import compiled, inlined


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

    preload: Any
    spring_rows: Any
    springs: Any
    damper_rows: Any
    dampers: Any
    gas_rows: Any
    gas: Any


class Loads(NamedTuple):
    """Loads on nodes, packed.

    Attributes:
        force_at: Where the loaded points start, (f,).
        forces: Forces in base axes, (f, 3) [N].
        moment_on: Where the loaded triads start, (k,).
        moments: Moments, (k, 3) [N m].
        in_base: 1 for base axes, 0 for the triad's own, (k,).
    """

    force_at: Any
    forces: Any
    moment_on: Any
    moments: Any
    in_base: Any


@compiled
def add_stress(laws: Laws, e: Any, rate: Any, sigma: Any) -> None:
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
def _subtract_loads(loads: Loads, x: Any, g: Any, room: MassRoom) -> None:
    """Subtract the loads, as forces on the coordinates, from g."""
    for i in range(len(loads.force_at)):
        for j in range(3):
            g[loads.force_at[i] + j] -= loads.forces[i, j]
    G, E, R = room.G, room.E, room.R
    for i in range(len(loads.moment_on)):
        at = loads.moment_on[i]
        rate_forms(x, at, G, E)
        # R = E G' turns a moment of the base; G G' = 1 leaves one of the triad
        rotation(G, E if loads.in_base[i] == 1 else G, R)
        T = (0.0 * x[0], 0.0 * x[0], 0.0 * x[0])
        for j in range(3):
            t = loads.moments[i, j]
            T = (T[0] - R[j, 0] * t, T[1] - R[j, 1] * t, T[2] - R[j, 2] * t)
        add_moment(G, T, g, at)


@compiled
def add_forces(
    masses: Masses, loads: Loads, x: Any, vx: Any, ax: Any, g: Any, room: MassRoom
) -> None:
    """Add the nodal forces M ax + h(x, vx) - f of all masses and loads to g."""
    add_inertia(masses, x, vx, ax, g, room)
    _subtract_loads(loads, x, g, room)
