"""Robust least squares: the hysteretic transmission fitted to all samples, with uncertainties.

Distances of the samples from the curve (`hysteresis`) are minimised by robust least squares (soft
L1 loss); half-cycles far from the rest, as those of a start transient, are left out and the fit is
repeated. Half-cycles are the blocks of its deviations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.clamping.algorithm_one import BEYOND, NOT_CENTRED
from armtwin.identification.clamping.curves import line
from armtwin.identification.clamping.estimate import TransmissionEstimate, named
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
from armtwin.identification.fitting.estimate import ParameterEstimate, RowNoise, assess
from armtwin.identification.fitting.separable import ShapeParameters, search
from armtwin.maths.batch import Floats, Indices, TwoArrays

NAME = "least squares"
LEAST_TURNS = 2  # half-cycles that follow a turn
TUKEY = 2.0  # standard deviations beyond which a distance is down-weighted
FAR = 3.0  # times the usual distance at which a half-cycle is left out
SHORTEST_BENDING, LONGEST_BENDING = 2e-3, 0.2  # of the whole turn: pre-sliding distance r
ZERO_TORQUE = 0.2  # of the friction: what forward and backward friction differ by, about
STARTS = (0.0, 0.03, 0.12)  # of the whole turn: backlashes from which the search starts
ROUNDS = 2  # of the search, each with the spread of the one before
FREE = [STIFFNESS, BACKLASH, FRICTION, CENTRE, OFFSET, BENDING]
FREE_WITHOUT_GAP = [STIFFNESS, FRICTION, CENTRE, BENDING]
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
    size = np.array([torque / turn, turn, torque, turn, torque, turn])
    residual = distances(theta, used) * torque
    sizes = size[FREE if gap else FREE_WITHOUT_GAP]
    fitted = _assess(theta, used, gap).transform(lambda free: free * sizes, 1 / sizes)
    found = _build_estimate(fitted, residual, gap, outliers, turns.count)
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
    free = FREE if gap else FREE_WITHOUT_GAP
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
    lowest = np.array([1e-6, 0.0, 1e-9, -np.inf, -np.inf, SHORTEST_BENDING])
    highest = np.array([np.inf, 0.9, np.inf, np.inf, np.inf, LONGEST_BENDING])
    theta = np.clip(start, lowest, highest)
    empty = np.zeros((len(turns.q) + 1, 0))
    for _ in range(ROUNDS):
        scale = _spread(distances(theta, turns))

        def whole(x: Floats, former: Floats = theta) -> Floats:
            changed = former.copy()
            changed[free] = x
            return changed

        def model(x: Floats, scale: float = scale) -> TwoArrays:
            now = whole(x)
            prior = np.sqrt(_prior_of_offset(now, turns, scale)) * now[OFFSET]
            return empty, np.append(distances(now, turns), prior)

        def slopes(x: Floats, _: Floats, scale: float = scale) -> Floats:
            now = whole(x)
            row = np.zeros(6)
            row[OFFSET] = np.sqrt(_prior_of_offset(now, turns, scale))
            row[FRICTION] = -row[OFFSET] * now[OFFSET] / now[FRICTION]
            return -np.vstack([slopes_of_distances(now, turns), row])[:, free]

        inside = np.clip(theta[free], lowest[free], highest[free])
        limits = lowest[free], highest[free]
        shapes = ShapeParameters(inside, *limits, close=1e-6, outlying=TUKEY * scale, slopes=slopes)
        theta = whole(search(model, shapes)[0])
    final = TUKEY * _spread(distances(theta, turns))
    return theta, float(np.mean(_soft(distances(theta, turns), final)))


def _prior_of_offset(theta: Floats, turns: Turns, scale: float) -> float:
    """One over the square of the prior's deviation of the offset, weak beside the samples."""
    return len(turns.q) * (1e-3 * scale / (ZERO_TORQUE * theta[FRICTION])) ** 2


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


def _assess(theta: Floats, turns: Turns, gap: bool) -> ParameterEstimate:
    """The parameters that were free, half-cycles being independent of each other."""
    free = FREE if gap else FREE_WITHOUT_GAP
    e = distances(theta, turns)
    J = slopes_of_distances(theta, turns)[:, free]
    scale = _spread(e)
    root = (1 + (e / (TUKEY * scale)) ** 2) ** -0.25
    prior = np.zeros(6)
    prior[OFFSET] = _prior_of_offset(theta, turns, scale)
    noise = RowNoise(turns.number, independent=None)
    rows = (J * root[:, None])[:, None], (e * root)[:, None]
    return assess(theta[free], *rows, noise, prior[free])


def _build_estimate(
    fitted: ParameterEstimate, residual: Floats, gap: bool, outliers: list[int], count: int
) -> TransmissionEstimate:
    rms = float(np.sqrt(np.mean(residual**2)))
    notes = [f"{count - len(outliers)} half-cycles after a turn used, rms distance {rms:.3g} N m"]
    if outliers:
        numbers = ", ".join(str(k + 1) for k in outliers)
        notes.append(f"left out as far from the others: half-cycle {numbers} after the first turn")
    free = FREE if gap else FREE_WITHOUT_GAP
    numbered = {"stiffness": STIFFNESS, "friction": FRICTION}
    if gap:
        numbered["backlash"] = BACKLASH
    found = TransmissionEstimate(NAME, refused="" if gap else NOT_CENTRED, notes=tuple(notes))
    for name, place in numbered.items():
        found = replace(found, **named(name, fitted.only([free.index(place)])))
    return found
