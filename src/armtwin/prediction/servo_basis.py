"""What the servo of a prediction rests on: given, assumed, or fitted to logs and judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.robot.robot import Robot
from armtwin.robot.servo import Structure
from armtwin.robot.servo_fit import Fit

LEFT_OUT = "left-out parts"  # of the fitted logs, in place of a log that the fit never saw


@dataclass(frozen=True)
class ServoBasis:
    """What a servo rests on.

    Attributes:
        name: Name of the servo in the robot file.
        basis: "given" by documents or measurement, "assumed" in part or whole, or "fitted" to logs.
        structure: Whether the robot's control law is known to be this one.
        share_explained: Smallest share of the error q_ref - q of an unseen run that a fitted servo
            explains; None where it is not judged.
        joint: The joint of that share, or "".
        judged_on: What the fit never saw.
    """

    name: str
    basis: Literal["given", "assumed", "fitted"]
    structure: Structure
    share_explained: float | None = None
    joint: str = ""
    judged_on: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What it is in a few words; empty for a servo that is given."""
        if self.basis == "given":
            return ""
        if self.basis == "assumed":
            unknown = "" if self.structure == "known" else ", structure not known"
            return f"assumed servo{unknown}"
        if self.share_explained is None:
            return "fitted servo, not judged on an unseen run"
        unseen = "left-out parts" if LEFT_OUT in self.judged_on else "an unseen run"
        share = f"{100 * self.share_explained:.0f} % of {unseen} explained"
        return f"fitted servo, {share} ({self.joint} least)"


def servo_basis(robot: Robot, name: str) -> ServoBasis:
    """What a servo of a robot file rests on."""
    servo = robot.description.servo[name]
    fit: Fit | None = getattr(servo, "fit", None)
    if fit is not None:
        return _of_fit(robot, name, servo.structure, fit)
    place = f"servo.{name}"
    for origin in robot.provenance.of_kind("assumed"):
        if origin.path == place or origin.path.startswith(f"{place}."):
            return ServoBasis(name, "assumed", servo.structure)
    basis: Literal["given", "assumed"] = "given" if servo.structure == "known" else "assumed"
    return ServoBasis(name, basis, servo.structure)


def _of_fit(robot: Robot, name: str, structure: Structure, fit: Fit) -> ServoBasis:
    """A fitted servo by the joint that it explains least."""
    if not fit.judged_on or not fit.share:
        return ServoBasis(name, "fitted", structure)
    worst = int(np.argmin(fit.share))
    share = float(fit.share[worst])
    return ServoBasis(name, "fitted", structure, share, robot.joint_names[worst], fit.judged_on)
