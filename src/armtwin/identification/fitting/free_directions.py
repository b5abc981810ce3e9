"""Which parameters may change, and by how much it is likely: φ = φ₀ + s B z.

φ₀ is the prior, s the size of each parameter, and a column of B a parameter, or several that are
equal. Parameters that are held have no column.

Ref: [Waiboer 2007, section 4.3.4], [Memar-Esfahani 2015, eq. 12]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Flags, Floats


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
