"""`correct`: set-points pre-compensated for the error that the twin predicts.

    shift_0 = - (sag + deviations),   shift_k+1 = shift_k - gain · smooth(error_k, ahead of time)

The commanded tool point is shifted across the seam, laterally and vertically. What the twin knows
of gravity, process force and the arm is taken out first; what the servo leaves, friction and
vibration, is learned in a few simulated runs. A round that does not help is taken back and halved.
The shift is a cubic spline in time whose pieces last about a period of the position loop: nothing
faster would reach the tool.

Ref: [Soder-Hoorn 2015, section 1.2], [Hakvoort 2008]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.maths.batch import Floats, TwoArrays
from armtwin.maths.interpolation import interpolate_columns
from armtwin.motion.trajectory import Trajectory
from armtwin.prediction.correction import Corrected, Correction, Size, run_command
from armtwin.prediction.parts import UNSEEN, error_parts
from armtwin.prediction.path_error import PathError, path_error
from armtwin.prediction.predict import Prediction, check_limits, load_job_and_robot, predict
from armtwin.prediction.verdict import process_is_on, verdict_on
from armtwin.robot.robot import Robot

ROUNDS = 6
PIECE = 0.03  # length of the spline's pieces [s]
GAIN = 0.8
LEAST_GAIN = 0.1
LONGEST_LEAD = 0.05  # time by which the servo may be late [s]
SPACING = 0.01  # between points of a program [m]
MOST_SAMPLES = 40_000  # of an error that is smoothed
Progress = Callable[[float], None]


def correct(
    job: Job | str | Path,
    robot: Robot | str | Path | None = None,
    *,
    rounds: int = ROUNDS,
    spacing: float = SPACING,
    progress: Progress | None = None,
) -> Correction:
    """Correct the set-points of a job on the twin.

    Args:
        job: The job, or the name or file of one.
        robot: A robot in place of the job's.
        rounds: Rounds of learning at most.
        spacing: Distance between points of the program that is written [m].
        progress: Called with the share that is done.
    """
    if not isinstance(rounds, int) or not 0 <= rounds <= 50:
        raise ArmtwinError(f"rounds must be a whole number from 0 to 50, got {rounds}")
    if not 1e-4 <= spacing <= 1.0:
        raise ArmtwinError(f"spacing must be from 0.1 mm to 1 m, got {1e3 * spacing:g} mm")
    say: Progress = progress or (lambda share: None)
    job, robot = load_job_and_robot("correct", job, robot)
    p = predict(job, robot)
    if p.verdict.stopped is not None:
        raise ArmtwinError(f"{job.where}: the run stops before its end, so it cannot be corrected")
    say(1 / (rounds + 3))
    before = size_of(job, p.path_error)
    first = _remove_deflection(p)
    deflected = None if first is None else first.size
    start = _run_shifted(p, np.zeros((len(p.motion.trajectory.q), 2)))
    if first is not None and first.size.rms < before.rms:
        start = first
    best, tried = _learn_shift(p, start, rounds, lambda done: say((1 + done) / (rounds + 3)))
    points = _as_points(p, best.shift, spacing)
    program, turns = _program(p, best.shift, spacing)
    verdict = verdict_on(job, best.error, ())
    say(1.0)
    return Correction(
        prediction=p,
        before=before,
        deflected=deflected,
        rounds=tried,
        best=best,
        points=points,
        program=program,
        turns=turns,
        spacing=spacing,
        verdict=verdict,
    )


def _learn_shift(
    p: Prediction, start: Corrected, rounds: int, say: Progress
) -> tuple[Corrected, tuple[Size, ...]]:
    """The shift with the smallest error, and the sizes of each round."""
    knots = _knots(p)
    lead = _lead(p)
    best = start
    tried: list[Size] = []
    gain = GAIN
    for k in range(rounds):
        left = _smooth(p, best.error, knots, lead)
        new = _run_shifted(p, best.shift - gain * left)
        say(k + 1.0)
        if new.size.rms < best.size.rms:
            best = new
            tried.append(new.size)
            continue
        gain *= 0.5
        if gain < LEAST_GAIN:
            break
    return best, tuple(tried)


def size_of(job: Job, error: PathError) -> Size:
    """How large a path error is with the process on."""
    on = process_is_on(job, error.s)
    lateral = error.lateral[on]
    vertical = error.vertical[on]
    return Size(
        rms=float(np.sqrt(np.mean(lateral**2 + vertical**2))),
        lateral=float(np.abs(lateral).max()),
        vertical=float(np.abs(vertical).max()),
    )


def _knots(p: Prediction) -> Floats:
    """Ends of the spline's pieces over the whole motion [s]."""
    duration = p.motion.trajectory.duration
    return np.linspace(0.0, duration, max(2, round(duration / PIECE)) + 1)


