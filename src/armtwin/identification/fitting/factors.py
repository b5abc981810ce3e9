"""The rows of a regression reduced to a triangular factor for each channel, for every fit.

    [Y_j | τ_j] = Q_j R_j        ‖τ_j - Y_j C φ‖ = ‖R_j [-C φ; 1]‖

τ_j is the target of channel j, and Y holds the columns of the base parameters C φ only. Weights of
channels, scales of columns, a prior and parts left out act on the small factors; the rows are read
once.

Rows of a regression: contribution of each parameter to a target, in one or several channels.

target_j = Y_j β + noise        for each channel j, as each joint of a robot

Which parameters may change, and by how much it is likely: φ = φ₀ + s B z.

φ₀ is the prior, s the size of each parameter, and a column of B a parameter, or several that are
equal. Parameters that are held have no column.

Ref: [Waiboer 2007, section 4.3.4], [Memar-Esfahani 2015, eq. 12]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Flags, Floats, TwoArrays


@dataclass(frozen=True, eq=False)
class FreeDirections:
    """The free directions of the parameters.

    Attributes:
        start: φ₀, (p,).
        sizes: s, (p,).
        basis: B, (p, f).
    """

    start: Floats
    sizes: Floats
    basis: Floats

    @property
    def count(self) -> int:
        """Number of free coordinates, f."""
        return self.basis.shape[1]

    @property
    def is_free(self) -> Flags:
        """Which parameters may change, (p,)."""
        return np.asarray(self.basis.any(axis=1))

    @property
    def map(self) -> Floats:
        """∂φ/∂z, (p, f)."""
        return self.sizes[:, None] * self.basis

    def scaled(self, which: Flags, factor: float) -> FreeDirections:
        """These directions with the sizes of the flagged parameters (p,) times a factor."""
        return replace(self, sizes=self.sizes * np.where(which, factor, 1.0))

    def parameters(self, z: Floats) -> Floats:
        """φ of free coordinates z."""
        return self.start + self.map @ z

    def with_more(self, sizes: Floats, tied: Sequence[int | None], ease: float) -> FreeDirections:
        """These directions and those of more parameters, zero at first, one direction each.

        Args:
            sizes: Sizes of the new parameters, (k,).
            tied: For each a parameter that decreases as it grows, so that only their sum is
                regularised, or None.
            ease: How many times their size they may change as likely as others by once theirs.
        """
        p, more = len(self.start), len(sizes)
        all_sizes = np.concatenate([self.sizes, sizes])
        basis = np.zeros((p + more, self.count + more))
        basis[:p, : self.count] = self.basis
        for k, (size, other) in enumerate(zip(sizes, tied, strict=True)):
            basis[p + k, self.count + k] = ease
            if other is not None:
                basis[other, self.count + k] = -ease * size / self.sizes[other]
        return FreeDirections(np.concatenate([self.start, np.zeros(more)]), all_sizes, basis)

    def share(self, of_coordinates: Floats) -> Floats:
        """Share of each parameter, 0 to 1, (p,), from that of each free coordinate, (f,)."""
        size = np.abs(self.basis)
        whole = np.maximum(size.sum(axis=1), 1.0)
        return (size @ of_coordinates / whole).clip(0, 1)


def free_directions(
    prior: Floats, sizes: Floats, held: Collection[int] = (), equal: Iterable[tuple[int, int]] = ()
) -> FreeDirections:
    """The directions that stay free.

    Args:
        prior: φ₀, (p,).
        sizes: s, (p,).
        held: Parameters that keep their prior.
        equal: Pairs of parameters that are equal, starting from the mean of their priors.
    """
    start, sizes = prior.copy(), sizes.copy()
    columns = []
    for members in _equal_parameters(len(prior), equal):
        if members[0] in held:
            continue
        if len(members) > 1:
            start[members] = start[members].mean()
            sizes[members] = sizes[members].max()
        columns.append(members)
    if not columns:
        raise ArmtwinError("every parameter is held, so nothing remains to fit")
    basis = np.zeros((len(prior), len(columns)))
    for k, members in enumerate(columns):
        basis[members, k] = 1.0
    return FreeDirections(start, sizes, basis)


def _equal_parameters(count: int, equal: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Every parameter in the one list of those that equal it, by the first of each list."""
    members = [{k} for k in range(count)]
    for a, b in equal:
        joined = members[a] | members[b]
        for k in joined:
            members[k] = joined
    return [sorted(every) for k, every in enumerate(members) if k == min(every)]


