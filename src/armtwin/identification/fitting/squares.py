"""The rows of a regression reduced to squares: quickly, for fits that are only compared.

    S_j = [Y_j | τ_j]ᵀ [Y_j | τ_j]        of each part of the rows and each channel j

Where a factor keeps all digits of the rows, squares keep half of them, and parts add. A weight λ of
the prior bounds what that costs.

Each part of the rows predicted by a fit to the others, for many fits at little cost.

H_k = Σ_channels A_jᵀ A_j / σ_j²    of part k, [A | b] in the free coordinates
z_k = (Σ_{i≠k} H_i + λ)⁻¹ Σ_{i≠k} A_iᵀ b_i        error_j = Σ_k ‖b_kj - A_kj z_k‖² / ‖τ_j‖²
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.fitting.factors import Factors, FreeDirections, RegressionRows
from armtwin.identification.fitting.regularisation import LeftOutFits
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
            A = rows.table(j)
            channel.parts[part] += A.T @ A
    return Squares(tuple(channels), count, C)


def _roots(squares: Floats) -> Floats:
    """R with RᵀR = S of squares (..., s, s), columns scaled to a size of one before."""
    size = np.sqrt(np.diagonal(squares, axis1=-2, axis2=-1))
    size = np.where(size > 0, size, 1.0)
    values, directions = np.linalg.eigh(squares / (size[..., :, None] * size[..., None, :]))
    roots = np.sqrt(values.clip(0))[..., :, None] * np.swapaxes(directions, -1, -2)
    return roots * size[..., None, :]


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
