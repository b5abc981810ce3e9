"""The rows of a regression reduced to a triangular factor for each channel, for every fit.

    [Y_j | τ_j] = Q_j R_j        ‖τ_j - Y_j C φ‖ = ‖R_j [-C φ; 1]‖

τ_j is the target of channel j, and Y holds the columns of the base parameters C φ only. Weights of
channels, scales of columns, a prior and parts left out act on the small factors; the rows are read
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.rows import RegressionRows
from armtwin.maths.batch import Floats, TwoArrays


@dataclass(frozen=True, eq=False)
class Factors:
    """Triangular factors of some rows.

    Attributes:
        R: For each channel a factor of its base columns and target, (n, r + 1, r + 1).
        count: Rows of each channel, (n,).
        C: Base parameters from all, (r, p).
    """

    R: Floats
    count: Floats
    C: Floats

    @property
    def target(self) -> Floats:
        """Q_jᵀ τ_j of each channel, (n, r + 1)."""
        return self.R[:, :, -1]

    def predicted(self, phi: Floats) -> Floats:
        """Q_jᵀ Y_j C φ of each channel, (n, r + 1, ...), for parameters (p, ...)."""
        return self.R[:, :, :-1] @ (self.C @ phi)

    def squares(self, phi: Floats) -> Floats:
        """‖τ_j - Y_j C φ‖² of each channel, (n,)."""
        gap = self.target - self.predicted(phi)
        return (gap**2).sum(axis=1)

    def target_squares(self) -> Floats:
        """‖τ_j‖² of each channel, (n,)."""
        return (self.target**2).sum(axis=1)

    def scaled(self, gains: Floats) -> Factors:
        """The same rows with other targets, each channel's times its gain (n,)."""
        R = self.R.copy()
        R[:, :, -1] *= gains[:, None]
        return Factors(R, self.count, self.C)


def factorise(found: RegressionRows, C: Floats, weights: Floats | None = None) -> Factors:
    """Factors of rows with columns of base parameters C φ, each times the root of its weight.

    Args:
        found: The rows.
        C: Base parameters from all, (r, p).
        weights: Weights of the rows, (k, n); without them every row counts the same.
    """
    n, r = found.busy.shape
    R = np.zeros((n, r + 1, r + 1))
    for j in range(n):
        A = found.table(j)
        if weights is not None:
            A *= np.sqrt(weights[found.used[:, j], j])[:, None]
        small = triangle(A)
        R[j][: len(small), np.append(found.busy[j], True)] = small
    return Factors(R, found.used.sum(axis=0), C)


def merge_factors(parts: Sequence[Factors]) -> Factors:
    """Factors of all parts as one."""
    if len(parts) == 1:
        return parts[0]
    n, size, _ = parts[0].R.shape
    R = np.zeros((n, size, size))
    for j in range(n):
        small = triangle(np.vstack([part.R[j] for part in parts]))
        R[j][: len(small)] = small
    count = np.sum([part.count for part in parts], axis=0)
    return Factors(R, count, parts[0].C)


def triangle(A: Floats) -> Floats:
    """Triangular factor of a matrix."""
    from scipy.linalg.lapack import dgeqrf  # numpy's own qr takes twice as long

    columns = A.shape[1]
    if not len(A):
        return np.zeros((0, columns))
    packed = dgeqrf(np.asfortranarray(A), lwork=64 * columns, overwrite_a=1)[0]
    return np.ascontiguousarray(np.triu(packed[:columns]))


def weight_channels(found: Factors, sigma: Floats) -> Floats:
    """Triangular factor of all channels, each over its σ (n,): base columns and target."""
    scaled = [R / s for R, s in zip(found.R, sigma, strict=True)]
    return triangle(np.vstack(scaled))


def reduce_to_free(found: Factors, sigma: Floats, free: FreeDirections) -> TwoArrays:
    """Rows of all channels over their σ (n,) in the free coordinates.

    Returns:
        (A, b), so that ‖A z - b‖ is the weighted residual.
    """
    whole = weight_channels(found, sigma)
    columns, target = whole[:, :-1], whole[:, -1]
    A = columns @ (found.C @ free.map)
    b = target - columns @ (found.C @ free.start)
    return A, b
