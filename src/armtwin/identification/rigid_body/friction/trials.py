"""Friction terms tried on left-out parts, the squares of all of them computed once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.comparison import cross_validate, estimate_gain
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
from armtwin.maths.batch import Flags, Floats

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
        resists: Which of the robot's own parameters are never negative, (p,).
    """

    is_often_at_rest: bool
    terms: Terms
    free: FreeDirections
    squares: LeftOutParts
    resists: Flags

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

    def choose_own(self, chosen: Sequence[int], options: Sequence[Sequence[int]]) -> list[int]:
        """Chosen terms, where each host has the one of its own options, or none, that does better.

        Args:
            chosen: Numbers of the terms that were chosen for all hosts alike.
            options: Numbers of the terms that are options of each host.
        """
        found = sorted(chosen)
        before = self.missed(found)
        for own in options:
            tried = self._list_options(found, own, ())
            squares = [self.missed(numbers) for numbers in tried]
            if tried and estimate_gain(before, cross_validate(squares)).is_significant:
                best = self.best(squares)
                found, before = tried[best], squares[best]
        return found

    def avoid_negative(
        self, chosen: Sequence[int], options: Sequence[Sequence[int]], taken: Sequence[int]
    ) -> list[int]:
        """Chosen terms, others where these predict alike beside fewer negative parameters.

        What a term takes from rotor inertias or friction the constraints would give back.

        Args:
            chosen: Numbers of the terms that were chosen for all hosts alike.
            options: Numbers of the terms that are options of each host.
            taken: Numbers of terms that are there in any case.
        """
        found = sorted(chosen)
        for own in options:
            before = self.count_negative([*taken, *found])
            tried = []
            for numbers in self._list_options(found, own, taken):
                tried.append((self.count_negative([*taken, *numbers]), numbers))
            fewest = min((count for count, _ in tried), default=before)
            if fewest >= before:
                continue
            better = [numbers for count, numbers in tried if count == fewest]
            squares = [self.missed([*taken, *numbers]) for numbers in better]
            best = self.best(squares)
            here = self.missed([*taken, *found])
            if not estimate_gain(squares[best], here).is_significant:
                found = better[best]
        return found

    def _list_options(
        self, chosen: Sequence[int], own: Sequence[int], taken: Sequence[int]
    ) -> list[list[int]]:
        """Chosen terms with none and each of one host's own, where all terms resist."""
        others = [k for k in chosen if k not in own]
        found = []
        for numbers in (others, *(sorted([*others, k]) for k in own)):
            every = [*taken, *numbers]
            if self.positive(every) == every:
                found.append(numbers)
        return found

    def count_negative(self, chosen: Sequence[int]) -> int:
        """Number of the robot's rotor inertias and friction below zero in a fit to all parts."""
        own = self.parameters(chosen)[: len(self.resists)]
        return int((own[self.resists] < 0).sum())

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
    resists = np.array([parameter.resists for parameter in some.prior.parameter_table])
    return Trial(_is_often_at_rest(some), terms, sized, squares, resists)


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
