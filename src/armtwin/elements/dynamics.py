"""Equations of motion of a structure, and the stress in everything that is held.

    DF' g + DE' σ + J_q a = τ,   g = M ax + h - f,   σ = σ0 + S e + B de/dt on rows with a law

The stresses of held modes and drives come without DF, σ_C = -J'⁻¹ (g + D' σ): three solves with one
J give the torque of every drive, the moments on each bearing and the forces in each rigid link. A
drive on a degree of freedom is τ = -σ.

Ref: [Waiboer 2007, 4.8-4.17]
"""

from armtwin.elements.blocks import solve_transposed
from armtwin.elements.deformation import add_nodal, along
from armtwin.elements.loads import add_forces, add_stress
from armtwin.elements.packing import Tables
from armtwin.elements.transfer import TransferState, find, rates, second_rates
from armtwin.maths.batch import Floats, Integers
from armtwin.maths.compiled import compiled, inlined

AHEAD = 0.01  # of a step: how far five states may miss the next


@compiled
def torque(
    tables: Tables,
    x: Floats,
    v: Floats,
    a: Floats,
    state: TransferState,
    tau: Floats,
    sigma: Floats,
) -> None:
    """Forces and stresses of a motion.

    Args:
        tables: The structure.
        x: Coordinates, at which `state` was measured.
        v: Velocities of the degrees of freedom, (n,).
        a: Their accelerations.
        state: Slopes and factors at x.
        tau: Force on each degree of freedom, (n,), written.
        sigma: Stress of every row, law and reaction, (rows,), written.
    """
    elements, blocks, freedom = tables.geometry
    laws, rhs, vx, g = tables.laws, state.rhs, state.vx, state.g
    rates(tables.geometry, v, state, vx)
    second_rates(tables.geometry, x, vx, a, state, state.ax)
    for i in range(len(g)):
        g[i] = 0.0
    for r in range(len(sigma)):
        sigma[r] = 0.0
    if len(laws.dampers) > 0:
        along(elements, state.D, vx, rhs)
    add_stress(laws, state.e, rhs, sigma)
    add_forces(tables.masses, tables.loads, 1.0, x, vx, state.ax, g)
    add_nodal(elements, state.D, sigma, g)
    for r in range(len(sigma)):
        rhs[r] = 0.0
    solve_transposed(blocks, state.D, state.LU, state.pivot, g, rhs)
    for r in range(len(sigma)):
        sigma[r] -= rhs[r]
    k = len(freedom.columns)
    for i in range(k):
        tau[i] = g[freedom.columns[i]]
    for i in range(len(freedom.rows)):
        tau[k + i] = rhs[freedom.rows[i]]
    for i in range(len(tau)):
        for j in range(len(tau)):
            tau[i] += tables.rotors[i, j] * a[j]


@inlined
def _go_ahead(q: Floats, row: int, past: Floats, x: Floats) -> None:
    """Put x where the last five states lead, if their q leads to the one that is asked for.

    The states lie in a ring, that of row r at r modulo 5. Evenly sampled motions are met to
    rounding; of others the last state is as good a start.
    """
    gap, step = 0.0, 0.0
    for i in range(q.shape[1]):
        led = q[row - 5, i]
        led += 5.0 * (q[row - 1, i] - q[row - 4, i])
        led -= 10.0 * (q[row - 2, i] - q[row - 3, i])
        gap = max(gap, abs(q[row, i] - led))
        step = max(step, abs(q[row, i] - q[row - 1, i]))
    if gap >= AHEAD * step:
        return
    first = (row - 1) % 5
    second = (row - 2) % 5
    third = (row - 3) % 5
    fourth = (row - 4) % 5
    for j in range(len(x)):
        led = past[row % 5, j]
        led += 5.0 * (past[first, j] - past[fourth, j])
        led -= 10.0 * (past[second, j] - past[third, j])
        x[j] = led


@compiled
def inverse_dynamics(
    tables: Tables,
    q: Floats,
    v: Floats,
    a: Floats,
    x: Floats,
    state: TransferState,
    past: Floats,
    tau: Floats,
    sigma: Floats,
    taken: Integers,
) -> None:
    """Forces and stresses of rows of motions, each found from the one before it.

    Args:
        tables: The structure.
        q: Degrees of freedom, (m, n).
        v: Their velocities.
        a: Their accelerations.
        x: Coordinates to start from; those of the last row are left in it, (nx,).
        state: Room for slopes and factors.
        past: Room for the last five states, (5, nx).
        tau: Forces on the degrees of freedom, (m, n), written.
        sigma: Stresses, (m, rows), written.
        taken: Newton iterations of each row, (m,); negative ends the work.
    """
    for row in range(len(q)):
        if row >= 5:
            _go_ahead(q, row, past, x)
        taken[row] = find(tables.geometry, q[row], x, state)
        if taken[row] < 0:
            return
        torque(tables, x, v[row], a[row], state, tau[row], sigma[row])
        for j in range(len(x)):
            past[row % 5, j] = x[j]
