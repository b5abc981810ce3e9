"""`correct`: set-points pre-compensated for the error that the twin predicts.

    shift_0 = - (sag + deviations),   shift_k+1 = shift_k - gain · smooth(error_k, ahead of time)

The commanded tool point is shifted across the seam, laterally and vertically. What the twin knows
of gravity, process force and the arm is taken out first; what the servo leaves, friction and
vibration, is learned in a few simulated runs. A round that does not help is taken back and halved.
The shift is a cubic spline in time whose pieces last about a period of the position loop: nothing
faster would reach the tool.

What is learned on the nominal twin is then run on sampled variants of the robot, each with and
without the shift: their share that holds is the probability before and after.

Ref: [Soder-Hoorn 2015, section 1.2], [Hakvoort 2008]
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.maths.batch import Floats, OnProgress
from armtwin.maths.interpolation import interpolate_columns
from armtwin.maths.splines import fit_cubic
from armtwin.motion import shifted_motion
from armtwin.prediction.band.band import assess_alike
from armtwin.prediction.band.measured import measure_first
from armtwin.prediction.correction import MOST_GROWTH, Corrected, Correction, Size
from armtwin.prediction.parts import UNSEEN, error_parts
from armtwin.prediction.path_error import PathError
from armtwin.prediction.predict import Prediction, load_job_and_robot, predict, run_shifted
from armtwin.prediction.verdict import process_is_on
from armtwin.robot.robot import Robot

ROUNDS = 6
PIECE = 0.03  # length of the spline's pieces [s]
GAIN = 0.8
LEAST_GAIN = 0.1
LONGEST_LEAD = 0.05  # time by which the servo may be late [s]
A_PIECE = 2  # samples at least
MOST_SAMPLES = 40_000  # of an error that is smoothed
SPACINGS = 4  # tried for the points of a program, each with half the deviation
NOMINAL_SHARE, SAMPLED_SHARE = 0.2, 0.4  # of the work of a correction; measurements are the rest


def correct(
    job: Job | str | Path,
    robot: Robot | str | Path | None = None,
    *,
    rounds: int = ROUNDS,
    spacing: float | None = None,
    nominal: bool = False,
    progress: OnProgress | None = None,
) -> Correction:
    """Correct the set-points of a job on the twin.

    Args:
        job: The job, or the name or file of one.
        robot: A robot in place of the job's.
        rounds: Rounds of learning at most.
        spacing: Distance between points of the program that is written [m]; by default as near as
            the curvature of seam and shift needs.
        nominal: Whether the nominal twin alone decides: fast, without probabilities.
        progress: Called with the share that is done.
    """
    if not isinstance(rounds, int) or not 0 <= rounds <= 50:
        raise ArmtwinError(f"rounds must be a whole number from 0 to 50, got {rounds}")
    if spacing is not None and not 1e-4 <= spacing <= 1.0:
        raise ArmtwinError(f"spacing must be from 0.1 mm to 1 m, got {1e3 * spacing:g} mm")
    say: OnProgress = progress or (lambda share: None)
    job, robot = load_job_and_robot(job, robot)
    found = correct_prediction(
        predict(job, robot),
        rounds=rounds,
        spacing=spacing,
        progress=lambda share: say(share if nominal else NOMINAL_SHARE * share),
    )
    if nominal:
        return found
    found = _with_probabilities(found, lambda share: say(NOMINAL_SHARE + SAMPLED_SHARE * share))
    say(1.0)
    return found


def correct_prediction(
    p: Prediction,
    *,
    rounds: int = ROUNDS,
    spacing: float | None = None,
    progress: OnProgress | None = None,
) -> Correction:
    """The correction of a predicted job on its nominal twin, without probabilities.

    Args:
        p: The job commanded along its seam.
        rounds: As of `correct`.
        spacing: As of `correct`.
        progress: As of `correct`.
    """
    if p.verdict.stopped is not None:
        raise ArmtwinError(
            f"{p.job.where}: the run stops before its end, so it cannot be corrected"
        )
    say: OnProgress = progress or (lambda share: None)
    first = _remove_deflection(p)
    best = _with_size(p)
    before, deflected = best.size, None if first is None else first.size
    if first is not None and first.size.rms < before.rms:
        best = first
    del first  # of what was tried only the best command is kept in memory
    best, tried = learn_shift(p, best.prediction, rounds, say=lambda done: say(done / (rounds + 1)))
    program, points = as_points(p, best, spacing)
    by_lines = join_by_lines(p, program)
    say(1.0)
    return Correction(
        prediction=p,
        before=before,
        deflected=deflected,
        rounds=tried,
        best=best,
        points=points,
        by_lines=by_lines,
        program=program,
    )


def _with_probabilities(found: Correction, progress: OnProgress) -> Correction:
    """A correction with how likely the seam holds before and after it, on the same variants."""
    commands = (found.prediction, found.best.prediction, found.points.prediction)
    band, best, points = assess_alike(commands, progress=progress)
    return replace(
        found,
        band=band,
        best=replace(found.best, band=best),
        points=replace(found.points, band=points),
        measured_first=measure_first(points),
    )


def learn_shift(
    p: Prediction,
    start: Prediction,
    rounds: int,
    offset: Floats | None = None,
    say: OnProgress = lambda done: None,
) -> tuple[Corrected, tuple[Size, ...]]:
    """The shift with the smallest error, and the sizes of each round.

    Args:
        p: The job commanded along its seam.
        start: The job with the shift that is begun with.
        rounds: Rounds at most.
        offset: What a machine's error is larger than the twin's at the set-points, (m, 2) [m].
        say: Called with the rounds that are done.
    """
    lead = _lead(p)
    best = _with_size(start, offset)
    tried: list[Size] = []
    gain = GAIN
    for k in range(rounds):
        error = _beside(best.prediction, offset)
        left = fit_shift(p, error.time, error.across, lead)
        new = _with_size(run_shifted(p, best.shift - gain * left), offset)
        say(k + 1.0)
        if new.size.rms < best.size.rms:
            best = new
            tried.append(new.size)
            continue
        gain *= 0.5
        if gain < LEAST_GAIN:
            break
    return best, tuple(tried)


def _beside(p: Prediction, offset: Floats | None) -> PathError:
    """The path error of a prediction with what a machine has more, at the set-points (m, 2)."""
    error = p.path_error
    if offset is None:
        return error
    more = interpolate_columns(error.time, p.motion.trajectory.time, offset)
    return replace(error, lateral=error.lateral + more[:, 0], vertical=error.vertical + more[:, 1])


def size_of(job: Job, error: PathError) -> Size:
    """How large a path error is with the process on."""
    return measure_size(job, error.s, error.across)


def measure_size(job: Job, place: Floats, across: Floats) -> Size:
    """How large an error, (m, 2), is with the process on, at commanded arc lengths."""
    on = across[process_is_on(job, place)]
    lateral, vertical = np.abs(on).max(axis=0).tolist()
    return Size(float(np.sqrt((on**2).sum(axis=1).mean())), lateral, vertical)


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
    shift = -fit_shift(p, parts.time, np.stack(still, axis=1), 0.0)
    return _run_shift(p, shift)


def fit_shift(p: Prediction, time: Floats, values: Floats, lead: float) -> Floats:
    """Values over time as a cubic spline, least squares, read ahead of the set-points."""
    thin = slice(None, None, max(1, len(time) // MOST_SAMPLES))
    stop = p.motion.trajectory.duration
    inside = (time[thin] >= 0) & (time[thin] <= stop)
    pieces = max(2, min(round(stop / PIECE), int(inside.sum()) // A_PIECE))
    spline = fit_cubic(time[thin][inside], values[thin][inside], stop, pieces)
    return spline(np.minimum(p.motion.trajectory.time + lead, stop)) * _judged_share(p)


def _judged_share(p: Prediction) -> Floats | float:
    """1 at set-points with the process on and 0 far from them, (m, 1); 1 for a job of one seam.

    Between the seams of a program nothing is corrected: there the joints may be led.
    """
    if p.job.seam.judged is None:
        return 1.0
    from scipy.ndimage import maximum_filter1d

    on = process_is_on(p.job, p.motion.command.s).astype(float)
    rate = p.motion.trajectory.rate
    near = maximum_filter1d(on, 1 + round(shifted_motion.SETTLED * rate))
    return shifted_motion.smooth_over(near[:, None], shifted_motion.SETTLED * rate)


def _with_size(p: Prediction, offset: Floats | None = None) -> Corrected:
    """A prediction with the size of its error; one that stops has none."""
    if p.verdict.stopped is not None:
        return Corrected(p, Size(np.inf, np.inf, np.inf))
    return Corrected(p, size_of(p.job, _beside(p, offset)))


def _run_shift(p: Prediction, shift: Floats) -> Corrected:
    """A shifted command run on the twin."""
    return _with_size(run_shifted(p, shift))


def as_points(
    p: Prediction, best: Corrected, spacing: float | None
) -> tuple[shifted_motion.ProgramPoints, Corrected]:
    """Points of a program, and the command that a spline through them makes.

    What the spline deviates from the set-points the servo follows, so the share of the peaks that
    they may grow by is the deviation that is tried first.
    """
    seam, s = p.job.seam, p.motion.command.s
    if spacing is not None:
        program = shifted_motion.points_beside(
            seam, s, best.shift, shifted_motion.space_evenly(seam, spacing)
        )
        return program, _run_shift(p, program.shift(seam, s))
    deviation = (MOST_GROWTH - 1) * min(best.size.lateral, best.size.vertical)
    for k in range(SPACINGS):
        places = shifted_motion.space_by_curvature(seam, s, best.shift, deviation / 2**k)
        program = shifted_motion.points_beside(seam, s, best.shift, places)
        points = _run_shift(p, program.shift(seam, s))
        if points.growth(best) <= MOST_GROWTH:
            break
    return program, points


def join_by_lines(p: Prediction, program: shifted_motion.ProgramPoints) -> Size | None:
    """How large the error is where straight lines join the points; None if that cannot be run."""
    try:
        shift = program.shift(p.job.seam, p.motion.command.s, smoothly=False)
        return _run_shift(p, shift).size
    except ArmtwinError:
        return None
