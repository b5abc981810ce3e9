"""Which samples of a run a report keeps: an even grid, and every peak."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.predict import Prediction

GRID = 1400  # samples evenly in time
BUCKETS = 300  # stretches of time in each of which the extremes of the path error are kept
JOINT_BUCKETS = 20  # and those of each joint


def kept_times(p: Prediction) -> Floats:
    """Times of the samples a report shows: an even grid, the extremes of errors and torques, the ends of spans."""
    error, log = p.path_error, p.log
    times = [np.linspace(log.time[0], error.time[-1], GRID)]
    for values in (error.lateral, error.vertical):
        times.append(extremes(error.time, values, BUCKETS))
        times.append(extremes(error.time, np.where(error.speed_ref > 0, values, 0.0), 1))
    for j in range(p.robot.n):
        for values in (log.q[:, j] - log.q_ref[:, j], log.tau[:, j]):
            times.append(extremes(log.time, values, JOINT_BUCKETS))
    return np.unique(np.concatenate(times))


def extremes(time: Floats, values: Floats, buckets: int) -> Floats:
    """Times of the smallest and the largest value in each of several stretches of a series."""
    edges = np.linspace(0, len(values), min(buckets, len(values)) + 1).astype(int)
    found = []
    for a, b in pairwise(edges):
        found += [a + int(values[a:b].argmin()), a + int(values[a:b].argmax())]
    return time[found]


def at_times(times: Floats, own: Floats, values: Floats) -> Floats:
    """A series at other times, straight between its samples, (k,)."""
    return np.interp(times, own, values)
