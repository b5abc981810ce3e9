"""Robust least squares: the hysteretic transmission fitted to all samples, with uncertainties.

Distances of the samples from the curve (`hysteresis`) are minimised by robust least squares (soft
L1 loss); half-cycles far from the rest, as those of a start transient, are left out and the fit is
repeated. Standard deviations come from the spread of the half-cycles' gradients (clustered by
half-cycle) or from the autocorrelation of the residual, whichever is larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.identification.clamping.algorithm_one import BEYOND, NOT_CENTRED
from armtwin.identification.clamping.curves import line
from armtwin.identification.clamping.estimate import TransmissionEstimate
from armtwin.identification.clamping.half_cycles import HalfCycle
from armtwin.identification.clamping.hysteresis import (
    BACKLASH,
    BENDING,
    CENTRE,
    FRICTION,
    OFFSET,
    STIFFNESS,
    Turns,
    distances,
    slopes_of_distances,
    turns_of,
)
from armtwin.maths.batch import Floats, Indices

NAME = "least squares"
LEAST_TURNS = 2  # half-cycles that follow a turn
TUKEY = 2.0  # standard deviations beyond which a distance is down-weighted
FAR = 3.0  # times the usual distance at which a half-cycle is left out
SHORTEST_BENDING, LONGEST_BENDING = 2e-3, 0.2  # of the whole turn: pre-sliding distance r
ZERO_TORQUE = 0.2  # of the friction: what forward and backward friction differ by, about
STARTS = (0.0, 0.03, 0.12)  # of the whole turn: backlashes from which the search starts
ROUNDS = 2  # of the search, each with the spread of the one before
THINNED = 2000  # samples on which the search for a start is made


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Result of least squares.

    Attributes:
        found: The transmission.
        theta: Stiffness, backlash, friction, centre, offset, pre-sliding distance, (6,); None where
            it was refused before.
        turns: Samples that were used; None likewise.
        left: Distances of the fit, (m,) [N m].
        left_out: Numbers of half-cycles, from the first turn on, that were left out.
    """

    found: TransmissionEstimate
    theta: Floats | None = None
    turns: Turns | None = None
    left: Floats | None = None
    left_out: Indices = ()


def least_squares(q: Floats, tau: Floats, half_cycles: list[HalfCycle]) -> LeastSquares:
    """Least squares on motor angles [rad] and torques [N m], (m,), with their half-cycles."""
    turns = turns_of(q, tau, half_cycles)
    if turns.count < LEAST_TURNS:
        sentence = (
            f"the torque turns {turns.count} times; it must turn at least {LEAST_TURNS} times, as "
            "friction is the distance of a rising and a decreasing half-cycle."
        )
        return LeastSquares(TransmissionEstimate(NAME, refused=sentence))
    turn, torque = float(np.ptp(q)), float(np.ptp(tau))
    scaled = _normalise(turns, turn, torque)
    kept = np.ones(len(scaled.q), dtype=bool)
    theta, gap = _fit(scaled)
    outliers = _far_half_cycles(theta, scaled)
    if outliers:
        kept = ~np.isin(scaled.number, outliers)
        theta, gap = _fit(scaled.only(kept))
    used = scaled.only(kept)
    std = _deviations(theta, used, gap)
    size = np.array([torque / turn, turn, torque, turn, torque, turn])
    residual = distances(theta, used) * torque
    found = _build_estimate(theta * size, std * size, residual, gap, outliers, turns.count)
    return LeastSquares(found, theta * size, turns.only(kept), residual, tuple(outliers))


def _normalise(turns: Turns, turn: float, torque: float) -> Turns:
    """The samples with the whole turn and the whole torque as units."""
    return Turns(
        turns.q / turn,
        turns.tau / torque,
        turns.direction,
        turns.since / turn,
        turns.number,
        turns.rows,
    )


