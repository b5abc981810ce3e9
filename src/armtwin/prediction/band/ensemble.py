"""Sampled variants of a robot, each run on the job: their peaks and errors along the seam.

Variants are run piece by piece, so that memory does not depend on the length of the motion. The
path error is computed on thinned samples, and on all of them about its peaks. Of a run its largest
errors about a fixed number of places are kept, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.jobs.forces import acting
from armtwin.jobs.job import Job
from armtwin.maths.batch import Flags, Floats, Names, OnProgress, Pair
from armtwin.maths.lanes import LANES
from armtwin.maths.runner import run_all, threads
from armtwin.motion.joint_motion import joint_motion
from armtwin.motion.shifted_motion import shift_motion
from armtwin.motion.trajectory import Trajectory
from armtwin.prediction.band.identified import missing_torque, with_errors
from armtwin.prediction.band.of_placement import place_workpiece
from armtwin.prediction.band.quantity import Variant
from armtwin.prediction.band.residual import at_times
from armtwin.prediction.path_error import path_error, path_error_of
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import DIRECTIONS, Direction, SlowSpan, process_is_on, verdict_on
from armtwin.simulation.closed_loop import MANY, PiecedRun, first_piece, prepare_run, run_in_pieces
from armtwin.simulation.lanes import Ended
from armtwin.simulation.loop import FINISHED, Inputs
from armtwin.simulation.options import RunOptions
from armtwin.simulation.outcome import early_end
from armtwin.simulation.prepared import PreparedRun, compute_feedforward, controller_of

Numbers = NDArray[np.intp]
SAMPLES = 600  # number of thinned samples of a run with the process on, about
NEAR_PEAK = 0.8  # share of the largest thinned error from which its surroundings are evaluated
PIECE = 1024  # set-points of a variant that are in memory at a time
NOWHERE = (float("nan"), float("nan"))  # on the seam


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Results of the sampled variants of a prediction; its size does not depend on their length.

    Attributes:
        directions: The directions that are judged.
        peaks: Largest error of each variant in each direction with the process on, (variants,
            directions) [m; rad for orientation]; NaN of one that was not run to its end.
        reasons: Why a variant stopped, could not be run, or was outside a process window, a
            sentence for each; "" for one that did not fail.
        failed_on: From where to where on the seam it failed, (variants, 2) [m]; NaN for nowhere.
        place: Commanded arc length of places with the process on, (k,) [m].
        errors: Largest error about each place, (variants, directions, k), without sign; NaN of a
            variant that was not run to its end.
    """

    directions: tuple[Direction, ...]
    peaks: Floats
    reasons: Names
    failed_on: Floats
    place: Floats
    errors: Floats

    def __len__(self) -> int:
        return len(self.peaks)

    @cached_property
    def failed(self) -> Flags:
        """Variants that stopped, could not be run, or were outside a process window."""
        return np.array([bool(reason) for reason in self.reasons])

    @cached_property
    def finished(self) -> Flags:
        """Variants that were run to their end."""
        return np.asarray(~np.isnan(self.peaks).any(axis=1))

    def join(self, other: Ensemble) -> Ensemble:
        """Both ensembles as one."""
        return Ensemble(
            self.directions,
            np.concatenate([self.peaks, other.peaks]),
            self.reasons + other.reasons,
            np.concatenate([self.failed_on, other.failed_on]),
            self.place,
            np.concatenate([self.errors, other.errors]),
        )


@dataclass(frozen=True, eq=False)
class _PreparedVariant:
    """A variant prepared to be run, or why it cannot be."""

    job: Job
    ready: PreparedRun | None
    feed: Callable[[slice], Inputs] | None = None
    residual: Floats | None = None
    names: Names = ()
    reason: str = ""


class _Outcome(NamedTuple):
    """What is kept of a variant; fields as of an Ensemble."""

    peaks: Floats
    reason: str
    failed_on: Pair
    errors: Floats


