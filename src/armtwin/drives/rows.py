"""Rows of the coordinates: every one-dimensional part sees a combination of them and acts along it.

x = s · u,   w = s · v,   torques on the coordinates  F s
"""

from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.traced_fields import Index, Pattern


class Rows(NamedTuple):
    """Combinations of coordinates, most of them of one or two.

    Attributes:
        weights: s of each row, (rows, N).
        place: Coordinates that have a weight, in their order, (rows, N); the rest is of no use.
        used: How many have one, (rows,).
    """

    weights: Pattern
    place: Index
    used: Index


def pack_rows(weights: Floats, used: Any = None) -> Rows:
    """Rows with the coordinates that each one has, or may come to have."""
    acts = weights != 0 if used is None else used
    first_used = np.argsort(~acts, axis=1, kind="stable")
    return Rows(weights, first_used.astype(np.int64), acts.sum(axis=1).astype(np.int64))


def along(rows: Rows, r: int, x: Floats) -> float:
    """s · x of row r."""
    total = 0.0
    for k in range(rows.used[r]):
        j = rows.place[r, k]
        total += rows.weights[r, j] * x[j]
    return total


def add_along(rows: Rows, r: int, force: float, total: Floats) -> None:
    """Add a torque along row r to those of the coordinates."""
    for k in range(rows.used[r]):
        j = rows.place[r, k]
        total[j] += force * rows.weights[r, j]
