"""What the data can identify: singular values of the scaled regression against the noise.

    A = U S Vᵀ      g = Uᵀ b      α_i = g_i / s_i      p̂ = V₁ α + V₂ V₂ᵀ p₀

Rows are scaled by the largest targets, columns by the prior's values, so that every scaled
parameter is about 1. A singular value below ten times the standard deviation of the residual gives
its parameter no better than 10 %.

Ref: [Waiboer 2007, section 4.3, eq. 4.40-4.60, 4.65-4.73]
"""

from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.factors import Factors, reduce_to_free
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.maths.batch import Floats

RELATIVE_ERROR = 0.1  # that a kept direction may have at most
SINGULAR_ZERO = 1e-8  # of the largest singular value below which one counts as zero


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A singular value decomposition of the scaled regression.

    Attributes:
        singular: Singular values, falling, (f,).
        g: What each direction explains of the target, (f,).
        V: Directions in the scaled parameters, one a column, (f, f).
        deviation: Unbiased standard deviation of the residual with all directions of the rank, of
            the scaled target.
        rows: Number of rows.
        floor: Sum of squares that no direction explains.
        free: The free directions.
    """

    singular: Floats
    g: Floats
    V: Floats
    deviation: float
    rows: int
    floor: float
    free: FreeDirections

    @property
    def rank(self) -> int:
        """Number of singular values that are not zero."""
        return _rank(self.singular)

    @property
    def kept(self) -> int:
        """Number of directions that the data identify to 10 %."""
        least = self.deviation / RELATIVE_ERROR
        return int((self.singular[: self.rank] > least).sum())

    @property
    def residuals(self) -> Floats:
        """Sum of squared residuals with 0, 1, .. rank directions, (rank + 1,)."""
        steps = np.cumsum(self.g[: self.rank] ** 2)
        explained = np.concatenate([[0.0], steps])
        return self.floor + (self.g**2).sum() - explained

    @property
    def told(self) -> Floats:
        """Share of each parameter that lies in the directions identified to 10 %, 0 to 1."""
        return self.share(None)

    def share(self, kept: int | None) -> Floats:
        """Share of each parameter that lies in the first directions, 0 to 1, (p,)."""
        r = self._first(kept)
        share = (self.V[:, :r] ** 2).sum(axis=1)
        return self.free.share(share)

    def covariance(self, kept: int | None, independent: float) -> Floats:
        """Covariance (p, p) of a truncated estimate; what it takes from the prior counts as known.

        Args:
            kept: Number of directions.
            independent: Share of the rows that are independent of each other.
        """
        r = self._first(kept)
        deviations = self.deviation / self.singular[:r]
        root = self.free.map @ (self.V[:, :r] * deviations)
        return root @ root.T / independent

    def truncate(self, kept: int | None = None) -> Floats:
        """Parameters φ of the first directions, the others from the prior, (p,)."""
        r = self._first(kept)
        alpha = self.g[:r] / self.singular[:r]
        # g is that of τ - Y φ₀, so the prior's part of the null space stays as it is
        return self.free.parameters(self.V[:, :r] @ alpha)

    def _first(self, kept: int | None) -> int:
        """How many directions are meant: those identified to 10 % by default, at most the rank."""
        return min(self.kept if kept is None else kept, self.rank)


def _rank(singular: Floats) -> int:
    return int((singular > SINGULAR_ZERO * singular[0]).sum())


def decompose(found: Factors, largest: Floats, free: FreeDirections) -> Decomposition:
    """The decomposition of rows.

    Args:
        found: Factors of the rows.
        largest: Largest target of each channel, (n,).
        free: The free directions; columns are scaled by their sizes.
    """
    A, b = reduce_to_free(found, largest, free)
    U, s, Vt = np.linalg.svd(A)
    f = free.count
    singular = np.concatenate([s, np.zeros(max(0, f - len(s)))])
    explained = (U.T @ b)[: min(A.shape)]
    g = np.zeros(f)
    g[: len(explained)] = explained
    rows = int(found.count.sum())
    rank = _rank(singular)
    floor = float((b**2).sum() - (explained**2).sum())
    residual = floor + float((g[rank:] ** 2).sum())
    deviation = float(np.sqrt(residual / max(1, rows - rank)))
    return Decomposition(singular, g, Vt.T, deviation, rows, floor, free)
