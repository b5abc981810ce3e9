"""Samples of a series that a report keeps, an even grid and every peak, and how it packs them."""

import base64
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from armtwin.maths.batch import Floats, Integers, Sentences

Some = TypeVar("Some", Floats, Integers, list[int])


class Deferred(Mapping[str, Floats]):
    """Series by name that are computed when one of them is first read."""

    def __init__(self, compute: Callable[[], Mapping[str, Floats]]) -> None:
        self._compute = compute

    @cached_property
    def _series(self) -> Mapping[str, Floats]:
        return self._compute()

    def __getitem__(self, name: str) -> Floats:
        return self._series[name]

    def __iter__(self) -> Sentences:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)


def extremes(time: Floats, values: Floats, buckets: int) -> Floats:
    """Times of the smallest and the largest value in each of several stretches of a series."""
    edges = np.linspace(0, len(values), min(buckets, len(values)) + 1).astype(int)
    found = []
    for first, after in pairwise(edges):
        some = values[first:after]
        found.append(first + int(some.argmin()))
        found.append(first + int(some.argmax()))
    return time[found]


def thin_out(values: Some, most: int) -> Some:
    """About as many of the values as asked for, evenly, or all where there are fewer."""
    return values[:: max(1, len(values) // most)]


def at_times(times: Floats, own: Floats, values: Floats) -> Floats:
    """A series at other times, straight between its samples, (k,)."""
    return np.interp(times, own, values)


def sample_at(times: Floats, time: float) -> int:
    """Number of the first kept sample that is not before a time."""
    return int(np.searchsorted(times, time))


def encode_series(values: Floats) -> str:
    """A series as base64 of 32-bit floats, the smallest that keeps what a plot can show."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
