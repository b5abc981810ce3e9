"""Evaluate an estimate: on a log it never saw, or each log predicted from the others."""

from __future__ import annotations

from collections.abc import Mapping

from armtwin.errors import ArmtwinError
from armtwin.identification.plausibility.suspect import refuse_mistakes, weigh_torques
from armtwin.identification.rigid_body.data.log_checks import check_positions, same_log
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.identification.rigid_body.evaluation.left_out_logs import leave_one_out, side_by_side
from armtwin.identification.rigid_body.evaluation.result import Identification
from armtwin.logs.joints import in_order_of, torque_channel
from armtwin.logs.log import Log
from armtwin.maths.batch import OnProgress
from armtwin.robot.robot import Robot


def judge(
    robot: Robot,
    found: Estimate,
    log: Log | None = None,
    *,
    others: Mapping[str, Robot] | None = None,
    progress: OnProgress | None = None,
) -> Identification:
    """Evaluate an estimate.

    Args:
        robot: The robot that it started from.
        found: The estimate.
        log: A log that the fit never saw; without one each log, or part of a single one, is left
            out in turn.
        others: Other models of the same arm to be shown beside it.
        progress: Called with the share of the work that is done.
    """
    _check_arguments(robot, found, log)
    left_out, why = None, ""
    if log is None:
        try:
            left_out = leave_one_out(robot, found, progress)
        except ArmtwinError as error:  # the fit itself is valid
            why = str(error)
    else:
        log = in_order_of(log, found.robot.joint_names)
        _check_unseen(found, log)
    beside = side_by_side(found, others, log or found.logs[0]) if others else None
    return Identification(found, log, left_out, beside, why)


def _check_arguments(robot: Robot, found: Estimate, log: Log | None) -> None:
    """Refuse a robot that the estimate is not of."""
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
    refuse_mistakes(
        weigh_torques(found.robot, [log], torque_channel(log, found.torque_source), recipe)
    )
