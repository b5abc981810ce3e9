"""Predicted against measured torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armtwin.identification.rigid_body.display import draw_torques
from armtwin.maths.batch import Floats
from armtwin.maths.smoothing import low_pass
from armtwin.notebook import cards

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Validation:
    """Predicted against measured torque.

    Attributes:
        nrmse: 100 ‖τ - τ̂‖ / ‖τ‖ of each joint, nan where there is no torque, (n,) [%].
        rmse: Root mean square of τ - τ̂, (n,) [N m].
        max: Largest |τ - τ̂|, (n,) [N m].
        time: Times of the samples, (m,) [s].
        tau: Measured torque, (m, n) [N m].
        tau_hat: Predicted torque, (m, n) [N m].
    """

    nrmse: Floats
    rmse: Floats
    max: Floats
    time: Floats
    tau: Floats
    tau_hat: Floats

    def __repr__(self) -> str:
        missed = " ".join(f"{share:.1f}" for share in self.nrmse)
        samples = cards.counted(len(self.time), "sample")
        return cards.line("Validation", samples, f"nrmse of the joints {missed} %")

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw measured and predicted torque of each joint, and what is between them.

        Args:
            axes: One for each joint; new ones where none are given.
        """
        names = [f"joint {j}" for j in range(1, len(self.nrmse) + 1)]
        return draw_torques(self.time, self.tau, self.tau_hat, names, axes)

    @staticmethod
    def of(time: Floats, tau: Floats, tau_hat: Floats) -> Validation:
        """The comparison of two torques."""
        gap = tau - tau_hat
        size = np.linalg.norm(tau, axis=0)
        nrmse = 100 * np.linalg.norm(gap, axis=0) / np.where(size > 0, size, np.nan)
        rmse = np.sqrt((gap**2).mean(axis=0))
        return Validation(nrmse, rmse, np.abs(gap).max(axis=0), time, tau, tau_hat)

    @staticmethod
    def filtered(time: Floats, tau: Floats, tau_hat: Floats, cutoff: float | None) -> Validation:
        """The comparison of two torques, both through a filter where a cut-off is given [Hz]."""
        if cutoff is None:
            return Validation.of(time, tau, tau_hat)
        rate = 1 / float(np.median(np.diff(time)))
        return Validation.of(time, low_pass(tau, rate, cutoff), low_pass(tau_hat, rate, cutoff))


def pooled(parts: Sequence[Validation]) -> Floats:
    """NRMSE of each joint over several comparisons as one, (n,) [%]."""
    gap = np.sum([((part.tau - part.tau_hat) ** 2).sum(axis=0) for part in parts], axis=0)
    power = np.sum([(part.tau**2).sum(axis=0) for part in parts], axis=0)
    return np.asarray(100 * np.sqrt(gap / np.where(power > 0, power, np.nan)))
