"""Regularisation towards a prior: the weight that predicts left-out parts best.

Rows with a large residual count less: Huber's weights.

Weighted least squares regularised towards a prior.

    min Σ_channels ‖τ_j - Y_j φ‖² / (σ_j² rows) + λ ‖z‖²        φ = φ₀ + s B z

σ is the residual of each channel in a fit with a negligible weight of the prior.

Ref: [Waiboer 2007, section 4.3]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armtwin.identification.fitting.factors import (
    Factors,
    FreeDirections,
    merge_factors,
    reduce_to_free,
    triangle,
    weight_channels,
)
from armtwin.maths.batch import Flags, Floats, TwoArrays

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


WEIGHTS = np.logspace(-8, 2, 31)
FAMILY_SIZES = (1.0, 0.2, 0.03, 5.0)
ROUNDING = 1e-15  # of the largest square below which one is rounding
DETERMINED = 0.5  # share of the prior below which the rows determine a direction
CLEARLY = 0.95  # share of an error that a less simple regularisation must reach to be taken


@dataclass(frozen=True, eq=False)
class Regularisation:
    """How strongly the parameters are regularised towards the prior.

    Attributes:
        weight: λ.
        family_size: Size of one family of parameters, as of friction, relative to their prior's;
            below 1 they are regularised more than the others.
        errors: Error of what was left out, for each weight tried with that size; 1 is the error of
            a fit to all. Empty where the weight was given.
    """

    weight: float
    family_size: float
    errors: dict[float, float]


@dataclass(frozen=True, eq=False)
class RegularisedFit:
    """A fit with the regularisation that was chosen for it.

    Attributes:
        whole: Factors of all rows that it was fitted to.
        free: The free directions, sizes as regularised.
        sigma: Residuals by which the rows were weighted, (n,).
        draw: The regularisation.
        fit: The fit.
        parts: Factors of the parts that make up all rows.
        others: For each part all the others as one.
    """

    whole: Factors
    free: FreeDirections
    sigma: Floats
    draw: Regularisation
    fit: LeastSquaresFit
    parts: tuple[Factors, ...]
    others: tuple[Factors, ...]

    @property
    def parameters(self) -> Floats:
        """φ, (p,)."""
        return self.free.parameters(self.fit.z)

    def fit_without_prior(self) -> Floats:
        """φ of plain weighted least squares on the same rows, (p,)."""
        return self.free.parameters(fit(self.whole, self.free, 0.0, self.sigma).z)

    def left_out(self, weight: float) -> Iterator[tuple[Factors, LeastSquaresFit]]:
        """Each part with a fit to the others, prior weighted by λ, as far as others have rows."""
        for part, rest in zip(self.parts, self.others, strict=True):
            if rest.count.any():
                yield part, fit(rest, self.free, weight, self.sigma)


def fit_regularised(
    parts: Sequence[Factors], free: FreeDirections, family: Flags, weight: float | None = None
) -> RegularisedFit:
    """Fit all parts, regularised towards the prior.

    Args:
        parts: Factors of parts of the rows.
        free: The free directions.
        family: Parameters (p,) that a prior may know better than the others, or worse.
        weight: λ; by default the one that predicts best what was left out.
    """
    whole = merge_factors(parts)
    sigma = estimate_scales(whole, free)
    rest = merge_others(parts)
    if weight is None:
        draw = choose_regularisation(prepare_left_out_fits(parts, rest, sigma), free, family)
    else:
        draw = Regularisation(weight, 1.0, {})
    sized = free.scaled(family, draw.family_size)
    found = fit(whole, sized, draw.weight, sigma)
    return RegularisedFit(whole, sized, sigma, draw, found, tuple(parts), tuple(rest))


def choose_regularisation(fits: LeftOutFits, free: FreeDirections, family: Flags) -> Regularisation:
    """The regularisation that predicts best the part that was left out.

    One family of parameters has a size of its own, as the prior may know it better or worse.

    Args:
        fits: Fits to all parts but one each.
        free: The free directions.
        family: The parameters of the family, (p,).
    """
    best = None
    for size in FAMILY_SIZES if family.any() else FAMILY_SIZES[:1]:
        errors = fits.errors(free.scaled(family, size))
        weight = min(errors, key=errors.__getitem__)
        if best is None or errors[weight] < CLEARLY * best.errors[best.weight]:
            best = Regularisation(weight, size, errors)
    assert best is not None
    return best


def merge_others(parts: Sequence[Factors]) -> list[Factors]:
    """For each part all the others as one; a single part has none."""
    if len(parts) == 1:
        return []
    return [merge_factors([*parts[:k], *parts[k + 1 :]]) for k in range(len(parts))]


@dataclass(frozen=True, eq=False)
class LeftOutFits:
    """Fits to all parts but one each, for any sizes of the parameters.

    Attributes:
        left: Residual squares of each channel of the parts left out with base parameters
            (k, r, ...), (k, n, ...).
        rest: Factors of all channels of the others over σ √rows, (k, r + 1, r + 1).
        power: Residual squares of each channel in a fit to all, (n,).
        C: Base parameters from all, (r, p).
    """

    left: Callable[[Floats], Floats]
    rest: Floats
    power: Floats
    C: Floats

    def errors(self, free: FreeDirections) -> dict[float, float]:
        """For each weight the squared residual of left-out parts over that of a fit to all.

        The mean over channels is taken.
        """
        slopes, start = self.C @ free.map, self.C @ free.start
        A = self.rest[:, :, :-1] @ slopes
        b = self.rest[:, :, -1] - self.rest[:, :, :-1] @ start
        beta = slopes @ _coordinates(A, b) + start[:, None]
        errors = (self.left(beta) / self.power[:, None]).mean(axis=1).sum(axis=0)
        return dict(zip(WEIGHTS.tolist(), errors.tolist(), strict=True))


def prepare_left_out_fits(
    parts: Sequence[Factors], without: Sequence[Factors], sigma: Floats
) -> LeftOutFits:
    """Fits to all parts but one each, as far as others have rows.

    Args:
        parts: Factors of the parts.
        without: For each part all the others as one.
        sigma: Residuals by which the rows are weighted, (n,).
    """
    total = np.maximum(np.sum([part.count for part in parts], axis=0), 1)
    size = parts[0].R.shape[-1]
    left_out, rest = [], []
    for part, others_of_it in zip(parts, without, strict=True):
        rows = others_of_it.count.sum()
        if not rows:
            continue
        left_out.append(part.R)
        small = weight_channels(others_of_it, sigma * np.sqrt(rows))
        rest.append(np.pad(small, ((0, size - len(small)), (0, 0))))
    R = np.array(left_out).reshape(-1, len(sigma), size, size)

    def residual_squares(beta: Floats) -> Floats:
        gap = R[:, :, :, -1:] - R[:, :, :, :-1] @ beta[:, None]
        return (gap**2).sum(axis=2)

    return LeftOutFits(
        left=residual_squares,
        rest=np.array(rest).reshape(-1, size, size),
        power=sigma**2 * total,
        C=parts[0].C,
    )


def _coordinates(A: Floats, b: Floats) -> Floats:
    """Free coordinates (k, f, weights) of fits to some rows A (k, r, f), b (k, r).

    z = Aᵀ U diag(1 / (s² + λ)) Uᵀ b        with A Aᵀ = U diag(s²) Uᵀ

    There are fewer base parameters than free ones, so that this is the smaller of both squares.
    """
    squares, U = np.linalg.eigh(A @ np.swapaxes(A, 1, 2))
    largest = squares[:, -1:]
    above_rounding = np.maximum(squares, ROUNDING * largest)[:, :, None]
    g = np.swapaxes(U, 1, 2) @ b[:, :, None]
    return np.swapaxes(A, 1, 2) @ (U @ (g / (above_rounding + WEIGHTS)))


@dataclass(frozen=True, eq=False)
class Scatter:
    """Estimates with each part left out: how far they lie apart.

        J = Σ_k d_k²        d_k = A^(-1/2) (I - M_k)^(1/2) A^(1/2) (φ_(k) - φ)

    φ_(k) is the estimate without part k, A the information of all rows and M_k the leverage of the
    part, as in `fitting.estimate`. Deviations that take rows as independent are multiplied by the
    geometric mean of √(J / white variance) over the identified parameters.

    Ref: [Bell-McCaffrey 2002], [Efron 1982]

    Attributes:
        apart: How far their parameters lie from those of all, less what the motion of the part
            alone accounts for, (parts, p).
        without: Parameters without each part, those of all where nothing else is left, (p,) each.
    """

    apart: Floats
    without: tuple[Floats, ...]

    def inflation(self, white: Floats, identified: Flags) -> float:
        """Factor by which deviations of identified parameters exceed white ones (p,)."""
        use = identified & (white > 0)
        if len(self.apart) < 2 or not use.any():
            return 1.0
        variance = (self.apart**2).sum(axis=0)
        ratio = variance[use] / white[use] ** 2
        return float(max(1.0, np.exp(0.5 * np.log(np.maximum(ratio, 1e-12)).mean())))


def estimate_scatter(regularised: RegularisedFit) -> Scatter:
    """Fits with each part left out in turn, regularised alike."""
    free, whole = regularised.free, regularised.fit
    apart, parameters = [], []
    for rest in regularised.others or (regularised.whole,):
        without = whole
        if rest.count.any() and regularised.others:
            without = fit(rest, free, regularised.draw.weight, regularised.sigma)
            apart.append(free.map @ _shift_without_part(whole, without))
        parameters.append(free.parameters(without.z))
    return Scatter(np.array(apart).reshape(-1, len(free.start)), tuple(parameters))


def estimate_prior_error(regularised: RegularisedFit, prior: FreeDirections) -> Floats:
    """Columns of the parameters' deviations by what the rows leave to the prior, (p, f).

    A fit takes of each direction the share (1 - λ (RᵀR)⁻¹) from the rows and the rest from the
    prior, which is as far off as in the directions that the rows determine.

        φ - φ̂ = s B λ (RᵀR)⁻¹ (z - z₀)        z - z₀ ~ the root mean square of z determined

    Args:
        regularised: The fit.
        prior: The free directions, sizes as the prior has them.
    """
    found, free = regularised.fit, regularised.free
    share = found.weight * found.inverse @ found.inverse.T
    of_prior = (prior.sizes / free.sizes)[np.abs(free.basis).argmax(axis=0)]
    determined = share.diagonal() < DETERMINED
    z = found.z[determined] / of_prior[determined]
    spread = np.sqrt((z**2).mean()) if len(z) else 1.0
    return free.map @ share * (spread * of_prior)


def _shift_without_part(whole: LeastSquaresFit, without: LeastSquaresFit) -> Floats:
    """d_k in the free coordinates, (f,), of fits to all rows and to those without a part.

    I - M_k = SᵀS,  S = R_k R⁻¹ √(rows without the part / rows)        A = RᵀR
    """
    share = np.sqrt(without.rows / whole.rows)
    S = share * without.R @ whole.inverse
    squares, V = np.linalg.eigh(S.T @ S)
    root = np.sqrt(squares.clip(0, 1))
    change = whole.R @ (without.z - whole.z)
    return whole.inverse @ (V @ (root * (V.T @ change)))


HUBER = 1.345  # deviations beyond which a row counts less
KEPT_BY_HUBER = 0.710  # share of a normal residual's power that remains with the weights


def huber_weights(residual: Floats, sigma: Floats) -> Floats:
    """Weights of rows (k, n) that decrease with a residual beyond a few deviations (n,)."""
    size = np.abs(residual) / (HUBER * sigma)
    return 1 / np.maximum(size, 1.0)


def refit_robustly(former: RegularisedFit, whole: Factors) -> RegularisedFit:
    """Fit all rows with Huber's weights, regularised as a former fit."""
    sigma = estimate_scales(whole, former.free) / np.sqrt(KEPT_BY_HUBER)
    renewed = fit(whole, former.free, former.draw.weight, sigma)
    return replace(former, whole=whole, sigma=sigma, fit=renewed)
