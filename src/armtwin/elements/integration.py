"""Motion of a structure in time: generalised alpha, implicit, of second order.

The equations hold at the end of every step; with the auxiliary acceleration b,

    (1 - α_m) b₁ + α_m b₀ = (1 - α_f) a₁ + α_f a₀
    q₁ = q₀ + h v₀ + h² ((½ - β) b₀ + β b₁),   v₁ = v₀ + h ((1 - γ) b₀ + γ b₁)

Newton's matrix M̄ + c (γ h C + β h² (K + G)) is kept for some steps: what q measures moves with the
bodies, so that it changes slowly.

Ref: [Chung-Hulbert 1993], [Arnold-Bruls 2007]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armtwin.elements.deformation import along, curve
from armtwin.elements.dynamics import torque
from armtwin.elements.equations import check_coordinates, movable, place
from armtwin.elements.loads import Laws, add_forces
from armtwin.elements.packing import Tables
from armtwin.elements.placed import stresses, tables_of
from armtwin.elements.structure import Structure
from armtwin.elements.transfer import TransferState, empty_state, find, rates
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Integers
from armtwin.maths.compiled import compiled, inlined

NOTHING_DRIVEN: Mapping[str, Floats] = MappingProxyType({})
KEPT_STEPS = 20
MOST_ITERATIONS = 12
TOLERANCE = 1e-9  # last change of q, of an element's size, that counts as none
SLOW = 6  # iterations after which the matrix is made anew


class Scheme(NamedTuple):
    """Numbers of the method: step h [s], α_m, α_f, β, γ, and the residual that counts as none."""

    h: float
    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    tolerance: float


class Work(NamedTuple):
    """Arrays in which the integration works."""

    x: Floats
    state: TransferState
    DF: Floats
    DE: Floats
    stress_change: Floats
    sigma: Floats
    tau: Floats
    force: Floats
    A: Floats
    step: Floats
    v: Floats
    a: Floats
    b: Floats


@inlined
def _stress_change(
    laws: Laws, DE: Floats, k: int, place: float, rate: float, change: Floats
) -> None:
    """Write the stress of the laws along a degree of freedom: place times S plus rate times B."""
    for i in range(len(change)):
        change[i] = 0.0
    for i in range(len(laws.springs)):
        add = laws.springs[i] * DE[k, laws.spring_rows[i, 1]]
        change[laws.spring_rows[i, 0]] += place * add
    for i in range(len(laws.dampers)):
        add = laws.dampers[i] * DE[k, laws.damper_rows[i, 1]]
        change[laws.damper_rows[i, 0]] += rate * add


@inlined
def _factor_symmetric(A: Floats) -> bool:
    """L D L' of the lower triangle, in place; whether it is definite."""
    definite = True
    for j in range(len(A)):
        definite = definite and A[j, j] > 0.0
        for i in range(j + 1, len(A)):
            share = A[i, j] / A[j, j]
            for k in range(j + 1, i + 1):
                A[i, k] -= share * A[k, j]
        for i in range(j + 1, len(A)):
            A[i, j] /= A[j, j]
    return definite


@inlined
def _iteration_matrix(tables: Tables, moves: Integers, scheme: Scheme, w: Work) -> bool:
    """Factors of M̄ + c (γ h C + β h² (K + G)) at the present state; whether it is definite."""
    m, elements, state = len(moves), tables.geometry.elements, w.state
    still = state.vx
    c = (1.0 - scheme.alpha_f) / (1.0 - scheme.alpha_m)
    rate, place = c * scheme.gamma * scheme.h, c * scheme.beta * scheme.h * scheme.h
    for k in range(m):
        for i in range(len(w.step)):
            w.step[i] = 0.0
        w.step[moves[k]] = 1.0
        rates(tables.geometry, w.step, state, w.DF[k])
        along(elements, state.D, w.DF[k], w.DE[k])
    for k in range(m):
        for i in range(len(w.force)):
            w.force[i] = 0.0
            still[i] = 0.0
        add_forces(tables.masses, tables.loads, 0.0, w.x, still, w.DF[k], w.force)
        _stress_change(tables.laws, w.DE, k, place, rate, w.stress_change)
        for j in range(k + 1):
            curve(elements, w.x, w.DF[j], w.DF[k], state.c)
            total = tables.rotors[moves[k], moves[j]]
            for i in range(len(w.force)):
                total += w.DF[j, i] * w.force[i]
            for r in range(len(state.c)):
                total += w.DE[j, r] * w.stress_change[r] + place * w.sigma[r] * state.c[r]
            w.A[k, j] = total
    return _factor_symmetric(w.A)


