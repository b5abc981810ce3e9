"""What the data can identify: singular values of the scaled regression against the noise.

    A = U S Vᵀ      g = Uᵀ b      α_i = g_i / s_i      p̂ = V₁ α + V₂ V₂ᵀ p₀

Rows are scaled by the largest targets, columns by the prior's values, so that every scaled
parameter is about 1. A singular value below ten times the standard deviation of the residual gives
its parameter no better than 10 %.

Ref: [Waiboer 2007, section 4.3, eq. 4.40-4.60, 4.65-4.73]

Which parameters are identifiable from columns: alone, only in combination, or not at all.

Ref: [Memar-Esfahani 2015, section IV], [Waiboer 2007, section 4.3]

The parameters of a fit, one by one, with how well each is identified.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.identification.fitting.factors import Factors, FreeDirections, reduce_to_free
from armtwin.maths.batch import Flags, Floats, Indices, Names

Group = Literal["alone", "combined", "none"]


@dataclass(frozen=True)
class FittedParameter:
    """One parameter of a fit.

    Attributes:
        name: Its name.
        unit: Its SI unit.
        prior: Value before the fit, as in a robot file.
        value: Fitted value.
        std: Standard deviation of the value.
        group: "alone", "combined" or "none": whether it is identifiable.
        from_logs: Share of the value that the data determine, 0 to 1; the rest is the prior's.
        told: Share of the parameter in the directions that the data identify to 10 % of the
            prior's size, 0 to 1.
    """

    name: str
    unit: str
    prior: float
    value: float
    std: float
    group: Group
    from_logs: float
    told: float


SMALL = 1e-8
SILENT = 1e-11


@dataclass(frozen=True, eq=False)
class ColumnStructure:
    """What depends on what among the columns of a regression.

    Attributes:
        rank: Number of base parameters.
        groups: For each parameter "alone", "combined" or "none".
        base: The base parameters as readable combinations.
        kept: Parameters whose columns are independent and span the others, (rank,).
        busy: Which kept columns each channel has, (n, rank).
        combination: Base parameters = combination @ φ, (rank, p); the columns are
            Y[..., kept] @ combination.
    """

    rank: int
    groups: tuple[Group, ...]
    base: Names
    kept: Indices
    busy: Flags
    combination: Floats


def analyse_structure(columns: Floats, names: Sequence[str]) -> ColumnStructure:
    """What depends on what among columns (m, n, p) of named parameters (p,)."""
    W = columns.reshape(-1, columns.shape[-1]).copy()
    sizes = np.linalg.norm(W, axis=0)
    silent = sizes <= SILENT * sizes.max()  # columns that are zero but for rounding
    W[:, silent] = 0.0
    scale = np.where(silent, 1.0, sizes)
    kept, C = _combinations(W / scale, scale)
    base = []
    for k, combination in zip(kept, C, strict=True):
        base.append(_as_text(combination, k, names))
    return ColumnStructure(
        rank=len(kept),
        groups=_groups(C, kept, silent),
        base=tuple(base),
        kept=kept,
        busy=np.asarray(columns.any(axis=0))[:, kept],
        combination=C,
    )


def _combinations(W: Floats, scale: Floats) -> tuple[Indices, Floats]:
    """Independent columns of a matrix, and the combination of each, (rank, p).

    Args:
        W: Columns over their scale.
        scale: The scale of each, (p,).
    """
    from scipy.linalg import qr

    _, R, order = qr(W, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int((sizes > SMALL * sizes[0]).sum())
    kept, rest = order[:rank], order[rank:]
    # W[:, rest] = W[:, kept] @ beta
    beta = np.linalg.solve(R[:rank, :rank], R[:rank, rank:])
    beta[np.abs(beta) < SMALL] = 0.0
    C = np.zeros((rank, len(scale)))
    C[np.arange(rank), kept] = 1.0
    C[:, rest] = beta * scale[rest] / scale[kept][:, None]
    return tuple(kept.tolist()), C


def _groups(C: Floats, kept: Sequence[int], silent: Flags) -> tuple[Group, ...]:
    """For each parameter whether it is identifiable alone, combined or not at all."""
    alone = np.zeros(len(silent), dtype=bool)
    alone[list(kept)] = np.count_nonzero(C, axis=1) == 1
    groups: list[Group] = np.where(silent, "none", np.where(alone, "alone", "combined")).tolist()
    return tuple(groups)


def _as_text(combination: Floats, first: int, names: Sequence[str]) -> str:
    """A combination of parameters as text, its own parameter first."""
    words = [names[first]]
    for k, factor in enumerate(combination):
        if k == first or factor == 0:
            continue
        words.append("-" if factor < 0 else "+")
        if abs(abs(factor) - 1) > 1e-6:
            words.append(f"{abs(factor):.4g}")
        words.append(names[k])
    return " ".join(words)


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