def _fit(turns: Turns) -> tuple[Floats, bool]:
    """The best parameters, and whether the curve passes the gap at all."""
    first = _first_guess(turns)
    gap = _passes_zero(first, turns)
    free = list(range(6)) if gap else [STIFFNESS, FRICTION, CENTRE, BENDING]
    starts = STARTS if gap else (0.0,)
    thinned = np.zeros(len(turns.q), dtype=bool)
    thinned[:: max(1, len(turns.q) // THINNED)] = True
    few = turns.only(thinned)
    best, least = first, np.inf
    for backlash in starts:
        start = first.copy()
        start[BACKLASH] = backlash
        theta, cost = _search(start, free, few)
        if cost < least:
            best, least = theta, cost
    best, _ = _search(best, free, turns)
    return best, gap


def _first_guess(turns: Turns) -> Floats:
    """Parameters of straight lines through rising and decreasing samples, small gap."""
    rising = turns.direction > 0
    slopes, starts = [], []
    for flags in (rising, ~rising):
        slope, start = line(turns.q[flags], turns.tau[flags])
        slopes.append(slope)
        starts.append(start)
    middle = float(turns.q.mean())
    K = max(float(np.mean(slopes)), 1e-3)
    up, down = (start + slope * middle for slope, start in zip(slopes, starts, strict=True))
    F = max(0.5 * (up - down), 1e-3)
    centre = middle - 0.5 * (up + down) / K
    return np.array([K, 0.0, F, centre, 0.0, 5 * SHORTEST_BENDING])


def _passes_zero(theta: Floats, turns: Turns) -> bool:
    """Whether the spring's torque lies on both sides of zero, where a gap would show."""
    spring = theta[STIFFNESS] * (turns.q - theta[CENTRE])
    low, high = float(spring.min()), float(spring.max())
    margin = BEYOND * (high - low)
    return low < -margin and high > margin


def _search(start: Floats, free: list[int], turns: Turns) -> tuple[Floats, float]:
    """Parameters of minimal distances, those beyond two deviations down-weighted."""
    from scipy.optimize import least_squares as search

    lowest = np.array([1e-6, 0.0, 1e-9, -np.inf, -np.inf, SHORTEST_BENDING])
    highest = np.array([np.inf, 0.9, np.inf, np.inf, np.inf, LONGEST_BENDING])
    theta = np.clip(start, lowest, highest)
    prior_weight = np.sqrt(len(turns.q)) * 1e-3

    def residuals(x: Floats) -> Floats:
        theta[free] = x
        offset = prior_weight * scale * theta[OFFSET] / (ZERO_TORQUE * theta[FRICTION])
        return np.append(distances(theta, turns), offset)

    def slopes(x: Floats) -> Floats:
        theta[free] = x
        prior_row = np.zeros((1, 6))
        prior_row[0, OFFSET] = prior_weight * scale / (ZERO_TORQUE * theta[FRICTION])
        prior_row[0, FRICTION] = -prior_row[0, OFFSET] * theta[OFFSET] / theta[FRICTION]
        return np.vstack([slopes_of_distances(theta, turns), prior_row])[:, free]

    scale = _spread(distances(theta, turns))
    for _ in range(ROUNDS):
        inside = np.clip(theta[free], lowest[free], highest[free])
        result = search(
            residuals,
            inside,
            jac=slopes,
            bounds=(lowest[free], highest[free]),
            loss="soft_l1",
            f_scale=TUKEY * scale,
            x_scale=np.maximum(np.abs(start[free]), 0.02),
            max_nfev=60,
            xtol=1e-6,
            ftol=1e-6,
        )
        theta[free] = result.x
        scale = _spread(distances(theta, turns))
    return theta.copy(), float(np.mean(_soft(distances(theta, turns), TUKEY * scale)))


def _spread(x: Floats) -> float:
    """Standard deviation of most of the distances, from their median."""
    return max(1.4826 * float(np.median(np.abs(x))), 1e-6)


def _soft(x: Floats, scale: float) -> Floats:
    """Squares up to the scale, straight beyond."""
    return np.asarray(2 * scale**2 * (np.sqrt(1 + (x / scale) ** 2) - 1))


def _far_half_cycles(theta: Floats, turns: Turns) -> list[int]:
    """Half-cycles whose rms distance is far above the usual one; at most half of them."""
    away = distances(theta, turns)
    sizes = np.empty(turns.count)
    for k in range(turns.count):
        sizes[k] = np.sqrt(np.mean(away[turns.number == k] ** 2))
    usual = float(np.median(sizes))
    far = np.flatnonzero(sizes > FAR * usual)
    if turns.count - len(far) < max(LEAST_TURNS, turns.count / 2):
        return []
    return far.tolist()


def _deviations(theta: Floats, turns: Turns, gap: bool) -> Floats:
    """Standard deviations of the parameters, (6,); NaN for those that were not free."""
    free = np.arange(6) if gap else np.array([STIFFNESS, FRICTION, CENTRE, BENDING])
    e = distances(theta, turns)
    J = slopes_of_distances(theta, turns)[:, free]
    weight = 1 / np.sqrt(1 + (e / (TUKEY * _spread(e))) ** 2)
    H = (J * weight[:, None]).T @ J
    known = np.zeros(len(free))
    if gap:
        known[OFFSET] = len(e) * (1e-3 * _spread(e) / (ZERO_TORQUE * theta[FRICTION])) ** 2
    inverse = np.linalg.pinv(H + np.diag(known), hermitian=True)
    pulls = J * (weight * e)[:, None]
    sums = np.stack([pulls[turns.number == k].sum(axis=0) for k in range(turns.count)])
    clusters = turns.count / max(turns.count - 1, 1)
    sandwich = clusters * np.diag(inverse @ (sums.T @ sums) @ inverse)
    white = np.diag(inverse) * float(np.mean(weight * e**2)) * _correlation_length(e, turns)
    std = np.full(6, np.nan)
    std[free] = np.sqrt(np.maximum(np.maximum(sandwich, white), 0.0))
    return std


def _correlation_length(e: Floats, turns: Turns) -> float:
    """Correlation length in samples: 1 + 2 Σ ρ up to its first zero."""
    power = float(e @ e)
    if power == 0:
        return 1.0
    total = 1.0
    for lag in range(1, max(2, len(e) // turns.count)):
        share = float(e[lag:] @ e[:-lag]) / power
        if share <= 0.05:
            break
        total += 2 * share
    return total


def _build_estimate(
    theta: Floats, std: Floats, residual: Floats, gap: bool, outliers: list[int], count: int
) -> TransmissionEstimate:
    rms = float(np.sqrt(np.mean(residual**2)))
    notes = [f"{count - len(outliers)} half-cycles after a turn used, rms distance {rms:.3g} N m"]
    if outliers:
        numbers = ", ".join(str(k + 1) for k in outliers)
        notes.append(f"left out as far from the others: half-cycle {numbers} after the first turn")
    refused = ""
    if not gap:
        refused = NOT_CENTRED
    return TransmissionEstimate(
        NAME,
        stiffness=float(theta[STIFFNESS]),
        backlash=float(theta[BACKLASH]) if gap else None,
        friction=float(theta[FRICTION]),
        stiffness_std=float(std[STIFFNESS]),
        backlash_std=float(std[BACKLASH]) if gap else None,
        friction_std=float(std[FRICTION]),
        refused=refused,
        notes=tuple(notes),
    )
