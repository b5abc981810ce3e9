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
from armtwin.files.hypothesis import Hypothesis, refuse_by
from armtwin.jobs.job import Job
from armtwin.logs.joints import in_order_of, joint_positions
from armtwin.logs.log import Log
from armtwin.logs.plausibility import Pace, check_motion, other_pace
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.interpolation import interpolate_columns
from armtwin.maths.time_shift import GRID, possible_shifts, search_shift
from armtwin.notebook.sampling import thin_out
from armtwin.prediction.agreement import Series, agreement, pair_joints, pair_torques
from armtwin.prediction.compare_interval import Offsets
from armtwin.prediction.compare_reference import compare_reference
from armtwin.prediction.comparison import COMPLETE, Comparison
from armtwin.prediction.path_error import PathError, path_error
from armtwin.prediction.predict import Prediction, Progress, predict
from armtwin.prediction.reference_comparison import PATH, ReferenceComparison
from armtwin.prediction.verdict import verdict_on
from armtwin.robot.robot import Robot
from armtwin.simulation.model import Model
from armtwin.simulation.options import Method

STEPS = 20


def align(time: Floats, q: Floats, wanted_time: Floats, wanted: Floats) -> float:
    """Time in a recording at which a wanted motion begins [s].

    Least squares over the samples that both have.

    Args:
        time: Times of the recording, (m,).
        q: Its positions, (m, n).
        wanted_time: Times of the wanted motion, from 0, (k,).
        wanted: Its positions, (k, n).
    """
    travel = np.ptp(wanted, axis=0)
    if not (travel > 0).any():
        raise ArmtwinError("a motion without movement cannot be aligned in time")
    scale = 1 / np.where(travel > 0, travel, np.inf)
    moving = np.flatnonzero((np.abs(np.diff(wanted, axis=0)) * scale).max(axis=1) > 1e-7)
    begin, end = wanted_time[moving[0]], wanted_time[moving[-1] + 1]
    thin = thin_out(wanted_time, 2 * GRID)
    points = interpolate_columns(thin, wanted_time, wanted) * scale

    def costs(shifts: Floats) -> Floats:
        found = []
        for x in shifts:
            found.append(_cost(time, q, thin + x, points, scale, (begin + x, end + x)))
        return np.array(found)

    best = search_shift(possible_shifts(time, begin, end), costs)
    polished = _refine_shift(time, q, wanted_time, wanted, scale, best)
    return polished if abs(polished - best) < 0.1 * (end - begin) else best


def _cost(
    time: Floats, q: Floats, at: Floats, points: Floats, scale: Floats, motion: Pair
) -> float:
    """Mean square distance of a recording from shifted points, over the motion."""
    both = (at >= time[0]) & (at <= time[-1]) & (at >= motion[0]) & (at <= motion[1])
    if not both.any():
        return float("inf")
    near = np.clip(np.searchsorted(time, at[both]), 0, len(time) - 1)
    return float(np.mean((q[near] * scale - points[both]) ** 2))


def _refine_shift(
    time: Floats, q: Floats, wanted_time: Floats, wanted: Floats, scale: Floats, shift: float
) -> float:
    """The shift by Gauss-Newton steps: what of the difference looks like a speed."""
    speed = np.gradient(wanted, wanted_time, axis=0)
    first = shift
    for _ in range(STEPS):
        both = (time >= shift) & (time <= shift + wanted_time[-1])
        at = time[both] - shift
        model = interpolate_columns(at, wanted_time, wanted)
        v = interpolate_columns(at, wanted_time, speed) * scale
        gap = q[both] - model
        step = -float((v * gap * scale).sum() / max((v * v).sum(), 1e-300))
        shift += step
        if abs(step) < 1e-9 or abs(shift - first) > wanted_time[-1]:
            break
    return shift


LARGEST_STEP = 0.05  # between samples of a log beyond which what happened is not known [s]
# a deviation from the commanded motion that is larger than both is that of another job
FAR = 0.02  # [rad, m]
FAR_SHARE = 0.05  # of a joint's travel
CLOSER = 0.1  # of another distance from the command, below which positions are the command


@overload
def compare(
    job: Job, log: Log, *, method: Method = "nonlinear", progress: Progress | None = None
) -> Comparison: ...


@overload
def compare(
    job: Robot,
    log: Log,
    *,
    model: Model | None = None,
    offsets: Offsets = "mean",
    method: Method = "nonlinear",
    progress: Progress | None = None,
) -> ReferenceComparison: ...


