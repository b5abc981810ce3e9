"""How far estimates from parts of the rows lie apart, against what independent rows would give.

    J = (K - 1) / K Σ_k (φ_(k) - φ̄)²        φ_(k) without part k of K

Rows that a filter ties and a model that is not quite right make neighbours err together; the
deviation of a fit that takes rows as independent is then too small. It is multiplied by the
geometric mean of √(J / white variance) over the parameters that the rows tell.

Ref: [Efron 1982]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.draw import DrawnFit
from armtwin.identification.fitting.least_squares import fit
from armtwin.maths.batch import Flags, Floats


@dataclass(frozen=True, eq=False)
class Scatter:
    """Estimates with each part left out.

    Attributes:
        values: Their parameters, (parts, p).
        missed: Root mean square of what each channel misses of the parts left out, (n,).
    """

    values: Floats
    missed: Floats

    def inflation(self, white: Floats, told: Flags) -> float:
        """How many times larger than white ones (p,) the deviations of told parameters are."""
        use = told & (white > 0)
        if len(self.values) < 2 or not use.any():
            return 1.0
        jack = jackknife(self.values).diagonal()
        ratio = jack[use] / white[use] ** 2
        return float(max(1.0, np.exp(0.5 * np.log(np.maximum(ratio, 1e-12)).mean())))


def jackknife(values: Floats) -> Floats:
    """Covariance (k, k) of what estimates with each part left out, (parts, k), are of."""
    count = len(values)
    if count < 2:
        return np.zeros((values.shape[1], values.shape[1]))
    apart = values - values.mean(axis=0)
    return np.asarray((count - 1) / count * apart.T @ apart)


def scatter(drawn: DrawnFit) -> Scatter:
    """Fits drawn alike with each part left out in turn, and how they predict it."""
    values = []
    missed = np.zeros(len(drawn.sigma))
    for left, rest in zip(drawn.parts, drawn.others, strict=True):
        phi = drawn.free.parameters(fit(rest, drawn.free, drawn.draw.weight, drawn.sigma).z)
        values.append(phi)
        missed += left.squares(phi)
    rows = np.maximum(drawn.whole.count, 1)
    return Scatter(np.array(values), np.sqrt(missed / rows))
