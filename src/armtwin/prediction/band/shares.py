"""Where the spread comes from: a regression of the logarithm of the ratio on the draws.

    ln r = a + Σ b_i z_i + e,   share_i = b_i² / (Σ b² + var e)

A mild prior b ~ N(0, τ²) keeps more numbers than the draws can tell apart from sharing at random;
how mild is chosen so that left-out draws are predicted best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats

STRENGTHS = np.logspace(-3, 2, 26)  # of the prior, in units of the draws' number


@dataclass(frozen=True, eq=False)
class Regression:
    """How the logarithm of a ratio depends on each quantity.

    Attributes:
        slopes: Change per standard deviation of each quantity, (quantities,).
        rest: Variance that no quantity explains.
    """

    slopes: Floats
    rest: float

    @property
    def shares(self) -> Floats:
        """Share of the spread that each quantity makes."""
        whole = self._whole
        return self.slopes**2 / whole if whole > 0 else np.zeros_like(self.slopes)

    @property
    def rest_share(self) -> float:
        """Share of the spread that no quantity makes."""
        whole = self._whole
        return self.rest / whole if whole > 0 else 0.0

    @property
    def _whole(self) -> float:
        return float((self.slopes**2).sum()) + self.rest


def regression(z: Floats, logs: Floats) -> Regression:
    """Regress logarithms of ratios, (draws,), on the draws, (draws, quantities)."""
    draws, quantities = z.shape
    if draws < 3 or not quantities:
        return Regression(np.zeros(quantities), float(np.var(logs)) if draws else 0.0)
    y = logs - logs.mean()
    x = z - z.mean(axis=0)
    U, s, Vt = np.linalg.svd(x, full_matrices=False)
    along = U.T @ y
    best, smallest = np.zeros(quantities), np.inf
    for strength in draws * STRENGTHS:
        kept = s**2 / (s**2 + strength)
        left = y - U @ (kept * along)
        free = 1 - (1 + kept.sum()) / draws  # the mean is one more number
        if free <= 0:
            continue
        missed = float((left**2).mean()) / free**2
        if missed < smallest:
            smallest = missed
            best = Vt.T @ (kept * along / np.where(s > 0, s, 1.0))
    rest = float(np.var(y - x @ best))
    return Regression(best, rest)