def compare(
    job: Job | Robot,
    log: Log,
    *,
    model: Model | None = None,
    offsets: Offsets = "mean",
    method: Method = "nonlinear",
    progress: Progress | None = None,
) -> Comparison | ReferenceComparison:
    """Compare a logged run of a job with its prediction; a log of another job is refused.

    With a robot in place of the job, the twin runs on the reference q_ref of the log itself.

    Args:
        job: The job, or a robot with what it carried mounted.
        log: The logged run.
        model: What is simulated on a log's own reference; a job has a model of its own.
        offsets: What is taken off the positions of a log that is compared on its own reference: the
            "mean" difference of each joint, that at the "start", or none, as "logged".
        method: How to predict.
        progress: Called with what is being done and the share that is done.
    """
    if isinstance(job, Robot):
        return compare_reference(job, log, model, offsets=offsets, method=method, progress=progress)
    if model is not None:
        raise ArmtwinError("compare: model= is for a robot; a job has a model of its own")
    _refuse_tool_path(log)
    return compare_run(predict(job, method=method, progress=progress), log)


def _refuse_tool_path(log: Log) -> None:
    """Refuse a log that has no joints."""
    if log.is_tool_path:
        raise ArmtwinError(
            f"{log.origin or 'the log'}: it holds a measured tool path and no joints; compare it "
            "by at.compare_tool_path(job, log)"
        )


def compare_run(prediction: Prediction, log: Log) -> Comparison:
    """A logged run of a job over its prediction."""
    _refuse_tool_path(log)
    job, robot, motion = prediction.job, prediction.robot, prediction.motion.trajectory
    log = in_order_of(log, robot.joint_names)
    q, side = joint_positions(robot, log)
    moved = Log(log.time, {**log.channels, "q": q})
    check_motion(moved, "q", Pace.of_motion(robot, motion.v))
    _refuse_commands_as_measurements(prediction, log, q)
    shift = _align_log(prediction, log, q)
    half = 0.5 * float(np.median(np.diff(log.time)))
    inside = (log.time >= shift - half) & (log.time <= shift + motion.duration + half)
    time = log.time[inside] - shift
    deviation = q[inside] - motion.at(time)[0]
    _check_same_job(prediction, log, q, deviation)
    measured = path_error(job.seam, log.time[inside], robot.forward_kinematics(q[inside]), shift)
    series = list(_errors(prediction, side, time, deviation, measured))
    torques, source = pair_torques(robot, log, inside, prediction.log, time)
    series += torques
    # a prediction that stops early has nothing to say later
    both = time <= prediction.run.trace_time[-1] + half
    covered = _compute_coverage(job, measured)
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


def _compute_coverage(job: Job, measured: PathError) -> float:
    """Share of the seam on which the process is on that a log holds."""
    close = np.diff(measured.time) <= LARGEST_STEP
    start, stop = measured.s[:-1][close], measured.s[1:][close]
    held = wanted = 0.0
    for first, last in job.process_on():
        inside = np.minimum(stop, last) - np.maximum(start, first)
        held += float(np.clip(inside, 0.0, None).sum())
        wanted += last - first
    return held / wanted


def _align_log(prediction: Prediction, log: Log, q: Floats) -> float:
    """Time in the log at which the job begins.

    By the reference where it is logged, else by the positions.
    """
    if "q_ref" in log and log.q_ref.shape == q.shape:
        motion = prediction.motion.trajectory
        return align(log.time, log.q_ref, motion.time, motion.q)
    return align(log.time, q, prediction.log.time, prediction.log.q)


def _refuse_commands_as_measurements(prediction: Prediction, log: Log, q: Floats) -> None:
    """Refuse positions that are the commanded motion: a machine has errors, a command has none."""
    apart = _distance_from_command(prediction, log.time, q)
    if "q_ref" in log and log.q_ref.shape == q.shape:
        other = _distance_from_command(prediction, log.time, log.q_ref)
        beside = f"q_ref {other:.2g} rad"
        mistake = "Are the columns of q and q_ref exchanged"
    else:
        run = prediction.run
        wanted = prediction.motion.trajectory.at(run.trace_time)[0]
        other = float(np.sqrt(np.mean((run.motor_side - wanted) ** 2)))
        beside = f"where errors of {other:.2g} rad are predicted"
        mistake = "Is q the reference in place of the measurement"
    if apart < CLOSER * other:
        evidence = f"q is {apart:.2g} rad (rms) from the job's commanded motion, {beside}"
        remedy = "log the measured positions, or name the columns in a columns file"
        refuse_by([Hypothesis(evidence, mistake, remedy)])


def _distance_from_command(prediction: Prediction, time: Floats, q: Floats) -> float:
    """Rms distance of positions from the commanded motion where they come closest [rad]."""
    motion = prediction.motion.trajectory
    shift = align(time, q, motion.time, motion.q)
    inside = (time >= shift) & (time <= shift + motion.duration)
    if not inside.any():
        return float("inf")
    return float(np.sqrt(np.mean((q[inside] - motion.at(time[inside] - shift)[0]) ** 2)))


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
    predicted = interpolate_columns(time, run.trace_time, positions - wanted)
    yield from pair_joints(prediction.robot.joint_names, "error", "rad", deviation, predicted)
    for direction in PATH:
        predicted = np.interp(time, error.time, getattr(error, direction))
        yield Series(direction, "m", np.stack([getattr(measured, direction), predicted]))
