"""Learning from logged runs of a job: the measured error takes the place of the predicted one.

    error(shift) = measured + twin(shift) - twin(shift of the run)

The twin gives how the error changes with the shift, the log what it is; the reference of the log
says which shift was run. Of several runs the best one is gone on from.

Ref: [Waiboer 2007, section 6.2], [Hakvoort 2008]
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from armtwin.errors import ArmtwinError, FileError
from armtwin.jobs.job import Job
from armtwin.logs.log import Log
from armtwin.maths.interpolation import interpolate_columns
from armtwin.prediction import correct
from armtwin.prediction.compare import compare
from armtwin.prediction.comparison import COMPLETE
from armtwin.prediction.correction import Correction
from armtwin.prediction.path_error import path_error
from armtwin.prediction.predict import Prediction, load_job_and_robot, predict, run_shifted
from armtwin.robot.robot import Robot


def learn_from_runs(
    job: Job | str | Path,
    logs: Log | Sequence[Log],
    robot: Robot | str | Path | None = None,
    *,
    rounds: int = correct.ROUNDS,
    spacing: float | None = None,
) -> Correction:
    """Correct a job by logged runs of it, the first as programmed, the others as corrected.

    Args:
        job: The job, or the name or file of one.
        logs: Runs with the commanded and the measured positions, q_ref and q.
        robot: A robot in place of the job's.
        rounds: Rounds of learning on the twin.
        spacing: As of `correct`.
    """
    given = [logs] if isinstance(logs, Log) else list(logs)
    if not given:
        raise ArmtwinError("logs must be one or more logged runs of the job, got none")
    job, robot = load_job_and_robot(job, robot)
    p = predict(job, robot)
    runs = [_Measured(p, log) for log in given]
    best = min(runs, key=lambda run: run.size.rms)
    own = run_shifted(p, best.shift)
    error = own.path_error
    offset = best.error - correct.fit_shift(p, error.time, error.across, 0.0)
    start = correct.learn_shift(p, own, rounds, offset)
    program, points = correct.as_points(p, start[0], spacing)
    return Correction(
        prediction=p,
        before=runs[0].size,
        deflected=None,
        rounds=start[1],
        best=start[0],
        points=points,
        by_lines=correct.join_by_lines(p, program),
        program=program,
        measured=tuple(run.size for run in runs),
    )


class _Measured:
    """A logged run: its error and its shift at the set-points, (m, 2) each."""

    def __init__(self, p: Prediction, log: Log) -> None:
        where = log.origin or "the log"
        if "q_ref" not in log or "q" not in log:
            raise FileError(where, "must have q_ref and q, the commanded and measured positions")
        found = compare(p.job, log)
        if found.covered < COMPLETE:
            raise FileError(where, f"covers {100 * found.covered:.3g} % of the seam, must be all")
        X = p.robot.forward_kinematics(found.log.q_ref)
        commanded = path_error(p.job.seam, found.log.time, X, found.shift)
        time = p.motion.trajectory.time
        shift = interpolate_columns(time + found.shift, found.log.time, commanded.across)
        self.shift = correct.fit_shift(p, time, shift, 0.0)
        measured = found.measured
        stamps = measured.time - found.shift
        self.error = correct.fit_shift(p, stamps, measured.across, 0.0)
        self.size = correct.measure_size(p.job, p.motion.command.s, self.error)
