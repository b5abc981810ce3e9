"""Corrected set-points of a job, and what they show of themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats, Record
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import PERCENT, Number
from armtwin.notebook.sampling import thin_out
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Data, Report, Section, Table, Text, list_columns
from armtwin.prediction.path_error import PathError, path_error
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.headline import chart_along_seam
from armtwin.prediction.verdict import Verdict
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.simulation.closed_loop import simulate
from armtwin.simulation.options import RunOptions
from armtwin.simulation.outcome import Run

MICROMETRES = Number(1e6, "µm", digits=3)
SAMPLES = 800  # of a curve


@dataclass(frozen=True)
class Size:
    """How large a path error is with the process on [m].

    Attributes:
        rms: Root mean square of lateral and vertical error together.
        lateral: Largest lateral error.
        vertical: Largest vertical error.
    """

    rms: float
    lateral: float
    vertical: float


@dataclass(frozen=True, eq=False)
class Corrected:
    """A corrected command and what the twin makes of it.

    Attributes:
        shift: Lateral and vertical shift of the commanded tool point at the set-points, (m, 2) [m].
        motion: Set-points of the joints.
        error: Path error against the job's seam.
        size: How large it is.
    """

    shift: Floats
    motion: Trajectory
    error: PathError
    size: Size


@dataclass(frozen=True, eq=False, repr=False)
class Correction(Result):
    """Corrected set-points of a job, with the predicted error before and after.

    Attributes:
        prediction: The job as it is commanded without.
        before: Size of its error.
        deflected: Size after the deflection was taken out; None where the twin is rigid and exact.
        rounds: Sizes after each round of learning that helped.
        best: The corrected set-points.
        points: The same as points of a program, each `spacing` along the seam.
        program: Points of the program in the workpiece's frame, (k, 3) [m].
        turns: Orientations of the tool at these points, (k, 3, 3).
        spacing: Distance between the points [m].
        verdict: Whether the seam holds with the corrected set-points.
    """

    prediction: Prediction
    before: Size
    deflected: Size | None
    rounds: tuple[Size, ...]
    best: Corrected
    points: Corrected
    program: Floats
    turns: Floats
    spacing: float
    verdict: Verdict

    @property
    def table(self) -> list[Record]:
        """A record for each command that was tried: sizes of its error."""
        records = [_record("as programmed", self.before)]
        if self.deflected is not None:
            records.append(_record("deflection taken out", self.deflected))
        for k, size in enumerate(self.rounds, 1):
            records.append(_record(f"round {k}", size))
        records.append(_record("corrected set-points", self.best.size))
        records.append(_record("corrected program points", self.points.size))
        return records

    def sections(self) -> Report:
        """The error before and after, round by round, and the shift along the seam."""
        p = self.prediction
        before, after = self.before, self.best.size
        reduction = 1 - after.rms / before.rms if before.rms > 0 else 0.0
        state = "is within" if self.verdict.within else "exceeds"
        verdict = Text(
            f"On the twin the path error falls by {PERCENT.with_unit(reduction)}, from "
            f"{MICROMETRES.with_unit(before.rms)} to {MICROMETRES.with_unit(after.rms)} (root mean "
            f"square, lateral and vertical); corrected, the seam {state} its tolerance.",
            "good" if self.verdict.within else "bad",
        )
        joints = p.job.description.model.words
        return Report(
            title=f"{p.job.description.title or p.job.name}: corrected",
            subtitle=f"{p.job.name}: {p.robot.description.title or p.robot.name}, {joints}",
            sections=(
                Section("", _blocks(self)),
                Section("Along the seam", _charts(self), page_only=True),
            ),
            verdict=(verdict,),
        )

    def on(self, robot: Robot) -> tuple[PathError, PathError]:
        """Path errors of another robot without and with the correction, the same servo commands.

        Args:
            robot: A robot without the job's tool and overrides, as `predict` takes it.
        """
        p = self.prediction
        real = p.job.robot(robot)
        found = []
        for motion in (p.motion.trajectory, self.best.motion):
            run = run_command(p, real, motion)
            found.append(path_error(p.job.seam, run.trace_time, run.tool_poses()))
        return found[0], found[1]


def _record(command: str, size: Size) -> Record:
    return {
        "command": command,
        "rms_m": size.rms,
        "lateral_peak_m": size.lateral,
        "vertical_peak_m": size.vertical,
    }


def run_command(p: Prediction, robot: Robot, motion: Trajectory) -> Run:
    """A command run as the prediction was."""
    return simulate(
        robot,
        motion,
        p.job.description.model,
        options=RunOptions(method=p.method, torque=p.outside.torque, wrench=p.outside.wrench),
    )


def _blocks(result: Correction) -> Blocks:
    columns = list_columns(
        command="command",
        rms_m=("rms", MICROMETRES),
        lateral_peak_m=("lateral peak", MICROMETRES),
        vertical_peak_m=("vertical peak", MICROMETRES),
    )
    yield Text("Predicted error with the process on:")
    yield Table(columns, result.table, "commands")
    largest = float(np.abs(result.best.shift).max())
    yield Text(
        f"The commanded tool point is shifted by at most {MICROMETRES.with_unit(largest)}; the "
        f"program has {len(result.program)} points, one each {1e3 * result.spacing:.4g} mm."
    )
    yield Text(
        "setpoints.csv holds the joint set-points at the controller's rate; points.csv the tool's "
        "poses in the workpiece's frame, angles A, B, C.",
        "soft",
    )
    yield Data(
        {
            "job": result.prediction.job.name,
            "robot": result.prediction.robot.name,
            "largest_shift_m": largest,
            "holds": result.verdict.within,
        }
    )


def _charts(result: Correction) -> Blocks:
    p = result.prediction
    charts = []
    for name in ("lateral", "vertical"):
        layers = (
            _curve("as programmed", p.path_error, getattr(p.path_error, name)),
            _curve("corrected", result.best.error, getattr(result.best.error, name)),
        )
        charts.append(chart_along_seam(f"{name} error", "µm", layers))
    yield Multiples(tuple(charts), columns=2, shared="x", title="Predicted error")
    s = p.motion.command.s
    shifts = []
    for name, values in zip(("lateral", "vertical"), result.best.shift.T, strict=True):
        shifts.append(Curve(name, 1e3 * thin_out(s, SAMPLES), 1e6 * thin_out(values, SAMPLES)))
    yield Chart(
        "Shift of the commanded tool point",
        Axis("along the seam", "mm"),
        Axis("shift", "µm"),
        tuple(shifts),
    )


def _curve(name: str, error: PathError, values: Floats) -> Curve:
    thin = thin_out(np.flatnonzero(error.speed_ref > 0), SAMPLES)
    return Curve(name, 1e3 * error.s[thin], 1e6 * values[thin])
