"""Columns of a wide table picked into another, in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled

Integers = NDArray[np.intp]


@compiled
def pick(table: Floats, places: Integers, columns: Integers, out: Floats) -> None:
    """Fill some columns of out (m, ...) with those at some places of a table (m, ...)."""
    for k in range(len(table)):
        for c in range(len(places)):
            out[k, columns[c]] = table[k, places[c]]


@compiled
def pick_weighted(
    table: Floats, places: Integers, weights: Floats, columns: Integers, out: Floats
) -> None:
    """The same, each column times its weight."""
    for k in range(len(table)):
        for c in range(len(places)):
            out[k, columns[c]] = weights[c] * table[k, places[c]]
