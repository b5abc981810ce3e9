"""The fit of a servo to logs, kept in the robot file beside its gains."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from armtwin.maths.batch import Floats, Names
from armtwin.maths.quantities import Number, Share, Time


@dataclass(frozen=True)
class ErrorSize:
    """Size of the error that the law of a fitted servo leaves, by how a joint moves.

        rms² = rest² + (speed rms(v_ref))² + (acceleration rms(a_ref))²

    Attributes:
        rest: At rest, one for each joint [rad].
        speed: Per speed [s].
        acceleration: Per acceleration [s²].
        width: Half width of the 90 % interval of the logarithm of a run's whole error, rms.
        time: Time in which what is left changes [s].
    """

    rest: tuple[Share, ...]
    speed: tuple[Share, ...]
    acceleration: tuple[Share, ...]
    width: Share
    time: Time

    def rms(self, v: Floats, a: Floats) -> Floats:
        """Error that is left in a motion with speeds and accelerations (m, n), rms, (n,) [rad]."""
        squares = np.array(self.rest) ** 2
        squares = squares + np.array(self.speed) ** 2 * (v**2).mean(axis=0)
        squares = squares + np.array(self.acceleration) ** 2 * (a**2).mean(axis=0)
        return np.sqrt(squares)


@dataclass(frozen=True)
class ServoFitRecord:
    """How a servo was fitted, and what it was worth on a run that the fit did not see.

    Attributes:
        logs: Names of the logs it was fitted to.
        judged_on: Names of the logs it was validated on, or "left-out parts" of its own.
        share: Share of the variance of q_ref - q that it explained there, one for each joint.
        residual: What was left there, rms at the joint, one for each joint [rad].
        feedforward: Where the fed-forward torque came from: a column of the logs, or the model.
        duration: Length of the longest of its logs [s].
        at_rest: Joints that no log moved: their numbers are not fitted.
        size: Size of the error that it leaves in other motions.
        interval: Bounds of 90 % of the numbers of each joint, by their names in the report: for
            each number the lower bounds of all joints, then the upper ones.
    """

    logs: Names
    judged_on: Names
    share: tuple[Number, ...]
    residual: tuple[Number, ...] = ()
    feedforward: Literal["logged", "model"] = "model"
    duration: Time | None = None
    at_rest: Names = ()
    size: ErrorSize | None = None
    interval: dict[str, tuple[Number, ...]] = field(default_factory=dict)

    def left(self, v: Floats, a: Floats) -> Floats | None:
        """Error that the servo leaves in a motion with speeds and accelerations (m, n), rms, (n,).

        By its size where that is known, else that of the run on which it was judged [rad].
        """
        if self.size is not None:
            return self.size.rms(v, a)
        return np.array(self.residual) if len(self.residual) == v.shape[1] else None
