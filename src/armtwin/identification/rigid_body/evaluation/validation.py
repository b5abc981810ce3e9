"""Predicted against measured torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.maths.smoothing import low_pass
from armtwin.notebook.cards import format_count
from armtwin.notebook.numbers import NEWTON_METRES, PER_HUNDRED
from armtwin.notebook.over_time import MeasuredOverTime
from armtwin.notebook.sections import Blocks, Report, Section, Table, Text, list_columns, tabulate
from armtwin.report.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Result):
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

    def sections(self) -> Report:
        """Errors of each joint, and the torques over time."""
        torques = self.over_time
        errors = " ".join(f"{share:.1f}" for share in self.nrmse)
        samples = format_count(len(self.time), "sample")
        plots = [torques.plot(j, f"joint {j + 1} torque") for j in range(len(self.nrmse))]
        return Report(
            title="Torque, predicted against measured",
            subtitle=samples,
            sections=(
                Section("", _errors(self)),
                Section("Torque over time", plots, page_only=True),
            ),
            verdict=(Text(f"NRMSE of the joints {errors} %, {samples}."),),
            series=torques.series,
        )

    @cached_property
    def over_time(self) -> MeasuredOverTime:
        """Both torques over time."""
        return MeasuredOverTime(self.time, self.tau, self.tau_hat, "N m")

    @staticmethod
    def of(time: Floats, tau: Floats, tau_hat: Floats) -> Validation:
        """The comparison of two torques, (m, n) each, at times (m,)."""
        if tau.ndim != 2 or tau.shape != tau_hat.shape or time.shape != tau.shape[:1]:
            shapes = f"{time.shape}, {tau.shape} and {tau_hat.shape}"
            raise ArmtwinError(f"times and two torques must be of as many samples, got {shapes}")
        gap = tau - tau_hat
        return Validation(
            nrmse=_nrmse((gap**2).sum(axis=0), (tau**2).sum(axis=0)),
            rmse=np.sqrt((gap**2).mean(axis=0)),
            max=np.abs(gap).max(axis=0),
            time=time,
            tau=tau,
            tau_hat=tau_hat,
        )

    @property
    def squares(self) -> Floats:
        """Squares of the error, (m, n) [N² m²]."""
        return (self.tau - self.tau_hat) ** 2

    @property
    def power(self) -> Floats:
        """Sum of the squares of the measured torque, (n,) [N² m²]."""
        return (self.tau**2).sum(axis=0)

    @staticmethod
    def compare_filtered(
        time: Floats, tau: Floats, tau_hat: Floats, cutoff: float | None
    ) -> Validation:
        """The comparison of two torques, both through a filter where a cut-off is given [Hz]."""
        if cutoff is None:
            return Validation.of(time, tau, tau_hat)
        rate = 1 / float(np.median(np.diff(time)))
        slow, slow_hat = low_pass(tau, rate, cutoff), low_pass(tau_hat, rate, cutoff)
        return Validation.of(time, slow, slow_hat)


def _errors(validation: Validation) -> Blocks:
    records = tabulate(
        name=[f"joint {j + 1}" for j in range(len(validation.nrmse))],
        nrmse_percent=validation.nrmse,
        rmse_n_m=validation.rmse,
        max_n_m=validation.max,
    )
    columns = list_columns(
        name="joint",
        nrmse_percent=("NRMSE", PER_HUNDRED),
        rmse_n_m=("rms", NEWTON_METRES),
        max_n_m=("largest", NEWTON_METRES),
    )
    yield Table(columns, records)


def split_by_rest(validation: Validation, at_rest: Flags) -> TwoArrays:
    """NRMSE of each joint at rest and in motion, both over all torque, (n,) [%].

    Their squares add up to that of all samples.

    Args:
        validation: The comparison.
        at_rest: Which samples of each joint are at rest, (m, n).
    """
    squares, power = validation.squares, validation.power
    still = _nrmse((squares * at_rest).sum(axis=0), power)
    return still, _nrmse((squares * ~at_rest).sum(axis=0), power)


def pool_nrmse(parts: Sequence[Validation]) -> Floats:
    """NRMSE of each joint over several comparisons as one, (n,) [%]."""
    squares = sum(part.squares.sum(axis=0) for part in parts)
    return _nrmse(np.asarray(squares), np.asarray(sum(part.power for part in parts)))


def _nrmse(squares: Floats, power: Floats) -> Floats:
    """100 √(Σ (τ - τ̂)² / Σ τ²) of each joint, nan where there is no torque, (n,) [%]."""
    return 100 * np.sqrt(squares / np.where(power > 0, power, np.nan))
