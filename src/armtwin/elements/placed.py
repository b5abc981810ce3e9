"""A structure at one place: slopes, transfer functions and changes there, as plain matrices.

Changes of slopes and forces along a direction come by complex steps of the element functions:
exact to rounding, and no second copy of them.

Ref: [Squire-Trapp 1998]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.elements.blocks import Integers
from armtwin.elements.deformation import curve, element_room, measure
from armtwin.elements.loads import add_forces
from armtwin.elements.masses import Masses, mass_room
from armtwin.elements.structure import Structure
from armtwin.elements.tables import tables_of
from armtwin.maths.batch import Floats

Complex = NDArray[np.complex128]
STEP = 1e-100
_ROOM = element_room(np.complex128)
_MASS_ROOM = mass_room(np.complex128)


@dataclass(frozen=True)
class Placed:
    """A structure at coordinates x, (nx,)."""

    structure: Structure
    x: Floats

    @cached_property
    def _measured(self) -> tuple[Floats, Floats]:
        e, local = self._slopes(self.x.astype(np.complex128))
        D = np.zeros((len(e), len(self.x) + 1))
        np.put_along_axis(D, self._columns, local.real, axis=1)
        return e.real.copy(), D[:, :-1]

    def _slopes(self, x: Complex) -> tuple[Complex, Complex]:
        """Deformations and slopes at complex coordinates, (rows,) and (rows, 14)."""
        elements = tables_of(self.structure).elements
        rows = len(elements.width)
        e, local = np.zeros(rows, np.complex128), np.zeros((rows, 14), np.complex128)
        measure(elements, x, e, local, _ROOM)
        return e, local

    @cached_property
    def _columns(self) -> Integers:
        """Coordinate of each local column; nx beyond the last, (rows, 14)."""
        elements = tables_of(self.structure).elements
        used = np.arange(14) < elements.width[:, None]
        return np.where(used, elements.columns, len(self.x))

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

    def slope_change(self, w: Floats) -> Floats:
        """Change of the slopes along w, by local columns, (rows, 14)."""
        _, local = self._slopes(self.x + 1j * STEP * w)
        return local.imag / STEP

    def along(self, slopes: Floats, u: Floats) -> Floats:
        """Slopes by local columns times a change of the coordinates, (rows,)."""
        padded = np.append(u, 0.0)
        return np.einsum("rk,rk->r", slopes, padded[self._columns])

    def onto(self, slopes: Floats, sigma: Floats) -> Floats:
        """Nodal forces of a stress, from slopes by local columns, (nx,)."""
        shares = (slopes * sigma[:, None]).ravel()
        forces = np.bincount(self._columns.ravel(), shares, len(self.x) + 1)
        return np.asarray(forces[:-1], dtype=np.float64)

    def curvature_change(self, u: Floats, w: Floats) -> Floats:
        """Change of D_xx[u, u] along w, (rows,)."""
        c = np.zeros(len(self.e), np.complex128)
        twice = u.astype(np.complex128)
        curve(tables_of(self.structure).elements, self.x + 1j * STEP * w, twice, twice, c, _ROOM)
        return c.imag / STEP

    def forces(self, vx: Floats, ax: Floats, masses: Masses | None = None) -> Floats:
        """Nodal forces g = M ax + h - f, (nx,); with `masses` of those alone."""
        loads = tables_of(self.structure).loads
        heavy = tables_of(self.structure).masses if masses is None else masses
        g = np.zeros(len(self.x), np.complex128)
        x, v, a = (y.astype(np.complex128) for y in (self.x, vx, ax))
        add_forces(heavy, loads, x, v, a, g, _MASS_ROOM)
        return g.real.copy()

    def force_change(self, vx: Floats, ax: Floats, dx: Floats, dv: Floats, da: Floats) -> Floats:
        """Change of the nodal forces with changes of coordinates, velocities, accelerations."""
        tables = tables_of(self.structure)
        g = np.zeros(len(self.x), np.complex128)
        h = 1j * STEP
        x, v, a = self.x + h * dx, vx + h * dv, ax + h * da
        add_forces(tables.masses, tables.loads, x, v, a, g, _MASS_ROOM)
        return g.imag / STEP

    @cached_property
    def MDF(self) -> Floats:
        """M DF, (nx, n)."""
        none = np.zeros(len(self.x))
        columns = [self.force_change(none, none, none, none, w) for w in self.DF.T]
        return np.array(columns).reshape(-1, len(self.x)).T

    @cached_property
    def mass(self) -> Floats:
        """Mass matrix DF' M DF with the inertia along q, (n, n)."""
        return self.DF.T @ self.MDF + tables_of(self.structure).rotors

    def second_order(self, a: Floats, b: Floats) -> Floats:
        """D2F[a, b] = -J⁻¹ D_C,xx[DF a, DF b], (nx,)."""
        c = self.along(self.slope_change(self.DF @ b), self.DF @ a)
        return self.follow(-c, np.zeros(len(self.structure.free_columns)))

    def motion(self, v: Floats, a: Floats) -> tuple[Floats, Floats]:
        """Velocities and accelerations of the coordinates, (nx,) each."""
        vx = self.DF @ v
        ax = self.DF @ a
        return (vx, ax + self.second_order(v, v)) if v.any() else (vx, ax)