def _lead(p: Prediction) -> float:
    """By how much the tool is late while it moves steadily [s]."""
    error = p.path_error
    moving = process_is_on(p.job, error.s) & (error.speed_ref > 0)
    late = np.median(error.lag[moving] / error.speed_ref[moving])
    return float(np.clip(late, 0.0, LONGEST_LEAD))


def _remove_deflection(p: Prediction) -> Corrected | None:
    """The command shifted against sag and deviations of the arm; None where there are none."""
    parts = error_parts(p)
    if parts is None:
        return None
    still = []
    for found in (parts.lateral, parts.vertical):
        still.append(sum(found[name] for name in UNSEEN if name in found))
    shift = -_fit_spline(p, parts.time, np.stack(still, axis=1), _knots(p), 0.0)
    return _run_shifted(p, shift)


def _smooth(p: Prediction, error: PathError, knots: Floats, lead: float) -> Floats:
    """Error that is left, at the set-points, (m, 2)."""
    values = np.stack([error.lateral, error.vertical], axis=1)
    return _fit_spline(p, error.time, values, knots, lead)


def _fit_spline(p: Prediction, time: Floats, values: Floats, knots: Floats, lead: float) -> Floats:
    """Values over time as a cubic spline, least squares, read ahead of the set-points."""
    from scipy.interpolate import make_lsq_spline

    thin = slice(None, None, max(1, len(time) // MOST_SAMPLES))
    ends = np.r_[[knots[0]] * 3, knots, [knots[-1]] * 3]
    inside = (time[thin] >= knots[0]) & (time[thin] <= knots[-1])
    spline = make_lsq_spline(time[thin][inside], values[thin][inside], ends, k=3)
    ahead = np.minimum(p.motion.trajectory.time + lead, knots[-1])
    return np.asarray(spline(ahead), dtype=np.float64)


def _run_shifted(p: Prediction, shift: Floats) -> Corrected:
    """A shifted command run on the twin."""
    motion = _shift_setpoints(p, shift)
    run = run_command(p, p.robot, motion)
    error = path_error(p.job.seam, run.trace_time, run.tool_poses())
    return Corrected(shift, motion, error, size_of(p.job, error))


def _shift_setpoints(p: Prediction, shift: Floats) -> Trajectory:
    """Joint set-points that put the tool point beside its seam, (m, 2) lateral and vertical."""
    from scipy.interpolate import CubicSpline

    nominal = p.motion.trajectory
    X = p.robot.forward_kinematics(nominal.q)
    _, frames, _ = p.job.seam.frames(p.motion.command.s)
    X[:, :3, 3] += shift[:, :1] * frames[:, :, 1] + shift[:, 1:] * frames[:, :, 2]
    more = CubicSpline(nominal.time, p.robot.follow(X, nominal.q[0]) - nominal.q)
    time = nominal.time
    trajectory = Trajectory(
        nominal.rate, nominal.q + more(time), nominal.v + more(time, 1), nominal.a + more(time, 2)
    )
    check_limits(p.robot, p.job, replace(p.motion, trajectory=trajectory))
    return trajectory


def _places(p: Prediction, spacing: float) -> Floats:
    """Arc lengths of the points of a program."""
    length = p.job.seam.length
    return np.linspace(0.0, length, max(2, round(length / spacing)) + 1)


def _shift_at(p: Prediction, shift: Floats, places: Floats) -> Floats:
    """Shift at arc lengths, (k, 2)."""
    s = p.motion.command.s
    moving = np.r_[True, np.diff(s) > 0]
    return interpolate_columns(places, s[moving], shift[moving])


def _as_points(p: Prediction, shift: Floats, spacing: float) -> Corrected:
    """The command as a robot makes it of the points of a program: a spline through them."""
    from scipy.interpolate import CubicSpline

    places = _places(p, spacing)
    through = CubicSpline(places, _shift_at(p, shift, places))
    return _run_shifted(p, np.asarray(through(p.motion.command.s), dtype=np.float64))


def _program(p: Prediction, shift: Floats, spacing: float) -> TwoArrays:
    """Points and orientations of a program in the workpiece's frame."""
    places = _places(p, spacing)
    moved = _shift_at(p, shift, places)
    jet, frames, turns = p.job.seam.frames(places)
    points = jet.p + moved[:, :1] * frames[:, :, 1] + moved[:, 1:] * frames[:, :, 2]
    X = p.job.description.workpiece.matrix()
    in_workpiece = (points - X[:3, 3]) @ X[:3, :3]
    return in_workpiece, np.asarray(X[:3, :3].T @ turns)
