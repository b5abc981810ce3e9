"""Weighted least squares regularised towards a prior.

    min Σ_channels ‖τ_j - Y_j φ‖² / (σ_j² rows) + λ ‖z‖²        φ = φ₀ + s B z

σ is the residual of each channel in a fit with a negligible weight of the prior.

Ref: [Waiboer 2007, section 4.3]
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.identification.fitting.factors import Factors, reduce_to_free, triangle
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.maths.batch import Floats, TwoArrays

ITERATIONS = 6
HARDLY = 1e-8  # weight of a prior that only closes what the rows leave open
SAME = 1e-6  # relative change of the residuals below which they count as found
CLEAR = 1e-9  # of the largest diagonal element that the least has where all are identified
NONE = 1e-150  # residual of a channel without rows, whose square is a number
LEAST = 1e-12  # of the target that a residual is taken to have at least


@dataclass(frozen=True, eq=False)
class LeastSquaresFit:
    """A weighted, regularised fit.

    Attributes:
        z: Free coordinates, (f,).
        sigma: Residual of each channel, in its unit, (n,).
        weight: λ.
        R: Triangular factor of all rows with the prior's below, in the free coordinates, (f, f):
            ‖R z - d‖ is least.
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


def fit(found: Factors, free: FreeDirections, weight: float, sigma: Floats) -> LeastSquaresFit:
    """Least squares with the rows of each channel over its σ (n,), prior weighted by λ."""
    R, d = _append_prior(found, sigma, free, weight)
    z = _solve_factor(R, d)
    return LeastSquaresFit(
        z=z,
        sigma=residuals(found, free.parameters(z)),
        weight=weight,
        R=R,
        d=d,
        rows=int(found.count.sum()),
    )


def _solve_factor(R: Floats, d: Floats) -> Floats:
    """z with R z = d; of least norm where rounding hides what the prior alone determines."""
    from scipy.linalg import solve_triangular

    sizes = np.abs(R.diagonal())
    if sizes.min() > CLEAR * sizes.max():
        return solve_triangular(R, d)
    return np.asarray(np.linalg.lstsq(R, d, rcond=None)[0], dtype=np.float64)


def _append_prior(found: Factors, sigma: Floats, free: FreeDirections, weight: float) -> TwoArrays:
    """Triangular factor and right side in the free coordinates, the prior's rows below."""
    A, b = reduce_to_free(found, sigma * np.sqrt(found.count.sum()), free)
    f = free.count
    prior = np.sqrt(weight) * np.eye(f, f + 1)
    stack = np.vstack([np.column_stack([A, b]), prior])
    R = triangle(stack)
    return R[:f, :f], R[:f, f]


def residuals(found: Factors, phi: Floats) -> Floats:
    """Root mean square residual of each channel, (n,), never quite zero."""
    count = np.maximum(found.count, 1)
    least = LEAST * np.sqrt(found.target_squares() / count) + NONE
    rms = np.sqrt(found.squares(phi) / count)
    return np.maximum(rms, least)


def estimate_scales(found: Factors, free: FreeDirections) -> Floats:
    """Residual of each channel (n,) in a fit with a negligible prior weight, iterated.

    Rows are weighted by it. It is the same for every weight of the prior: a channel that the prior
    spoils must not lose its weight for that.
    """
    sigma = residuals(found, free.start)
    for _ in range(ITERATIONS):
        before = sigma
        sigma = fit(found, free, HARDLY, before).sigma
        if (np.abs(sigma - before) <= SAME * before).all():
            break
    return sigma


def covariance(found: LeastSquaresFit, free: FreeDirections, independent: float) -> Floats:
    """Covariance (p, p) of the parameters; the prior counts as knowledge.

    Args:
        found: The fit.
        free: The free directions.
        independent: Share of the rows that are independent of each other, as where a filter has
            tied neighbours.
    """
    root = free.map @ found.inverse
    return root @ root.T / (found.rows * independent)


def resolution(found: LeastSquaresFit, free: FreeDirections) -> Floats:
    """Share of each parameter (p,) that the rows determine, the rest being the prior's.

    diag(I - λ (RᵀR)⁻¹)
    """
    if found.weight == 0:  # what the rows do not identify has no size in R
        share = (found.inverse @ found.R).diagonal()
    else:
        share = 1 - found.weight * (found.inverse**2).sum(axis=1)
    return free.share(share)