def run_variants(
    p: Prediction, variants: Sequence[Variant], progress: OnProgress | None = None
) -> Ensemble:
    """Run the job of a prediction with sampled robots and placements.

    As many variants as a kernel has lanes are prepared, run and reduced at a time on each thread,
    so that memory does not depend on the number of variants.

    Args:
        p: The nominal prediction: its start posture and time law are those of all.
        variants: Robots and placements.
        progress: Called with the share that is done.
    """
    grid = _Grid(p)
    groups = [variants[k : k + LANES] for k in range(0, len(variants), LANES)]
    in_lanes = len(variants) >= MANY
    found: list[_Outcome] = []
    with threads() as executor:
        for part in run_all(partial(_run_group, p, grid, in_lanes), groups, executor=executor):
            found += part
            if progress is not None:
                progress(len(found) / len(variants))
    return Ensemble(
        grid.directions,
        np.array([x.peaks for x in found]),
        tuple(x.reason for x in found),
        np.array([x.failed_on for x in found]),
        grid.place,
        np.array([x.errors for x in found]),
    )


def _run_group(
    p: Prediction, grid: _Grid, in_lanes: bool, variants: Sequence[Variant]
) -> list[_Outcome]:
    """Variants prepared, run together and reduced; nothing else is kept of them."""
    piece = PIECE if p.method == "nonlinear" else len(p.motion.trajectory.q)
    prepared = [_prepare_variant(p, variant, piece) for variant in variants]
    reduced = [None if x.ready is None else _Reduction(grid, x) for x in prepared]
    runs = []
    for x, found in zip(prepared, reduced, strict=True):
        if found is not None:
            assert x.ready is not None
            assert x.feed is not None
            runs.append(PiecedRun(x.ready, x.feed, found.take))
    ends = iter(run_in_pieces(runs, piece, many=1 if in_lanes else MANY))
    outcomes = []
    for x, found in zip(prepared, reduced, strict=True):
        outcomes.append(grid.refuse(x.reason) if found is None else found.finish(next(ends)))
    return outcomes


def _prepare_variant(p: Prediction, variant: Variant, piece: int) -> _PreparedVariant:
    """Prepare a variant to be run in pieces, in the posture of the nominal prediction.

    A servo that feeds the model's torque forward has the model of the robot file.
    """
    model = p.job.description.model
    try:
        robot = p.robot.with_numbers(variant.description)
        job = place_workpiece(p.job, variant.placement)
        motion_of: Callable[[slice], Trajectory] = p.motion.trajectory.rows
        outside = p.outside
        if job is not p.job:
            motion_of = _motion_of(p, job)
            outside = acting(job, p.robot, p.motion.trajectory.time)
        missing = None
        if variant.error is not None:
            possible = with_errors(robot, variant.error)
            missing = variant.error if possible is None else None
            robot = robot if possible is None else possible
        is_changed = robot.description is not p.robot.description

        def prepare_rows(rows: slice) -> tuple[Trajectory, RunOptions]:
            motion, here = motion_of(rows), outside.rows(rows)
            if missing is not None:
                here = here.with_torque(missing_torque(p.robot, motion, missing))
            fed = compute_feedforward(p.robot, motion, model) if is_changed else None
            return motion, here.options(method=p.method, feedforward=fed)

        c, count = controller_of(robot, model), len(p.motion.trajectory.q)
        motion, options = prepare_rows(first_piece(c, piece, count))
        ready = prepare_run(robot, motion, model, options=options)
        inputs = ready.inputs._replace(ticks=(count - 1) * c.setpoint_ticks + 1)
        ready = replace(ready, inputs=inputs)
    except ArmtwinError as error:
        return _PreparedVariant(p.job, None, reason=str(error))

    def feed(rows: slice) -> Inputs:
        return ready.inputs_of(*prepare_rows(rows))

    return _PreparedVariant(job, ready, feed, variant.residual, robot.joint_names)


