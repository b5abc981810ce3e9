"""Equations of a structure: where its nodes are, what forces it needs, how it answers and rests.

equilibrium   τ(q, v, 0) = 0 in the coordinates that may move; with v: a steady spin
buckling      K φ = -P (G₁ + N₁) φ, with G₁ and N₁ of the unit load
vibration     (K + N + G) φ = ω² M̄ φ
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from armtwin.elements.dynamics import inverse_dynamics as compute_inverse_dynamics
from armtwin.elements.placed import Linear, Placed, linearise_motion, stresses, tables_of
from armtwin.elements.rank import NEARLY_NONE, rank_problem
from armtwin.elements.structure import Structure
from armtwin.elements.transfer import empty_state, find
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Integers, Names, TwoArrays, check_array, stack_tables


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


MOST_ITERATIONS = 60
MOST_HALVINGS = 12
MASSLESS = 1e-13  # of the largest mass: a motion with less has none
ROUNDING = 1e-12  # of a stiffness of unit diagonal: an eigenvalue above minus this is not negative
SMALL = 1e-10  # of a step against the structure's size: what is left is its square


@dataclass(frozen=True)
class Equilibrium:
    """A structure at rest, or in a steady spin.

    Attributes:
        q: Degrees of freedom, (n,).
        placed: The structure there.
        linear: Linear equations about it.
        moves: Degrees of freedom that were let go, as indices into q.
    """

    q: Floats
    placed: Placed
    linear: Linear
    moves: Integers

    @property
    def stiffness(self) -> Floats:
        """Stiffness of what moves, (moves, moves)."""
        return self.linear.stiffness[np.ix_(self.moves, self.moves)]

    @property
    def cautions(self) -> Names:
        """A sentence where it is unstable, gyroscopic forces not counted."""
        K = (self.stiffness + self.stiffness.T) / 2
        size = np.sqrt(np.abs(np.diag(K)))
        scale = np.outer(size, size)
        values, shapes = np.linalg.eigh(K / np.where(scale > 0, scale, 1.0))
        falling = int((values < -ROUNDING).sum())
        if not falling:
            return ()
        most = self.moves[int(np.abs(shapes[:, 0]).argmax())]
        name = self.placed.structure.coordinate_names[most]
        count = "eigenvalue" if falling == 1 else "eigenvalues"
        return (
            f"The equilibrium is unstable: its stiffness has {falling} negative {count}, most of "
            f"it along {name}. The structure does not come back to it.",
        )

    def position(self, point: str) -> Floats:
        """Position of a point, (3,) [m]."""
        at = self.placed.structure.places[point]
        return self.placed.x[at : at + 3]


def movable(structure: Structure, still: Sequence[str] = ()) -> Integers:
    """Degrees of freedom but for those named, as indices into q."""
    names = structure.coordinate_names
    for name in still:
        if name not in names:
            raise ArmtwinError(
                f"degree of freedom '{name}' is not known. Known: {', '.join(names)}"
            )
    found = [i for i, name in enumerate(names) if name not in still]
    return np.array(found, dtype=np.int64)


def with_load(structure: Structure, share: float) -> Structure:
    """The structure under a share of its loads and of gravity."""
    loads = []
    for load in structure.parts.loads:
        x, y, z = load.value
        loads.append(replace(load, value=(share * x, share * y, share * z)))
    gx, gy, gz = structure.parts.gravity
    gravity = (share * gx, share * gy, share * gz)
    return structure.with_parts(loads=tuple(loads), gravity=gravity)


def equilibrium(
    structure: Structure,
    q: ArrayLike | None = None,
    *,
    still: Sequence[str] = (),
    v: ArrayLike | None = None,
    steps: int = 1,
) -> Equilibrium:
    """Where a structure comes to rest under its loads, or spins steadily.

    Args:
        structure: The structure.
        q: Where to start, (n,); the reference state where nothing is given.
        still: Degrees of freedom that do not move, as locked joints.
        v: Velocities of a steady spin, (n,); those of what moves are zero.
        steps: Pieces in which the load is put on.
    """
    now = structure.reference_q if q is None else np.array(q, dtype=np.float64)
    rate = np.zeros(structure.n) if v is None else np.array(v, dtype=np.float64)
    moves = movable(structure, still)
    here = place(structure, now)
    for step in range(1, steps + 1):
        share = step / steps
        loaded = structure if share == 1 else with_load(structure, share)
        found = _solve_equilibrium(Placed(loaded, here.x), now, share * rate, moves)
        now, here = found.q, found.placed
    return found


def _solve_equilibrium(here: Placed, q: Floats, v: Floats, moves: Integers) -> Equilibrium:
    """Newton's method on the forces of what moves."""
    structure, none = here.structure, np.zeros(here.structure.n)
    scale = tables_of(structure).geometry.freedom.stride
    for _ in range(MOST_ITERATIONS):
        linear = linearise_motion(here, v, none)
        step = np.zeros(structure.n)
        stiffness = linear.stiffness[np.ix_(moves, moves)]
        try:
            step[moves] = -np.linalg.solve(stiffness, linear.tau[moves])
        except np.linalg.LinAlgError:
            raise ArmtwinError(
                "the structure has no stiffness against one of its motions"
            ) from None
        length = np.abs(step / scale).max()
        step /= max(1.0, length)  # an element must not turn over in one go
        q, here = _take_step(here, q, step)
        if length < SMALL:
            return Equilibrium(q, here, linearise_motion(here, v, none), moves)
    raise ArmtwinError(
        f"no equilibrium was found in {MOST_ITERATIONS} steps; the last one was {length:.2g} of "
        "the largest allowed. Put the load on in more steps"
    )


