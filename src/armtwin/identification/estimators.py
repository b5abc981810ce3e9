"""Estimates of parameters: weighted least squares drawn to a prior.

    min Σ_joints ‖τ_j - Y_j φ‖² / (σ_j² rows) + λ ‖z‖²        φ = φ₀ + s B z

σ is the residual of each joint in a fit that the prior hardly draws. λ is the one that predicts best what was left out
of the fit.

Ref: [Waiboer 2007, section 4.3]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.factors import Factors, reduced, together
from armtwin.identification.freedom import Freedom
from armtwin.maths.batch import Flags, Floats

WEIGHTS = np.logspace(-8, 2, 31)
FRICTION_SIZES = (1.0, 0.2, 0.03, 5.0)
CLEARLY = 0.95  # share of an error that a less simple draw must reach to be taken
ITERATIONS = 6
HARDLY = 1e-8  # weight of a prior that only closes what the rows leave open
SAME = 1e-6  # relative change of the residuals below which they count as found
LEAST = 1e-12  # of the torque that a residual is taken to have at least


@dataclass(frozen=True, eq=False)
class Fit:
    """A weighted, drawn fit.

    Attributes:
        z: Free coordinates, (f,).
        sigma: Residual of each joint, (n,) [N m].
        weight: λ.
        R: Triangular factor of all rows with the prior's below, in the free coordinates, (f, f): ‖R z - d‖ is least.
        d: Its right side, (f,).
        rows: Number of rows.
    """

    z: Floats
    sigma: Floats
    weight: float
    R: Floats
    d: Floats
    rows: int

    @cached_property
    def inverse(self) -> Floats:
        """Pseudo-inverse of R, (f, f)."""
        return np.asarray(np.linalg.pinv(self.R))


def _reduced(found: Factors, sigma: Floats, free: Freedom, weight: float) -> tuple[Floats, Floats]:
    """Triangular factor and right side in the free coordinates, the prior's rows below."""
    A, b = reduced(found, sigma * np.sqrt(found.count.sum()), free)
    f = free.basis.shape[1]
    stack = np.vstack([np.column_stack([A, b]), np.sqrt(weight) * np.eye(f, f + 1)])
    R = np.asarray(np.linalg.qr(stack, mode="r"))
    return R[:f, :f], R[:f, f]


def residuals(found: Factors, phi: Floats) -> Floats:
    """Root mean square residual of each joint, (n,), never quite zero."""
    count = np.maximum(found.count, 1)
    least = LEAST * np.sqrt(found.torque_squares() / count) + 1e-300
    return np.asarray(np.maximum(np.sqrt(found.squares(phi) / count), least))


def scales(found: Factors, free: Freedom) -> Floats:
    """Residual of each joint (n,) in a fit that the prior hardly draws, iterated; rows are weighted by it.

    The same for every weight of the prior: a joint that the prior spoils must not lose its say for that.
    """
    sigma = residuals(found, free.start)
    for _ in range(ITERATIONS):
        before, sigma = sigma, fit(found, free, HARDLY, sigma).sigma
        if (np.abs(sigma - before) <= SAME * before).all():
            break
    return sigma


def fit(found: Factors, free: Freedom, weight: float, sigma: Floats) -> Fit:
    """Least squares with the rows of each joint over its σ (n,), drawn to the prior by a weight."""
    R, d = _reduced(found, sigma, free, weight)
    z = np.asarray(np.linalg.lstsq(R, d, rcond=None)[0], dtype=np.float64)
    return Fit(z, residuals(found, free.parameters(z)), weight, R, d, int(found.count.sum()))


@dataclass(frozen=True, eq=False)
class Draw:
    """How strongly the parameters are drawn to the prior.

    Attributes:
        weight: λ.
        friction: Size of friction parameters relative to their prior's; below 1 they are drawn more than the others.
        errors: Error of what was left out, for each weight tried with that size; 1 is the error of a fit to all.
    """

    weight: float
    friction: float
    errors: dict[float, float]


def best_draw(parts: Sequence[Factors], free: Freedom, friction: Flags, sigma: Floats) -> Draw:
    """The draw to the prior that predicts best the part that was left out.

    A file may know friction better than inertias, or worse; so friction parameters have a size of their own.
    """
    others = [together([part for i, part in enumerate(parts) if i != k]) for k in range(len(parts))]
    best = None
    for size in FRICTION_SIZES:
        errors = _left_out(parts, others, sigma, free.scaled(friction, size))
        weight = min(errors, key=lambda w: errors[w])
        if best is None or errors[weight] < CLEARLY * best.errors[best.weight]:
            best = Draw(weight, size, errors)
    assert best is not None
    return best


def _left_out(
    parts: Sequence[Factors], others: Sequence[Factors], sigma: Floats, free: Freedom
) -> dict[float, float]:
    """For each weight the mean over joints of the squared residual of left-out parts over that of a fit to all."""
    errors = dict.fromkeys((float(w) for w in WEIGHTS), 0.0)
    total = np.maximum(np.sum([part.count for part in parts], axis=0), 1)
    for left, rest in zip(parts, others, strict=True):
        if not rest.count.sum():
            continue
        A, b = reduced(rest, sigma * np.sqrt(rest.count.sum()), free)
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        g = U.T @ b
        z = (
            (s[:, None] / (s[:, None] ** 2 + WEIGHTS) * g[:, None])
            if len(s)
            else np.zeros((0, len(WEIGHTS)))
        )
        told = left.told(free.map @ (Vt.T @ z)) + left.told(free.start)[:, :, None]
        squares = ((left.R[:, :, -1, None] - told) ** 2).sum(axis=1)
        for w, gap in zip(
            WEIGHTS, (squares / (sigma**2 * total)[:, None]).mean(axis=0), strict=True
        ):
            errors[float(w)] += float(gap)
    return errors


def covariance(found: Fit, free: Freedom, independent: float) -> Floats:
    """Covariance (p, p) of the parameters; the prior's draw counts as knowledge.

    Args:
        found: The fit.
        free: The free directions.
        independent: Share of the rows that are independent of each other, the filter having tied neighbours.
    """
    root = free.map @ found.inverse
    return np.asarray(root @ root.T / (found.rows * independent))


def resolution(found: Fit, free: Freedom) -> Floats:
    """Share of each parameter (p,) that the rows tell, the rest being drawn to the prior: diag(I - λ (RᵀR)⁻¹)."""
    share = 1 - found.weight * (found.inverse**2).sum(axis=1)
    if found.weight == 0:  # what the rows do not tell has no size in R
        share = (found.inverse @ found.R).diagonal()
    return np.asarray((np.abs(free.basis) @ share).clip(0, 1))


def enough(found: Factors, free: Freedom, names: Sequence[str]) -> None:
    """Refuse rows that are fewer than what they should tell."""
    f = free.basis.shape[1]
    rows = int(found.count.sum())
    if rows < f:
        raise ArmtwinError(
            f"the logs have {rows} usable rows for {f} parameters; log longer, or fix some of them"
        )
    if not found.count.all():
        joint = names[int(np.argmin(found.count))]
        raise ArmtwinError(
            f"{joint} never moves fast enough to be told from rest, so nothing is learned about it"
        )
