"""Whether one model predicts left-out parts better than another: the gain part by part.

    gain = -mean_j ln(Σ_k b_kj / Σ_k a_kj)        d_k = mean_j (b_kj / Σ_i b_ij - a_kj / Σ_i a_ij)
    its standard error = √(K / (K - 1) Σ_k d_k²)

a and b are the residual sums of squares of part k in channel j, before and after. Parts are hard
or easy for both alike, so that differences are taken part by part before they are compared. Where
few parts hold most of the squares, these alone decide the gain; so that of each part counts as
well,

    f_k = -mean_j ln(b_kj / a_kj)        with the mean and standard error of f_k over the parts

A gain is significant where one of both differs from zero with 95 % confidence by Student's
distribution, so that parts that differ by chance alone show it in at most 10 % of all cases; and
where it exceeds 1 % of the error, the last digit of ten percent that a report shows. Among models
that predict alike the simplest is the best one.

Ref: [Breiman-Friedman-Olshen-Stone 1984, section 3.4.3]

The least of errors, finer than the values that were tried.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.estimate import CONFIDENCE, student
from armtwin.maths.batch import Floats

LEAST_GAIN = 0.02  # least gain, twice that of ln of the root mean square


@dataclass(frozen=True)
class Gain:
    """What a model gains on left-out parts.

    Attributes:
        fall: Decrease of ln of the residual sum of squares, mean of the channels.
        error: Standard error of this decrease over the parts.
        of_parts: The decrease in each part, mean of these.
        error_of_parts: Standard error of that mean.
        parts: Number of parts.
    """

    fall: float
    error: float
    of_parts: float
    error_of_parts: float
    parts: int

    @property
    def is_significant(self) -> bool:
        """Whether it is large enough to matter and significant."""
        return self.fall > LEAST_GAIN and any(self._significant)

    @property
    def is_common(self) -> bool:
        """Whether it is large enough and significant both in all and in the mean of each part."""
        return self.fall > LEAST_GAIN and all(self._significant)

    @property
    def _significant(self) -> tuple[bool, bool]:
        """Whether the decrease in all, and the mean of each part, differs from zero."""
        errors = student(self.parts - 1, 2 * CONFIDENCE - 1)  # one-sided
        in_all = bool(self.fall > errors * self.error)
        return in_all, bool(self.of_parts > errors * self.error_of_parts)


def estimate_gain(before: Floats, after: Floats) -> Gain:
    """Gain of residual squares of parts, (parts, n), over those before, (parts, n)."""
    parts = len(before)
    whole_before = _keep_positive(before.sum(axis=0))
    whole_after = _keep_positive(after.sum(axis=0))
    decrease = -np.log(whole_after / whole_before).mean()
    apart = (after / whole_after - before / whole_before).mean(axis=1)
    error = np.sqrt(parts / max(parts - 1, 1) * (apart**2).sum())
    decreases = -np.log(_keep_positive(after) / _keep_positive(before)).mean(axis=1)
    error_of_parts = decreases.std(ddof=1) / np.sqrt(parts) if parts > 1 else np.inf
    return Gain(
        fall=float(decrease),
        error=float(error),
        of_parts=float(decreases.mean()),
        error_of_parts=float(error_of_parts),
        parts=parts,
    )


def cross_validate(options: Sequence[Floats]) -> Floats:
    """Residual squares of parts, (parts, n), each with the option that the other parts find best.

    The best of many options looks better than it is on the parts by which it was found.

    Args:
        options: Residual squares of parts with each option, (parts, n).
    """
    squares = np.array(options)
    others = squares.sum(axis=1, keepdims=True) - squares
    best = np.log(_keep_positive(others)).mean(axis=2).argmin(axis=0)
    return squares[best, np.arange(squares.shape[1])]


def _keep_positive(squares: Floats) -> Floats:
    """Residual squares above zero, also where logs without noise leave none."""
    return np.maximum(squares, np.finfo(np.float64).tiny)


def find_vertex(values: Sequence[float] | Floats, errors: Sequence[float] | Floats) -> float:
    """Value at the vertex of the parabola through the least error and its neighbours, over ln.

    The best one itself where it is the first or the last.

    Args:
        values: Values that were tried, above 0, evenly in ratio.
        errors: Their errors.
    """
    best = int(np.argmin(errors))
    shift = shift_to_vertex(errors, best)
    if not shift:
        return float(values[best])
    step = values[best + 1] / values[best]
    return float(values[best] * step**shift)


def shift_to_vertex(values: Sequence[float] | Floats, k: int) -> float:
    """Steps from k to the least of the parabola through three values about it; 0 at an end."""
    if not 0 < k < len(values) - 1:
        return 0.0
    before, here, after = values[k - 1 : k + 2]
    bend = before - 2 * here + after
    return float(0.5 * (before - after) / bend) if bend > 0 else 0.0
