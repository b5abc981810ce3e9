"""Estimates of parameters from stacked rows: weighted least squares drawn to a prior, and kept physical.

    min Σ_rows ((τ - Y φ) / σ_joint)² / rows + λ ‖(φ - φ₀) / s‖²

σ is the residual of each joint, iterated; s the size of each prior value. λ is the one that predicts best what was
left out of the fit.

Ref: [Waiboer 2007, section 4.3], [Wensing-Kim-Slotine 2018]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.regression import Block
from armtwin.maths.batch import Floats

ZERO_PRIOR = 1e-3  # size of a parameter whose prior is zero
WEIGHTS = np.logspace(-7, 0, 22)
ITERATIONS = 4
PARTS = 5  # of a single log that are left out in turn


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a regression in the scaled coordinates x = (φ - φ₀) / s, by joint.

    Attributes:
        A: (k, n, p), rows of joints at rest are zero.
        b: τ - Y φ₀, (k, n).
        used: Whether a row counts, (k, n).
    """

    A: Floats
    b: Floats
    used: Floats


def prepared(blocks: Sequence[Block], prior: Floats) -> list[Rows]:
    """The rows of blocks about a prior; a single block is cut into parts that can be left out."""
    sizes = sizes_of(prior)
    found = []
    for x in blocks:
        A = np.where(x.moving[..., None], x.Y * sizes, 0.0)
        b = np.where(x.moving, x.tau - x.Y @ prior, 0.0)
        found.append(Rows(A, b, x.moving))
    if len(found) > 1:
        return found
    (one,) = found
    cuts = np.array_split(np.arange(len(one.b)), PARTS)
    return [Rows(one.A[k], one.b[k], one.used[k]) for k in cuts]


def sizes_of(prior: Floats) -> Floats:
    """Sizes of parameters by which the columns are scaled."""
    return np.where(prior != 0, np.abs(prior), ZERO_PRIOR)


@dataclass(frozen=True, eq=False)
class Fit:
    """A weighted, drawn fit.

    Attributes:
        x: Scaled change from the prior, (p,).
        sigma: Residual of each joint, (n,) [N m].
        weight: λ.
        R: Triangular factor of all rows with the prior's, (p, p): ‖R x - d‖ is what was minimised.
        d: Its right side, (p,).
        rows: Number of rows.
    """

    x: Floats
    sigma: Floats
    weight: float
    R: Floats
    d: Floats
    rows: int


def fit(parts: Sequence[Rows], weight: float) -> Fit:
    """Least squares with rows weighted by the residual of their joint, iterated."""
    n, p = parts[0].A.shape[1:]
    counts = np.sum([r.used.sum(axis=0) for r in parts], axis=0)
    if counts.min() * n < p:
        raise ArmtwinError(f"the logs have {int(counts.sum())} usable rows for {p} parameters; log more or longer")
    sigma = np.sqrt(np.sum([(r.b**2).sum(axis=0) for r in parts], axis=0) / counts)
    x = np.zeros(p)
    for _ in range(ITERATIONS):
        R, d = _factor(parts, np.maximum(sigma, 1e-12), weight)
        x[:] = np.linalg.lstsq(R, d, rcond=None)[0]
        residual = np.sum([((r.b - r.A @ x) ** 2).sum(axis=0) for r in parts], axis=0)
        sigma = np.sqrt(residual / counts)
    return Fit(x, sigma, weight, R, d, int(counts.sum()))


def _factor(parts: Sequence[Rows], sigma: Floats, weight: float) -> tuple[Floats, Floats]:
    """Triangular factor of the weighted rows with those of the prior below."""
    p = parts[0].A.shape[2]
    rows = sum(int(r.used.sum()) for r in parts)
    stack = [np.sqrt(weight) * np.eye(p, p + 1)]
    for r in parts:
        A = (r.A / sigma[:, None]).reshape(-1, p)
        stack.append(np.column_stack([A, (r.b / sigma).ravel()]) / np.sqrt(rows))
    R = np.asarray(np.linalg.qr(np.vstack(stack), mode="r"))
    return R[:p, :p], R[:p, p]


def best_weight(parts: Sequence[Rows]) -> tuple[float, dict[float, float]]:
    """The weight of the prior that predicts best the part that was left out, and the error of each that was tried."""
    errors = {float(w): 0.0 for w in WEIGHTS}
    sigma = fit(parts, 1e-3).sigma
    for k, left in enumerate(parts):
        others = [r for i, r in enumerate(parts) if i != k]
        R, d = _factor(others, sigma, 0.0)
        U, s, V = np.linalg.svd(R)
        for w in errors:
            x = V.T @ (s / (s**2 + w) * (U.T @ d))
            errors[w] += float((((left.b - left.A @ x) / sigma) ** 2).sum())
    return min(errors, key=lambda w: errors[w]), errors


def deviations(found: Fit, sizes: Floats) -> Floats:
    """Standard deviations of the parameters: the prior's draw counts as knowledge, (p,)."""
    inverse = np.linalg.pinv(found.R)
    return np.asarray(sizes * np.sqrt((inverse**2).sum(axis=1) / found.rows))
