"""Reductions of narrow tables against numpy's."""

import numpy as np

from armtwin.maths.narrow import extremes, largest, ranges


def test_reductions_are_numpys(rng):
    table = rng.normal(size=(50, 7))
    for some in (table, table[:, 2:5], table[::3], table[:1], table.T.copy().T):
        low, high = extremes(some)
        assert (low == some.min(axis=0)).all()
        assert (high == some.max(axis=0)).all()
        assert (ranges(some) == np.ptp(some, axis=0)).all()
        assert (largest(some) == np.abs(some).max(axis=0)).all()