def _motion_of(p: Prediction, job: Job) -> Callable[[slice], Trajectory]:
    """The motion along the seam of a placed workpiece at set-points, asked for in their order.

    Variants differ in no length: the nominal robot gives their joint positions.
    """
    rate, start = p.motion.trajectory.rate, p.motion.trajectory.q[0]
    if p.shift is not None:  # a program in the workpiece's frame moves with it
        whole = joint_motion(p.robot, job.seam, rate, start)
        return shift_motion(p.robot, job.seam, whole, p.shift).trajectory.rows
    first, before = 0, start[None]  # the positions that are known, from a set-point on

    def move(rows: slice) -> Trajectory:
        nonlocal first, before
        reached = before[: rows.start - first + 1]
        reached = reached[~np.isnan(reached[:, 0])]
        near = reached[-1] if len(reached) else start
        found = joint_motion(p.robot, job.seam, rate, near, rows).trajectory
        first, before = rows.start, found.q
        return found

    return move


class _Grid:
    """Where the path error of a variant is evaluated: thinned samples with the process on.

    All variants have the time law of the nominal run, and so its commanded places.
    """

    def __init__(self, p: Prediction) -> None:
        tolerance = p.job.description.tolerance
        self.directions = tuple(x for x in DIRECTIONS if getattr(tolerance, x) is not None)
        self.count, self.rate = len(p.run.trace_time), p.run.trace_rate
        self.s = p.path_error.s
        self.on = np.flatnonzero(process_is_on(p.job, self.s))
        self.step = max(1, len(self.on) // SAMPLES)
        self.rows = self.on[:: self.step]
        self.place = self.s[self.rows]
        self.has_windows = any(True for _ in p.job.windows())

    def refuse(self, reason: str, start: float = 0.0) -> _Outcome:
        """A variant that was not run, or not beyond a place of the seam [m]."""
        many = len(self.directions)
        errors = np.full((many, len(self.place)), np.nan)
        return _Outcome(np.full(many, np.nan), reason, (start, float(self.s[-1])), errors)


class _Reduction:
    """The errors of a variant about the places of a grid, found from its trace piece by piece.

    About a place that is near the largest error so far all samples are evaluated. In the end those
    count that are near the largest of all.

    Attributes:
        held: Joint positions of samples with the process on that are needed still.
        begins: Number of the first of them, of those with the process on.
        errors: Errors at the places, (directions, places).
        about: Largest errors nearest to the place before, to a place and to the one after, by the
            samples about that place, (directions, places, 3).
        done: Places that are evaluated.
    """

    def __init__(self, grid: _Grid, variant: _PreparedVariant) -> None:
        assert variant.ready is not None
        self.grid, self.variant, self.ready = grid, variant, variant.ready
        places = self.ready.coordinates
        built = list(places.built.joint_names)
        self.own = [built.index(name) for name in variant.names]
        self.held = np.empty((0, len(built)))
        self.begins = self.done = 0
        self.errors = np.zeros((len(grid.directions), len(grid.rows)))
        self.about = np.zeros((*self.errors.shape, 3))
        self.window = _WindowWatch(grid, variant.job)

    def take(self, first: int, u: Floats) -> None:
        """A piece of the trace that begins with a row of it."""
        grid = self.grid
        q = self.ready.coordinates.of_bodies(u)
        if grid.has_windows:
            self.window.take(first, self.ready.coordinates.built.forward_kinematics(q))
        start, stop = np.searchsorted(grid.on, (first, first + len(u)))
        self.held = np.concatenate([self.held, q[grid.on[start:stop] - first]])
        after = len(grid.rows)
        if stop < len(grid.on):  # places whose samples have all come
            after = max(self.done, (stop - grid.step) // grid.step + 1)
        self._evaluate_places(slice(self.done, after))
        self.done = after
        needed = max(self.begins, (after - 1) * grid.step + 1)
        self.held = self.held[needed - self.begins :].copy()
        self.begins = needed

    def _evaluate_places(self, some: slice) -> None:
        """Errors at places, and at all samples about those that are near the largest so far."""
        grid = self.grid
        self.errors[:, some] = self._evaluate(grid.step * np.arange(some.start, some.stop))
        so_far = self.errors[:, : some.stop].max(axis=1, initial=0.0)
        chosen = some.start + np.flatnonzero(_near(self.errors[:, some], so_far))
        around = np.zeros(len(self.held), dtype=bool)
        for place in chosen:
            around[self._samples_about(place)] = True
        numbers = self.begins + np.flatnonzero(around)
        fine = np.zeros((len(grid.directions), len(self.held)))
        fine[:, around] = self._evaluate(numbers)
        samples = self.begins + np.arange(len(self.held))
        cells = np.minimum((samples + grid.step // 2) // grid.step, len(grid.rows) - 1)
        for place in chosen:
            here = self._samples_about(place)
            for k in range(3):
                mine = fine[:, here][:, cells[here] == place - 1 + k]
                self.about[:, place, k] = mine.max(axis=1, initial=0.0)

    def _samples_about(self, place: int) -> slice:
        """Which of the held samples lie about a place."""
        step = self.grid.step
        last = min((place + 1) * step, len(self.grid.on))
        return slice(max(0, (place - 1) * step + 1) - self.begins, last - self.begins)

    def _evaluate(self, numbers: Numbers) -> Floats:
        """Size of the errors at samples with the process on, with what its servo did not explain.

        (directions, samples)
        """
        q = self.held[numbers - self.begins]
        time = self.grid.on[numbers] / self.grid.rate
        if self.variant.residual is not None:
            q[:, self.own] += at_times(self.variant.residual, time)
        built = self.ready.coordinates.built
        found = path_error_of(self.variant.job.seam, time, built, q)
        return np.abs([getattr(found, x) for x in self.grid.directions])

    def finish(self, ended: Ended) -> _Outcome:
        """What is kept of the variant once it has ended."""
        if ended[0] != FINISHED:
            reached = ended[1] // self.ready.controller.position_ticks
            event = next(early_end(self.ready, ended))
            return self.grid.refuse(event.text, float(self.grid.s[reached]))
        errors = self.errors.copy()
        for place in np.flatnonzero(_near(errors, errors.max(axis=1))):
            for k, cell in enumerate(range(place - 1, place + 2)):
                if 0 <= cell < errors.shape[1]:
                    errors[:, cell] = np.maximum(errors[:, cell], self.about[:, place, k])
        return _Outcome(errors.max(axis=1), *self.window.outcome(), errors)


def _near(sizes: Floats, largest: Floats) -> Flags:
    """Places at which an error is near the largest of its direction, (places,)."""
    chosen = (sizes >= NEAR_PEAK * largest[:, None]) & (sizes > 0)
    return np.asarray(chosen.any(axis=0))


class _WindowWatch:
    """Where the tool speed of a variant is outside its process windows, piece by piece."""

    def __init__(self, grid: _Grid, job: Job) -> None:
        self.grid, self.job = grid, job
        self.poses = np.empty((0, 4, 4))
        self.found: list[SlowSpan] = []

    def take(self, first: int, poses: Floats) -> None:
        """Poses of the tool from a row of the trace on; the speed at the last one comes later."""
        rows = np.arange(first - len(self.poses), first + len(poses))
        both = np.concatenate([self.poses, poses])
        error = path_error(self.job.seam, rows / self.grid.rate, both)
        start = 0 if rows[0] == 0 else 1
        stop = len(rows) if rows[-1] == self.grid.count - 1 else len(rows) - 1
        self.found += verdict_on(self.job, error.rows(slice(start, stop))).outside_window
        self.poses = both[-2:]

    def outcome(self) -> tuple[str, Pair]:
        """Why and where the variant is outside a process window; "" where it is not."""
        if not self.found:
            return "", NOWHERE
        where = (self.found[0].from_m, max(span.to_m for span in self.found))
        return "the tool speed is outside its process window", where