def _take_step(here: Placed, q: Floats, step: Floats) -> tuple[Floats, Placed]:
    """A step, halved until the structure can take it."""
    for _ in range(MOST_HALVINGS):
        try:
            return q + step, place(here.structure, q + step, here.x)
        except ArmtwinError:
            step = step / 2
    raise ArmtwinError("an element left its range: no step towards equilibrium can be taken")


def buckling_load(
    structure: Structure, q: ArrayLike | None = None, *, still: Sequence[str] = ()
) -> float:
    """Smallest factor on the loads at which the structure buckles; inf where none does.

    Args:
        structure: The structure.
        q: Where it is, (n,); the reference state where nothing is given.
        still: Degrees of freedom that do not move.
    """
    from scipy.linalg import eig

    now = structure.reference_q if q is None else np.array(q, dtype=np.float64)
    linear = linearise_motion(place(structure, now), np.zeros(structure.n), np.zeros(structure.n))
    moves = movable(structure, still)
    cut = np.ix_(moves, moves)
    shares = eig(-(linear.G + linear.N)[cut], linear.K[cut], right=False)
    real = shares.real[np.abs(shares.imag) < 1e-9 * np.abs(shares).max()]
    largest = real.max(initial=0.0)
    return float(1 / largest) if largest > 0 else float("inf")


@dataclass(frozen=True)
class StructureModes:
    """Small vibrations.

    Attributes:
        frequencies: Lowest first, (k,) [Hz]; that of a mode which does not come back is negative.
        shapes: Changes of q, each of unit modal mass, (n, k).
        coordinates: Changes of the nodal coordinates, (nx, k).
    """

    frequencies: Floats
    shapes: Floats
    coordinates: Floats


def modes(rest: Equilibrium) -> StructureModes:
    """Frequencies and shapes of small vibrations about a state of rest or steady spin.

    Args:
        rest: That state; what was still in it stays so.
    """
    K = rest.stiffness
    squares, found = _vibrations((K + K.T) / 2, rest.linear.M[np.ix_(rest.moves, rest.moves)])
    frequencies = np.sign(squares) * np.sqrt(np.abs(squares)) / (2 * np.pi)
    shapes = np.zeros((len(rest.q), found.shape[1]))
    shapes[rest.moves] = found
    return StructureModes(frequencies, shapes, rest.placed.DF @ shapes)


def _vibrations(K: Floats, M: Floats) -> TwoArrays:
    """Squares ω² and shapes of K φ = ω² M φ; what has no mass follows without delay."""
    from scipy.linalg import eigh

    masses, axes = np.linalg.eigh(M)
    heavy = masses > MASSLESS * masses[-1]
    light, moving = axes[:, ~heavy], axes[:, heavy]
    # K_ll y + K_lm z = 0
    follows = -np.linalg.solve(light.T @ K @ light, light.T @ K @ moving)
    basis = moving + light @ follows
    squares, found = eigh(basis.T @ K @ basis, basis.T @ M @ basis)
    return squares, basis @ found


def compliance(rest: Equilibrium, point: str) -> Floats:
    """Displacement of a point per force on it, (3, 3) [m/N].

    Args:
        rest: The state of rest; what was still in it stays so.
        point: Name of the point.
    """
    at = rest.placed.structure.places[point]
    lever = rest.placed.DF[at : at + 3][:, rest.moves]
    return lever @ np.linalg.solve(rest.stiffness, lever.T)
