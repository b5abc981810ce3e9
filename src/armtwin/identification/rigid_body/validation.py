"""Predicted against measured torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armtwin.identification.rigid_body.display import draw_torques
from armtwin.maths.batch import Flags, Floats
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
        missed = np.linalg.norm(gap, axis=0)
        return Validation(
            nrmse=100 * missed / np.where(size > 0, size, np.nan),
            rmse=np.sqrt((gap**2).mean(axis=0)),
            max=np.abs(gap).max(axis=0),
            time=time,
            tau=tau,
            tau_hat=tau_hat,
        )

    @staticmethod
    def filtered(time: Floats, tau: Floats, tau_hat: Floats, cutoff: float | None) -> Validation:
        """The comparison of two torques, both through a filter where a cut-off is given [Hz]."""
        if cutoff is None:
            return Validation.of(time, tau, tau_hat)
        rate = 1 / float(np.median(np.diff(time)))
        slow, slow_hat = low_pass(tau, rate, cutoff), low_pass(tau_hat, rate, cutoff)
        return Validation.of(time, slow, slow_hat)


def shares_of(validation: Validation, standing: Flags) -> tuple[Floats, Floats]:
    """NRMSE of each joint while it stands and while it moves, both over all torque, (n,) [%].

    Their squares add up to that of all samples.

    Args:
        validation: The comparison.
        standing: Which samples of each joint stand, (m, n).
    """
    squares = (validation.tau - validation.tau_hat) ** 2
    power = (validation.tau**2).sum(axis=0)
    whole = np.where(power > 0, power, np.nan)
    still = (squares * standing).sum(axis=0) / whole
    moving = (squares * ~standing).sum(axis=0) / whole
    return 100 * np.sqrt(still), 100 * np.sqrt(moving)


def pooled(parts: Sequence[Validation]) -> Floats:
    """NRMSE of each joint over several comparisons as one, (n,) [%]."""
    missed = power = np.zeros(parts[0].tau.shape[1])
    for part in parts:
        gap = part.tau - part.tau_hat
        missed = missed + (gap**2).sum(axis=0)
        power = power + (part.tau**2).sum(axis=0)
    share = missed / np.where(power > 0, power, np.nan)
    return np.asarray(100 * np.sqrt(share))
