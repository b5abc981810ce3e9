"""The rows of a regression boiled down: a triangular factor for each joint, from which every fit follows.

    [Y_j | τ_j] = Q_j R_j        ‖τ_j - Y_j C φ‖ = ‖R_j [-C φ; 1]‖

Y holds the columns of the base parameters C φ only. Weights of joints, scales of columns, a prior and parts left out
act on the small factors; the rows are read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from armtwin.identification.freedom import Freedom
from armtwin.identification.regression import Rows
from armtwin.maths.batch import Floats


@dataclass(frozen=True, eq=False)
class Factors:
    """Triangular factors of some rows.

    Attributes:
        R: For each joint a factor of its base columns and torque, (n, r + 1, r + 1).
        count: Rows of each joint, (n,).
        C: Base parameters from all, (r, p).
    """

    R: Floats
    count: Floats
    C: Floats

    def told(self, phi: Floats) -> Floats:
        """Q_jᵀ Y_j C φ of each joint, (n, r + 1, ...), for parameters (p, ...)."""
        return np.asarray(self.R[:, :, :-1] @ (self.C @ phi))

    def squares(self, phi: Floats) -> Floats:
        """‖τ_j - Y_j C φ‖² of each joint, (n,)."""
        return np.asarray(((self.R[:, :, -1] - self.told(phi)) ** 2).sum(axis=1))

    def torque_squares(self) -> Floats:
        """‖τ_j‖² of each joint, (n,)."""
        return np.asarray((self.R[:, :, -1] ** 2).sum(axis=1))

    def scaled(self, gains: Floats) -> Factors:
        """The same rows with other torques, each joint's times its gain (n,)."""
        R = self.R.copy()
        R[:, :, -1] *= gains[:, None]
        return Factors(R, self.count, self.C)


def factors(found: Rows, C: Floats, weights: Floats | None = None) -> Factors:
    """Factors of rows whose columns are those of base parameters C φ, each row times the root of its weight (k, n)."""
    n, r = found.busy.shape
    R = np.zeros((n, r + 1, r + 1))
    for j in range(n):
        use = found.used[:, j]
        A = np.column_stack([found.of_joint(j), found.tau[:, j]])[use]
        if weights is not None:
            A *= np.sqrt(weights[use, j])[:, None]
        small = _triangle(A)
        R[j][: len(small), np.append(found.busy[j], True)] = small
    return Factors(R, found.used.sum(axis=0), C)


def together(parts: Sequence[Factors]) -> Factors:
    """Factors of all parts as one."""
    if len(parts) == 1:
        return parts[0]
    n, size, _ = parts[0].R.shape
    R = np.zeros((n, size, size))
    for j in range(n):
        small = _triangle(np.vstack([part.R[j] for part in parts]))
        R[j][: len(small)] = small
    return Factors(R, np.sum([part.count for part in parts], axis=0), parts[0].C)


def _triangle(A: Floats) -> Floats:
    """Triangular factor of a matrix."""
    from scipy.linalg.lapack import dgeqrf  # numpy's own qr takes twice as long

    if not len(A):
        return np.zeros((0, A.shape[1]))
    packed = dgeqrf(np.asfortranarray(A), lwork=64 * A.shape[1], overwrite_a=1)[0]
    return np.ascontiguousarray(np.triu(packed[: A.shape[1]]))


def split(found: Rows, parts: int) -> list[Rows]:
    """The rows in parts of equal length, one after the other."""
    edges = np.linspace(0, len(found.tau), parts + 1).astype(int)
    cuts = [slice(a, b) for a, b in pairwise(edges)]
    return [Rows(found.Y[k], found.busy, found.tau[k], found.used[k]) for k in cuts]


def reduced(found: Factors, sigma: Floats, free: Freedom) -> tuple[Floats, Floats]:
    """Rows of all joints over their σ in the free coordinates: (A, b) with ‖A z - b‖ the weighted residual."""
    whole = _triangle(np.vstack([R / s for R, s in zip(found.R, sigma, strict=True)]))
    return whole[:, :-1] @ (found.C @ free.map), whole[:, -1] - whole[:, :-1] @ (
        found.C @ free.start
    )
