"""A structure at one place: slopes, transfer functions and linear equations, as plain matrices.

Changes of slopes and forces along directions come by complex steps of the element functions: exact
to rounding, and no second copy of them. Directions are columns, all taken at once.

Linear equations of motion about a state are M̄ δa + C δv + (K + N + G) δq = δτ. With
V1 = D2F[v, ·] and A1 = D2F[a, ·] + D3F[v, v, ·], found with the same J,

    J V1 = -D_C,xx[vx, DF]
    J A1 = -(D_C,xx[ax, DF] + 2 D_C,xx[vx, V1] + D_C,xxx[vx, vx, DF])
    K = DE' S DE                                             structural stiffness
    G = DF' (Σ σ_i D_i,xx) DF                                geometric stiffness, all stresses
    N = DF' (M A1 + g_v V1 + g_x DF) + DE' B (D_x V1 + D_xx[vx, DF])     dynamic stiffness
    C = DF' (2 M V1 + g_v DF) + DE' B DE

Ref: [Squire-Trapp 1998], [Jonker-Aarts 2001], [Waiboer 2007, 5.3]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armtwin.elements import blocks, together
from armtwin.elements.deformation import Elements
from armtwin.elements.loads import Laws, Masses, add_stress
from armtwin.elements.packing import Tables, pack, pack_elements, pattern
from armtwin.elements.rank import rank_problem
from armtwin.elements.structure import Structure
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, TwoArrays
from armtwin.maths.tracing import python_of


def tables_of(structure: Structure) -> Tables:
    """Everything packed; a structure that is not determined is refused by a sentence."""
    if "tables" not in structure.kept:
        structure.kept["tables"] = _pack_tables(structure)
    return structure.kept["tables"]


def _pack_tables(structure: Structure) -> Tables:
    elements = pack_elements(structure)
    possible = pattern(elements)
    rows, unknowns = structure.prescribed_rows, structure.calculated_columns
    order = None
    if len(rows) == len(unknowns):
        whole = together.dense(elements, possible, len(structure.reference))
        order = blocks.order_blocks(whole[np.ix_(rows, unknowns)])
    if order is None:
        raise ArmtwinError(rank_problem(structure, structure.reference))
    pairs = []
    for block in order:
        pairs.append([(int(rows[i]), int(unknowns[j])) for i, j in block])
    modes = np.array(structure.column_modes)
    known = possible & (modes[elements.columns] != "held")
    return pack(structure, elements, blocks.pack(pairs, elements.columns, known))


STEP = 1e-100


@dataclass(frozen=True)
class Placed:
    """A structure at one place.

    Attributes:
        structure: The structure.
        x: Its coordinates, (nx,).
    """

    structure: Structure
    x: Floats

    @property
    def _elements(self) -> Elements:
        return tables_of(self.structure).geometry.elements

    @cached_property
    def _measured(self) -> TwoArrays:
        e, local = together.slopes(self._elements, self.x[:, None])
        return e[:, 0], together.dense(self._elements, local[:, :, 0], len(self.x))

    @property
    def e(self) -> Floats:
        """Deformations, (rows,)."""
        return self._measured[0]

    @property
    def D(self) -> Floats:
        """Slopes de/dx, (rows, nx)."""
        return self._measured[1]

    @cached_property
    def _factors(self) -> Any:
        from scipy.linalg import lu_factor

        structure = self.structure
        return lu_factor(self.D[np.ix_(structure.prescribed_rows, structure.calculated_columns)])

    def follow(self, change: Floats, free: Floats) -> Floats:
        """Coordinates that change the prescribed deformations by `change`.

        Args:
            change: Of every row, (rows,) or (rows, k); calculated rows are not read.
            free: Of the free coordinates, (free,) or (free, k).
        """
        from scipy.linalg import lu_solve

        structure = self.structure
        rows, columns = structure.prescribed_rows, structure.free_columns
        x = np.zeros((len(self.x), *change.shape[1:]))
        x[columns] = free
        known = change[rows] - self.D[np.ix_(rows, columns)] @ free
        x[structure.calculated_columns] = lu_solve(self._factors, known)
        return x

    @cached_property
    def DF(self) -> Floats:
        """dx/dq, (nx, n)."""
        structure = self.structure
        k, n = len(structure.free_columns), structure.n
        change = np.zeros((len(structure.row_names), n))
        change[structure.free_rows, np.arange(k, n)] = 1.0
        return self.follow(change, np.eye(k, n))

    @cached_property
    def DE(self) -> Floats:
        """de/dq, (rows, n)."""
        return self.D @ self.DF

    def _add_complex_step(self, w: Floats) -> Any:
        """x with an imaginary step along k directions, (nx, k)."""
        return self.x[:, None] + 1j * STEP * w

    def slope_change(self, w: Floats) -> Floats:
        """Changes of the slopes along k directions w (nx, k), by local columns, (rows, 14, k)."""
        _, local = together.slopes(self._elements, self._add_complex_step(w))
        return local.imag / STEP

    def along(self, slopes: Floats, u: Floats) -> Floats:
        """Changes of slopes (rows, 14, k) times a change of the coordinates, (rows, k)."""
        padded = np.append(u, 0.0)
        return np.einsum("rjk,rj->rk", slopes, padded[self._elements.columns])

    def onto(self, slopes: Floats, sigma: Floats) -> Floats:
        """Nodal forces of a stress, from changes of slopes (rows, 14, k), (nx, k)."""
        forces = np.zeros((len(self.x) + 1, slopes.shape[2]))
        np.add.at(forces, self._elements.columns, slopes * sigma[:, None, None])
        return forces[:-1]

    def curvature(self, u: Floats) -> Floats:
        """D_xx[u, u], (rows,)."""
        twice = u[:, None]
        return together.curvatures(self._elements, self.x[:, None], twice, twice)[:, 0]

    def curvature_change(self, u: Floats, w: Floats) -> Floats:
        """Changes of D_xx[u, u] along k directions w (nx, k), (rows, k)."""
        twice = np.repeat(u[:, None], w.shape[1], axis=1)
        c = together.curvatures(self._elements, self._add_complex_step(w), twice, twice)
        return c.imag / STEP

    def forces(self, vx: Floats, ax: Floats, masses: Masses | None = None) -> Floats:
        """Nodal forces g = M ax + h - f, (nx,); with `masses` of those alone."""
        tables = tables_of(self.structure)
        heavy = tables.masses if masses is None else masses
        state = (self.x[:, None], vx[:, None], ax[:, None])
        g = together.forces(heavy, tables.loads, *state)
        return g[:, 0]

    def force_change(self, vx: Floats, ax: Floats, dx: Floats, dv: Floats, da: Floats) -> Floats:
        """Changes of the nodal forces with k changes of x, vx and ax, (nx, k) each."""
        tables = tables_of(self.structure)
        h = 1j * STEP
        x = self.x[:, None] + h * dx
        v = vx[:, None] + h * dv
        a = ax[:, None] + h * da
        g = together.forces(tables.masses, tables.loads, x, v, a)
        return g.imag / STEP

    @cached_property
    def MDF(self) -> Floats:
        """M DF, (nx, n)."""
        still, none = np.zeros(len(self.x)), np.zeros(self.DF.shape)
        return self.force_change(still, still, none, none, self.DF)

    @cached_property
    def mass(self) -> Floats:
        """Mass matrix DF' M DF with the inertia along q, (n, n)."""
        return self.DF.T @ self.MDF + tables_of(self.structure).rotors

    def motion(self, v: Floats, a: Floats) -> TwoArrays:
        """Velocities and accelerations of the coordinates, (nx,) each.

        vx = DF v,   ax = DF a - J⁻¹ D_C,xx[vx, vx]
        """
        vx, ax = self.DF @ v, self.DF @ a
        if not v.any():
            return vx, ax
        still = np.zeros(len(self.structure.free_columns))
        return vx, ax + self.follow(-self.curvature(vx), still)


