"""Predicted against measured torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Flags, Floats, NamedArrays, TwoArrays
from armtwin.maths.smoothing import low_pass
from armtwin.notebook.cards import format_count
from armtwin.notebook.numbers import NEWTON_METRES, PER_HUNDRED
from armtwin.notebook.sampling import at_times, extremes
from armtwin.notebook.sections import Blocks, Column, Line, Plot, Report, Section, Table, Text
from armtwin.report.result import Result

GRID, BUCKETS = 1200, 150


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
        times = choose_times(self)
        errors = " ".join(f"{share:.1f}" for share in self.nrmse)
        samples = format_count(len(self.time), "sample")
        return Report(
            title="Torque, predicted against measured",
            subtitle=samples,
            sections=(
                Section("", _errors(self)),
                Section("Torque over time", _torques(self, times), page_only=True),
            ),
            verdict=(Text(f"NRMSE of the joints {errors} %, {samples}."),),
            series=torque_series(self, times),
        )

    @staticmethod
    def of(time: Floats, tau: Floats, tau_hat: Floats) -> Validation:
        """The comparison of two torques."""
        gap = tau - tau_hat
        size = np.linalg.norm(tau, axis=0)
        error = np.linalg.norm(gap, axis=0)
        return Validation(
            nrmse=100 * error / np.where(size > 0, size, np.nan),
            rmse=np.sqrt((gap**2).mean(axis=0)),
            max=np.abs(gap).max(axis=0),
            time=time,
            tau=tau,
            tau_hat=tau_hat,
        )

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
    records = []
    for j, nrmse in enumerate(validation.nrmse):
        records.append(
            {
                "name": f"joint {j + 1}",
                "nrmse_percent": nrmse,
                "rmse_n_m": validation.rmse[j],
                "max_n_m": validation.max[j],
            }
        )
    columns = (
        Column("name", "joint"),
        Column("nrmse_percent", "NRMSE", PER_HUNDRED),
        Column("rmse_n_m", "rms", NEWTON_METRES),
        Column("max_n_m", "largest", NEWTON_METRES),
    )
    yield Table(columns, records)


def _torques(validation: Validation, times: Floats) -> Blocks:
    for j in range(len(validation.nrmse)):
        yield torque_plot(f"joint {j + 1}", j, times)


def choose_times(validation: Validation) -> Floats:
    """Times of the samples that are shown: an even grid and the extremes of each torque."""
    time = validation.time
    times = [np.linspace(time[0], time[-1], min(GRID, len(time)))]
    for torque in (validation.tau, validation.tau_hat):
        for column in torque.T:
            times.append(extremes(time, column, BUCKETS))
    return np.unique(np.concatenate(times))


def torque_series(validation: Validation, times: Floats) -> NamedArrays:
    """Measured and predicted torque of each joint and their difference at given times, by name."""
    kinds = {
        "measured": validation.tau,
        "predicted": validation.tau_hat,
        "residual": validation.tau - validation.tau_hat,
    }
    series = {"time": times}
    for kind, values in kinds.items():
        for j, column in enumerate(values.T, 1):
            series[f"{kind}{j}"] = at_times(times, validation.time, column)
    return series


def torque_plot(
    name: str, j: int, times: Floats, more: tuple[Line, ...] = (), caption: str = ""
) -> Plot:
    """Torque of joint j over time, of a report that holds `torque_series`.

    Args:
        name: Name of the joint.
        j: Its number from 0 on.
        times: Times of the series, (m,) [s].
        more: Lines beside measured, predicted and residual.
        caption: What is seen.
    """
    lines = (
        Line("measured", f"measured{j + 1}", 6),
        Line("predicted", f"predicted{j + 1}", 0),
        Line("residual", f"residual{j + 1}", 1),
        *more,
    )
    label = f"{name} torque"
    return Plot("time", "time [s]", label, "N m", lines, 0, len(times), caption=caption)


def split_by_rest(validation: Validation, at_rest: Flags) -> TwoArrays:
    """NRMSE of each joint at rest and in motion, both over all torque, (n,) [%].

    Their squares add up to that of all samples.

    Args:
        validation: The comparison.
        at_rest: Which samples of each joint are at rest, (m, n).
    """
    squares = (validation.tau - validation.tau_hat) ** 2
    power = (validation.tau**2).sum(axis=0)
    whole = np.where(power > 0, power, np.nan)
    still = (squares * at_rest).sum(axis=0) / whole
    moving = (squares * ~at_rest).sum(axis=0) / whole
    return 100 * np.sqrt(still), 100 * np.sqrt(moving)


def pool_nrmse(parts: Sequence[Validation]) -> Floats:
    """NRMSE of each joint over several comparisons as one, (n,) [%]."""
    residual = power = np.zeros(parts[0].tau.shape[1])
    for part in parts:
        gap = part.tau - part.tau_hat
        residual = residual + (gap**2).sum(axis=0)
        power = power + (part.tau**2).sum(axis=0)
    share = residual / np.where(power > 0, power, np.nan)
    return np.asarray(100 * np.sqrt(share))
