"""What each part of the rows is predicted to be by a fit to the others, for many fits in short.

    H_k = Σ_channels A_jᵀ A_j / σ_j²    of part k, [A | b] in the free coordinates
    z_k = (Σ_{i≠k} H_i + λ)⁻¹ Σ_{i≠k} A_iᵀ b_i        error_j = Σ_k ‖b_kj - A_kj z_k‖² / ‖τ_j‖²

The factors are squared here: fits are only compared, and λ bounds what that costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.factors import Factors
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.maths.batch import Floats


@dataclass(frozen=True, eq=False)
class LeftOutParts:
    """Squares of the parts, in all coordinates that fits may use.

    Attributes:
        fitted: [A | b]ᵀ [A | b] / σ² of each part over the number of rows, (parts, f + 1, f + 1).
        judged: [A | b]ᵀ [A | b] of each part and channel, (parts, n, f + 1, f + 1).
        power: Squares of the target of each channel, (n,).
        weight: λ.
    """

    fitted: Floats
    judged: Floats
    power: Floats
    weight: float

    def error(self, coordinates: Sequence[int]) -> float:
        """Mean over the channels of ln(squares missed / squares) of left-out parts."""
        missed = self.missed(coordinates).sum(axis=0)
        return float(np.log(missed / self.power).mean())

    def values(self, coordinates: Sequence[int]) -> Floats:
        """The coordinates of a fit to all parts."""
        used = np.asarray(coordinates)
        return self._fit(self.fitted.sum(axis=0), used)

    def missed(self, coordinates: Sequence[int]) -> Floats:
        """Squares that are missed of each part and channel, (parts, n), never quite zero."""
        used = np.asarray(coordinates)
        f = self.fitted.shape[1] - 1
        whole = self.fitted.sum(axis=0)
        missed = []
        for part, judged in zip(self.fitted, self.judged, strict=True):
            gap = np.zeros(f + 1)
            gap[used] = -self._fit(whole - part, used)
            gap[f] = 1.0
            missed.append(np.einsum("a,jab,b->j", gap, judged, gap))
        return np.maximum(missed, 1e-30 * self.power)

    def _fit(self, H: Floats, used: Floats) -> Floats:
        square = H[np.ix_(used, used)] + self.weight * np.eye(len(used))
        return np.asarray(np.linalg.solve(square, H[used, -1]))


def left_out_parts(
    parts: Sequence[Factors],
    free: FreeDirections,
    sigma: Floats,
    weight: float,
    judged: Sequence[Factors] | None = None,
) -> LeftOutParts:
    """Squares of parts in free coordinates.

    Args:
        parts: Factors of the parts that are fitted.
        free: The free directions.
        sigma: Residuals by which the channels are weighted, (n,).
        weight: λ of the prior.
        judged: Factors of the same parts as they are judged, where not as they are fitted.
    """
    squares = np.array([_squares(part, free) for part in parts])
    rows = sum(int(part.count.sum()) for part in parts)
    fitted = (squares / (sigma**2)[:, None, None]).sum(axis=1) / rows
    there = parts if judged is None else judged
    as_judged = squares if judged is None else np.array([_squares(x, free) for x in judged])
    power = np.sum([part.target_squares() for part in there], axis=0)
    return LeftOutParts(fitted, as_judged, np.maximum(power, 1e-300), weight)


def _squares(part: Factors, free: FreeDirections) -> Floats:
    """[A | b]ᵀ [A | b] of each channel, (n, f + 1, f + 1)."""
    A = part.predicted(free.map)
    b = part.target - part.predicted(free.start)
    both = np.concatenate([A, b[:, :, None]], axis=2)
    return np.asarray(np.swapaxes(both, 1, 2) @ both)
