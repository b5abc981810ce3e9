"""An estimate with its judgement: validated on a log it never saw, or each log predicted from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.estimate import Estimate, Validation
from armtwin.identification.left_out import LeftOut, leave_one_out, pooled
from armtwin.identification.models import SideBySide, side_by_side
from armtwin.identification.recipe import Recipe
from armtwin.identification.regression import block
from armtwin.identification.suspicion import check_positions, same_log, suspect
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

WORSE = 1.05  # times the prior's error from which on the validation has failed


@dataclass(frozen=True, eq=False)
class Identification:
    """An estimate and what it is worth.

    Attributes:
        estimate: The identified robot.
        log: The log it was validated on, None where none was given.
        left_out: Each log predicted from the others, where no log was given to validate.
        models: Other models of the arm beside this one.
        unjudged: Why nothing could be left out, "" where something was.
    """

    estimate: Estimate
    log: Log | None = None
    left_out: LeftOut | None = None
    models: SideBySide | None = None
    unjudged: str = ""
    _found: dict[str, Validation] = field(default_factory=dict, repr=False)

    def _judged(self, key: str, judge: Callable[[], Validation]) -> Validation:
        if key not in self._found:
            self._found[key] = judge()
        return self._found[key]

    @property
    def shown(self) -> Log:
        """The log whose torques are shown: that of the validation, else the first of the fit."""
        return self.log if self.log is not None else self.estimate.logs[0]

    @property
    def fit(self) -> Validation:
        """Prediction of the shown log by the identified robot."""
        return self._judged("fit", lambda: self.estimate.validate(self.shown))

    @property
    def prior(self) -> Validation:
        """Prediction of the shown log by the robot as it was before."""
        return self._judged(
            "prior", lambda: self.estimate.validate(self.shown, robot=self.estimate.prior)
        )

    @property
    def plain(self) -> Validation:
        """Prediction of the shown log by plain least squares."""
        return self._judged("plain", lambda: self.estimate.validate_plain(self.shown))

    @property
    def errors(self) -> tuple[Floats, Floats] | None:
        """NRMSE of identified robot and prior on what the fit never saw, (n,) each [%]; None where all was fitted."""
        if self.log is not None:
            return self.fit.nrmse, self.prior.nrmse
        if self.left_out is not None:
            return self.left_out.nrmse, pooled(self.left_out.prior)
        return None

    @property
    def failed(self) -> bool:
        """Whether the identified robot predicts what it never saw worse than the robot file did."""
        return self.errors is not None and bool(
            np.nanmean(self.errors[0]) > WORSE * np.nanmean(self.errors[1])
        )


def judge(
    robot: Robot,
    found: Estimate,
    log: Log | None = None,
    *,
    others: Mapping[str, Robot] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Identification:
    """Judge an estimate.

    Args:
        robot: The robot that it started from.
        found: The estimate.
        log: A log that the fit never saw; without one each log, or part of a single one, is left out in turn.
        others: Other models of the same arm to be shown beside it.
        progress: Called with the share that is done.
    """
    left, why = None, ""
    if log is None:
        try:
            left = leave_one_out(robot, found, progress)
        except ArmtwinError as error:  # the fit stands, whatever its parts lack
            why = str(error)
    else:
        log = in_order_of(log, found.robot.joint_names)
        _check(found, log)
    if log is not None and any(same_log(log, known) for known in found.logs):
        raise ArmtwinError(
            f"{log.origin or 'the log'} was part of the fit; give one to validate that the fit never saw"
        )
    beside = side_by_side(found, others, log or found.logs[0]) if others else None
    return Identification(found, log, left, beside, why)


def _check(found: Estimate, log: Log) -> None:
    """Refuse a log that cannot be of the robot, by its name."""
    name = log.origin or "the log to validate"
    motion = "q" if found.recipe.motion == "measured" else "q_ref"
    try:
        check_positions(found.robot, log, motion, name)
        recipe = Recipe(motion=found.recipe.motion)
        suspect(found.robot, [block(found.robot, log, found.cutoff, found.torque_source, recipe)])
    except ArmtwinError as error:
        told = str(error)
        raise ArmtwinError(told if told.startswith(name) else f"{name}: {told}") from None