@inlined
def _solve(A: Floats, b: Floats, moves: Integers) -> None:
    """Solve with the factors; b at the moving places becomes the solution."""
    m = len(moves)
    for i in range(m):
        for k in range(i):
            b[moves[i]] -= A[i, k] * b[moves[k]]
    for i in range(m):
        b[moves[i]] /= A[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            b[moves[i]] -= A[k, i] * b[moves[k]]


@inlined
def _predict(scheme: Scheme, moves: Integers, w: Work, before: Floats, q: Floats) -> None:
    """Put the end of a step where the old acceleration would lead, b₁ of a₁ = a₀."""
    h, beta, gamma = scheme.h, scheme.beta, scheme.gamma
    for k in range(len(moves)):
        i = moves[k]
        b = (w.a[i] - scheme.alpha_m * w.b[i]) / (1.0 - scheme.alpha_m)
        q[i] = before[i] + h * w.v[i] + h * h * ((0.5 - beta) * w.b[i] + beta * b)
        w.v[i] += h * ((1.0 - gamma) * w.b[i] + gamma * b)
        w.b[i] = b


@inlined
def _correct(scheme: Scheme, stride: Floats, moves: Integers, w: Work, q: Floats) -> float:
    """Apply a change of the accelerations; the largest change of q, of what it may change by."""
    c = (1.0 - scheme.alpha_f) / (1.0 - scheme.alpha_m)
    largest = 0.0
    for k in range(len(moves)):
        i = moves[k]
        change = c * w.step[i]
        w.a[i] += w.step[i]
        w.b[i] += change
        w.v[i] += scheme.gamma * scheme.h * change
        q[i] += scheme.beta * scheme.h * scheme.h * change
        moved = scheme.beta * scheme.h * scheme.h * abs(change) / stride[i]
        largest = max(largest, moved)
    return largest


@inlined
def _begin(
    scheme: Scheme, moves: Integers, driven: Integers, drives: Floats, w: Work, q: Floats, t: int
) -> None:
    """Put the end of step t where what moves is led to, and what is driven has to be."""
    _predict(scheme, moves, w, q[t - 1], q[t])
    for k in range(len(driven)):
        i = driven[k]
        q[t, i] = drives[t, 0, k]
        w.v[i] = drives[t, 1, k]
        w.a[i] = drives[t, 2, k]


@inlined
def _keep(w: Work, t: int, v: Floats, x: Floats, tau: Floats) -> None:
    """Store the velocities, coordinates and forces of step t."""
    for i in range(len(w.x)):
        x[t, i] = w.x[i]
    for i in range(len(w.tau)):
        v[t, i] = w.v[i]
        tau[t, i] = w.tau[i]


@compiled
def _advance(
    tables: Tables,
    moves: Integers,
    driven: Integers,
    drives: Floats,
    scheme: Scheme,
    w: Work,
    q: Floats,
    v: Floats,
    x: Floats,
    tau: Floats,
) -> int:
    """All steps; the number of the one that failed, or -1.

    Args:
        tables: The structure.
        moves: Degrees of freedom that move by themselves.
        driven: Those that are driven, (d,).
        drives: Their position, velocity and acceleration at each step, (steps, 3, d).
        scheme: Numbers of the method.
        w: Arrays to work in, with the initial state.
        q: Degrees of freedom at each step, (steps, n), the first of which is given.
        v: Their velocities at each step, (steps, n), written.
        x: Coordinates at each step, (steps, nx), written.
        tau: Forces on the degrees of freedom at each step, (steps, n), written.
    """
    for t in range(1, len(q)):
        _begin(scheme, moves, driven, drives, w, q, t)
        settled = False
        for iteration in range(MOST_ITERATIONS):
            if find(tables.geometry, q[t], w.x, w.state) < 0:
                return t
            torque(tables, w.x, w.v, w.a, w.state, w.tau, w.sigma)
            worn = iteration == 0 and t % KEPT_STEPS == 1
            slow = iteration == SLOW
            if (worn or slow) and not _iteration_matrix(tables, moves, scheme, w):
                return t
            for i in range(len(w.step)):
                w.step[i] = -w.tau[i]
            _solve(w.A, w.step, moves)
            if _correct(scheme, tables.geometry.freedom.stride, moves, w, q[t]) < scheme.tolerance:
                settled = True
                break
        if not settled:
            return t
        _keep(w, t, v, x, tau)
    return -1


@dataclass(frozen=True)
class StructureMotion:
    """A motion in time.

    Attributes:
        structure: What moved.
        t: Times, (steps,) [s].
        q: Degrees of freedom, (steps, n).
        v: Their velocities, (steps, n).
        x: Coordinates of all nodes, (steps, nx).
        tau: Forces on the degrees of freedom, (steps, n); those of driven ones are what drives.
    """

    structure: Structure
    t: Floats
    q: Floats
    v: Floats
    x: Floats
    tau: Floats

    def position(self, point: str) -> Floats:
        """Path of a point, (steps, 3) [m]."""
        at = self.structure.places[point]
        return self.x[:, at : at + 3]


def integrate(
    structure: Structure,
    t: Floats,
    q: ArrayLike,
    v: ArrayLike | None = None,
    *,
    drives: Mapping[str, Floats] = NOTHING_DRIVEN,
    damping: float = 0.9,
) -> StructureMotion:
    """Motion of a structure from any state.

    Args:
        structure: The structure.
        t: Times, evenly spaced, (steps,) [s].
        q: Degrees of freedom at the start, (n,).
        v: Their velocities at the start, (n,); at rest where nothing is given.
        drives: Position, velocity and acceleration of each degree of freedom whose motion is
            given, (steps, 3), by its name.
        damping: Spectral radius at infinite frequency: 1 damps nothing, 0 the most.
    """
    names = structure.coordinate_names
    moves = movable(structure, tuple(drives))
    acts = np.array([names.index(name) for name in drives], dtype=np.int64)
    given = np.zeros((len(t), 3, len(drives)))
    for k, driven in enumerate(drives.values()):
        given[:, :, k] = driven
    state = np.zeros((3, structure.n))
    state[0] = check_coordinates(structure, "q", q)
    state[1] = 0.0 if v is None else check_coordinates(structure, "v", v)
    state[:, acts] = given[0]
    work = _start(structure, state, moves)
    path, speeds, tau = np.zeros((3, len(t), structure.n))
    x = np.empty((len(t), len(work.x)))
    path[0], speeds[0], x[0], tau[0] = state[0], state[1], work.x, work.tau
    scheme = _generalised_alpha(float(t[1] - t[0]), damping)
    motion = path, speeds, x, tau
    failed = _advance(tables_of(structure), moves, acts, given, scheme, work, *motion)
    if failed >= 0:
        raise ArmtwinError(
            f"the motion could not be followed beyond t = {t[failed - 1]:.4g} s with steps of "
            f"{scheme.h:.3g} s; take shorter ones"
        )
    return StructureMotion(structure, t, *motion)


def _generalised_alpha(h: float, damping: float) -> Scheme:
    """Numbers of the method for a step and a spectral radius at infinite frequency."""
    alpha_m = (2 * damping - 1) / (damping + 1)
    alpha_f = damping / (damping + 1)
    beta = (1 - alpha_m + alpha_f) ** 2 / 4
    return Scheme(h, alpha_m, alpha_f, beta, 0.5 - alpha_m + alpha_f, TOLERANCE)


def _start(structure: Structure, state: Floats, moves: Integers) -> Work:
    """Arrays at the first time, with accelerations that satisfy the equations."""
    n, rows = structure.n, len(structure.row_names)
    tables = tables_of(structure)
    q, v, a = state
    placed = place(structure, q)
    x = placed.x.copy()
    transfer = empty_state(tables, len(x))
    find(tables.geometry, q, x, transfer)
    tau, sigma = stresses(placed, *placed.motion(v, a))
    tau += tables.rotors @ a
    try:
        a[moves] = -np.linalg.solve(placed.mass[np.ix_(moves, moves)], tau[moves])
    except np.linalg.LinAlgError:
        raise ArmtwinError(
            "a motion in time needs a mass along every degree of freedom that is not driven, got "
            "a singular mass matrix"
        ) from None
    m = len(moves)
    return Work(
        x=x,
        state=transfer,
        DF=np.zeros((m, len(x))),
        DE=np.zeros((m, rows)),
        stress_change=np.zeros(rows),
        sigma=sigma,
        tau=tau,
        force=np.zeros(len(x)),
        A=np.zeros((m, m)),
        step=np.zeros(n),
        v=v.copy(),
        a=a,
        b=a.copy(),
    )
