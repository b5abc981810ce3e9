"""A logged run of a job beside its prediction.

Joint errors, path error and torques, aligned in time.

Ref: [Waiboer 2007, section 5.4]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import overload

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.logs.plausibility import Pace, check_motion, other_pace
from armtwin.logs.positions import joint_positions
from armtwin.logs.torque import joint_torque, tells_torque
from armtwin.maths.batch import Floats
from armtwin.prediction.agreement import Series, agreement
from armtwin.prediction.alignment import align
from armtwin.prediction.compare_reference import compare_reference
from armtwin.prediction.comparison import COMPLETE, Comparison
from armtwin.prediction.path_error import PathError, path_error
from armtwin.prediction.predict import Prediction, Progress, predict
from armtwin.prediction.reference_comparison import ReferenceComparison
from armtwin.prediction.verdict import verdict_on
from armtwin.robot.robot import Robot
from armtwin.simulation.model import Model
from armtwin.simulation.options import Method

LARGEST_STEP = 0.05  # between samples of a log beyond which what happened is not known [s]
# a deviation from the commanded motion that is larger than both is that of another job
FAR = 0.02  # [rad, m]
FAR_SHARE = 0.05  # of a joint's travel


@overload
def compare(
    job: Job,
    log: Log,
    *,
    robot: Robot | None = None,
    method: Method = "nonlinear",
    progress: Progress | None = None,
) -> Comparison: ...


@overload
def compare(
    job: Robot,
    log: Log,
    *,
    model: Model | None = None,
    method: Method = "nonlinear",
    progress: Progress | None = None,
) -> ReferenceComparison: ...


def compare(
    job: Job | Robot,
    log: Log,
    *,
    robot: Robot | None = None,
    model: Model | None = None,
    method: Method = "nonlinear",
    progress: Progress | None = None,
) -> Comparison | ReferenceComparison:
    """Compare a logged run of a job with its prediction; a log of another job is refused.

    With a robot in place of the job, the twin runs on the reference q_ref of the log itself.

    Args:
        job: The job, or a robot with what it carried mounted.
        log: The logged run.
        robot: A robot in place of the job's.
        model: What is simulated on a log's own reference; a job has a model of its own.
        method: How to predict.
        progress: Called with what is being done and the share that is done.
    """
    if not isinstance(job, Job | Robot) or not isinstance(log, Log):
        raise ArmtwinError(
            "compare needs a Job or a Robot, and a Log: at.compare(at.Job.load(name), "
            "at.Log.read(file))"
        )
    if isinstance(job, Robot):
        if robot is not None:
            raise ArmtwinError("compare: robot= is for a job; the first argument is a robot")
        return compare_reference(job, log, model, method=method, progress=progress)
    if model is not None:
        raise ArmtwinError("compare: model= is for a robot; a job has a model of its own")
    return _compare_job(job, log, robot, method, progress)


def _compare_job(
    job: Job, log: Log, robot: Robot | None, method: Method, progress: Progress | None
) -> Comparison:
    """A logged run of a job over its prediction."""
    prediction = predict(job, robot, method=method, progress=progress)
    robot, motion = prediction.robot, prediction.motion.trajectory
    log = in_order_of(log, robot.joint_names)
    q, side = joint_positions(robot, log)
    moved = Log(log.time, {**log.channels, "q": q})
    check_motion(moved, "q", Pace.of_motion(robot, motion.v))
    shift = _aligned(prediction, log, q)
    half = 0.5 * float(np.median(np.diff(log.time)))
    inside = (log.time >= shift - half) & (log.time <= shift + motion.duration + half)
    time = log.time[inside] - shift
    deviation = q[inside] - motion.at(time)[0]
    _check_same_job(prediction, log, q, deviation)
    measured = path_error(job.seam, log.time[inside], robot.forward_kinematics(q[inside]), shift)
    series = list(_errors(prediction, side, time, deviation, measured))
    source = ""
    if tells_torque(robot, log):
        torque, source = joint_torque(robot, log)
        series += _torques(prediction, time, torque[inside])
    # a prediction that stops early has nothing to say later
    both = time <= prediction.run.trace_time[-1] + half
    covered = _covered(job, measured)
    verdict = verdict_on(job, measured, log.events)
    if covered < COMPLETE:
        verdict = replace(verdict, within=False)
    return Comparison(
        prediction=prediction,
        log=log,
        shift=shift,
        side=side,
        torque_source=source,
        time=time,
        channels={x.name: x.pair for x in series},
        rows=tuple(agreement(x._replace(pair=x.pair[:, both])) for x in series),
        measured=measured,
        covered=covered,
        verdict=verdict,
    )


def _covered(job: Job, measured: PathError) -> float:
    """Share of the seam on which the process is on that a log holds."""
    close = np.diff(measured.time) <= LARGEST_STEP
    start, stop = measured.s[:-1][close], measured.s[1:][close]
    held = wanted = 0.0
    for first, last in job.process_on():
        inside = np.minimum(stop, last) - np.maximum(start, first)
        held += float(np.clip(inside, 0.0, None).sum())
        wanted += last - first
    return held / wanted


def _aligned(prediction: Prediction, log: Log, q: Floats) -> float:
    """Time in the log at which the job begins.

    By the reference where it is logged, else by the positions.
    """
    if "q_ref" in log and log.q_ref.shape == q.shape:
        motion = prediction.motion.trajectory
        return align(log.time, log.q_ref, motion.time, motion.q)
    return align(log.time, q, prediction.log.time, prediction.log.q)


def _check_same_job(prediction: Prediction, log: Log, q: Floats, deviation: Floats) -> None:
    job, robot = prediction.job, prediction.robot
    if not len(deviation):
        raise ArmtwinError(f"the log holds no sample of job '{job.name}'")
    travel = np.ptp(prediction.motion.trajectory.q, axis=0)
    excess = np.abs(deviation).max(axis=0) / np.maximum(FAR, FAR_SHARE * travel)
    if excess.max() > 1:
        j = int(excess.argmax())
        far = float(np.abs(deviation[:, j]).max())
        raise ArmtwinError(
            f"the log is not of job '{job.name}': at the best alignment {robot.joint_names[j]} is "
            f"up to {np.degrees(far):.3g}° from the commanded motion"
            f"{other_pace(log.time, q, prediction.motion.trajectory.v)}"
        )


def _errors(
    prediction: Prediction, side: str, time: Floats, deviation: Floats, measured: PathError
) -> Iterator[Series]:
    """Joint and path errors, measured and predicted on the same side of the gears, by name."""
    run = prediction.run
    on_link = side == "q_link"
    error = prediction.path_error if on_link else prediction.seen
    positions = run.link_side if on_link else run.motor_side
    wanted = prediction.motion.trajectory.at(run.trace_time)[0]
    for j, name in enumerate(prediction.robot.joint_names):
        predicted = np.interp(time, run.trace_time, positions[:, j] - wanted[:, j])
        yield Series(f"{name} error", "rad", np.stack([deviation[:, j], predicted]))
    for direction in ("lateral", "vertical", "lag"):
        predicted = np.interp(time, error.time, getattr(error, direction))
        yield Series(direction, "m", np.stack([getattr(measured, direction), predicted]))


def _torques(prediction: Prediction, time: Floats, torque: Floats) -> Iterator[Series]:
    log = prediction.log
    for j, name in enumerate(prediction.robot.joint_names):
        predicted = np.interp(time, log.time, log.tau[:, j])
        yield Series(f"{name} torque", "N m", np.stack([torque[:, j], predicted]))
