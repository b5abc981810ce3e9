"""Regularisation towards a prior: the weight that predicts left-out parts best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.factors import Factors, merge_factors, weight_channels
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.least_squares import LeastSquaresFit, estimate_scales, fit
from armtwin.maths.batch import Flags, Floats

WEIGHTS = np.logspace(-8, 2, 31)
FAMILY_SIZES = (1.0, 0.2, 0.03, 5.0)
ROUNDING = 1e-15  # of the largest square below which one is rounding
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
        return np.asarray((gap**2).sum(axis=2))

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
    return np.asarray(np.swapaxes(A, 1, 2) @ (U @ (g / (above_rounding + WEIGHTS))))


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
        missed: Root mean square residual of each channel in the parts left out, (n,).
    """

    apart: Floats
    missed: Floats

    def inflation(self, white: Floats, identified: Flags) -> float:
        """Factor by which deviations of identified parameters exceed white ones (p,)."""
        use = identified & (white > 0)
        if len(self.apart) < 2 or not use.any():
            return 1.0
        variance = (self.apart**2).sum(axis=0)
        ratio = variance[use] / white[use] ** 2
        return float(max(1.0, np.exp(0.5 * np.log(np.maximum(ratio, 1e-12)).mean())))


def estimate_scatter(regularised: RegularisedFit) -> Scatter:
    """Fits with each part left out in turn, regularised alike, and how they predict it."""
    free, whole = regularised.free, regularised.fit
    apart = []
    squares = np.zeros(len(regularised.sigma))
    for left_out, rest in zip(regularised.parts, regularised.others, strict=True):
        if not rest.count.any():
            continue
        without = fit(rest, free, regularised.draw.weight, regularised.sigma)
        apart.append(free.map @ _shift_without_part(whole, without))
        squares += left_out.squares(free.parameters(without.z))
    rows = np.maximum(regularised.whole.count, 1)
    return Scatter(np.array(apart).reshape(-1, len(free.start)), np.sqrt(squares / rows))


def _shift_without_part(whole: LeastSquaresFit, without: LeastSquaresFit) -> Floats:
    """d_k in the free coordinates, (f,), of fits to all rows and to those without a part.

    I - M_k = SᵀS,  S = R_k R⁻¹ √(rows without the part / rows)        A = RᵀR
    """
    share = np.sqrt(without.rows / whole.rows)
    S = share * without.R @ whole.inverse
    squares, V = np.linalg.eigh(S.T @ S)
    root = np.sqrt(squares.clip(0, 1))
    change = whole.R @ (without.z - whole.z)
    return np.asarray(whole.inverse @ (V @ (root * (V.T @ change))))
