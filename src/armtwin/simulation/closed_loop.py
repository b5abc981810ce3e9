"""Simulate a robot under its servo along a joint trajectory.

The result holds the Log a machine would write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.control.controller import Controller
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, OnProgress, Pair, check_array
from armtwin.maths.compiled import compiles
from armtwin.maths.interpolation import interpolate_columns
from armtwin.maths.lanes import LANES
from armtwin.maths.runner import run_all, threads
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot
from armtwin.simulation.kernels import kernel_of, name_of
from armtwin.simulation.lanes import Ended, Lanes, run_lanes
from armtwin.simulation.loop import FINISHED, Inputs
from armtwin.simulation.model import Model
from armtwin.simulation.options import PLAIN_RUN, Partner, RunOptions
from armtwin.simulation.outcome import Run, outcome
from armtwin.simulation.prepared import PreparedRun, controller_of, prepare

# LANES lanes cost as much as two loops that run alone, whether all of them are needed or not
LEAST_LOOPS = 3
# Runs of one call from which on they go into lanes: that kernel has to be compiled or loaded too.
MANY = 32
# Set-points beside a piece: differences and quintics of its first and last ones reach over them.
BESIDE = 4


def _run(group: Sequence[PreparedRun]) -> list[Ended]:
    """A group of runs of one kernel in its lanes, one run alone."""
    if len(group) == 1 or not compiles():
        return [run.run() for run in group]
    return run_lanes(kernel_of(group[0].fields, LANES), group)


@dataclass(frozen=True, eq=False)
class PiecedRun:
    """A run whose set-points come in pieces and whose trace goes in pieces: none is kept.

    Attributes:
        ready: Prepared for its first piece, with the ticks of all.
        feed: From set-points to what drives the loop along them.
        take: Called with the row of the trace with which a piece of it begins, and the piece,
            (rows, N).
    """

    ready: PreparedRun
    feed: Callable[[slice], Inputs]
    take: Callable[[int, Floats], None]


def earlier_setpoints(c: Controller) -> int:
    """Set-points before a piece that a loop in it looks back to."""
    late = float(c.lateness.max(initial=0.0)) / c.setpoint_ticks
    delayed = float(c.setpoint_delay.max(initial=0.0)) / (c.tick * c.setpoint_ticks)
    return int(np.ceil(late) + np.ceil(delayed)) + BESIDE


def first_piece(c: Controller, piece: int, count: int) -> slice:
    """Set-points for which a run in pieces is prepared: its arrays hold any piece."""
    return slice(0, min(earlier_setpoints(c) + piece + BESIDE, count))


def run_in_pieces(runs: Sequence[PiecedRun], piece: int, *, many: int = MANY) -> list[Ended]:
    """Run loops of one length piece by piece: how, when and where each ended, as it would whole.

    Args:
        runs: Runs, each to be run once.
        piece: Set-points of a piece.
        many: Number of runs from which on they go into lanes.
    """
    ready = [run.ready for run in runs]
    groups = _groups(ready) if len(runs) >= many else [[k] for k in range(len(runs))]
    ends: dict[int, Ended] = {}
    for group in groups:
        together = [runs[place] for place in group]
        ends.update(zip(group, _run_pieces(together, piece), strict=True))
    return [ends[place] for place in range(len(runs))]


def _run_pieces(runs: Sequence[PiecedRun], piece: int) -> list[Ended]:
    """Runs of one kernel, in its lanes."""
    ready = runs[0].ready
    lanes = Lanes(kernel_of(ready.fields, 1 if len(runs) == 1 else LANES), [x.ready for x in runs])
    c, ticks = ready.controller, ready.inputs.ticks
    earlier, count = earlier_setpoints(c), (ticks - 1) // c.setpoint_ticks + 1
    ends: dict[int, Ended] = {}
    for first in range(0, count, piece):
        begin, after = max(0, first - earlier), min(first + piece, count)
        if begin > 0 and lanes.running:
            rows = slice(begin, min(after + BESIDE, count))
            lanes.feed([runs[lane].feed(rows) for lane in lanes.running])
        last = ticks if after == count else after * c.setpoint_ticks
        _run_piece(lanes, (first * c.setpoint_ticks, last, begin * c.setpoint_ticks), ends)
        row, before = (k * c.setpoint_ticks // c.position_ticks for k in (first, begin))
        traced = slice(row - before, (last - 1) // c.position_ticks + 1 - before)
        for lane in lanes.running:
            runs[lane].take(row, lanes.read_trace(lane, traced))
    for lane in list(lanes.running):
        ends[lane] = FINISHED, ticks, -1
        lanes.finish(lane)
    return [ends[lane] for lane in range(len(runs))]


def _run_piece(lanes: Lanes, ticks: tuple[int, int, int], ends: dict[int, Ended]) -> None:
    """Run from the first to the last tick of a piece; notes the loops that end in it."""
    first, last, begin = ticks
    while lanes.running and first < last:
        tick = lanes.run_ticks(first, last, begin)
        for lane in list(lanes.running):
            how, where = lanes.ended[lane]
            if how != FINISHED:
                ends[lane] = int(how), tick, int(where)
                lanes.finish(lane)
        lanes.fill()
        first = tick if tick == last else tick + 1


def _groups(runs: Sequence[PreparedRun]) -> Iterator[list[int]]:
    """Places of runs that go into lanes together, and of those that run alone.

    Runs of about the same length are put together: a lane whose run has ended waits for the others.
    """
    alike: dict[Any, list[int]] = defaultdict(list)
    for place, run in enumerate(runs):
        alike[_kind(run)].append(place)
    for places in alike.values():
        places.sort(key=lambda place: -runs[place].inputs.ticks)
        for first in range(0, len(places), LANES):
            group = places[first : first + LANES]
            if len(group) >= LEAST_LOOPS:
                yield group
                continue
            for place in group:
                yield [place]


def _kind(run: PreparedRun) -> Any:
    """What runs in the lanes of one kernel have in common."""
    c = run.controller
    rates = (c.tick, c.position_ticks, c.setpoint_ticks, run.inputs.log_ticks)
    return name_of(run.fields), rates


def run_coupled(run: PreparedRun, partner: Partner, first: Floats) -> Ended:
    """Run it with a partner: how, when and where it ended.

    Args:
        run: A run prepared with outside torques for every set-point.
        partner: From time [s], positions and speeds of the links, (n,) each, to torques on the
            joints, (n,) [N m].
        first: What the partner gave for the first set-point.
    """
    lanes = Lanes(kernel_of(run.fields), [run])
    c, link = run.controller, run.coordinates.link
    period = c.tick * c.setpoint_ticks
    u, v = lanes.view("state.u")[0], lanes.view("state.v")[0]
    torque, tick = first, 0
    for k in range(len(run.inputs.ref)):
        if k > 0:
            torque = partner(k * period, u[link].copy(), v[link].copy())
        acting = run.coordinates.on_links(np.asarray(torque, dtype=np.float64))
        run.inputs.external[k : k + 2] = acting  # until the next set-point, where it is set again
        last = min((k + 1) * c.setpoint_ticks, run.inputs.ticks)
        tick = lanes.run_ticks(k * c.setpoint_ticks, last)
        if lanes.ended[0, 0] != FINISHED:
            break
    how, where = lanes.ended[0]
    lanes.finish(0)
    return int(how), tick, int(where)


MOST_SETPOINTS = 20_000_000  # of a run; what it records must fit into memory


def setpoint_rate(robot: Robot, model: Model) -> float:
    """Rate at which the robot's controller takes set-points [Hz]."""
    c = controller_of(robot, model)
    return float(1 / (c.tick * c.setpoint_ticks))


