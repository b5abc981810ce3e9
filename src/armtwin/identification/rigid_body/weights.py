"""Squares of the parts of logs as a function of gravity: the regressor is linear in it.

    Y(g) = Y(g₀) + Σ_k (g - g₀)_k W_k        W_k = Y of weight alone, gravity 1 along axis k

Only masses and first moments have a weight. With Z = [Y(g₀) | W_x | W_y | W_z | τ] the squares Zᵀ Z
of each part and joint give every fit for every gravity; the rows are read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from armtwin.identification.fitting.factors import Factors
from armtwin.identification.rigid_body.clean_log import CleanLog, Integers
from armtwin.identification.rigid_body.experiment import Experiment
from armtwin.identification.rigid_body.regression import Model
from armtwin.logs.cleaning import filtered
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats

PARTS = 6  # into which the logs are cut at least, to be left out in turn
SAMPLES = 3000  # of all logs
LEAST_SAMPLES = 200  # the same at least of one part
HEAVY = 4  # of a link's ten parameters have a weight: its mass and first moments, the first
OF_A_LINK = 10


@dataclass(frozen=True, eq=False)
class Weights:
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
        return np.asarray(self.squares.sum(axis=0))

    @property
    def rows(self) -> float:
        """Number of all rows."""
        return float(self.count.sum())

    def scaled(self, gains: Floats) -> Weights:
        """The same with other targets, each joint's times its gain (n,)."""
        if (gains == 1).all():
            return self
        squares = self.squares.copy()
        squares[:, :, -1, :] *= gains[:, None]
        squares[:, :, :, -1] *= gains[:, None]
        return replace(self, squares=squares)

    def mapped(self, A: Floats, g: Floats) -> Floats:
        """T A with Z T = [Y(g) | τ], (c, ...), for coordinates of these columns A (p + 1, ...)."""
        c, h = self.squares.shape[-1], len(self.heavy)
        p = c - 1 - 3 * h
        found = np.empty((c, *A.shape[1:]))
        found[:p] = A[:-1]
        found[-1] = A[-1]
        for k, more in enumerate(g - self.gravity):
            found[p + k * h : p + (k + 1) * h] = more * A[self.heavy]
        return found

    def by_gravity(self, phi: Floats) -> Floats:
        """∂(Z T [φ, 0])/∂g in the columns of Z, (c, 3)."""
        c = self.squares.shape[-1]
        h = len(self.heavy)
        p = c - 1 - 3 * h
        D = np.zeros((c, 3))
        for k in range(3):
            D[p + k * h + np.arange(h), k] = phi[self.heavy]
        return D

    def factors(self, g: Floats) -> Factors:
        """Factors of all parts for a gravity, in all parameters."""
        p = self.squares.shape[-1] - 1 - 3 * len(self.heavy)
        T = self.mapped(np.eye(p + 1), g)
        roots = []
        for square in T.T @ self.whole @ T:
            size, direction = np.linalg.eigh(square)
            roots.append(np.sqrt(size.clip(0))[:, None] * direction.T)
        return Factors(np.array(roots), self.count.sum(axis=0), np.eye(T.shape[1] - 1))


def weights(experiment: Experiment) -> Weights:
    """Squares of stretches of all logs, spread over them."""
    of_each_log = -(-PARTS // len(experiment.clean))
    samples = max(LEAST_SAMPLES, SAMPLES // (of_each_log * len(experiment.clean)))
    links = experiment.prior.layout.links
    heavy = np.concatenate([OF_A_LINK * k + np.arange(HEAVY) for k in range(links)])
    squares, count = [], []
    for log in experiment.clean:
        stretches = list(_stretches(log, of_each_log, samples))
        for stretch in stretches:
            Z = _columns(experiment.model, stretch, heavy)
            used = _used(experiment, stretch)
            for rows in np.array_split(np.arange(len(Z)), of_each_log // len(stretches)):
                squares.append(_squares(Z[rows], used[rows]))
                count.append(used[rows].sum(axis=0))
    gravity = np.array(experiment.prior.description.gravity)
    return Weights(gravity, heavy, np.array(squares), np.array(count))


def _stretches(log: CleanLog, parts: int, samples: int) -> Iterator[CleanLog]:
    """The middle of each part of a log, of so many samples at most.

    Whole periods are one stretch, as their Fourier series cannot be cut before its rows are.
    """
    if log.how.differentiation == "fourier":
        yield log
        return
    edges = np.linspace(0, len(log.clean.time), parts + 1).astype(int)
    for first, last in pairwise(edges.tolist()):
        skipped = max(0, last - first - samples) // 2
        some = slice(first + skipped, last - skipped)
        yield replace(log, raw=_cut(log.raw, some), clean=_cut(log.clean, some))


def _cut(log: Log, some: slice) -> Log:
    channels = {name: values[some] for name, values in log.channels.items()}
    return Log(log.time[some], channels)


def _columns(model: Model, log: CleanLog, heavy: Integers) -> Floats:
    """Z of a log through its filter, (k, n, c).

    Args:
        model: The columns with the file's gravity.
        log: The clean log.
        heavy: Which parameters have a weight, (h,).
    """
    how, motion = log.how, log.motion
    blocks = [Y.copy() for Y in model.regressors(motion)]
    falling = model.robot.weight_regressor(motion.q)[..., heavy]
    m, _, n, h = falling.shape
    by_joint = falling.transpose(0, 2, 1, 3).reshape(m, n, 3 * h)
    columns = np.concatenate([np.concatenate(blocks), by_joint], axis=2)
    m, n, c = columns.shape
    flat = columns.reshape(m, n * c)
    busy = flat.any(axis=0)
    kept = _kept(log)
    small = np.zeros((len(flat[kept]), n * c))
    small[:, busy] = filtered(flat[:, busy], how)[kept]
    tau = log.clean.tau[kept]
    return np.concatenate([small.reshape(-1, n, c), tau[:, :, None]], axis=2)


def _used(experiment: Experiment, log: CleanLog) -> Flags:
    """Which rows of a log count, (k, n)."""
    return np.asarray(np.abs(log.clean.v[_kept(log)]) >= experiment.rest)


def _kept(log: CleanLog) -> slice:
    """The samples of a log that become rows."""
    how = log.how
    return slice(how.margin, len(log.clean.time) - how.margin, how.step)


def _squares(Z: Floats, used: Flags) -> Floats:
    """Zᵀ Z of each joint's rows that count, (n, c, c)."""
    found = []
    for j in range(Z.shape[1]):
        rows = Z[used[:, j], j]
        found.append(rows.T @ rows)
    return np.array(found)
