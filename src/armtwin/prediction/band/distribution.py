"""The peaks of an ensemble as a joint log-normal distribution, and what follows from it.

Peaks of all directions are fitted together, tolerances are applied to the fit: a larger tolerance
never makes a seam less likely to hold.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.band.draws import normal_draws

POINTS, SEED = 4096, 1  # of the fitted distribution at which it is read
SMALLEST = 1e-12  # a peak below is none [m, rad]
LOW, MIDDLE, HIGH = 5.0, 50.0, 95.0  # per cent: nine of ten lie between the outer ones


class Distribution:
    """A log-normal distribution of peaks.

    Attributes:
        mean: Of the logarithms, (directions,).
        factor: A square root L of their covariance, L Lᵀ.
    """

    def __init__(self, peaks: Floats) -> None:
        logs = np.log(np.maximum(peaks, SMALLEST))
        self.mean = logs.mean(axis=0)
        away = (logs - self.mean) / np.sqrt(max(1, len(logs) - 1))
        values, vectors = np.linalg.eigh(away.T @ away)
        self.factor = vectors * np.sqrt(np.maximum(values, 0.0))

    def ratios(self, tolerances: Floats) -> Floats:
        """Largest peak over its tolerance at the points of the distribution, (POINTS,)."""
        logs = self.mean + _points(len(self.mean)) @ self.factor.T
        worst: Floats = np.exp((logs - np.log(tolerances)).max(axis=1))
        return worst

    def bounds(self) -> Floats:
        """Peaks of which 5, 50 and 95 % stay below, (directions, 3)."""
        spread = np.sqrt((self.factor**2).sum(axis=1))
        steps = np.array([-1.6448536269514722, 0.0, 1.6448536269514722])
        found: Floats = np.exp(self.mean[:, None] + spread[:, None] * steps)
        return found


@lru_cache(maxsize=4)
def _points(directions: int) -> Floats:
    return normal_draws(POINTS, directions, SEED)
