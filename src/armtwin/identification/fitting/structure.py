"""Which parameters are identifiable from columns: alone, only in combination, or not at all.

Ref: [Memar-Esfahani 2015, section IV], [Waiboer 2007, section 4.3]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.maths.batch import Flags, Floats, Indices, Names

Group = Literal["alone", "combined", "none"]
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
