"""Friction terms tried on left-out parts, the squares of all of them computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.draw import drawn_fit
from armtwin.identification.fitting.factors import first_columns, together
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.left_out import LeftOutParts, left_out_parts
from armtwin.identification.rigid_body.experiment import Experiment, fastest
from armtwin.identification.rigid_body.terms import Terms
from armtwin.maths.batch import Floats

PARTS = 12  # left out in turn, as many as tell a standard error to a fifth
# share of the samples at which joints stand from which on it shows that friction holds its sign
STANDING = 0.05
LEAST_WEIGHT = 1e-8  # of the prior

Squares = Floats  # missed of each part and joint, (parts, n)


@dataclass(frozen=True, eq=False)
class Trial:
    """All terms that may be chosen, their squares computed once.

    Attributes:
        own: Number of coordinates of the robot itself.
        stands: Whether the joints stand often enough to show that friction keeps its sign there.
        terms: The terms, in the order of the coordinates after those.
        free: The free directions of all, as drawn.
        squares: Squares of the parts.
    """

    own: int
    stands: bool
    terms: Terms
    free: FreeDirections
    squares: LeftOutParts

    def missed(self, chosen: Sequence[int]) -> Squares:
        """Squares missed of each part and joint with some terms, (parts, n)."""
        return self.squares.missed(self._used(chosen))

    def share(self, missed: Squares) -> float:
        """Share of the left-out torque that is missed, mean of the joints."""
        return float(np.exp(0.5 * self._error(missed)))

    def best(self, options: Sequence[Squares]) -> int:
        """Number of the squares missed that are least."""
        return int(np.argmin([self._error(missed) for missed in options]))

    def positive(self, chosen: Sequence[int]) -> list[int]:
        """Those of some terms whose friction resists."""
        kept = list(chosen)
        while kept:
            values = self.squares.values(self._used(kept))[self.own :]
            if (values > 0).all():
                break
            kept = [k for k, value in zip(kept, values, strict=True) if value > 0]
        return kept

    def parameters(self, chosen: Sequence[int]) -> Floats:
        """Parameters of the robot and of all terms in a fit to all parts with some of these."""
        used = self._used(chosen)
        z = np.zeros(self.free.count)
        z[used] = self.squares.values(used)
        return self.free.parameters(z)

    def _used(self, chosen: Sequence[int]) -> list[int]:
        """Coordinates of the robot and of some terms."""
        return [*range(self.own), *(self.own + k for k in chosen)]

    def _error(self, missed: Squares) -> float:
        """ln of the squares missed over those of the torque, mean of the joints."""
        return float(np.log(missed.sum(axis=0) / self.squares.power).mean())


def trial_of(some: Experiment, terms: Terms) -> Trial:
    """The squares of left-out parts with all terms."""
    wide = some.with_terms(terms)
    parts = wide.parts(count=PARTS)
    gains = wide.gains(together(parts)) if wide.needs_gains else None
    if gains is not None:
        parts = [part.scaled(gains) for part in parts]
    own = some.free.count
    columns, parameters = some.model.combination.shape
    narrow = [first_columns(part, columns, parameters) for part in parts]
    drawn = drawn_fit(narrow, some.free, some.friction, some.recipe.weight)
    sized = wide.free.scaled(wide.friction, drawn.draw.family_size)
    weight = max(drawn.draw.weight, LEAST_WEIGHT)
    squares = left_out_parts(parts, sized, drawn.sigma, weight)
    return Trial(own, _stands(some), terms, sized, squares)


def _stands(some: Experiment) -> bool:
    """Whether the joints stand for a share of the samples."""
    rest = some.recipe.rest * fastest(some.clean)
    slow = np.concatenate([np.abs(log.clean.v) < rest for log in some.clean])
    return bool(slow.mean() > STANDING)
