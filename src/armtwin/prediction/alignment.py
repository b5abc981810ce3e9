"""The time shift between two recordings of one motion."""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats

GRID = 400  # shifts tried, and samples looked at, on each level of the search
LEVELS = 3
STEPS = 20
LEAST_MOVING = 0.5  # share of the motion that a recording must hold


def align(time: Floats, q: Floats, wanted_time: Floats, wanted: Floats) -> float:
    """Time in a recording at which a wanted motion begins [s].

    Least squares over the samples that both have.

    Args:
        time: Times of the recording, (m,).
        q: Its positions, (m, n).
        wanted_time: Times of the wanted motion, from 0, (k,).
        wanted: Its positions, (k, n).
    """
    travel = np.ptp(wanted, axis=0)
    if not (travel > 0).any():
        raise ArmtwinError("a motion without movement cannot be aligned in time")
    scale = 1 / np.where(travel > 0, travel, np.inf)
    moving = np.flatnonzero((np.abs(np.diff(wanted, axis=0)) * scale).max(axis=1) > 1e-7)
    begin, end = wanted_time[moving[0]], wanted_time[moving[-1] + 1]
    limits = _possible(time, begin, end)
    thin = wanted_time[:: max(1, len(wanted_time) // (2 * GRID))]
    points = _at(thin, wanted_time, wanted) * scale
    low, high = limits
    best = low
    for _ in range(LEVELS):
        shifts = np.linspace(low, high, GRID)
        costs = []
        for shift in shifts:
            motion = (begin + shift, end + shift)
            costs.append(_cost(time, q, thin + shift, points, scale, motion))
        best = float(shifts[int(np.argmin(costs))])
        step = (high - low) / (GRID - 1)
        low = max(best - 2 * step, limits[0])
        high = min(best + 2 * step, limits[1])
    polished = _polished(time, q, wanted_time, wanted, scale, best)
    return polished if abs(polished - best) < 0.1 * (end - begin) else best


def _possible(time: Floats, begin: float, end: float) -> tuple[float, float]:
    """Smallest and largest shift at which a recording holds enough of a motion; it may be cut."""
    need = LEAST_MOVING * (end - begin)
    low, high = time[0] - end + need, time[-1] - begin - need
    length = time[-1] - time[0]
    if low > high or length < need:
        raise ArmtwinError(
            f"the log of {length:.4g} s is too short for a motion of {end - begin:.4g} s: "
            f"at least {100 * LEAST_MOVING:.0f} % of it must be there"
        )
    return low, high


def _at(times: Floats, own: Floats, values: Floats) -> Floats:
    """Columns of values at other times, (k, n)."""
    return np.stack([np.interp(times, own, column) for column in values.T], axis=1)


def _cost(
    time: Floats, q: Floats, at: Floats, points: Floats, scale: Floats, motion: tuple[float, float]
) -> float:
    """Mean square distance of a recording from shifted points, over the motion."""
    both = (at >= time[0]) & (at <= time[-1]) & (at >= motion[0]) & (at <= motion[1])
    if not both.any():
        return float("inf")
    near = np.clip(np.searchsorted(time, at[both]), 0, len(time) - 1)
    return float(np.mean((q[near] * scale - points[both]) ** 2))


def _polished(
    time: Floats, q: Floats, wanted_time: Floats, wanted: Floats, scale: Floats, shift: float
) -> float:
    """The shift by Gauss-Newton steps: what of the difference looks like a speed."""
    speed = np.gradient(wanted, wanted_time, axis=0)
    first = shift
    for _ in range(STEPS):
        both = (time >= shift) & (time <= shift + wanted_time[-1])
        at = time[both] - shift
        model = _at(at, wanted_time, wanted)
        v = _at(at, wanted_time, speed) * scale
        gap = q[both] - model
        step = -float((v * gap * scale).sum() / max((v * v).sum(), 1e-300))
        shift += step
        if abs(step) < 1e-9 or abs(shift - first) > wanted_time[-1]:
            break
    return shift
