"""Sampled variants of a robot, each run on the job: their peaks and errors along the seam.

The path error is computed on thinned samples, and on all of them about its peaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.jobs.forces import acting
from armtwin.jobs.job import Job
from armtwin.maths.batch import Flags, Floats, Names, OnProgress
from armtwin.maths.runner import run_all, threads
from armtwin.motion.joint_motion import joint_motion
from armtwin.prediction.band.identified import missing_torque, with_errors
from armtwin.prediction.band.of_placement import place_workpiece
from armtwin.prediction.band.quantity import Variant
from armtwin.prediction.band.residual import at_times
from armtwin.prediction.path_error import PathError, path_error
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import DIRECTIONS, Direction, process_is_on, verdict_on
from armtwin.simulation.closed_loop import prepare_run, setpoint_rate, simulate_all
from armtwin.simulation.options import RunOptions
from armtwin.simulation.outcome import Run
from armtwin.simulation.prepared import PreparedRun, compute_feedforward

Numbers = NDArray[np.intp]
SAMPLES = 600  # number of thinned samples along a run, about
NEAR_PEAK = 0.8  # share of the largest thinned error from which its surroundings are evaluated
TOGETHER = 64  # runs that are in memory at once


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Results of the sampled variants of a prediction.

    Attributes:
        directions: The directions that are judged.
        peaks: Largest error of each variant in each direction with the process on, (variants,
            directions) [m; rad for orientation]; NaN of one that was not run to its end.
        failed: Variants that stopped, could not be run, or were outside a process window.
        reasons: Why, a sentence for each variant; "" for one that did not.
        place: Commanded arc length of the thinned samples with the process on, (k,) [m].
        errors: Errors there, (variants, directions, k), with their signs.
    """

    directions: tuple[Direction, ...]
    peaks: Floats
    failed: Flags
    reasons: Names
    place: Floats
    errors: Floats

    def __len__(self) -> int:
        return len(self.peaks)

    def join(self, other: Ensemble) -> Ensemble:
        """Both ensembles as one."""
        return Ensemble(
            self.directions,
            np.concatenate([self.peaks, other.peaks]),
            np.concatenate([self.failed, other.failed]),
            self.reasons + other.reasons,
            self.place,
            np.concatenate([self.errors, other.errors]),
        )


@dataclass(frozen=True, eq=False)
class _PreparedVariant:
    """A variant prepared to be run, or why it cannot be."""

    job: Job
    ready: PreparedRun | None
    residual: Floats | None = None
    names: Names = ()
    reason: str = ""


def run_variants(
    p: Prediction, variants: Sequence[Variant], progress: OnProgress | None = None
) -> Ensemble:
    """Run the job of a prediction with sampled robots and placements.

    Args:
        p: The nominal prediction: its start posture and time law are those of all.
        variants: Robots and placements.
        progress: Called with the share that is done.
    """
    grid = _Grid(p)
    parts = []
    for first in range(0, len(variants), TOGETHER):
        some = variants[first : first + TOGETHER]
        parts.append(_run_some(p, grid, some))
        if progress is not None:
            progress(min(1.0, (first + len(some)) / len(variants)))
    found = parts[0]
    for part in parts[1:]:
        found = found.join(part)
    return found


def _run_some(p: Prediction, grid: _Grid, variants: Sequence[Variant]) -> Ensemble:
    with threads() as executor:
        prepared = list(run_all(partial(_prepare_variant, p), variants, executor=executor))
        possible = [k for k, x in enumerate(prepared) if x.ready is not None]
        runs = simulate_all([x.ready for x in prepared if x.ready is not None])
        able = [prepared[k] for k in possible]
        judged = list(run_all(grid.judged, able, runs, executor=executor))
    outcomes = dict(zip(possible, judged, strict=True))
    refused = grid.nothing()
    peaks, errors, reasons = [], [], []
    for k, x in enumerate(prepared):
        peak, error, reason = outcomes.get(k, refused)
        peaks.append(peak)
        errors.append(error)
        reasons.append(x.reason or reason)
    failed = np.array([bool(reason) for reason in reasons])
    return Ensemble(
        grid.directions, np.array(peaks), failed, tuple(reasons), grid.place, np.array(errors)
    )


