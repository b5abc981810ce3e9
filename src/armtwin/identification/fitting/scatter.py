"""How far estimates from parts of the rows lie apart, against what independent rows would give.

    J = Σ_k d_k²        d_k = A^(-1/2) (I - M_k)^(1/2) A^(1/2) (φ_(k) - φ)

A filter and an imperfect model correlate the errors of neighbouring rows; the deviation of a fit
that takes rows as independent is then too small. It is multiplied by the geometric mean of
√(J / white variance) over the identified parameters.

φ_(k) is the estimate without part k, A the information of all rows and M_k = A^(-1/2) A_k A^(-1/2)
the share of the part in it. Without a part that alone contains a motion an estimate moves further
than all parts together err: the plain jackknife, (K - 1) / K Σ (φ_(k) - φ̄)², is then too large.
This one is right where the errors of rows are independent.

Ref: [Bell-McCaffrey 2002], [Efron 1982]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.least_squares import LeastSquaresFit
from armtwin.identification.fitting.regularisation import RegularisedFit
from armtwin.maths.batch import Flags, Floats


@dataclass(frozen=True, eq=False)
class Scatter:
    """Estimates with each part left out.

    Attributes:
        apart: How far their parameters lie from those of all, less what the motion of the part
            alone accounts for, (parts, p).
        missed: Root mean square residual of each channel in the parts left out, (n,).
    """

    apart: Floats
    missed: Floats

    def inflation(self, white: Floats, identified: Flags) -> float:
        """Factor by which deviations of identified parameters exceed white ones (p,)."""
        use = identified & (white > 0)
        if len(self.apart) < 2 or not use.any():
            return 1.0
        variance = (self.apart**2).sum(axis=0)
        ratio = variance[use] / white[use] ** 2
        return float(max(1.0, np.exp(0.5 * np.log(np.maximum(ratio, 1e-12)).mean())))


def jackknife(values: Floats) -> Floats:
    """Covariance (k, k) from the estimates with each part left out, (parts, k)."""
    count = len(values)
    if count < 2:
        return np.zeros((values.shape[1], values.shape[1]))
    apart = values - values.mean(axis=0)
    return (count - 1) / count * apart.T @ apart


def estimate_scatter(regularised: RegularisedFit) -> Scatter:
    """Fits with each part left out in turn, regularised alike, and how they predict it."""
    free, whole = regularised.free, regularised.fit
    apart = []
    squares = np.zeros(len(regularised.sigma))
    for left_out, without in regularised.left_out(regularised.draw.weight):
        apart.append(free.map @ _shift_without_part(whole, without))
        squares += left_out.squares(free.parameters(without.z))
    rows = np.maximum(regularised.whole.count, 1)
    return Scatter(np.array(apart).reshape(-1, len(free.start)), np.sqrt(squares / rows))


def _shift_without_part(whole: LeastSquaresFit, without: LeastSquaresFit) -> Floats:
    """d_k in the free coordinates, (f,), of fits to all rows and to those without a part.

    I - M_k = SᵀS,  S = R_k R⁻¹ √(rows without the part / rows)        A = RᵀR
    """
    share = np.sqrt(without.rows / whole.rows)
    S = share * without.R @ whole.inverse
    squares, V = np.linalg.eigh(S.T @ S)
    root = np.sqrt(squares.clip(0, 1))
    change = whole.R @ (without.z - whole.z)
    return whole.inverse @ (V @ (root * (V.T @ change)))
