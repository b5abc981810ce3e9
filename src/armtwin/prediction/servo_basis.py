"""What the servo of a prediction is based on: given, assumed, or fitted to logs and validated."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from armtwin.maths.batch import Names
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import ServoFitRecord, Structure

LEFT_OUT = "left-out parts"  # of the fitted logs, in place of a log that the fit never saw


LONGER = 1.2  # times the longest log, from which on a run is beyond it


@dataclass(frozen=True)
class ServoBasis:
    """What a servo is based on.

    Attributes:
        name: Name of the servo in the robot file.
        basis: "given" by documents or measurement, "assumed" in part or whole, or "fitted" to logs.
        structure: Whether the robot's control law is known to be this one.
        share_explained: Smallest share of the error q_ref - q of an unseen run that a fitted servo
            explains; None where it was not validated.
        joint: The joint of that share, or "".
        judged_on: What the fit never saw.
        longest_log: Length of the longest log of a fit that this run exceeds, else None [s].
    """

    name: str
    basis: Literal["given", "assumed", "fitted"]
    structure: Structure
    share_explained: float | None = None
    joint: str = ""
    judged_on: Names = ()
    longest_log: float | None = None

    @property
    def summary(self) -> str:
        """What it is in a few words; empty for a servo that is given."""
        if self.basis == "given":
            return ""
        if self.basis == "assumed":
            unknown = "" if self.structure == "known" else ", structure not known"
            return f"assumed servo{unknown}"
        if self.share_explained is None:
            return "fitted servo, not validated on an unseen run"
        unseen = "left-out parts" if LEFT_OUT in self.judged_on else "an unseen run"
        share = f"{100 * self.share_explained:.0f} % of {unseen} explained"
        summary = f"fitted servo, {share} ({self.joint} least)"
        if self.longest_log is None:
            return summary
        return f"{summary}, run beyond its logs of {self.longest_log:.3g} s"


def servo_basis(robot: Robot, name: str, duration: float) -> ServoBasis:
    """What a servo of a robot file is based on in a run of a duration [s].

    A law without position feedback drifts: what it does after the time of its logs is not known.
    """
    servo = robot.description.servo[name]
    fit: ServoFitRecord | None = getattr(servo, "fit", None)
    if fit is not None:
        found = _of_fit(robot, name, servo.structure, fit)
        exceeded = fit.duration is not None and duration > LONGER * fit.duration
        return replace(found, longest_log=fit.duration) if exceeded else found
    place = f"servo.{name}"
    for origin in robot.provenance.of_kind("assumed"):
        if origin.path == place or origin.path.startswith(f"{place}."):
            return ServoBasis(name, "assumed", servo.structure)
    basis: Literal["given", "assumed"] = "given" if servo.structure == "known" else "assumed"
    return ServoBasis(name, basis, servo.structure)


def _of_fit(robot: Robot, name: str, structure: Structure, fit: ServoFitRecord) -> ServoBasis:
    """A fitted servo by the joint that it explains least."""
    if not fit.judged_on or not fit.share:
        return ServoBasis(name, "fitted", structure)
    worst = int(np.argmin(fit.share))
    share = float(fit.share[worst])
    return ServoBasis(name, "fitted", structure, share, robot.joint_names[worst], fit.judged_on)
