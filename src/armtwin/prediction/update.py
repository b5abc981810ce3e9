"""A changed job predicted again, with all of the run before it that the change leaves as it was.

tolerance, advice, widths          the run stays, it is judged again
servo, friction, what is simulated the commanded motion stays, it is run again
anything else                      planned and run again
"""

from __future__ import annotations

from dataclasses import replace

from armtwin.jobs.description import JobDescription
from armtwin.jobs.job import Job
from armtwin.prediction.predict import (
    Plan,
    Prediction,
    Progress,
    check_limits,
    plan_job,
    refuse_incomplete,
    run_plan,
)
from armtwin.prediction.verdict import verdict_on
from armtwin.robot.robot import Robot
from armtwin.simulation.closed_loop import setpoint_rate
from armtwin.simulation.options import Method

JUDGES = ("name", "title", "tolerance", "uncertainty", "advice", "notes")  # no run depends on these
RUNS = (*JUDGES, "model", "override")  # and no motion on these, of robots that differ in DRIVES
DRIVES = ("servo", "friction")


def update(
    before: Prediction | None, job: Job, *, method: Method = "nonlinear", say: Progress
) -> Prediction:
    """Predict a job as `predict` does, beginning with a prediction of another state of it.

    Args:
        before: The prediction before; None for none.
        job: The changed job.
        method: As of `predict`.
        say: Called before each stage; what it raises ends the work.
    """
    say("robot", 0.0)
    robot = job.robot()
    kept = None if before is None or before.given is not None else before
    if kept is not None and _differ_only_in(job, kept.job, JUDGES) and robot == kept.robot:
        if method == kept.method:
            planned = job.planned_as(kept.job)
            verdict = verdict_on(planned, kept.path_error, kept.log.events)
            return replace(kept, job=planned, verdict=verdict)
        plan = _plan_again(kept, job, robot, say)
    elif kept is not None and _has_same_motion(kept, job, robot):
        plan = _plan_again(kept, job, robot, say)
    else:
        plan = plan_job(job, None, say)
    return run_plan(plan, method, say)


def _differ_only_in(job: Job, other: Job, keys: tuple[str, ...]) -> bool:
    """Whether two jobs are the same but for some keys."""
    own: JobDescription = other.description
    same = {key: getattr(own, key) for key in keys}
    return job.origin == other.origin and replace(job.description, **same) == own


def _has_same_motion(kept: Prediction, job: Job, robot: Robot) -> bool:
    """Whether a job is commanded as before: the same seam, arm, limits and rate of set-points."""
    if not _differ_only_in(job, kept.job, RUNS):
        return False
    own, other = robot.description, kept.robot.description
    same = {key: getattr(other, key) for key in DRIVES}
    if replace(own, **same) != other:
        return False
    refuse_incomplete(robot, job)
    rate = kept.motion.trajectory.rate
    return abs(setpoint_rate(robot, job.description.model) - rate) < 1e-9 * rate


def _plan_again(kept: Prediction, job: Job, robot: Robot, say: Progress) -> Plan:
    """The motion before for a robot with other drives."""
    planned = job.planned_as(kept.job)
    limits = kept.feasibility
    if robot.description.friction != kept.robot.description.friction:
        say("limits", 0.0)
        limits = check_limits(robot, planned, kept.motion)
    return Plan(planned, robot, None, kept.motion, kept.outside, limits)
