"""Least squares of the twist: one time offset for all joints, a compliance for each elastic one.

Joints are weighted by what is left of them. Standard deviations come from the spread of gradients
over stretches of the logs: neighbouring samples tell the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.transmission.twist_rows import TwistRows
from armtwin.maths.batch import Floats

ROUNDS = 3  # of the weights


@dataclass(frozen=True, eq=False)
class TwistFit:
    """Time offset and compliances.

    Attributes:
        offset: Time by which the link encoders are late, d [s].
        offset_std: Its standard deviation [s].
        compliance: 1 / K of each joint, 0 where it has none, (k,) [rad/(N m)].
        compliance_std: Standard deviations, (k,).
        extra: Coefficient of one more column of one joint; NaN where there is none.
        extra_std: Its standard deviation.
    """

    offset: float
    offset_std: float
    compliance: Floats
    compliance_std: Floats
    extra: float = np.nan
    extra_std: float = np.nan

    def left(self, rows: TwistRows) -> Floats:
        """Twist that is not explained, (m, k) [rad]."""
        return np.asarray(rows.twist - self.offset * rows.speed - self.compliance * rows.load)


def fit_twist(
    rows: TwistRows, elastic: Sequence[int], extra: tuple[int, Floats] | None = None
) -> TwistFit:
    """Fit the twist.

    Args:
        rows: The samples.
        elastic: Joints that have a compliance.
        extra: One more column of one joint: its number and the column, (m,).
    """
    m, joints = rows.twist.shape
    columns = 1 + len(elastic) + (extra is not None)
    X = np.zeros((joints, m, columns))
    X[:, :, 0] = rows.speed.T
    for place, j in enumerate(elastic, 1):
        X[j, :, place] = rows.load[:, j]
    if extra is not None:
        X[extra[0], :, -1] = extra[1]
    y = rows.twist.T
    weight = np.ones(joints)
    theta = np.zeros(columns)
    for _ in range(ROUNDS):
        A = (X * weight[:, None, None]).reshape(-1, columns)
        size = np.linalg.norm(A, axis=0) + 1e-300
        theta = np.linalg.lstsq(A / size, (y * weight[:, None]).ravel(), rcond=None)[0] / size
        left = y - X @ theta
        weight = 1 / np.maximum(np.sqrt(np.mean(left**2, axis=1)), 1e-9)
    std = _deviations(X, left, weight, rows)
    compliance, compliance_std = np.zeros(joints), np.full(joints, np.nan)
    compliance[list(elastic)] = theta[1 : 1 + len(elastic)]
    compliance_std[list(elastic)] = std[1 : 1 + len(elastic)]
    fit = TwistFit(float(theta[0]), float(std[0]), compliance, compliance_std)
    if extra is None:
        return fit
    return TwistFit(
        fit.offset, fit.offset_std, compliance, compliance_std, float(theta[-1]), float(std[-1])
    )


def _deviations(X: Floats, left: Floats, weight: Floats, rows: TwistRows) -> Floats:
    """Standard deviations of the coefficients, stretches of the logs counted as one each."""
    scaled = X * weight[:, None, None]
    size = np.linalg.norm(scaled.reshape(-1, X.shape[2]), axis=0) + 1e-300
    scaled = scaled / size
    flat = scaled.reshape(-1, X.shape[2])
    inverse = np.linalg.pinv(flat.T @ flat, hermitian=True)
    pulls = np.einsum("jmc,jm->mc", scaled, left * weight[:, None])
    stretches = np.unique(rows.block)
    sums = np.stack([pulls[rows.block == b].sum(axis=0) for b in stretches])
    count = len(stretches)
    spread = count / max(count - 1, 1) * inverse @ (sums.T @ sums) @ inverse
    return np.sqrt(np.diag(spread)) / size