def simulate(
    robot: Robot,
    trajectory: Trajectory,
    model: Model | None = None,
    *,
    settle: Pair = (0.0, 0.0),
    options: RunOptions = PLAIN_RUN,
    progress: OnProgress | None = None,
) -> Run:
    """Run the closed loop of servo, motors, gears, friction, balancers and arm along a trajectory.

    Args:
        robot: The robot, tool mounted.
        trajectory: Joint motion; it is resampled to the set-point rate.
        model: Friction model, servo, joints, quantisation; the default is the full model with
            rigid joints.
        settle: Standstill before and after the motion [s].
        options: Method, rate of the log, what acts from outside, another servo or plant.
        progress: Called now and then with the share of the run that is done.
    """
    trajectory = Trajectory.sampled(trajectory.rate, trajectory.q, trajectory.v, trajectory.a)
    partner, first = options.partner, None
    if partner is not None:
        first = np.asarray(partner(0.0, trajectory.q[0], trajectory.v[0]), dtype=np.float64)
        options = replace(options, partner=None, torque=np.tile(first, (len(trajectory.q), 1)))
    prepared = prepare_run(robot, trajectory, model, settle=settle, options=options)
    before = prepared.compute_stored_energy()
    run = prepared.run
    if partner is not None:
        assert first is not None
        run = partial(run_coupled, prepared, partner, first)
    ended = run() if progress is None else _run_with_progress(prepared, run, progress)
    return outcome(prepared, ended, prepared.compute_stored_energy() - before)


