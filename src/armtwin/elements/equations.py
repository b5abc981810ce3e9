"""Equations of a structure: where its nodes are, what forces it needs, how it answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.elements.dynamics import inverse_dynamics as compute_inverse_dynamics
from armtwin.elements.placed import Linear, Placed, linearise_motion, stresses, tables_of
from armtwin.elements.rank import NEARLY_NONE, rank_problem
from armtwin.elements.structure import Structure
from armtwin.elements.transfer import empty_state, find
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, check_array, stack_tables


@dataclass(frozen=True)
class Reactions:
    """What a structure needs for rows of motions.

    Attributes:
        tau: Force on each degree of freedom, (m, n).
        stress: Stress of every row, law and reaction, (m, rows); NaN where not determined.
        x: Coordinates of the last motion, (nx,).
    """

    tau: Floats
    stress: Floats
    x: Floats


def place(structure: Structure, q: ArrayLike, start: Floats | None = None) -> Placed:
    """The structure at q; a failure is an error with the reason.

    Args:
        structure: The structure.
        q: Degrees of freedom, (n,).
        start: Coordinates of a state nearby, (nx,); None is the reference state.
    """
    x = (structure.reference if start is None else start).copy()
    state = empty_state(tables_of(structure), len(x))
    target = check_coordinates(structure, "q", q)
    taken = find(tables_of(structure).geometry, target, x, state)
    if taken < 0:
        raise ArmtwinError(_why_not(structure, target, x, start, taken))
    return Placed(structure, x)


def check_coordinates(structure: Structure, name: str, value: ArrayLike) -> Floats:
    """One value for each degree of freedom, (n,); others are refused."""
    what = f"one value for each of the {structure.n} degrees of freedom"
    found = check_array(name, value, (structure.n,), what)
    if found.ndim != 1:
        raise ArmtwinError(f"{name} must have shape ({structure.n},), got {found.shape}")
    return np.ascontiguousarray(found)


def _why_not(structure: Structure, q: Floats, x: Floats, start: Floats | None, taken: int) -> str:
    """Why no coordinates were found at q, as a sentence.

    The start says whether the structure is determined at all; a step that ended far from it says
    that the motion leads where the structure cannot go.
    """
    reason = rank_problem(structure, structure.reference if start is None else start)
    if not reason and taken == -2 and np.isfinite(x).all():
        reason = rank_problem(structure, x, NEARLY_NONE)
    if reason:
        return reason
    where = ", ".join(f"{value:.4g}" for value in q[:12])
    return (
        f"the structure cannot be placed at q = ({where}): the iteration diverged. "
        "A loop may not close there, or an element turn too far"
    )


def inverse_dynamics(
    structure: Structure, q: ArrayLike, v: ArrayLike, a: ArrayLike, start: Floats | None = None
) -> Reactions:
    """Forces on the degrees of freedom and stresses of all rows for motions (m, n).

    Args:
        structure: The structure.
        q: Degrees of freedom, (m, n).
        v: Their velocities, (m, n).
        a: Their accelerations, (m, n).
        start: Coordinates of a state nearby, (nx,); None is the reference state.
    """
    what = f"one value for each of the {structure.n} degrees of freedom"
    states = []
    for name, value in (("q", q), ("v", v), ("a", a)):
        states.append(np.atleast_2d(check_array(name, value, (structure.n,), what)))
    _, (q, v, a) = stack_tables(*states)
    x = (structure.reference if start is None else start).copy()
    m = len(q)
    tau = np.empty((m, structure.n))
    stress = np.empty((m, len(structure.row_names)))
    taken = np.zeros(m, dtype=np.int64)
    state = empty_state(tables_of(structure), len(x))
    past = np.zeros((5, len(x)))
    compute_inverse_dynamics(tables_of(structure), q, v, a, x, state, past, tau, stress, taken)
    if taken.min() < 0:
        row = int(np.argmin(taken))
        reason = _why_not(structure, q[row], x, start, int(taken[row]))
        raise ArmtwinError(f"motion {row}: {reason}")
    for name in structure.released:
        stress[:, structure.row(name)] = np.nan
    return Reactions(tau, stress, x)


def mass_matrix(structure: Structure, q: ArrayLike, start: Floats | None = None) -> Floats:
    """Mass matrix at q, (n, n).

    Args:
        structure: The structure.
        q: Degrees of freedom, (n,).
        start: Coordinates of a state nearby, (nx,); None is the reference state.
    """
    return place(structure, q, start).mass


def forward_dynamics(
    structure: Structure, q: ArrayLike, v: ArrayLike, tau: ArrayLike, start: Floats | None = None
) -> Floats:
    """Accelerations under forces on the degrees of freedom, M̄ a = τ - bias, (n,).

    Args:
        structure: The structure.
        q: Degrees of freedom, (n,).
        v: Their velocities, (n,).
        tau: Forces on them, (n,).
        start: Coordinates of a state nearby, (nx,); None is the reference state.
    """
    placed = place(structure, q, start)
    rate = check_coordinates(structure, "v", v)
    bias, _ = stresses(placed, *placed.motion(rate, np.zeros(structure.n)))
    force = check_coordinates(structure, "tau", tau) - bias
    return np.asarray(np.linalg.solve(placed.mass, force))


def linearise(
    structure: Structure,
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    start: Floats | None = None,
) -> Linear:
    """Linear equations of motion about a state.

    Args:
        structure: The structure.
        q: Degrees of freedom, (n,).
        v: Their velocities, (n,); zero where they are not given.
        a: Their accelerations, (n,); zero where they are not given.
        start: Coordinates of a state nearby, (nx,); None is the reference state.
    """
    rate = np.zeros(structure.n) if v is None else check_coordinates(structure, "v", v)
    gain = np.zeros(structure.n) if a is None else check_coordinates(structure, "a", a)
    return linearise_motion(place(structure, q, start), rate, gain)


@dataclass(frozen=True)
class Transfer:
    """First and second derivatives of coordinates and deformations with q.

    Attributes:
        x: Coordinates, (nx,).
        e: Deformations, (rows,).
        DF: dx/dq, (nx, n).
        D2F: d²x/dq², (nx, n, n).
        DE: de/dq, (rows, n).
        D2E: d²e/dq², (rows, n, n).
    """

    x: Floats
    e: Floats
    DF: Floats
    D2F: Floats
    DE: Floats
    D2E: Floats


def transfer_functions(structure: Structure, q: ArrayLike, start: Floats | None = None) -> Transfer:
    """Geometric transfer functions of first and second order at q.

    D2E[a, b] = D_x D2F[a, b] + D_xx[DF a, DF b]

    Args:
        structure: The structure.
        q: Degrees of freedom, (n,).
        start: Coordinates of a state nearby, (nx,); None is the reference state.
    """
    placed = place(structure, q, start)
    DF, n = placed.DF, structure.n
    D2F = np.zeros((len(placed.x), n, n))
    D2E = np.zeros((len(placed.e), n, n))
    still = np.zeros((len(structure.free_columns), n))
    change = placed.slope_change(DF)
    for k in range(n):
        c = placed.along(change, DF[:, k])
        D2F[:, :, k] = placed.follow(-c, still)
        D2E[:, :, k] = placed.D @ D2F[:, :, k] + c
    return Transfer(placed.x, placed.e, DF, D2F, placed.DE, D2E)


def regressor(
    structure: Structure, q: ArrayLike, v: ArrayLike, a: ArrayLike, start: Floats | None = None
) -> Floats:
    """Columns of the ten parameters of every body, (n, 10 bodies).

    Times the parameters they are the forces of the bodies: the parameter-linear form.

    Args:
        structure: The structure.
        q: Degrees of freedom, (n,).
        v: Their velocities, (n,).
        a: Their accelerations, (n,).
        start: Coordinates of a state nearby, (nx,); None is the reference state.
    """
    placed = place(structure, q, start)
    rate, gain = check_coordinates(structure, "v", v), check_coordinates(structure, "a", a)
    vx, ax = placed.motion(rate, gain)
    masses = tables_of(structure).masses
    unloaded = placed.forces(vx, ax, masses._replace(bodies=masses.bodies[:0]))
    columns = []
    for place_of in masses.bodies:
        for unit in np.eye(10):
            one = masses._replace(bodies=place_of[None], inertia=unit[None])
            columns.append(placed.DF.T @ (placed.forces(vx, ax, one) - unloaded))
    return np.array(columns).T
