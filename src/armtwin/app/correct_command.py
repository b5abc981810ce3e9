"""The command that corrects a job's set-points on the twin."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
import typer

import armtwin as at
from armtwin.app.job_commands import (
    OUT,
    WITHIN,
    JobName,
    Out,
    RobotName,
    ServoName,
    Speed,
    ToolName,
    chosen_job,
)
from armtwin.app.options import Force, Json
from armtwin.app.places import files_of_job, of_job, result_folder
from armtwin.app.progress import of, progress_bar
from armtwin.app.showing import REPORT, finish
from armtwin.errors import ArmtwinError
from armtwin.files.disk import Content
from armtwin.logs.csv_files import put_csv, rows_as_text
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import to_rpy
from armtwin.maths.units import Unit
from armtwin.report.folder import RESULT

SETPOINTS, POINTS = "setpoints.csv", "points.csv"
WRITTEN = (RESULT, REPORT, SETPOINTS, POINTS)
DECIMALS = 6  # of millimetres and degrees
HEADER = "x [mm],y [mm],z [mm],a [deg],b [deg],c [deg]"
LENGTH = Unit("m", above=0, plausible=1, hint="mm")


def correct(
    job: JobName,
    robot: RobotName = None,
    tool: ToolName = None,
    servo: ServoName = None,
    speed: Speed = None,
    rounds: Annotated[
        int, typer.Option("--rounds", help="Rounds of learning on the twin at most.")
    ] = 6,
    spacing: Annotated[
        str, typer.Option("--spacing", help="Distance between points of the program.")
    ] = "10 mm",
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Correct a job's set-points on the twin: deflection and path error made up for beforehand.

    Exit code 1: out of tolerance even so.
    """
    asked = at.Job.load(job)
    chosen = chosen_job(asked, robot, tool, servo, speed)
    source = of_job("correct", asked, chosen, "nonlinear")
    place = result_folder(source, out, WRITTEN, files_of_job(chosen), force)
    try:
        distance = LENGTH.read_word(spacing)
    except ArmtwinError as error:
        raise ArmtwinError(f"--spacing {error}") from None
    with progress_bar("simulation") as progress:
        found = at.correct(
            chosen, rounds=rounds, spacing=distance, progress=of(progress, "simulation")
        )
    motion = found.best.motion
    log = at.Log.of(motion.time, (), q=motion.q, v=motion.v, a=motion.a)
    contents: dict[str, Content] = {
        SETPOINTS: partial(put_csv, log.recording),
        POINTS: points_text(found),
    }
    finish(found.sections(), place, contents, json)
    raise typer.Exit(WITHIN if found.verdict.within else OUT)


def points_text(correction: at.Correction) -> str:
    """The points of a program as CSV: positions, and KUKA's angles A, B, C."""
    rows = []
    for point, R in zip(correction.program, correction.turns, strict=True):
        roll, pitch, yaw = np.degrees(to_rpy(R))
        rows.append([*(1e3 * point), yaw, pitch, roll])
    values: Floats = np.array(rows, dtype=np.float64)
    written = values.round(DECIMALS) + 0.0  # no negative zero
    return f"{HEADER}\n{rows_as_text(written).decode()}"
