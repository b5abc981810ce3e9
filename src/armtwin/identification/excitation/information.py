"""Information of a motion on the parameters: singular values of the scaled regressor, criteria.

    N = Σ_j Y_jᵀ Y_j / (T_j² m)        rows over their joint's largest torque T_j, m samples
    A = Y C H:  σ(A)² = eig(Sᵀ N S)    H = diag(prior values), C H = Sᵀ Qᵀ        ("parameters")
    A = Y D:    σ(A)² = eig(D N D)     D = diag(N)^-½                              ("columns")

Y holds the r independent columns; those of all p parameters are Y C. The nonzero singular values of
the p scaled columns are then those of the r columns Y S. Criteria are logarithms, so that 0.1 is
10 %; σ_min is taken as a norm of 1/σ, which has a slope also where singular values meet.

Ref: [Waiboer 2007, eq. 4.62-4.64, 4.68, 4.72-4.74], [Memar-Esfahani 2015, eq. 17]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.identification.excitation.plan import ExcitationPlan, Scaling
from armtwin.identification.rigid_body.fit.free_parameters import sizes_of
from armtwin.identification.rigid_body.fit.identifiability import analyse_identifiability
from armtwin.maths.batch import Floats, Pair
from armtwin.robot.robot import Robot

NORM = 4.0  # of 1/λ that is used as the largest while searching


class Value(NamedTuple):
    """A criterion, the less the better, and its slope by N, (r, r)."""

    value: float
    slope: Floats


@dataclass(frozen=True, eq=False)
class Scales:
    """Scales of rows and columns.

    Attributes:
        torque: Largest torques T of the joints, (n,).
        root: S, (r, r).
        sizes: Size of each independent combination of parameters, (r,).
        base: Values of the combinations, C φ, (r,).
    """

    torque: Floats
    root: Floats
    sizes: Floats
    base: Floats

    @staticmethod
    def of(robot: Robot, torque: Floats) -> Scales:
        """The scales of a robot with largest joint torques (n,)."""
        C = analyse_identifiability(robot).combination
        scaled = C * sizes_of(robot.parameter_table)
        R = np.asarray(np.linalg.qr(scaled.T, mode="r"))
        sizes = np.linalg.norm(scaled, axis=1)
        return Scales(torque, R.T.copy(), sizes, C @ robot.parameters)

    def normal(self, Y: Floats) -> Floats:
        """N of columns (m, n, r)."""
        rows = (Y / self.torque[:, None]).reshape(-1, Y.shape[2])
        return rows.T @ rows / len(Y)

    def by_columns(self, Y: Floats, slope: Floats) -> Floats:
        """dF/dY, (m, n, r), from dF/dN."""
        weight = (2 / len(Y)) / self.torque[:, None] ** 2
        return (Y * weight) @ slope


def singular_values(N: Floats, scales: Scales, scaling: Scaling) -> Floats:
    """Singular values of the scaled columns over √m, falling, (r,)."""
    B = _transform(N, scales, scaling)
    found = np.linalg.eigvalsh(B.T @ N @ B)
    return np.sqrt(np.maximum(found, 0.0))[::-1]


def deviations(N: Floats, scales: Scales) -> Floats:
    """Standard deviations of the independent combinations over their sizes, (r,).

    For torques whose deviation is that of their scale, from one sample.
    """
    norms = np.sqrt(np.diag(N))
    inverse = np.linalg.inv(N / np.outer(norms, norms))
    return np.sqrt(np.diag(inverse)) / norms / scales.sizes


def criterion_of(N: Floats, scales: Scales, plan: ExcitationPlan, norm: float = NORM) -> Value:
    """A plan's criterion and its slope."""
    if plan.criterion == "log_det":
        return log_det_of(N)
    B = _transform(N, scales, plan.scaling)
    values, vectors = np.linalg.eigh(B.T @ N @ B)
    values = np.maximum(values, 1e-18 * values[-1])
    low = _norm(1 / values, norm)
    high = _norm(values, norm)
    # log 1/σ_min and log σ_max, with slopes by the eigenvalues
    least, most = 0.5 * np.log(low.value), 0.5 * np.log(high.value)
    by_least = -0.5 * low.slope / low.value / values**2
    by_most = 0.5 * high.slope / high.value
    if plan.criterion == "sigma_min":
        value, by_values = least, by_least
    elif plan.criterion == "condition":
        value, by_values = least + most, by_least + by_most
    else:
        value, by_values = _weigh(least, most, by_least, by_most, plan.weights)
    by_scaled = (vectors * by_values) @ vectors.T
    slope = B @ by_scaled @ B.T
    if plan.scaling == "columns":
        slope = slope - np.diag(np.einsum("ij,ij->i", slope, N) / np.diag(N))
    return Value(float(value), slope)


def log_det_of(N: Floats) -> Value:
    """-log det(N) / (2 r), the mean of log 1/σ; scales only shift it."""
    r = len(N)
    norms = np.sqrt(np.diag(N))
    scaled = N / np.outer(norms, norms)
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        return Value(np.inf, np.zeros_like(N))
    value = -(np.log(np.diag(factor)).sum() + np.log(norms).sum()) / r
    half = np.linalg.inv(factor)
    inverse = half.T @ half
    return Value(float(value), -inverse / np.outer(norms, norms) / (2 * r))


def _norm(x: Floats, k: float) -> Value:
    """(Σ x^k)^(1/k) and its slope by x."""
    top = float(x.max())
    share = (x / top) ** k
    total = float(share.sum())
    value = top * total ** (1 / k)
    return Value(value, (x / value) ** (k - 1))


def _weigh(
    least: float, most: float, by_least: Floats, by_most: Floats, weights: Pair
) -> tuple[float, Floats]:
    """log(λ₁ cond + λ₂ / σ_min) and its slope by the eigenvalues."""
    cond = weights[0] * np.exp(least + most)
    inverse = weights[1] * np.exp(least)
    total = cond + inverse
    slope = (cond * (by_least + by_most) + inverse * by_least) / total
    return float(np.log(total)), slope


def _transform(N: Floats, scales: Scales, scaling: Scaling) -> Floats:
    """B with σ(A)² = eig(Bᵀ N B)."""
    if scaling == "parameters":
        return scales.root
    return np.diag(1 / np.sqrt(np.diag(N)))