def _prepare_variant(p: Prediction, variant: Variant) -> _PreparedVariant:
    """Prepare a variant to be run, in the posture of the nominal prediction.

    A servo that feeds the model's torque forward has the model of the robot file.
    """
    model = p.job.description.model
    try:
        robot = p.robot.with_numbers(variant.description)
        job = place_workpiece(p.job, variant.placement)
        motion, outside = p.motion, p.outside
        if job is not p.job:
            start = p.motion.trajectory.q[0]
            # variants differ in no length: the nominal robot gives their joint positions
            motion = joint_motion(p.robot, job.seam, setpoint_rate(robot, model), start)
            outside = acting(job, p.robot, motion.trajectory.time)
        if variant.error is not None:
            possible = with_errors(robot, variant.error)
            if possible is None:
                missing = missing_torque(p.robot, motion.trajectory, variant.error)
                outside = outside.with_torque(missing)
            else:
                robot = possible
        fed = None
        if robot.description is not p.robot.description:
            fed = compute_feedforward(p.robot, motion.trajectory, model)
        ready = prepare_run(
            robot,
            motion.trajectory,
            model,
            options=RunOptions(
                method=p.method, torque=outside.torque, wrench=outside.wrench, feedforward=fed
            ),
        )
    except ArmtwinError as error:
        return _PreparedVariant(p.job, None, reason=str(error))
    return _PreparedVariant(job, ready, variant.residual, robot.joint_names)


class _Grid:
    """Where the path error of a variant is evaluated: thinned samples of the nominal run."""

    def __init__(self, p: Prediction) -> None:
        tolerance = p.job.description.tolerance
        self.directions = tuple(x for x in DIRECTIONS if getattr(tolerance, x) is not None)
        self.count = len(p.run.trace_time)
        self.step = max(1, self.count // SAMPLES)
        self.rows = np.arange(0, self.count, self.step)
        s = p.path_error.s[self.rows]
        self.on = process_is_on(p.job, s)
        self.place = s[self.on]
        self.has_windows = any(True for _ in p.job.windows())

    def nothing(self) -> tuple[Floats, Floats, str]:
        """Peaks and errors of a variant that was not run."""
        many = len(self.directions)
        return np.full(many, np.nan), np.full((many, len(self.place)), np.nan), ""

    def judged(self, variant: _PreparedVariant, run: Run) -> tuple[Floats, Floats, str]:
        """Peaks of a run, its errors on the thinned samples, and why it does not count."""
        _, errors, _ = self.nothing()
        time = run.trace_time
        if len(time) < self.count:
            event = run.log.events[-1].text if run.log.events else "it stopped"
            return np.full(len(self.directions), np.nan), errors, event
        thin = _errors(variant, run, self.rows)
        values = np.array([getattr(thin, x) for x in self.directions])
        rows = self._about_peaks(values)
        fine = _errors(variant, run, rows)
        on = process_is_on(variant.job, fine.s)
        near = np.array([getattr(fine, x) for x in self.directions])
        peaks = np.abs(values[:, self.on]).max(axis=1, initial=0.0)
        peaks = np.maximum(peaks, np.abs(near[:, on]).max(axis=1, initial=0.0))
        return peaks, values[:, self.on], self._window(variant.job, run)

    def _about_peaks(self, values: Floats) -> Numbers:
        """All samples about the largest errors of each direction, with the process on."""
        sizes = np.abs(values) * self.on
        chosen = np.zeros(len(self.rows), dtype=bool)
        for size in sizes:
            chosen |= (size >= NEAR_PEAK * size.max(initial=0.0)) & (size > 0)
        around = np.zeros(self.count, dtype=bool)
        for row in self.rows[chosen]:
            around[max(0, row - self.step + 1) : row + self.step] = True
        return np.flatnonzero(around)

    def _window(self, job: Job, run: Run) -> str:
        """Why a run is outside a process window; "" where it does not, or there is none."""
        if not self.has_windows:
            return ""
        whole = path_error(job.seam, run.trace_time, run.tool_poses())
        outside = verdict_on(job, whole).outside_window
        return "the tool speed is outside its process window" if outside else ""


def _errors(variant: _PreparedVariant, run: Run, rows: Numbers) -> PathError:
    """Path error of given samples of a run, with what its servo did not explain."""
    q, time = run.bodies[rows], run.trace_time[rows]
    if variant.residual is not None:
        q = q.copy()
        q[:, _own(run, variant.names)] += at_times(variant.residual, time)
    return path_error(variant.job.seam, time, run.built.forward_kinematics(q))


def _own(run: Run, names: Sequence[str]) -> list[int]:
    """Which joints of the arm as it is built are those of the robot file."""
    built = list(run.built.joint_names)
    return [built.index(name) for name in names]
