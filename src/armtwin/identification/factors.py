"""The rows of a regression boiled down: a triangular factor for each joint, from which every fit follows.

    [Y_j | τ_j] = Q_j R_j        ‖τ_j - Y_j φ‖ = ‖R_j [-φ; 1]‖

Weights of joints, scales of columns, a prior and parts left out all act on the small factors; the rows are read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.regression import Rows
from armtwin.maths.batch import Floats


@dataclass(frozen=True, eq=False)
class Factors:
    """Triangular factors of some rows.

    Attributes:
        R: For each joint a factor of its regressor and torque, (n, p + 1, p + 1).
        count: Rows of each joint, (n,).
    """

    R: Floats
    count: Floats

    def squares(self, phi: Floats) -> Floats:
        """‖τ_j - Y_j φ‖² of each joint, (n,)."""
        return np.asarray(((self.R[:, :, -1] - self.R[:, :, :-1] @ phi) ** 2).sum(axis=1))

    def torque_squares(self) -> Floats:
        """‖τ_j‖² of each joint, (n,)."""
        return np.asarray((self.R[:, :, -1] ** 2).sum(axis=1))

    def scaled(self, gains: Floats) -> Factors:
        """The same rows with other torques, each joint's times its gain (n,)."""
        R = self.R.copy()
        R[:, :, -1] *= gains[:, None]
        return Factors(R, self.count)


def factors(found: Rows, weights: Floats | None = None) -> Factors:
    """Factors of rows, each row times the square root of its weight (k, n)."""
    _, n, p = found.Y.shape
    R = np.zeros((n, p + 1, p + 1))
    for j in range(n):
        use = found.used[:, j]
        Y, tau = found.Y[use, j], found.tau[use, j]
        if weights is not None:
            root = np.sqrt(weights[use, j])
            Y, tau = Y * root[:, None], tau * root
        busy = np.append(Y.any(axis=0), True)
        small = _triangle(np.column_stack([Y[:, busy[:-1]], tau]))
        R[j][: len(small), busy] = small
    return Factors(R, found.used.sum(axis=0))


def together(parts: Sequence[Factors]) -> Factors:
    """Factors of all parts as one."""
    if len(parts) == 1:
        return parts[0]
    n, size, _ = parts[0].R.shape
    R = np.zeros((n, size, size))
    for j in range(n):
        small = _triangle(np.vstack([part.R[j] for part in parts]))
        R[j][: len(small)] = small
    return Factors(R, np.sum([part.count for part in parts], axis=0))


def _triangle(A: Floats) -> Floats:
    """Triangular factor of a matrix."""
    if not len(A):
        return np.zeros((0, A.shape[1]))
    return np.asarray(np.linalg.qr(A, mode="r"))


def split(found: Rows, parts: int) -> list[Rows]:
    """The rows in parts of equal length, one after the other."""
    cuts = np.array_split(np.arange(len(found.tau)), parts)
    return [Rows(found.Y[k], found.tau[k], found.used[k]) for k in cuts]


def stacked(found: Factors, sigma: Floats, extra: Iterable[Floats] = ()) -> Floats:
    """Factor (p + 1, p + 1) of the rows of all joints, each over its σ, with extra rows below."""
    p = found.R.shape[2] - 1
    blocks = [R / s for R, s in zip(found.R, sigma, strict=True)]
    R = _triangle(np.vstack([*blocks, *extra]))
    return np.vstack([R, np.zeros((p + 1 - len(R), p + 1))]) if len(R) <= p else R
