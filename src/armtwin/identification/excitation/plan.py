"""Options of an excitation: its series, its criterion, and how far limits may be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from armtwin.errors import ArmtwinError
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
        weights: Of the condition number and of 1 / sigma_min in "weighted".
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
        self._check_words()
        self._check_counts()
        self._check_shares()
        self._check_numbers()

    def _check_words(self) -> None:
        for key, kinds in (("criterion", Criterion), ("scaling", Scaling), ("search", Search)):
            value, known = getattr(self, key), get_args(kinds)
            if value not in known:
                listed = ", ".join(known)
                raise ArmtwinError(f"excitation: {key} must be one of {listed}, got '{value}'")

    def _check_counts(self) -> None:
        for key in ("starts", "harmonics", "periods"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ArmtwinError(
                    f"excitation: {key} must be a whole number from 1 on, got {value!r}"
                )
        if self.harmonics > MOST_HARMONICS:
            raise ArmtwinError(
                f"excitation: harmonics must be at most {MOST_HARMONICS}, got {self.harmonics}"
            )

    def _check_shares(self) -> None:
        for key in ("speed", "acceleration", "torque"):
            value = getattr(self, key)
            if not 0 < value <= 1:
                raise ArmtwinError(
                    f"excitation: {key} must be a share of the limit above 0 and at most 1, "
                    f"got {value!r}"
                )

    def _check_numbers(self) -> None:
        if not 0 < self.period <= LARGEST_PERIOD:
            most = f"above 0 and at most {LARGEST_PERIOD:g} s"
            raise ArmtwinError(f"excitation: period must be {most}, got {self.period:g} s")
        if not 0 <= self.clearance < np.inf:
            got = f"{self.clearance:g} m"
            raise ArmtwinError(f"excitation: clearance must be at least 0 m, got {got}")
        if not 0 < self.noise < np.inf:
            raise ArmtwinError(f"excitation: noise must be above 0, got {self.noise:g}")
        if len(self.weights) != 2 or min(self.weights) < 0 or not sum(self.weights) > 0:
            raise ArmtwinError(
                "excitation: weights must be two numbers of at least 0, not both 0, "
                f"got {self.weights}"
            )
        if self.rate is not None and not 0 < self.rate < np.inf:
            raise ArmtwinError(f"excitation: rate must be above 0 Hz, got {self.rate:g} Hz")

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
