"""Each part of the rows predicted by a fit to the others, for many fits at little cost.

H_k = Σ_channels A_jᵀ A_j / σ_j²    of part k, [A | b] in the free coordinates
z_k = (Σ_{i≠k} H_i + λ)⁻¹ Σ_{i≠k} A_iᵀ b_i        error_j = Σ_k ‖b_kj - A_kj z_k‖² / ‖τ_j‖²
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.squares import ChannelSquares, Squares
from armtwin.maths.batch import Floats


class ReducedEquations(NamedTuple):
    """Normal equations in which the coordinates that every fit has are eliminated.

    Attributes:
        square: Of the other coordinates and the target, (k, g + 1, g + 1).
        answer: What the eliminated ones are: answer[:, -1] - answer[:, :-1] @ the others,
            (k, always, g + 1).
    """

    square: Floats
    answer: Floats


@dataclass(frozen=True, eq=False)
class LeftOutParts:
    """Squares of the parts, in all coordinates that fits may use.

    Attributes:
        fitted: [A | b]ᵀ [A | b] / σ² of each part over the number of rows, (parts, f + 1, f + 1).
        judged: Squares of each channel.
        power: Squares of the target of each channel, (n,).
        weight: λ.
        always: Number of the first coordinates that are in every fit.
    """

    fitted: Floats
    judged: tuple[ChannelSquares, ...]
    power: Floats
    weight: float
    always: int

    @cached_property
    def _prior(self) -> float:
        """λ, and at least what rounding may take from the smallest eigenvalue of the squares.

        A channel that a short log lets be fitted exactly has σ near zero, and squares beside which
        λ is lost.
        """
        trace = float(np.trace(self.fitted.sum(axis=0)[:-1, :-1]))
        return max(self.weight, len(self.fitted[0]) * np.finfo(np.float64).eps * trace)

    @cached_property
    def _whole(self) -> ReducedEquations:
        """Equations of all parts."""
        return self._eliminate(self.fitted.sum(axis=0)[None])

    @cached_property
    def _others(self) -> ReducedEquations:
        """For each part those of the others."""
        return self._eliminate(self.fitted.sum(axis=0) - self.fitted)

    def _eliminate(self, H: Floats) -> ReducedEquations:
        """Squares (k, f + 1, f + 1) with the prior's and without the first coordinates."""
        first, rest = slice(None, self.always), slice(self.always, None)
        prior = self._prior * np.eye(self.always)
        answer = np.linalg.solve(H[:, first, first] + prior, H[:, first, rest])
        square = H[:, rest, rest] - H[:, rest, first] @ answer
        return ReducedEquations(square, np.asarray(answer))

    def error(self) -> float:
        """Mean over the channels of ln(residual squares / squares), first coordinates only."""
        residual = self.missed(()).sum(axis=0)
        return float(np.log(residual / self.power).mean())

    def values(self, more: Sequence[int]) -> Floats:
        """Coordinates of a fit to all parts with these beyond the first, (f,); the others zero."""
        return self._fits(self._whole, more)[0]

    def missed(self, more: Sequence[int]) -> Floats:
        """Residual squares of each part and channel, (parts, n), never quite zero.

        Args:
            more: Numbers of the coordinates beyond the first that are fitted with these.
        """
        z = self._fits(self._others, more)
        gap = np.column_stack([-z, np.ones(len(z))])
        residual = np.empty((len(z), len(self.judged)))
        for j, channel in enumerate(self.judged):
            here = gap[:, channel.own]
            there = (channel.parts @ here[:, :, None])[:, :, 0]
            residual[:, j] = (here * there).sum(axis=1)
        return np.maximum(residual, 1e-30 * self.power)

    def _fits(self, of: ReducedEquations, more: Sequence[int]) -> Floats:
        """Coordinates of fits, (k, f), those that are not fitted zero."""
        used = np.array(more, dtype=np.intp)
        prior = self._prior * np.eye(len(used))
        square = of.square[:, used[:, None], used] + prior
        target = of.square[:, used, -1:]
        found = np.linalg.solve(square, target)
        by_others = of.answer[:, :, used] @ found
        first = of.answer[:, :, -1:] - by_others
        coordinates = self.fitted.shape[1] - 1
        z = np.zeros((len(found), coordinates))
        z[:, : self.always] = first[:, :, 0]
        z[:, self.always + used] = found[:, :, 0]
        return z


def prepare_left_out_parts(
    parts: Squares,
    free: FreeDirections,
    sigma: Floats,
    weight: float,
    *,
    always: int,
    judged: Squares | None = None,
) -> LeftOutParts:
    """Squares of parts in free coordinates.

    Args:
        parts: Squares of the parts that are fitted.
        free: The free directions.
        sigma: Residuals by which the channels are weighted, (n,).
        weight: λ of the prior.
        always: Number of the first coordinates that are in every fit.
        judged: Squares of the same parts for the evaluation, where not those of the fit.
    """
    squares = parts.in_coordinates(free)
    rows = float(parts.count.sum())
    size = free.count + 1
    fitted = np.zeros((len(parts.count), size, size))
    for channel, deviation in zip(squares, sigma, strict=True):
        own = channel.own
        fitted[:, own[:, None], own] += channel.parts / (deviation**2 * rows)
    power = parts.power if judged is None else judged.power
    as_judged = squares if judged is None else judged.in_coordinates(free)
    return LeftOutParts(fitted, as_judged, np.maximum(power, 1e-270), weight, always)