_add_stress = python_of(add_stress)  # a handful of laws


@dataclass(frozen=True)
class Linear:
    """Linear equations about a state, M δa + C δv + (K + N + G) δq = δτ; each (n, n).

    Attributes:
        M: Mass matrix.
        C: Velocity matrix.
        K: Structural stiffness.
        N: Dynamic stiffness, with the slope of gravity.
        G: Geometric stiffness, of all stresses.
        tau: Forces on the degrees of freedom at the state, (n,).
        stress: Stress of every row at the state, (rows,).
    """

    M: Floats
    C: Floats
    K: Floats
    N: Floats
    G: Floats
    tau: Floats
    stress: Floats

    @property
    def stiffness(self) -> Floats:
        """K + N + G, (n, n)."""
        return self.K + self.N + self.G


def stiffness_of(laws: Laws, e: Floats) -> TwoArrays:
    """Slopes of the stress with deformations, S, and with their rates, B; (rows, rows) each."""
    S, B = np.zeros((2, len(e), len(e)))
    stressed, deformed = laws.spring_rows.T
    np.add.at(S, (stressed, deformed), laws.springs)
    stressed, deformed = laws.damper_rows.T
    np.add.at(B, (stressed, deformed), laws.dampers)
    strength, stroke = laws.gas.T
    rows = laws.gas_rows
    S[rows, rows] += strength / (stroke - e[rows]) ** 2
    return S, B


