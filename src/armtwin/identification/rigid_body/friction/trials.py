"""Friction terms tried on left-out parts, the squares of all of them computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.least_squares import estimate_scales
from armtwin.identification.fitting.left_out import LeftOutParts, prepare_left_out_parts
from armtwin.identification.fitting.regularisation import Regularisation, choose_regularisation
from armtwin.identification.fitting.squares import Squares
from armtwin.identification.rigid_body.data.experiment import (
    IdentificationData,
    find_highest_speeds,
)
from armtwin.identification.rigid_body.friction.terms import Terms
from armtwin.maths.batch import Floats

PARTS = 12  # left out in turn, enough to estimate a standard error to 20 %
# share of the samples at rest above which logs show that friction keeps its sign at rest
REST_SHARE = 0.05
LEAST_WEIGHT = 1e-8  # of the prior

ResidualSquares = Floats  # residual squares of each part and joint, (parts, n)


@dataclass(frozen=True, eq=False)
class Trial:
    """All terms that may be chosen, their squares computed once.

    Attributes:
        is_often_at_rest: Whether the joints rest often enough to show that friction keeps its sign.
        terms: The terms, in the order of the last coordinates.
        free: The free directions of all, as regularised.
        squares: Squares of the parts.
    """

    is_often_at_rest: bool
    terms: Terms
    free: FreeDirections
    squares: LeftOutParts

    def missed(self, chosen: Sequence[int]) -> ResidualSquares:
        """Residual squares of each part and joint with the chosen terms, (parts, n)."""
        return self.squares.missed(chosen)

    def share(self, residual: ResidualSquares) -> float:
        """Relative error of the left-out torque, mean of the joints."""
        return float(np.exp(0.5 * self._error(residual)))

    def best(self, options: Sequence[ResidualSquares]) -> int:
        """Number of the option with the least residual squares."""
        return int(np.argmin([self._error(residual) for residual in options]))

    def positive(self, chosen: Sequence[int]) -> list[int]:
        """Those of the chosen terms whose friction resists."""
        kept = list(chosen)
        while kept:
            values = self.squares.values(kept)[self.squares.always :]
            resisting = [k for k in kept if values[k] > 0]
            if resisting == kept:
                break
            kept = resisting
        return kept

    def parameters(self, chosen: Sequence[int]) -> Floats:
        """Parameters of the robot and of all terms in a fit to all parts with the chosen ones."""
        return self.free.parameters(self.squares.values(chosen))

    def _error(self, residual: ResidualSquares) -> float:
        """ln of the residual squares over those of the torque, mean of the joints."""
        return float(np.log(residual.sum(axis=0) / self.squares.power).mean())


def prepare_trial(some: IdentificationData, terms: Terms) -> Trial:
    """The squares of left-out parts with all terms."""
    wide = some.with_terms(terms)
    parts = wide.squares(PARTS)
    gains = wide.gains(parts.whole()) if wide.needs_gains else None
    if gains is not None:
        parts = parts.scaled(gains)
    sigma, regularisation = _fit_without_terms(
        some, parts.first_columns(*some.model.combination.shape)
    )
    sized = wide.free.scaled(wide.friction, regularisation.family_size)
    weight = max(regularisation.weight, LEAST_WEIGHT)
    squares = prepare_left_out_parts(parts, sized, sigma, weight, always=some.free.count)
    return Trial(_is_often_at_rest(some), terms, sized, squares)


def _fit_without_terms(some: IdentificationData, parts: Squares) -> tuple[Floats, Regularisation]:
    """Residuals of a fit without any term, (n,), and its regularisation."""
    sigma = estimate_scales(parts.whole(), some.free)
    weight = some.recipe.weight
    if weight is not None:
        return sigma, Regularisation(weight, 1.0, {})
    return sigma, choose_regularisation(
        parts.prepare_left_out_fits(sigma), some.free, some.friction
    )


def _is_often_at_rest(some: IdentificationData) -> bool:
    """Whether the joints are at rest for a share of the samples."""
    rest = some.recipe.rest * find_highest_speeds(some.clean)
    slow = np.concatenate([np.abs(log.clean.v) < rest for log in some.clean])
    return bool(slow.mean() > REST_SHARE)
