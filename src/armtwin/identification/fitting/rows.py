"""Rows of a regression: contribution of each parameter to a target, in one or several channels.

target_j = Y_j β + noise        for each channel j, as each joint of a robot
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from armtwin.maths.batch import Flags, Floats


@dataclass(frozen=True, eq=False)
class RegressionRows:
    """Rows of a regression.

    Attributes:
        Y: Columns of the parameters that each channel has, channel after channel, (k, c).
        busy: Which parameters these are, (n, r).
        target: The values that the columns explain, (k, n).
        used: Whether a row counts, (k, n).
    """

    Y: Floats
    busy: Flags
    target: Floats
    used: Flags

    def of_channel(self, j: int) -> Floats:
        """The columns of one channel, (k, its parameters)."""
        first = int(self.busy[:j].sum())
        last = first + int(self.busy[j].sum())
        return self.Y[:, first:last]

    def table(self, j: int) -> Floats:
        """Columns and target of one channel, of its rows that count, (k, its parameters + 1)."""
        columns = self.of_channel(j)
        used = self.used[:, j]
        which = slice(None) if used.all() else used
        target = self.target[which, j]
        table = np.empty((len(target), columns.shape[1] + 1), order="F")
        table[:, :-1] = columns[which]
        table[:, -1] = target
        return table

    def predicted(self, beta: Floats) -> Floats:
        """Y β of each channel, (k, n), for parameters β (r,)."""
        each = [self.of_channel(j) @ beta[busy] for j, busy in enumerate(self.busy)]
        return np.stack(each, axis=1)

    def between(self, first: int, last: int) -> RegressionRows:
        """The rows from one number to before another."""
        some = slice(first, last)
        return RegressionRows(self.Y[some], self.busy, self.target[some], self.used[some])

    def in_parts(self, count: int, first: int = 0) -> list[RegressionRows]:
        """The rows from a first one on in parts of equal length, one after the other."""
        edges = np.linspace(first, len(self.target), count + 1).astype(int).tolist()
        return [self.between(first, last) for first, last in pairwise(edges)]