def stresses(placed: Placed, vx: Floats, ax: Floats) -> TwoArrays:
    """Force on each degree of freedom, without inertia along q, and stress of every row."""
    structure, D = placed.structure, placed.D
    sigma = np.zeros(len(placed.e))
    _add_stress(tables_of(structure).laws, placed.e, D @ vx, sigma)
    g = placed.forces(vx, ax) + D.T @ sigma
    rows, columns = structure.prescribed_rows, structure.calculated_columns
    reaction = np.linalg.solve(D[np.ix_(rows, columns)].T, g[columns])
    sigma[rows] -= reaction
    return placed.DF.T @ g, sigma


def linearise_motion(placed: Placed, v: Floats, a: Floats) -> Linear:
    """Linear equations about a motion (v, a) at a place."""
    structure, DF, DE, D = placed.structure, placed.DF, placed.DE, placed.D
    vx, ax = placed.motion(v, a)
    tau, sigma = stresses(placed, vx, ax)
    S, B = stiffness_of(tables_of(structure).laws, placed.e)
    still = np.zeros((len(structure.free_columns), structure.n))
    none = np.zeros(DF.shape)
    change = placed.slope_change(DF)
    G = DF.T @ placed.onto(change, sigma)
    if not v.any() and not a.any():  # inertia forces are quadratic in the velocities
        C = np.zeros(G.shape)
        N = DF.T @ placed.force_change(vx, ax, DF, none, none)
    else:
        bend = placed.along(change, vx)
        V1 = placed.follow(-bend, still)
        twice = placed.along(change, ax) + 2 * placed.along(placed.slope_change(V1), vx)
        A1 = placed.follow(-twice - placed.curvature_change(vx, DF), still)
        N = DF.T @ placed.force_change(vx, ax, DF, V1, A1) + DE.T @ B @ (D @ V1 + bend)
        C = DF.T @ placed.force_change(vx, ax, none, DF, 2 * V1)
    return Linear(
        M=placed.mass,
        C=C + DE.T @ B @ DE,
        K=DE.T @ S @ DE,
        N=N,
        G=G,
        tau=tau + tables_of(structure).rotors @ a,
        stress=sigma,
    )
