"""What each part of the rows is predicted to be by a fit to the others, for many fits in short.

    H_k = Σ_channels A_jᵀ A_j / σ_j²    of part k, [A | b] in the free coordinates
    z_k = (Σ_{i≠k} H_i + λ)⁻¹ Σ_{i≠k} A_iᵀ b_i        error_j = Σ_k ‖b_kj - A_kj z_k‖² / ‖τ_j‖²

The factors are squared here: fits are only compared, and λ bounds what that costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.fitting.factors import Factors
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.maths.batch import Floats

Integers = NDArray[np.intp]


class ChannelSquares(NamedTuple):
    """Squares of one channel in the coordinates that it has.

    Attributes:
        own: Numbers of these coordinates, that of the target last, (s,).
        parts: [A | b]ᵀ [A | b] of each part, (parts, s, s).
    """

    own: Integers
    parts: Floats


@dataclass(frozen=True, eq=False)
class LeftOutParts:
    """Squares of the parts, in all coordinates that fits may use.

    Attributes:
        fitted: [A | b]ᵀ [A | b] / σ² of each part over the number of rows, (parts, f + 1, f + 1).
        judged: Squares of each channel.
        power: Squares of the target of each channel, (n,).
        weight: λ.
    """

    fitted: Floats
    judged: tuple[ChannelSquares, ...]
    power: Floats
    weight: float

    @cached_property
    def _whole(self) -> Floats:
        """Squares of all parts, (f + 1, f + 1)."""
        return np.asarray(self.fitted.sum(axis=0))

    def error(self, coordinates: Sequence[int]) -> float:
        """Mean over the channels of ln(squares missed / squares) of left-out parts."""
        missed = self.missed(coordinates).sum(axis=0)
        return float(np.log(missed / self.power).mean())

    def values(self, coordinates: Sequence[int]) -> Floats:
        """The coordinates of a fit to all parts."""
        used = np.asarray(coordinates)
        return self._fits(self._whole[None], used)[0]

    def missed(self, coordinates: Sequence[int]) -> Floats:
        """Squares that are missed of each part and channel, (parts, n), never quite zero."""
        used = np.asarray(coordinates)
        parts, size, _ = self.fitted.shape
        gap = np.zeros((parts, size))
        gap[:, used] = -self._fits(self._whole - self.fitted, used)
        gap[:, -1] = 1.0
        missed = np.empty((parts, len(self.judged)))
        for j, channel in enumerate(self.judged):
            here = gap[:, channel.own]
            there = (channel.parts @ here[:, :, None])[:, :, 0]
            missed[:, j] = (here * there).sum(axis=1)
        return np.maximum(missed, 1e-30 * self.power)

    def _fits(self, H: Floats, used: Integers) -> Floats:
        """Used coordinates of fits with squares H (k, f + 1, f + 1), (k, used)."""
        square = H[:, used[:, None], used] + self.weight * np.eye(len(used))
        return np.asarray(np.linalg.solve(square, H[:, used, -1:])[:, :, 0])


def left_out_parts(
    parts: Sequence[Factors],
    free: FreeDirections,
    sigma: Floats,
    weight: float,
    judged: Sequence[Factors] | None = None,
) -> LeftOutParts:
    """Squares of parts in free coordinates.

    Args:
        parts: Factors of the parts that are fitted.
        free: The free directions.
        sigma: Residuals by which the channels are weighted, (n,).
        weight: λ of the prior.
        judged: Factors of the same parts as they are judged, where not as they are fitted.
    """
    squares = _squares(parts, free)
    rows = sum(int(part.count.sum()) for part in parts)
    size = free.count + 1
    fitted = np.zeros((len(parts), size, size))
    for channel, deviation in zip(squares, sigma, strict=True):
        place = np.ix_(np.arange(len(parts)), channel.own, channel.own)
        fitted[place] += channel.parts / (deviation**2 * rows)
    there = parts if judged is None else judged
    as_judged = squares if judged is None else _squares(judged, free)
    power = np.sum([part.target_squares() for part in there], axis=0)
    return LeftOutParts(fitted, as_judged, np.maximum(power, 1e-300), weight)


def _squares(parts: Sequence[Factors], free: FreeDirections) -> tuple[ChannelSquares, ...]:
    """Squares of each channel of parts, in the free coordinates that it has."""
    C = parts[0].C
    slopes, start = C @ free.map, C @ free.start
    found = []
    for j in range(len(parts[0].R)):
        R = np.stack([part.R[j] for part in parts])
        busy = np.flatnonzero(R[:, :, :-1].any(axis=(0, 1)))
        own = np.flatnonzero(slopes[busy].any(axis=0))
        columns = R[:, :, busy]
        b = R[:, :, -1:] - (columns @ start[busy])[:, :, None]
        both = np.concatenate([columns @ slopes[np.ix_(busy, own)], b], axis=2)
        squares = np.swapaxes(both, 1, 2) @ both
        found.append(ChannelSquares(np.append(own, free.count), squares))
    return tuple(found)
