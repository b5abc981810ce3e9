"""The rows of a regression reduced to squares: quickly, for fits that are only compared.

    S_j = [Y_j | τ_j]ᵀ [Y_j | τ_j]        of each part of the rows and each channel j

Where a factor keeps all digits of the rows, squares keep half of them, and parts add. A weight λ of
the prior bounds what that costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.fitting.factors import Factors
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.regularisation import LeftOutFits
from armtwin.identification.fitting.rows import RegressionRows
from armtwin.maths.batch import Flags, Floats

Integers = NDArray[np.intp]


class ChannelSquares(NamedTuple):
    """Squares of one channel in the columns, or coordinates, that it has.

    Attributes:
        own: Numbers of these, that of the target last, (s,).
        parts: [A | b]ᵀ [A | b] of each part, (parts, s, s).
    """

    own: Integers
    parts: Floats

    def missed(self, beta: Floats, some: Integers) -> Floats:
        """Residual squares of some parts (k,) with parameters (k, r, ...), (k, ...)."""
        gap = np.append(-beta[:, self.own[:-1]], np.ones_like(beta[:, :1]), axis=1)
        return ((self.parts[some] @ gap) * gap).sum(axis=1).clip(0)


@dataclass(frozen=True, eq=False)
class Squares:
    """Squares of the parts of rows in base columns.

    Attributes:
        channels: Those of each channel.
        count: Rows of each part and channel, (parts, n).
        C: Base parameters from all, (r, p).
    """

    channels: tuple[ChannelSquares, ...]
    count: Floats
    C: Floats

    @property
    def power(self) -> Floats:
        """Squares of the target of each channel, (n,)."""
        return np.array([channel.parts[:, -1, -1].sum() for channel in self.channels])

    def scaled(self, gains: Floats) -> Squares:
        """The same rows with other targets, each channel's times its gain (n,)."""
        channels = []
        for channel, gain in zip(self.channels, gains, strict=True):
            parts = channel.parts.copy()
            parts[:, -1, :] *= gain
            parts[:, :, -1] *= gain
            channels.append(ChannelSquares(channel.own, parts))
        return replace(self, channels=tuple(channels))

    def first_columns(self, count: int, parameters: int) -> Squares:
        """These rows with the first of their base columns and parameters only."""
        target = len(self.C)
        channels = []
        for own, squares in self.channels:
            kept = np.flatnonzero((own < count) | (own == target))
            numbers = np.append(own[kept[:-1]], count)
            channels.append(ChannelSquares(numbers, squares[:, kept[:, None], kept]))
        return Squares(tuple(channels), self.count, self.C[:count, :parameters])

    def whole(self) -> Factors:
        """Factors of all parts as one."""
        size = len(self.C) + 1
        R = np.zeros((len(self.channels), size, size))
        for j, (own, parts) in enumerate(self.channels):
            R[j, : len(own), own] = _roots(parts.sum(axis=0)).T
        return Factors(R, self.count.sum(axis=0), self.C)

    def prepare_left_out_fits(self, sigma: Floats) -> LeftOutFits:
        """Fits to all parts but one each, rows weighted by residuals σ (n,)."""
        sums = [parts.sum(axis=0) for _, parts in self.channels]
        rows = self.count.sum() - self.count.sum(axis=1)
        some = np.flatnonzero(rows) if len(rows) > 1 else np.arange(0)
        size = len(self.C) + 1
        rest = np.zeros((len(some), size, size))
        for (own, parts), whole, deviation in zip(self.channels, sums, sigma, strict=True):
            others = (whole - parts[some]) / (deviation**2 * rows[some])[:, None, None]
            rest[:, own[:, None], own] += others

        def residual_squares(beta: Floats) -> Floats:
            return np.stack([channel.missed(beta, some) for channel in self.channels], axis=1)

        return LeftOutFits(
            left=residual_squares,
            rest=_roots(rest),
            power=sigma**2 * np.maximum(self.count.sum(axis=0), 1),
            C=self.C,
        )

    def in_coordinates(self, free: FreeDirections) -> tuple[ChannelSquares, ...]:
        """Squares of each channel in the free coordinates that it has, and of τ - Y φ₀."""
        slopes, start = self.C @ free.map, self.C @ free.start
        found = []
        for columns, squares in self.channels:
            busy = columns[:-1]
            own = np.flatnonzero(slopes[busy].any(axis=0))
            D = np.zeros((len(columns), len(own) + 1))
            D[:-1, :-1] = slopes[np.ix_(busy, own)]
            D[:-1, -1] = -start[busy]
            D[-1, -1] = 1.0
            found.append(ChannelSquares(np.append(own, free.count), D.T @ squares @ D))
        return tuple(found)


def compute_squares(
    pieces: Iterable[tuple[int, RegressionRows]], parts: int, busy: Flags, C: Floats
) -> Squares:
    """Squares of parts of rows.

    Args:
        pieces: Rows, each with the number of the part that they belong to.
        parts: Number of parts.
        busy: Which base parameters each channel has, (n, r).
        C: Base parameters from all, (r, p).
    """
    n, r = busy.shape
    channels = []
    for j in range(n):
        own = np.append(np.flatnonzero(busy[j]), r)
        channels.append(ChannelSquares(own, np.zeros((parts, len(own), len(own)))))
    count = np.zeros((parts, n))
    for part, rows in pieces:
        count[part] += rows.used.sum(axis=0)
        for j, channel in enumerate(channels):
            channel.parts[part] += _of_channel(rows, j)
    return Squares(tuple(channels), count, C)


def _of_channel(rows: RegressionRows, j: int) -> Floats:
    """[Y_j | τ_j]ᵀ [Y_j | τ_j] of the rows of one channel that count."""
    A = rows.table(j)
    return A.T @ A


def _roots(squares: Floats) -> Floats:
    """R with RᵀR = S of squares (..., s, s), columns scaled to a size of one before."""
    size = np.sqrt(np.diagonal(squares, axis1=-2, axis2=-1))
    size = np.where(size > 0, size, 1.0)
    values, directions = np.linalg.eigh(squares / (size[..., :, None] * size[..., None, :]))
    roots = np.sqrt(values.clip(0))[..., :, None] * np.swapaxes(directions, -1, -2)
    return roots * size[..., None, :]
