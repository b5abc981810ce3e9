"""The command that corrects a job's set-points on the twin."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

import armtwin as at
from armtwin.app.job_commands import change_job
from armtwin.app.options import Changes, JobFile, Output, flag, option, quantity
from armtwin.app.places import files_of_job, of_job, written_files
from armtwin.app.progress import of, progress_bar
from armtwin.app.run import folder_run
from armtwin.files.names import safe_name
from armtwin.files.staging import Contents
from armtwin.jobs.from_program import own_tool
from armtwin.logs.csv_files import put_csv, rows_as_text
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import pose, to_rpy
from armtwin.maths.units import Unit
from armtwin.motion.moves import ProgramMove
from armtwin.prediction.corrected_program import correct_program
from armtwin.programs.writing import write_program

SETPOINTS, POINTS = "setpoints.csv", "points.csv"
DECIMALS = 6  # of millimetres and degrees
ENDINGS = {"krl": ".src", "rapid": ".mod", "ls": ".ls", "urscript": ".script"}
HEADER = "x [mm],y [mm],z [mm],a [deg],b [deg],c [deg]"
LENGTH = Unit("m", above=0, plausible=1, hint="mm")


def correct(
    job: JobFile,
    rounds: int = option("NUMBER", "Rounds of learning on the twin.", default=6),
    spacing: float | None = quantity(
        "--spacing",
        LENGTH,
        'Distance between points of the program, as "10 mm"; by default 2 to 16 mm, nearer '
        "where seam and shift are curved.",
    ),
    nominal: bool = flag("--nominal", "The nominal twin alone: fast, without probabilities."),
    measured: list[Path] | None = option(
        "LOG", "Learn from logged runs of the job, in their order."
    ),
    dialect: Literal["krl", "rapid", "ls", "urscript"] | None = flag(
        "--as", "Also write the corrected points as a program of a dialect.", default=None
    ),
    *,
    changes: Changes,
    output: Output,
) -> None:
    """Correct a job's set-points on the twin: deflection and path error pre-compensated.

    Says how likely the seam holds before and after, on the same sampled variants of the robot.
    Exit code 1: even so it does not hold, or may not; with --nominal: is out of tolerance.
    """
    asked = changes.load(job)
    chosen = change_job(asked, changes)
    source = of_job("correct", asked, chosen, "nonlinear")
    program = asked.source
    names = [*written_files(program, "corrected", "")]
    if dialect is not None:
        names.append(f"program{ENDINGS[dialect]}")
    run = folder_run(source, output, files_of_job(chosen), [SETPOINTS, POINTS, *names])
    with progress_bar("simulation") as progress:
        if measured:
            found = at.learn_from_runs(
                chosen, [at.Log.read(log) for log in measured], rounds=rounds, spacing=spacing
            )
        else:
            found = at.correct(
                chosen,
                rounds=rounds,
                spacing=spacing,
                nominal=nominal,
                progress=of(progress, "simulation"),
            )
        if program is not None:
            found = replace(found, written=correct_program(found, program))
    motion = found.best.motion
    log = at.Log.of(motion.time, (), q=motion.q, v=motion.v, a=motion.a)
    contents: Contents = {SETPOINTS: partial(put_csv, log.recording), POINTS: points_text(found)}
    if dialect is not None:
        contents[f"program{ENDINGS[dialect]}"] = points_program(found, dialect)
    if found.written is not None:
        contents |= written_files(program, "corrected", found.written.text)
    run.finish(found, contents, passed=found.holds)


def points_program(correction: at.Correction, dialect: str) -> str:
    """The points as a program of a dialect, base frame: a spline, or lines with zones."""
    p = correction.prediction
    poses = [pose(R, x) for x, R in zip(correction.program.p, correction.program.R, strict=True)]
    speed = p.job.description.speed
    moves = [
        ProgramMove("PTP", joints=p.motion.trajectory.q[0]),
        ProgramMove("LIN", poses[0], speed=speed),
    ]
    for k, X in enumerate(poses[1:], 1):
        if dialect == "krl":
            moves.append(ProgramMove("SPLINE", X, speed=speed, joined=k > 1))
            continue
        zone = 0.45 * float(correction.program.spacings.min()) if k + 1 < len(poses) else 0.0
        moves.append(ProgramMove("LIN", X, speed=speed, zone=zone))
    name = safe_name(p.job.name, "job")
    return write_program(name, dialect, own_tool(p.robot), moves)


def points_text(correction: at.Correction) -> str:
    """The points of a program as CSV: positions, and KUKA's angles A, B, C."""
    rows = []
    for point, R in zip(*correction.program_in_workpiece, strict=True):
        roll, pitch, yaw = np.degrees(to_rpy(R))
        rows.append([*(1e3 * point), yaw, pitch, roll])
    values: Floats = np.array(rows, dtype=np.float64)
    written = values.round(DECIMALS) + 0.0  # no negative zero
    return f"{HEADER}\n{rows_as_text(written).decode()}"
