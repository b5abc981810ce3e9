"""Whether one way predicts left-out parts better than another, by what it gains part by part.

    fall = -mean_j ln(Σ_k b_kj / Σ_k a_kj)        d_k = mean_j (b_kj / Σ_i b_ij - a_kj / Σ_i a_ij)
    its standard error = √(K / (K - 1) Σ_k d_k²)

a and b are the squares that both miss of part k in channel j. Parts are hard or easy for both
alike, so that differences are taken part by part before they are compared. Where few parts hold
most of the squares, these alone decide the fall; so that of each part counts as well,

    f_k = -mean_j ln(b_kj / a_kj)        with the mean and standard error of f_k over the parts

A gain shows where one of both is so many standard errors large that, by Student's distribution,
parts that differ by chance alone would have it once in twenty times, one of both in ten at most;
and where the fall is worth a number more: a hundredth of the error, the last digit of ten percent
that a report shows. Among ways that predict alike the simplest is the best one.

Ref: [Breiman-Friedman-Olshen-Stone 1984, section 3.4.3]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats

WORTH = 0.02  # least fall, twice that of ln of the root mean square
SURE = 0.95  # share of the cases in which parts that differ by chance show no gain, in either way


@dataclass(frozen=True)
class Gain:
    """What a way gains on left-out parts.

    Attributes:
        fall: By how much ln of the squares missed falls, mean of the channels.
        error: Standard error of the fall over the parts.
        of_parts: By how much it falls in each part, mean of these.
        error_of_parts: Standard error of that mean.
        parts: Number of parts.
    """

    fall: float
    error: float
    of_parts: float
    error_of_parts: float
    parts: int

    @property
    def shows(self) -> bool:
        """Whether it is worth it, and larger than chance lets parts differ but for rare cases."""
        from scipy.special import stdtrit

        errors = stdtrit(self.parts - 1, SURE)
        in_all = self.fall > errors * self.error
        in_each = self.of_parts > errors * self.error_of_parts
        return bool(self.fall > WORTH and (in_all or in_each))


def gain(before: Floats, after: Floats) -> Gain:
    """What squares missed of parts, (parts, n), gain over those before, (parts, n)."""
    parts = len(before)
    whole_before = _above_none(before.sum(axis=0))
    whole_after = _above_none(after.sum(axis=0))
    fall = -np.log(whole_after / whole_before).mean()
    apart = (after / whole_after - before / whole_before).mean(axis=1)
    error = np.sqrt(parts / max(parts - 1, 1) * (apart**2).sum())
    falls = -np.log(_above_none(after) / _above_none(before)).mean(axis=1)
    error_of_parts = falls.std(ddof=1) / np.sqrt(parts) if parts > 1 else np.inf
    return Gain(
        fall=float(fall),
        error=float(error),
        of_parts=float(falls.mean()),
        error_of_parts=float(error_of_parts),
        parts=parts,
    )


def by_the_others(options: Sequence[Floats]) -> Floats:
    """Squares missed of parts, (parts, n), each with the option that the other parts find best.

    The best of many options looks better than it is on the parts by which it was found.

    Args:
        options: Squares missed of parts with each option, (parts, n).
    """
    squares = np.array(options)
    others = squares.sum(axis=1, keepdims=True) - squares
    best = np.log(_above_none(others)).mean(axis=2).argmin(axis=0)
    return np.asarray(squares[best, np.arange(squares.shape[1])])


def _above_none(squares: Floats) -> Floats:
    """Squares missed, where logs without noise leave nothing, or less than that by rounding."""
    return np.maximum(squares, np.finfo(np.float64).tiny)
