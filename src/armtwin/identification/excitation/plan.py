"""Options of an excitation: its series, its criterion, and how far limits may be used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.recipe import Contract, check_contracts
from armtwin.maths.batch import Floats, Pair, TwoArrays

Criterion = Literal["log_det", "sigma_min", "condition", "weighted"]
Scaling = Literal["parameters", "columns"]
Search = Literal["optimised", "random"]

WHOLE = 1e-6  # samples by which a period may differ from a whole number of them
LARGEST_PERIOD = 600.0  # [s]
MOST_HARMONICS = 60
MOST_SAMPLES = 1_000_000  # of a trajectory


@dataclass(frozen=True)
class ExcitationPlan:
    """The choices of an excitation.

    Attributes:
        criterion: What is optimised: the largest "log_det", the largest "sigma_min", the least
            "condition" number, or the least "weighted" sum
            weights[0] condition + weights[1] / sigma_min.
        scaling: What singular values and condition number are of: columns times the parameters'
            prior values ("parameters") or over their own norms ("columns").
        weights: Of the condition number and of 1 / sigma_min in "weighted". What they weigh is a
            matter of units: sigma_min is that of one sample of the scaled columns, rows over each
            joint's largest torque and parameters over their prior values; another scale of
            sigma_min is another weight.
        search: "optimised" by gradient from the best random start, or the best "random".
        starts: Random motions that are tried; the best is taken, or started from.
        period: Length of a period [s].
        harmonics: Harmonics of a period.
        periods: Periods that the robot runs.
        rate: Set-points in a second; by default those of the robot's servo, else 250 [Hz].
        speed: Share of the joints' highest speeds that may be used.
        acceleration: Share of the largest accelerations that may be used.
        torque: Share of the largest torques that may be used.
        clearance: Distance that the robot's lines keep from the cell and the floor [m].
        noise: Standard deviation of the torque, as a share of each joint's largest.
        seed: Of the random starts.

    Ref: [Waiboer 2007, section 4.4.1], [Memar-Esfahani 2015, eq. 17]
    """

    criterion: Criterion = "log_det"
    scaling: Scaling = "parameters"
    weights: Pair = (1.0, 1.0)
    search: Search = "optimised"
    starts: int = 40
    period: float = 8.0
    harmonics: int = 10
    periods: int = 1
    rate: float | None = None
    speed: float = 1.0
    acceleration: float = 1.0
    torque: float = 1.0
    clearance: float = 0.1
    noise: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        check_contracts("excitation", self, self._contracts())

    def _contracts(self) -> Iterator[Contract]:
        for key in ("starts", "harmonics", "periods"):
            value = getattr(self, key)
            is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            yield key, is_count, "a whole number from 1 on"
        yield "harmonics", self.harmonics <= MOST_HARMONICS, f"at most {MOST_HARMONICS}"
        for key in ("speed", "acceleration", "torque"):
            is_share = 0 < getattr(self, key) <= 1
            yield key, is_share, "a share of the limit above 0 and at most 1"
        short = f"above 0 and at most {LARGEST_PERIOD:g} s"
        yield "period", 0 < self.period <= LARGEST_PERIOD, short
        yield "clearance", 0 <= self.clearance < np.inf, "at least 0 m"
        yield "noise", 0 < self.noise < np.inf, "above 0"
        two = len(self.weights) == 2 and min(self.weights) >= 0 and sum(self.weights) > 0
        yield "weights", two, "two numbers of at least 0, not both 0"
        yield "rate", self.rate is None or 0 < self.rate < np.inf, "above 0 Hz"

    def check_rate(self, rate: float) -> float:
        """Refuse a rate unless a period is a whole number of set-points, 4 or more a harmonic."""
        samples = self.period * rate
        if abs(samples - round(samples)) > WHOLE:
            near = round(samples) / rate
            raise ArmtwinError(
                f"excitation: a period must be a whole number of set-points at {rate:g} Hz, got "
                f"{self.period:g} s; {near:.10g} s is one"
            )
        if samples < 4 * self.harmonics:
            raise ArmtwinError(
                f"excitation: {self.harmonics} harmonics need at least {4 * self.harmonics} "
                f"set-points in a period, got {round(samples)}; lengthen the period or raise the "
                "rate"
            )
        if samples * self.periods > MOST_SAMPLES:
            raise ArmtwinError(
                f"excitation: a trajectory has at most {MOST_SAMPLES} set-points, got "
                f"{round(samples * self.periods)}"
            )
        return rate


def middle_and_half(limits: Floats) -> TwoArrays:
    """Middle and half range of position limits (2, n); a turn where there is no limit."""
    low, high = limits
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * np.pi, -np.pi))
    high = np.where(np.isfinite(high), high, low + 2 * np.pi)
    return (low + high) / 2, (high - low) / 2
