"""The fit of a servo to logs, kept in the robot file beside its gains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from armtwin.maths.batch import Names
from armtwin.maths.quantities import Number, Time


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
        interval: Bounds of 90 % of the numbers of each joint, by their names in the report: for
            each number the lower bounds of all joints, then the upper ones.
    """

    logs: Names
    judged_on: Names
    share: tuple[Number, ...]
    residual: tuple[Number, ...] = ()
    feedforward: Literal["logged", "model"] = "model"
    duration: Time | None = None
    interval: dict[str, tuple[Number, ...]] = field(default_factory=dict)
