"""Linear equations of motion about a state: M̄ δa + C δv + (K + N + G) δq = δτ.

With V1 = D2F[v, ·] and A1 = D2F[a, ·] + D3F[v, v, ·], found with the same J,

    J V1 = -D_C,xx[vx, DF]
    J A1 = -(D_C,xx[ax, DF] + 2 D_C,xx[vx, V1] + D_C,xxx[vx, vx, DF])
    K = DE' S DE                                             structural stiffness
    G = DF' (Σ σ_i D_i,xx) DF                                geometric stiffness, all stresses
    N = DF' (M A1 + g_v V1 + g_x DF) + DE' B (D_x V1 + D_xx[vx, DF])     dynamic stiffness
    C = DF' (2 M V1 + g_v DF) + DE' B DE

Ref: [Jonker-Aarts 2001], [Waiboer 2007, 5.3]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.elements.loads import Laws, add_stress
from armtwin.elements.placed import Placed
from armtwin.elements.tables import tables_of
from armtwin.maths.batch import Floats, TwoArrays
from armtwin.maths.tracing import python_of

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
