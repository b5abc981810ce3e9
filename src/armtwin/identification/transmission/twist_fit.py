"""Least squares of the twist: one time offset for all joints, a compliance for each elastic one.

Joints are weighted by their residual, and have a constant in each log. Standard deviations come
from the spread of gradients over stretches of the logs, as neighbouring samples are correlated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.transmission.twist_rows import TwistRows
from armtwin.maths.batch import Floats, TwoArrays

ROUNDS = 3  # of the weights
LEAST_RESIDUAL = 1e-9  # [rad]


@dataclass(frozen=True, eq=False)
class TwistFit:
    """Time offset, compliances and gaps.

    Attributes:
        offset: Time by which the link encoders are late, d [s].
        offset_std: Its standard deviation [s].
        compliance: 1 / K of each joint, 0 where it has none, (k,) [rad/(N m)].
        compliance_std: Standard deviations, (k,).
        gap: Half of the lost motion of each joint, 0 where it has none, (k,) [rad].
        gap_std: Standard deviations, (k,).
        extra: Coefficients of further columns.
        extra_std: Their standard deviations.
    """

    offset: float
    offset_std: float
    compliance: Floats
    compliance_std: Floats
    gap: Floats
    gap_std: Floats
    extra: Floats
    extra_std: Floats

    def left(self, rows: TwistRows) -> Floats:
        """Twist that is not explained, each log's constant removed, (m, k) [rad]."""
        explained = self.offset * rows.late + self.compliance * rows.load + self.gap * rows.side
        residual = rows.twist - explained
        for number in np.unique(rows.log):
            here = rows.log == number
            residual[here] -= residual[here].mean(axis=0)
        return residual


def fit_twist(
    rows: TwistRows,
    elastic: Sequence[int],
    loose: Sequence[int] = (),
    extra: Sequence[tuple[int, Floats]] = (),
) -> TwistFit:
    """Fit the twist.

    Args:
        rows: The samples.
        elastic: Joints that have a compliance.
        loose: Joints that have lost motion.
        extra: Further columns: the joint and what its twist may be proportional to, (m,).
    """
    X, y = _system(rows, elastic, loose, extra)
    weight = np.ones(rows.joints)
    theta = np.zeros(X.shape[2])
    for _ in range(ROUNDS):
        A = (X * weight[:, None, None]).reshape(-1, X.shape[2])
        size = np.linalg.norm(A, axis=0) + 1e-300
        theta = np.linalg.lstsq(A / size, (y * weight[:, None]).ravel(), rcond=None)[0] / size
        residual = y - X @ theta
        spread = np.sqrt((residual**2).sum(axis=1) / np.maximum(rows.moving.sum(axis=0), 1))
        weight = 1 / np.maximum(spread, LEAST_RESIDUAL)
    std = _deviations(X, residual, weight, rows)
    springs = slice(1, 1 + len(elastic))
    gaps = slice(springs.stop, springs.stop + len(loose))
    return TwistFit(
        offset=float(theta[0]),
        offset_std=float(std[0]),
        compliance=_of_joints(rows, elastic, theta[springs], 0.0),
        compliance_std=_of_joints(rows, elastic, std[springs], np.nan),
        gap=_of_joints(rows, loose, theta[gaps], 0.0),
        gap_std=_of_joints(rows, loose, std[gaps], np.nan),
        extra=theta[gaps.stop :],
        extra_std=std[gaps.stop :],
    )


def _of_joints(rows: TwistRows, joints: Sequence[int], values: Floats, otherwise: float) -> Floats:
    """Values of chosen joints among all, (k,)."""
    every = np.full(rows.joints, otherwise)
    every[list(joints)] = values
    return every


def _system(
    rows: TwistRows,
    elastic: Sequence[int],
    loose: Sequence[int],
    extra: Sequence[tuple[int, Floats]],
) -> TwoArrays:
    """Columns (k, m, p) and twist (k, m) of the moving samples, each log's means removed."""
    m, joints = rows.twist.shape
    X = np.zeros((joints, m, 1 + len(elastic) + len(loose) + len(extra)))
    X[:, :, 0] = rows.late.T
    for place, j in enumerate(elastic, 1):
        X[j, :, place] = rows.load[:, j]
    for place, j in enumerate(loose, 1 + len(elastic)):
        X[j, :, place] = rows.side[:, j]
    for place, (j, column) in enumerate(extra, 1 + len(elastic) + len(loose)):
        X[j, :, place] = column
    y = rows.twist.T.copy()
    moving = rows.moving.T
    for j in range(joints):
        for number in np.unique(rows.log):
            here = moving[j] & (rows.log == number)
            X[j, here] -= X[j, here].mean(axis=0)
            y[j, here] -= y[j, here].mean()
    X[~moving] = 0.0
    y[~moving] = 0.0
    return X, y


def _deviations(X: Floats, residual: Floats, weight: Floats, rows: TwistRows) -> Floats:
    """Standard deviations of the coefficients, stretches of the logs counted as one each."""
    scaled = X * weight[:, None, None]
    size = np.linalg.norm(scaled.reshape(-1, X.shape[2]), axis=0) + 1e-300
    scaled = scaled / size
    flat = scaled.reshape(-1, X.shape[2])
    inverse = np.linalg.pinv(flat.T @ flat, hermitian=True)
    pulls = np.einsum("jmc,jm->mc", scaled, residual * weight[:, None])
    stretches = np.unique(rows.block)
    sums = np.stack([pulls[rows.block == b].sum(axis=0) for b in stretches])
    count = len(stretches)
    spread = count / max(count - 1, 1) * inverse @ (sums.T @ sums) @ inverse
    return np.asarray(np.sqrt(np.diag(spread)) / size)