def simulate_all(
    runs: Sequence[PreparedRun], progress: Callable[[int], None] | None = None, *, many: int = MANY
) -> list[Run]:
    """Simulate prepared runs; each gives what `simulate` gives.

    Args:
        runs: Runs, each to be run once; many of robots that differ in numbers only run four at a
            time on each core.
        progress: Called with the number of runs that are done.
        many: Number of runs from which on they go into lanes.
    """
    before = [run.compute_stored_energy() for run in runs]
    ends: dict[int, Ended] = {}
    groups = list(_groups(runs)) if len(runs) >= many else [[k] for k in range(len(runs))]
    with threads() as executor:
        together = [[runs[place] for place in group] for group in groups]
        for group, ended in zip(groups, run_all(_run, together, executor=executor), strict=True):
            ends.update(zip(group, ended, strict=True))
            if progress is not None:
                progress(len(ends))
    found = []
    for place, (run, energy) in enumerate(zip(runs, before, strict=True)):
        found.append(outcome(run, ends[place], run.compute_stored_energy() - energy))
    return found


def prepare_run(
    robot: Robot,
    trajectory: Trajectory,
    model: Model | None = None,
    *,
    settle: Pair = (0.0, 0.0),
    options: RunOptions = PLAIN_RUN,
) -> PreparedRun:
    """Check and prepare the run that `simulate` would make of the same arguments."""
    model = Model() if model is None else model
    _check(robot, trajectory, model, settle)
    c = controller_of(robot, model) if options.servo is None else options.servo
    rate = 1 / (c.tick * c.setpoint_ticks)
    _check_length(trajectory, settle, rate)
    motion = trajectory.at_rate(rate).with_standstill(*settle)
    start = round(settle[0] * rate) / rate
    torque = _samples("torque", options.torque, trajectory, robot.n)
    wrench = _samples("wrench", options.wrench, trajectory, 6)
    at_setpoints = replace(
        options,
        torque=_acting(trajectory, motion, start, torque),
        wrench=_acting(trajectory, motion, start, wrench),
        feedforward=_resample_feedforward(robot, trajectory, motion, start, options.feedforward),
    )
    return prepare(robot, motion, model, at_setpoints)


def _run_with_progress(
    prepared: PreparedRun, run: Callable[[], Ended], progress: OnProgress
) -> Ended:
    """The run on a thread of its own, while this one looks how far its trace is filled."""
    trace = prepared.record.trace
    trace[:, 0] = np.nan
    ended: list[Ended] = []
    failed: list[BaseException] = []

    def start() -> None:
        try:
            ended.append(run())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=start, daemon=True)
    thread.start()
    done = 0
    while thread.is_alive():
        thread.join(0.1)
        if np.isnan(trace[-1, 0]):
            done += int(np.argmax(np.isnan(trace[done:, 0])))
        progress(done / len(trace))
    progress(1.0)
    if failed:
        raise failed[0]
    return ended[0]


def _check(robot: Robot, trajectory: Trajectory, model: Model, settle: Pair) -> None:
    if trajectory.q.shape[1] != robot.n:
        joints = trajectory.q.shape[1]
        raise ArmtwinError(
            f"the trajectory must move the {robot.n} joints of '{robot.name}', got {joints} joints"
        )
    if np.shape(settle) != (2,) or not all(np.isfinite(x) and x >= 0 for x in settle):
        raise ArmtwinError(
            f"settle must be two times of at least 0 s, before and after, got {settle}"
        )


def _check_length(trajectory: Trajectory, settle: Pair, rate: float) -> None:
    """Refuse runs whose samples do not fit into memory."""
    before, after = settle
    seconds = trajectory.duration + before + after
    if seconds * rate > MOST_SETPOINTS:
        raise ArmtwinError(
            f"a run must last at most {MOST_SETPOINTS / rate:.4g} s at the set-point rate of "
            f"{rate:g} Hz, got {trajectory.duration:.4g} s and a standstill (settle) of "
            f"{before:g} and {after:g} s"
        )


def _acting(
    given: Trajectory, motion: Trajectory, start: float, values: Floats | None
) -> Floats | None:
    """What acts from outside at the set-points, 0 before and after the motion."""
    if values is None:
        return None
    times = motion.time - start
    acting = (times > -1e-9) & (times < given.duration + 1e-9)
    return interpolate_columns(times, given.time, values) * acting[:, None]


def _resample_feedforward(
    robot: Robot, given: Trajectory, motion: Trajectory, start: float, feedforward: ArrayLike | None
) -> Floats | None:
    """Torques fed forward at the set-points, (k, motors); at rest those of the ends."""
    torques = _samples("feedforward", feedforward, given, len(robot.assembly.drives))
    if torques is None:
        return None
    return interpolate_columns(motion.time - start, given.time, torques)


def _samples(
    name: str, values: ArrayLike | None, trajectory: Trajectory, width: int
) -> Floats | None:
    if values is None:
        return None
    shape = (len(trajectory.q), width)
    array = check_array(name, values, shape, "one row for each sample of the trajectory")
    if array.ndim != 2:
        raise ArmtwinError(f"{name} must have shape {shape}, got {array.shape}")
    return array
