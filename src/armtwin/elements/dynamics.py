"""Equations of motion of a structure, and the stress in everything that is held.

    DF' g + DE' σ + J_q a = τ,   g = M ax + h - f,   σ = σ0 + S e + B de/dt on rows with a law

The stresses of held modes and drives come without DF, σ_C = -J'⁻¹ (g + D' σ): three solves with one
J give the torque of every drive, the moments on each bearing and the forces in each rigid link. A
drive on a degree of freedom is τ = -σ.

Ref: [Waiboer 2007, 4.8-4.17]
"""

from __future__ import annotations

from typing import Any

from armtwin.elements.blocks import solve_transposed
from armtwin.elements.deformation import add_nodal, along
from armtwin.elements.loads import add_forces, add_stress
from armtwin.elements.transfer import State, find, rates, second_rates
from armtwin.maths.compiled import compiled, inlined

AHEAD = 0.01  # of a step: how far five states may miss the next


@compiled
def respond(
    tables: Any, x: Any, vx: Any, ax: Any, state: State, tau: Any, sigma: Any, g: Any
) -> None:
    """Forces of a motion of the coordinates.

    Args:
        tables: The structure.
        x: Coordinates, at which `state` was measured.
        vx: Their velocities.
        ax: Their accelerations.
        state: Slopes and factors at x.
        tau: Force on each degree of freedom, without the inertia along q, (n,), written.
        sigma: Stress of every row, law and reaction, (rows,), written.
        g: Room for a force on every coordinate, (nx,).
    """
    rows = len(sigma)
    for i in range(len(g)):
        g[i] = 0.0
    for r in range(rows):
        sigma[r] = 0.0
    along(tables.elements, state.D, vx, state.rhs)
    add_stress(tables.laws, state.e, state.rhs, sigma)
    add_forces(tables.masses, tables.loads, x, vx, ax, g, state.mass_room)
    add_nodal(tables.elements, state.D, sigma, g)
    for r in range(rows):
        state.rhs[r] = 0.0
    solve_transposed(tables.blocks, state.D, state.LU, state.pivot, g, state.rhs)
    for r in range(rows):
        sigma[r] -= state.rhs[r]
    freedom = tables.freedom
    k = len(freedom.columns)
    for i in range(k):
        tau[i] = g[freedom.columns[i]]
    for i in range(len(freedom.rows)):
        tau[k + i] = state.rhs[freedom.rows[i]]


@compiled
def torque(
    tables: Any, x: Any, v: Any, a: Any, state: State, room: Any, tau: Any, sigma: Any
) -> None:
    """Forces τ on the degrees of freedom and stresses of all rows in a motion (x, v, a)."""
    vx, ax, g = room[0], room[1], room[2]
    rates(tables, v, state, vx)
    second_rates(tables, x, vx, a, state, ax)
    respond(tables, x, vx, ax, state, tau, sigma, g)
    for i in range(len(tau)):
        for j in range(len(tau)):
            tau[i] += tables.rotors[i, j] * a[j]


@inlined
def _go_ahead(q: Any, row: int, past: Any, x: Any) -> None:
    """Put x where the last five states lead, if their q leads to the one that is asked for.

    Evenly sampled motions are met to rounding; of others the last state is as good a start.
    """
    gap, step = 0.0, 0.0
    for i in range(q.shape[1]):
        led = 5.0 * (q[row - 1, i] - q[row - 4, i]) + q[row - 5, i]
        led -= 10.0 * (q[row - 2, i] - q[row - 3, i])
        gap = max(gap, abs(q[row, i] - led))
        step = max(step, abs(q[row, i] - q[row - 1, i]))
    if gap < AHEAD * step:
        for j in range(len(x)):
            led = 5.0 * (past[0, j] - past[3, j]) + past[4, j]
            x[j] = led - 10.0 * (past[1, j] - past[2, j])


@compiled
def inverse_dynamics(
    tables: Any,
    q: Any,
    v: Any,
    a: Any,
    x: Any,
    state: State,
    room: Any,
    past: Any,
    tau: Any,
    sigma: Any,
    taken: Any,
) -> None:
    """Forces and stresses of rows of motions, each found from the one before it.

    Args:
        tables: The structure.
        q: Degrees of freedom, (m, n).
        v: Their velocities.
        a: Their accelerations.
        x: Coordinates to start from; those of the last row are left in it, (nx,).
        state: Room for slopes and factors.
        room: Room, (3, nx), zeros where coordinates are held.
        past: Room for the last five states, (5, nx).
        tau: Forces on the degrees of freedom, (m, n), written.
        sigma: Stresses, (m, rows), written.
        taken: Newton iterations of each row, (m,); negative ends the work.
    """
    for row in range(len(q)):
        if row >= 5:
            _go_ahead(q, row, past, x)
        taken[row] = find(tables, q[row], x, state)
        if taken[row] < 0:
            return
        torque(tables, x, v[row], a[row], state, room, tau[row], sigma[row])
        for j in range(len(x)):
            for k in range(4, 0, -1):
                past[k, j] = past[k - 1, j]
            past[0, j] = x[j]
