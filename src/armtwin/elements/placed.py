"""A structure at one place: slopes, transfer functions and changes there, as plain matrices.

Changes of slopes and forces along directions come by complex steps of the element functions: exact
to rounding, and no second copy of them. Directions are columns, all taken at once.

Ref: [Squire-Trapp 1998]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armtwin.elements import together
from armtwin.elements.deformation import Elements
from armtwin.elements.masses import Masses
from armtwin.elements.structure import Structure
from armtwin.elements.tables import tables_of
from armtwin.maths.batch import Floats, TwoArrays

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
