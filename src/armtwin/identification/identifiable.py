"""Which parameters a motion can tell: alone, only in combination, or not at all.

Ref: [Memar-Esfahani 2015, section IV], [Waiboer 2007, section 4.3]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot

Group = Literal["alone", "combined", "none"]
STATES = 200
SMALL = 1e-8
SILENT = 1e-11


@dataclass(frozen=True, eq=False)
class Identifiable:
    """The structure of a robot's regressor.

    Attributes:
        rank: Number of base parameters.
        groups: For each parameter "alone", "combined" or "none".
        base: The base parameters as readable combinations.
        kept: Parameters whose columns are independent and stand for the others, (rank,).
        busy: Which kept columns each joint's row has, (n, rank).
        combination: Base parameters = combination @ φ, (rank, p); the regressor is Y[..., kept] @ combination.
    """

    rank: int
    groups: tuple[Group, ...]
    base: tuple[str, ...]
    kept: tuple[int, ...]
    busy: Flags
    combination: Floats


@lru_cache(maxsize=8)
def identifiable(robot: Robot) -> Identifiable:
    """What any motion could tell of a robot's parameters, from its regressor at random states."""
    from scipy.linalg import qr

    chance = np.random.default_rng(20070901)
    low, high = robot.position_limits
    span = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
    q = chance.uniform(*span, size=(STATES, robot.n))
    v, a = chance.normal(scale=2.0, size=(2, STATES, robot.n))
    W = robot.regressor(q, v, a).reshape(-1, len(robot.parameters))
    busy = np.asarray(W.reshape(STATES, robot.n, -1).any(axis=0))
    sizes = np.linalg.norm(W, axis=0)
    silent = sizes <= SILENT * sizes.max()  # columns that are zero but for rounding
    W[:, silent], sizes[silent] = 0.0, 0.0
    W = W / np.where(sizes > 0, sizes, 1.0)
    _, R, order = qr(W, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > SMALL * abs(R[0, 0])).sum())
    # W[:, dependent] = W[:, kept] @ beta
    beta = np.linalg.solve(R[:rank, :rank], R[:rank, rank:])
    beta[np.abs(beta) < SMALL] = 0.0
    kept, rest = order[:rank], order[rank:]
    C = np.zeros((rank, W.shape[1]))
    scale = np.where(sizes > 0, sizes, 1.0)
    C[np.arange(rank), kept] = 1.0
    C[:, rest] = beta * scale[rest] / scale[kept][:, None]
    names = robot.parameter_names
    groups: list[Group] = ["combined"] * len(names)
    for k in range(len(names)):
        if silent[k]:
            groups[k] = "none"
        elif k in kept and (np.delete(C[list(kept).index(k)], k) == 0).all():
            groups[k] = "alone"
    base = tuple(_readable(row, int(k), names) for row, k in zip(C, kept, strict=True))
    return Identifiable(rank, tuple(groups), base, tuple(int(k) for k in kept), busy[:, kept], C)


def _readable(row: Floats, first: int, names: tuple[str, ...]) -> str:
    """A combination of parameters as text, its own parameter first."""
    words = [names[first]]
    for k in np.flatnonzero(row):
        if k != first:
            factor = f"{abs(row[k]):.4g} " if abs(abs(row[k]) - 1) > 1e-6 else ""
            words.append(f"{'-' if row[k] < 0 else '+'} {factor}{names[k]}")
    return " ".join(words)
