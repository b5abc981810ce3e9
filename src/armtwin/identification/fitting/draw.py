"""How strongly parameters are drawn to the prior: as predicts best what was left out of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.factors import Factors, reduced, together
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.least_squares import Fit, fit, scales
from armtwin.maths.batch import Flags, Floats

WEIGHTS = np.logspace(-8, 2, 31)
FAMILY_SIZES = (1.0, 0.2, 0.03, 5.0)
CLEARLY = 0.95  # share of an error that a less simple draw must reach to be taken


@dataclass(frozen=True, eq=False)
class Draw:
    """How strongly the parameters are drawn to the prior.

    Attributes:
        weight: λ.
        family_size: Size of one family of parameters, as of friction, relative to their prior's;
            below 1 they are drawn more than the others.
        errors: Error of what was left out, for each weight tried with that size; 1 is the error of
            a fit to all. Empty where the weight was given.
    """

    weight: float
    family_size: float
    errors: dict[float, float]


@dataclass(frozen=True, eq=False)
class DrawnFit:
    """A fit with the draw that was chosen for it.

    Attributes:
        whole: Factors of all rows that it was fitted to.
        free: The free directions, sizes as drawn.
        sigma: Residuals by which the rows were weighted, (n,).
        draw: The draw.
        fit: The fit.
        parts: Factors of the parts that make up all rows.
        others: For each part all the others as one.
    """

    whole: Factors
    free: FreeDirections
    sigma: Floats
    draw: Draw
    fit: Fit
    parts: tuple[Factors, ...]
    others: tuple[Factors, ...]

    @property
    def parameters(self) -> Floats:
        """φ, (p,)."""
        return self.free.parameters(self.fit.z)

    def without_prior(self) -> Floats:
        """φ of plain weighted least squares on the same rows, (p,)."""
        return self.free.parameters(fit(self.whole, self.free, 0.0, self.sigma).z)


def drawn_fit(
    parts: Sequence[Factors], free: FreeDirections, family: Flags, weight: float | None = None
) -> DrawnFit:
    """The fit to all parts, drawn to the prior.

    Args:
        parts: Factors of parts of the rows.
        free: The free directions.
        family: Parameters (p,) that a prior may know better than the others, or worse.
        weight: λ; by default the one that predicts best what was left out.
    """
    whole = together(parts)
    sigma = scales(whole, free)
    rest = others(parts)
    if weight is None:
        draw = best_draw(parts, rest, sigma, free, family)
    else:
        draw = Draw(weight, 1.0, {})
    sized = free.scaled(family, draw.family_size)
    found = fit(whole, sized, draw.weight, sigma)
    return DrawnFit(whole, sized, sigma, draw, found, tuple(parts), tuple(rest))


def best_draw(
    parts: Sequence[Factors],
    without: Sequence[Factors],
    sigma: Floats,
    free: FreeDirections,
    family: Flags,
) -> Draw:
    """The draw to the prior that predicts best the part that was left out.

    One family of parameters has a size of its own, as the prior may know it better or worse.

    Args:
        parts: Factors of parts of the rows.
        without: For each part all the others as one.
        sigma: Residuals by which the rows are weighted, (n,).
        free: The free directions.
        family: The parameters of the family, (p,).
    """
    best = None
    for size in FAMILY_SIZES if family.any() else FAMILY_SIZES[:1]:
        errors = _left_out_errors(parts, without, sigma, free.scaled(family, size))
        weight = min(errors, key=errors.__getitem__)
        if best is None or errors[weight] < CLEARLY * best.errors[best.weight]:
            best = Draw(weight, size, errors)
    assert best is not None
    return best


def others(parts: Sequence[Factors]) -> list[Factors]:
    """For each part all the others as one; a single part has none."""
    if len(parts) == 1:
        return []
    return [together([*parts[:k], *parts[k + 1 :]]) for k in range(len(parts))]


def _left_out_errors(
    parts: Sequence[Factors], without: Sequence[Factors], sigma: Floats, free: FreeDirections
) -> dict[float, float]:
    """For each weight the squared residual of left-out parts over that of a fit to all.

    The mean over channels is taken.
    """
    errors = np.zeros(len(WEIGHTS))
    total = np.maximum(np.sum([part.count for part in parts], axis=0), 1)
    power = (sigma**2 * total)[:, None]
    for left, rest in zip(parts, without, strict=True):
        if not rest.count.any():
            continue
        z = _coordinates(rest, sigma, free)
        start = left.predicted(free.start)[:, :, None]
        predicted = left.predicted(free.map @ z) + start
        gap = left.target[:, :, None] - predicted
        squares = (gap**2).sum(axis=1)
        errors += (squares / power).mean(axis=0)
    return dict(zip(WEIGHTS.tolist(), errors.tolist(), strict=True))


def _coordinates(rest: Factors, sigma: Floats, free: FreeDirections) -> Floats:
    """Free coordinates of fits to some rows, one column for each weight, (f, weights).

    z = V diag(s / (s² + λ)) Uᵀ b        with A = U diag(s) Vᵀ
    """
    A, b = reduced(rest, sigma * np.sqrt(rest.count.sum()), free)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    g = (U.T @ b)[:, None]
    s = s[:, None]
    drawn = s / (s**2 + WEIGHTS) * g
    return np.asarray(Vt.T @ drawn)