@dataclass(frozen=True, eq=False)
class RegressionRows:
    """Rows of a regression.

    Attributes:
        Y: Columns of the parameters that each channel has, channel after channel, (k, c).
        busy: Which parameters these are, (n, r).
        target: The values that the columns explain, (k, n).
        used: Whether a row counts, (k, n).
    """

    Y: Floats
    busy: Flags
    target: Floats
    used: Flags

    def of_channel(self, j: int) -> Floats:
        """The columns of one channel, (k, its parameters)."""
        first = int(self.busy[:j].sum())
        last = first + int(self.busy[j].sum())
        return self.Y[:, first:last]

    def table(self, j: int) -> Floats:
        """Columns and target of one channel, of its rows that count, (k, its parameters + 1)."""
        columns = self.of_channel(j)
        used = self.used[:, j]
        which = slice(None) if used.all() else used
        target = self.target[which, j]
        table = np.empty((len(target), columns.shape[1] + 1), order="F")
        table[:, :-1] = columns[which]
        table[:, -1] = target
        return table

    def predicted(self, beta: Floats) -> Floats:
        """Y β of each channel, (k, n), for parameters β (r,)."""
        each = [self.of_channel(j) @ beta[busy] for j, busy in enumerate(self.busy)]
        return np.stack(each, axis=1)

    def between(self, first: int, last: int) -> RegressionRows:
        """The rows from one number to before another."""
        some = slice(first, last)
        return RegressionRows(self.Y[some], self.busy, self.target[some], self.used[some])

    def in_parts(self, count: int, first: int = 0) -> list[RegressionRows]:
        """The rows from a first one on in parts of equal length, one after the other."""
        edges = np.linspace(first, len(self.target), count + 1).astype(int).tolist()
        return [self.between(first, last) for first, last in pairwise(edges)]


@dataclass(frozen=True, eq=False)
class Factors:
    """Triangular factors of some rows.

    Attributes:
        R: For each channel a factor of its base columns and target, (n, r + 1, r + 1).
        count: Rows of each channel, (n,).
        C: Base parameters from all, (r, p).
    """

    R: Floats
    count: Floats
    C: Floats

    @property
    def target(self) -> Floats:
        """Q_jᵀ τ_j of each channel, (n, r + 1)."""
        return self.R[:, :, -1]

    def predicted(self, phi: Floats) -> Floats:
        """Q_jᵀ Y_j C φ of each channel, (n, r + 1, ...), for parameters (p, ...)."""
        return self.R[:, :, :-1] @ (self.C @ phi)

    def squares(self, phi: Floats) -> Floats:
        """‖τ_j - Y_j C φ‖² of each channel, (n,)."""
        gap = self.target - self.predicted(phi)
        return (gap**2).sum(axis=1)

    def target_squares(self) -> Floats:
        """‖τ_j‖² of each channel, (n,)."""
        return (self.target**2).sum(axis=1)

    def scaled(self, gains: Floats) -> Factors:
        """The same rows with other targets, each channel's times its gain (n,)."""
        R = self.R.copy()
        R[:, :, -1] *= gains[:, None]
        return Factors(R, self.count, self.C)


def factorise(found: RegressionRows, C: Floats, weights: Floats | None = None) -> Factors:
    """Factors of rows with columns of base parameters C φ, each times the root of its weight.

    Args:
        found: The rows.
        C: Base parameters from all, (r, p).
        weights: Weights of the rows, (k, n); without them every row counts the same.
    """
    n, r = found.busy.shape
    R = np.zeros((n, r + 1, r + 1))
    for j in range(n):
        A = found.table(j)
        if weights is not None:
            A *= np.sqrt(weights[found.used[:, j], j])[:, None]
        small = triangle(A)
        R[j][: len(small), np.append(found.busy[j], True)] = small
    return Factors(R, found.used.sum(axis=0), C)


def merge_factors(parts: Sequence[Factors]) -> Factors:
    """Factors of all parts as one."""
    if len(parts) == 1:
        return parts[0]
    n, size, _ = parts[0].R.shape
    R = np.zeros((n, size, size))
    for j in range(n):
        small = triangle(np.vstack([part.R[j] for part in parts]))
        R[j][: len(small)] = small
    count = np.sum([part.count for part in parts], axis=0)
    return Factors(R, count, parts[0].C)


def triangle(A: Floats) -> Floats:
    """Triangular factor of a matrix."""
    from scipy.linalg.lapack import dgeqrf  # numpy's own qr takes twice as long

    columns = A.shape[1]
    if not len(A):
        return np.zeros((0, columns))
    packed = dgeqrf(np.asfortranarray(A), lwork=64 * columns, overwrite_a=1)[0]
    return np.ascontiguousarray(np.triu(packed[:columns]))


def weight_channels(found: Factors, sigma: Floats) -> Floats:
    """Triangular factor of all channels, each over its σ (n,): base columns and target."""
    scaled = [R / s for R, s in zip(found.R, sigma, strict=True)]
    return triangle(np.vstack(scaled))


def reduce_to_free(found: Factors, sigma: Floats, free: FreeDirections) -> TwoArrays:
    """Rows of all channels over their σ (n,) in the free coordinates.

    Returns:
        (A, b), so that ‖A z - b‖ is the weighted residual.
    """
    whole = weight_channels(found, sigma)
    columns, target = whole[:, :-1], whole[:, -1]
    A = columns @ (found.C @ free.map)
    b = target - columns @ (found.C @ free.start)
    return A, b
