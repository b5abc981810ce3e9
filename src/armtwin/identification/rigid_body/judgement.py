"""An estimate judged: on a log it never saw, or each log predicted from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.clean_log import clean_log, middle
from armtwin.identification.rigid_body.display import draw_torques
from armtwin.identification.rigid_body.estimate import Estimate
from armtwin.identification.rigid_body.left_out_logs import SAMPLES, LeftOut, leave_one_out
from armtwin.identification.rigid_body.log_checks import check_positions, same_log
from armtwin.identification.rigid_body.side_by_side import SideBySide, side_by_side
from armtwin.identification.rigid_body.suspicion import refuse_impossible, suspect
from armtwin.identification.rigid_body.validation import Validation, pooled
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.logs.torque import logged_torque, torque_channel
from armtwin.maths.batch import Floats
from armtwin.notebook import cards
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORSE = 1.05  # times the prior's error from which on the validation has failed
HALF = 50.0  # mean NRMSE above which nothing is predicted [%]


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

    def __repr__(self) -> str:
        name = repr(self.estimate.robot.name)
        if self.errors is None:
            return cards.line("Identification", name, "fitted, not validated")
        own, prior = (f"{np.nanmean(x):.1f} %" for x in self.errors)
        missed = f"misses {own} of unseen torque, the robot file {prior}"
        return cards.line("Identification", f"{name}: {missed}")

    def _repr_html_(self) -> str:
        own, prior = self.errors or (self.fit.nrmse, self.prior.nrmse)
        rows = []
        for j, name in enumerate(self.estimate.robot.joint_names):
            rows.append((name, f"{own[j]:.1f} %", f"{prior[j]:.1f} %"))
        seen = "fitted" if self.errors is None else "unseen"
        heads = ("joint", f"missed of {seen} torque", "missed by the robot file")
        return cards.table(repr(self), rows, heads)

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw measured and predicted torque of the shown log, and what is between them.

        Args:
            axes: One for each joint; new ones where none are given.
        """
        fit = self.fit
        names = self.estimate.robot.joint_names
        return draw_torques(fit.time, fit.tau, fit.tau_hat, names, axes)

    @cached_property
    def shown(self) -> Log:
        """The log whose torques are shown: that of the validation, else the first of the fit."""
        return self.fitted if self.log is None else self.log

    @cached_property
    def fitted(self) -> Log:
        """The first log of the fit, of a long one its middle."""
        first = self.estimate.logs[0]
        if len(first.time) <= SAMPLES:
            return first
        return middle(first, SAMPLES / len(first.time))

    @cached_property
    def fit(self) -> Validation:
        """Prediction of the shown log by the identified robot."""
        return self.estimate.validate(self.shown)

    @cached_property
    def prior(self) -> Validation:
        """Prediction of the shown log by the robot as it was before."""
        return self.estimate.validate(self.shown, robot=self.estimate.prior)

    @cached_property
    def plain(self) -> Validation:
        """Prediction of the shown log by plain least squares."""
        return self.estimate.validate_plain(self.shown)

    @property
    def errors(self) -> tuple[Floats, Floats] | None:
        """NRMSE of identified robot and prior on what the fit never saw, (n,) each [%].

        None where all was fitted.
        """
        if self.log is not None:
            return self.fit.nrmse, self.prior.nrmse
        if self.left_out is not None:
            return self.left_out.nrmse, pooled(self.left_out.prior)
        return None

    @property
    def failed(self) -> bool:
        """Whether the identified robot predicts the unseen worse than its file, or misses half."""
        return self.worse or self.misses_half

    @property
    def worse(self) -> bool:
        """Whether the identified robot predicts the unseen worse than the robot file did."""
        errors = self.errors
        if errors is None:
            return False
        own, prior = errors
        return bool(np.nanmean(own) > WORSE * np.nanmean(prior))

    @property
    def misses_half(self) -> bool:
        """Whether more than half of the unseen torque is missed, mean of the joints."""
        return self.errors is not None and bool(np.nanmean(self.errors[0]) > HALF)


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
        log: A log that the fit never saw; without one each log, or part of a single one, is left
            out in turn.
        others: Other models of the same arm to be shown beside it.
        progress: Called with the share that is done.
    """
    _check_arguments(robot, found, log)
    left, why = None, ""
    if log is None:
        try:
            left = leave_one_out(robot, found, progress)
        except ArmtwinError as error:  # the fit stands, whatever its parts lack
            why = str(error)
    else:
        log = in_order_of(log, found.robot.joint_names)
        _check_unseen(found, log)
    beside = side_by_side(found, others, log or found.logs[0]) if others else None
    return Identification(found, log, left, beside, why)


def _check_arguments(robot: Robot, found: Estimate, log: Log | None) -> None:
    """Refuse what is no robot, estimate and log, and a robot that the estimate is not of."""
    right = isinstance(robot, Robot) and isinstance(found, Estimate)
    if not right or not isinstance(log, Log | None):
        raise ArmtwinError(
            "judge needs a robot, an estimate of it and one log or none: "
            "at.judge(robot, at.identify(robot, logs), log)"
        )
    if robot.joint_names != found.prior.joint_names:
        raise ArmtwinError(
            f"judge needs the robot that was identified, '{found.prior.name}', got '{robot.name}'"
        )


def _check_unseen(found: Estimate, log: Log) -> None:
    """Refuse a log that cannot be of the robot, or that was part of the fit, by its name."""
    name = log.origin or "the log to validate"
    try:
        _check_robot(found, log, name)
    except ArmtwinError as error:
        sentence = str(error)
        if not sentence.startswith(name):
            sentence = f"{name}: {sentence}"
        raise ArmtwinError(sentence) from None
    for known in found.logs:
        if same_log(log, known):
            raise ArmtwinError(
                f"{log.origin or 'the log'} was part of the fit; give one to validate that the "
                "fit never saw"
            )


def _check_robot(found: Estimate, log: Log, name: str) -> None:
    """Refuse positions or torques that are not those of the robot."""
    recipe = found.recipe.for_prediction()
    check_positions(found.robot, log, recipe.position_channel, name)
    torque = logged_torque(found.robot, log, torque_channel(log, found.torque_source))
    clean = [clean_log(log, found.cutoff, recipe, torque)]
    refuse_impossible(found.robot, clean)
    suspect(found.robot, clean)
