"""Squares of the parts of logs as a function of gravity: the regressor is linear in it.

    Y(g) = Y(g₀) + Σ_k (g - g₀)_k W_k        W_k = Y of weight alone, gravity 1 along axis k

Only masses and first moments have a weight. With Z = [Y(g₀) | W_x | W_y | W_z | τ] the squares Zᵀ Z
of each part and joint give every fit for every gravity; the rows are read once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armtwin.identification.fitting.factors import Factors
from armtwin.identification.rigid_body.data.clean_log import CleanLog, Integers
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.identification.rigid_body.fit.regression import RegressionModel, select_rows
from armtwin.logs.cleaning import filter_values
from armtwin.maths.batch import Flags, Floats
from armtwin.mechanics.regressor import HEAVY, OF_A_BODY

PARTS = 6  # into which the logs are cut at least, to be left out in turn
SAMPLES = 3000  # of all logs
LEAST_SAMPLES = 200  # of one part at least


@dataclass(frozen=True, eq=False)
class GravitySquares:
    """Squares of parts of logs with gravity free.

    Attributes:
        gravity: g₀ [m/s²], (3,).
        heavy: Which parameters have a weight, (h,).
        squares: Zᵀ Z of each part and joint, (parts, n, p + 3 h + 1, p + 3 h + 1).
        count: Rows of each part and joint, (parts, n).
    """

    gravity: Floats
    heavy: Integers
    squares: Floats
    count: Floats

    @cached_property
    def whole(self) -> Floats:
        """Squares of all parts, (n, c, c)."""
        return self.squares.sum(axis=0)

    @property
    def rows(self) -> float:
        """Number of all rows."""
        return float(self.count.sum())

    def scaled(self, gains: Floats) -> GravitySquares:
        """These squares with each joint's target times its gain (n,)."""
        if (gains == 1).all():
            return self
        squares = self.squares.copy()
        squares[:, :, -1, :] *= gains[:, None]
        squares[:, :, :, -1] *= gains[:, None]
        return replace(self, squares=squares)

    def map_columns(self, A: Floats, g: Floats) -> Floats:
        """T A with Z T = [Y(g) | τ], (c, ...), for coordinates of these columns A (p + 1, ...)."""
        p, h = len(A) - 1, len(self.heavy)
        found = np.empty((self.squares.shape[-1], *A.shape[1:]))
        found[:p] = A[:-1]
        found[-1] = A[-1]
        for k, more in enumerate(g - self.gravity):
            found[p + k * h : p + (k + 1) * h] = more * A[self.heavy]
        return found

    def by_gravity(self, phi: Floats) -> Floats:
        """∂(Z T [φ, 0])/∂g in the columns of Z, (c, 3)."""
        p, h = len(phi), len(self.heavy)
        D = np.zeros((self.squares.shape[-1], 3))
        for k in range(3):
            D[p + k * h + np.arange(h), k] = phi[self.heavy]
        return D

    def factors(self, g: Floats) -> Factors:
        """Factors of all parts for a gravity, in all parameters."""
        p = self.squares.shape[-1] - 1 - 3 * len(self.heavy)
        T = self.map_columns(np.eye(p + 1), g)
        roots = []
        for square in T.T @ self.whole @ T:
            size, direction = np.linalg.eigh(square)
            roots.append(np.sqrt(size.clip(0))[:, None] * direction.T)
        return Factors(np.array(roots), self.count.sum(axis=0), np.eye(T.shape[1] - 1))


def compute_gravity_squares(experiment: IdentificationData) -> GravitySquares:
    """Squares of stretches of all logs, spread over them."""
    of_each_log = -(-PARTS // len(experiment.clean))
    samples = max(LEAST_SAMPLES, SAMPLES // (of_each_log * len(experiment.clean)))
    links = experiment.prior.layout.links
    heavy = np.concatenate([OF_A_BODY * k + np.arange(HEAVY) for k in range(links)])
    squares, count = [], []
    for log in experiment.clean:
        stretches = log.stretches(of_each_log, samples)
        for stretch in stretches:
            Z = _columns(experiment.model, stretch)
            used = np.abs(stretch.clean.v[select_rows(stretch)]) >= experiment.rest
            for rows in np.array_split(np.arange(len(Z)), of_each_log // len(stretches)):
                squares.append(_squares(Z[rows], used[rows]))
                count.append(used[rows].sum(axis=0))
    gravity = np.array(experiment.prior.description.gravity)
    return GravitySquares(gravity, heavy, np.array(squares), np.array(count))


def _columns(model: RegressionModel, log: CleanLog) -> Floats:
    """Z of a log through its filter, (k, n, c), of columns with the file's gravity."""
    how, motion = log.how, log.motion
    m, n = motion.q.shape
    by_weight = model.robot.weight_regressor(motion.q).reshape(m, n, -1)
    p = len(model.robot.parameters)
    c = p + by_weight.shape[2]
    columns = np.empty((m, n, c))
    columns[:, :, p:] = by_weight
    first = 0
    for Y in model.regressors(motion):
        columns[first : first + len(Y), :, :p] = Y
        first += len(Y)
    flat = columns.reshape(m, n * c)
    busy = flat.any(axis=0)
    kept = select_rows(log)
    small = np.zeros((len(kept), n * c))
    small[:, busy] = filter_values(flat[:, busy], how, overwrite=True)[kept]
    tau = log.clean.tau[kept]
    return np.concatenate([small.reshape(-1, n, c), tau[:, :, None]], axis=2)


def _squares(Z: Floats, used: Flags) -> Floats:
    """Zᵀ Z of each joint's rows that count, (n, c, c)."""
    _, n, c = Z.shape
    found = np.zeros((n, c, c))
    for j in range(n):
        rows = Z[used[:, j], j]
        busy = np.flatnonzero(rows.any(axis=0))
        some = rows[:, busy]
        found[j][np.ix_(busy, busy)] = some.T @ some
    return found
