"""Baselines: the error as a pure delay, or as a lag proportional to the speed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.servo.structure import DriveSignals
from armtwin.maths.batch import Floats

DELAYS = np.linspace(-0.06, 0.12, 46)  # that are tried [s]


@dataclass(frozen=True)
class Baselines:
    """The best pure delay and the best lag of one drive [s]."""

    delay: float
    lag: float

    def predict_by_delay(self, drive: DriveSignals) -> Floats:
        """Error of a pure delay, (m,)."""
        return _of_delay(drive, self.delay)

    def predict_by_lag(self, drive: DriveSignals) -> Floats:
        """Error of a lag behind the speed, (m,)."""
        return self.lag * drive.v


def fit_baselines(logs: Sequence[DriveSignals]) -> Baselines:
    """Delay and lag of the least residual sum of squares over the logs."""
    speed = np.concatenate([log.v - log.v.mean() for log in logs])
    error = np.concatenate([log.error - log.error.mean() for log in logs])
    lag = float(speed @ error) / max(float(speed @ speed), 1e-300)
    squares = []
    for delay in DELAYS.tolist():
        residuals = [log.error - _of_delay(log, delay) for log in logs]
        squares.append(sum(float(np.var(x)) * len(x) for x in residuals))
    return Baselines(float(DELAYS[np.argmin(squares)]), lag)


def _of_delay(drive: DriveSignals, delay: float) -> Floats:
    return drive.q - np.interp(drive.time - delay, drive.time, drive.q)
