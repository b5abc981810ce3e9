"""The peaks of an ensemble as a joint log-normal distribution, and what follows from it.

Peaks of all directions are fitted together, tolerances are applied to the fit: a larger tolerance
never makes a seam less likely to hold.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.band.draws import normal_draws

STRENGTHS = np.logspace(-3, 2, 26)  # of the prior, in units of the number of variants


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
        """Share of each quantity in the spread."""
        whole = self._whole
        return self.slopes**2 / whole if whole > 0 else np.zeros_like(self.slopes)

    @property
    def rest_share(self) -> float:
        """Share of the spread that no quantity explains."""
        whole = self._whole
        return self.rest / whole if whole > 0 else 0.0

    @property
    def _whole(self) -> float:
        return float((self.slopes**2).sum()) + self.rest


def regression(z: Floats, logs: Floats) -> Regression:
    """Regress logarithms of ratios, (variants,), on the variants, (variants, quantities)."""
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
        error = float((left**2).mean()) / free**2
        if error < smallest:
            smallest = error
            best = Vt.T @ (kept * along / np.where(s > 0, s, 1.0))
    rest = float(np.var(y - x @ best))
    return Regression(best, rest)


POINTS, SEED = 4096, 1  # of the fitted distribution at which it is read
SMALLEST = 1e-12  # a peak below is none [m, rad]
LOW, MIDDLE, HIGH = 5.0, 50.0, 95.0  # per cent: the outer ones bound the 90 % interval
STEPS = np.array([-1.6448536269514722, 0.0, 1.6448536269514722])  # standard deviations to these


def log_normal_bounds(peaks: Floats) -> Floats:
    """Peaks of which 5, 50 and 95 % stay below, (..., 3), each column of its own.

    Args:
        peaks: Peaks of variants, (variants, ...); of none the bounds are NaN.
    """
    if not len(peaks):
        return np.full((*peaks.shape[1:], len(STEPS)), np.nan)
    logs = np.log(np.maximum(peaks, SMALLEST))
    mean = logs.mean(axis=0)
    spread = np.sqrt(((logs - mean) ** 2).sum(axis=0) / max(1, len(logs) - 1))
    return np.exp(mean[..., None] + spread[..., None] * STEPS)


class Distribution:
    """A log-normal distribution of peaks.

    Attributes:
        mean: Of the logarithms, (directions,).
        factor: A square root L of their covariance, L Lᵀ.
    """

    def __init__(self, peaks: Floats) -> None:
        logs = np.log(np.maximum(peaks, SMALLEST))
        directions = peaks.shape[1]
        self.mean, self.factor = np.full(directions, np.nan), np.zeros((directions, directions))
        if not len(peaks):
            return
        self.mean = logs.mean(axis=0)
        away = (logs - self.mean) / np.sqrt(max(1, len(logs) - 1))
        values, vectors = np.linalg.eigh(away.T @ away)
        self.factor = vectors * np.sqrt(np.maximum(values, 0.0))

    def ratios(self, tolerances: Floats) -> Floats:
        """Largest peak over its tolerance at the points of the distribution, (POINTS,)."""
        logs = self.mean + _points(len(self.mean)) @ self.factor.T
        return np.exp((logs - np.log(tolerances)).max(axis=1))


@lru_cache(maxsize=4)
def _points(directions: int) -> Floats:
    return normal_draws(POINTS, directions, SEED)
