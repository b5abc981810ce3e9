"""The command that corrects a job's set-points on the twin."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np

import armtwin as at
from armtwin.app.job_commands import change_job
from armtwin.app.options import Changes, JobFile, Output, flag, option, quantity
from armtwin.app.places import files_of_job, of_job
from armtwin.app.progress import of, progress_bar
from armtwin.app.run import folder_run
from armtwin.files.disk import Contents
from armtwin.logs.csv_files import put_csv, rows_as_text
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import to_rpy
from armtwin.maths.units import Unit
from armtwin.prediction.corrected_program import correct_program

SETPOINTS, POINTS = "setpoints.csv", "points.csv"
DECIMALS = 6  # of millimetres and degrees
HEADER = "x [mm],y [mm],z [mm],a [deg],b [deg],c [deg]"
LENGTH = Unit("m", above=0, plausible=1, hint="mm")


def correct(
    job: JobFile,
    rounds: Annotated[int, option("--rounds", "NUMBER", "Rounds of learning on the twin.")] = 6,
    spacing: Annotated[
        float | None,
        quantity(
            "--spacing",
            LENGTH,
            'Distance between points of the program, as "10 mm"; by default 2 to 16 mm, nearer '
            "where seam and shift are curved.",
        ),
    ] = None,
    nominal: Annotated[
        bool, flag("--nominal", "The nominal twin alone: fast, without probabilities.")
    ] = False,
    measured: Annotated[
        list[Path] | None,
        option("--measured", "LOG", "Learn from logged runs of the job, in their order."),
    ] = None,
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
    written = "" if program is None else f"{program.read.path.stem}_corrected"
    names = [f"{written}{program.read.path.suffix}"] if program is not None else []
    run = folder_run(source, output, files_of_job(chosen), [SETPOINTS, POINTS, *names])
    with progress_bar("simulation") as progress:
        if measured:
            found = at.learn_from_runs(chosen, measured, rounds=rounds, spacing=spacing)
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
    contents: Contents = {
        SETPOINTS: partial(put_csv, log.recording),
        POINTS: points_text(found),
    }
    if found.written is not None and program is not None:
        data = found.written.text.encode(program.read.encoding)
        contents[names[0]] = lambda file: file.write(data)
    run.finish(found, contents, passed=found.holds)


def points_text(correction: at.Correction) -> str:
    """The points of a program as CSV: positions, and KUKA's angles A, B, C."""
    rows = []
    for point, R in zip(*correction.program_in_workpiece, strict=True):
        roll, pitch, yaw = np.degrees(to_rpy(R))
        rows.append([*(1e3 * point), yaw, pitch, roll])
    values: Floats = np.array(rows, dtype=np.float64)
    written = values.round(DECIMALS) + 0.0  # no negative zero
    return f"{HEADER}\n{rows_as_text(written).decode()}"
