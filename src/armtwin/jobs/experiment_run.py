"""How an experiment is run, and what it gives: a log, responses and features read off them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.exchange.foreign import ForeignUnit
from armtwin.jobs.experiment import Experiment
from armtwin.jobs.experiment_description import (
    BenchSetup,
    ForeignLoad,
    HydraulicSetup,
    RobotSetup,
)
from armtwin.jobs.features import OF_RESPONSES, Feature, Response
from armtwin.jobs.hydraulic_setup import answer_of, unit_of
from armtwin.jobs.setpoints import Drive, FromFile, Setpoint
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook import cards
from armtwin.report.figures import Panel, draw_panels
from armtwin.robot.robot import Robot
from armtwin.simulation.bench import simulate_bench
from armtwin.simulation.clamped_tool import held_at_tool
from armtwin.simulation.closed_loop import setpoint_rate, simulate
from armtwin.simulation.options import RunOptions
from armtwin.simulation.outcome import Energy
from armtwin.simulation.responses import Response as Answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from armtwin.identification.clamping.clamp import Clamping

UNITS = {"torque": "N m", "position": "rad"}  # what a bench is driven by
EARLY = ("following_error", "unstable")  # events that end a run
RATE = 250.0  # of a bench's log where none is given [Hz]


@dataclass(frozen=True, eq=False)
class ExperimentRun:
    """What an experiment gave.

    Attributes:
        experiment: The experiment.
        log: What a machine would have logged.
        responses: Set-points and what came of them.
        energy: Where the energy went.
        clamped: Whether the joint, or the tool, was clamped.
        gear_ratio: Gear ratio of the bench; None for a robot.
        answer: What all sensors of a hydraulic robot show; None for others.
    """

    experiment: Experiment
    log: Log
    responses: tuple[Response, ...]
    energy: Energy
    clamped: bool
    gear_ratio: float | None = None
    answer: Answer | None = None

    def __repr__(self) -> str:
        samples = cards.counted(len(self.log.time), "sample")
        return cards.line("ExperimentRun", repr(self.experiment.description.name), samples)

    def _repr_html_(self) -> str:
        rows = [("event", event.text, "") for event in self.log.events]
        for feature in self.table:
            value = "-" if feature.value is None else f"{feature.value:.4g} {feature.unit}"
            rows.append((feature.of, feature.name, value))
        return cards.table(repr(self), rows)

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw the responses over time, with their set-points where these are of one kind.

        Args:
            axes: One for each response; new ones where none are given.
        """
        panels = []
        for response in self.responses:
            lines = {"response": response.got}
            if response.distance is not None:
                lines["set-point"] = response.wanted
            panels.append(Panel(f"{response.of} [{response.unit}]", lines))
        return draw_panels(self.log.time, "time [s]", panels, axes)

    @property
    def ended_early(self) -> bool:
        """Whether something stopped it."""
        return any(event.kind in EARLY for event in self.log.events)

    @cached_property
    def table(self) -> tuple[Feature, ...]:
        """Features that the experiment asks for."""
        found: list[Feature] = []
        for name in self.experiment.description.features:
            if name == "clamping":
                continue
            for response in self.responses:
                found += OF_RESPONSES[name](response)
        return tuple(found)

    def measured(self) -> dict[str, float | None]:
        """Features by name, of a run that nothing stopped."""
        stops = [event.text for event in self.log.events if event.kind in EARLY]
        if stops:
            raise ArmtwinError(stops[0])
        found: dict[str, float | None] = {}
        several = len(self.responses) > 1
        for feature in self.table:
            words = feature.name.replace("_", " ")
            found[f"{feature.of} {words}" if several else words] = feature.value
        if self.clamping is not None:
            best = self.clamping.best
            found |= {"stiffness": best.stiffness, "backlash": best.backlash}
            found["friction"] = best.friction
        return found

    @cached_property
    def clamping(self) -> Clamping | None:
        """The transmission as its clamping curve tells it, where that is asked for."""
        if "clamping" not in self.experiment.description.features:
            return None
        joint = None if self.gear_ratio is not None else self._driven_joint
        ratio = self.gear_ratio
        if ratio is None and joint is not None:
            robot = self.experiment.robot()
            assert robot is not None
            ratio = float(robot.assembly.gear[joint - 1, joint - 1])
        from armtwin.identification.clamping.clamp import clamp

        return clamp(self.log, gear_ratio=ratio, joint=joint)

    @property
    def _driven_joint(self) -> int:
        """Number from 1 of the joint that the first set-point drives."""
        robot = self.experiment.robot()
        assert robot is not None
        return list(robot.joint_names).index(self.experiment.description.setpoint[0].on) + 1


def run_experiment(
    experiment: Experiment,
    *,
    foreign: bool = False,
    progress: Callable[[float], None] | None = None,
) -> ExperimentRun:
    """Run an experiment.

    Args:
        experiment: The experiment.
        foreign: Whether a unit of another tool that it names may be run: machine code of others.
        progress: Called now and then with the share that is done.
    """
    setup = experiment.description.setup
    if not isinstance(setup, HydraulicSetup) and setup.foreign is not None and not foreign:
        raise experiment.refused(
            f"setup.foreign: '{setup.foreign.unit}' is machine code of others and is run only "
            "where that is asked for, with --foreign or run_experiment(..., foreign=True)"
        )
    if isinstance(setup, BenchSetup):
        return _run_bench(experiment, setup)
    if isinstance(setup, HydraulicSetup):
        return _run_hydraulic(experiment, setup, progress)
    return _run_robot(experiment, setup, progress)


def _run_bench(experiment: Experiment, setup: BenchSetup) -> ExperimentRun:
    d = experiment.description
    if len(d.setpoint) != 1 or d.setpoint[0].on not in UNITS:
        driven = ", ".join(point.on for point in d.setpoint)
        raise experiment.refused(
            f'a bench needs one setpoint, on = "torque" or on = "position", got {driven}'
        )
    point = d.setpoint[0]
    bench = experiment.bench()
    drive = Drive(UNITS[point.on], experiment.folder)
    time = _bench_times(experiment, point, drive)
    values, _ = experiment.sampled(1, point, time, drive)
    given: dict[str, Any] = {point.on: values}
    with _partner(experiment, None, setup.foreign) as partner:
        run = simulate_bench(bench, time, partner=partner, **given)
    got = run.log.q_m[:, 0]
    response = Response("motor angle", "rad", drive.unit, time, values, got)
    return ExperimentRun(
        experiment, run.log, (response,), run.energy, bench.joint == "clamped", bench.gear_ratio
    )


def _bench_times(experiment: Experiment, point: Setpoint, drive: Drive) -> Floats:
    """Times of the log: those of a file that drives it, even or not; else an even grid."""
    d = experiment.description
    if isinstance(point, FromFile) and d.rate is None and d.duration is None:
        time, _ = point.log_column(drive)
        return time - time[0]
    return experiment.times(d.rate or RATE)


def _run_robot(
    experiment: Experiment, setup: RobotSetup, progress: Callable[[float], None] | None
) -> ExperimentRun:
    d = experiment.description
    robot = experiment.robot()
    assert robot is not None
    posture = np.array(setup.posture)
    if len(posture) != robot.n:
        raise experiment.refused(f"setup.posture must have {robot.n} values, got {len(posture)}")
    rate = setpoint_rate(robot, setup.model)
    time = experiment.times(rate)
    q = np.tile(posture, (len(time), 1))
    v, a = np.zeros_like(q), np.zeros_like(q)
    driven = []
    for number, point in enumerate(d.setpoint, 1):
        joint = _joint(experiment, robot, point, number)
        turns = robot.assembly.tree.joints[joint].type == "revolute"
        drive = Drive("rad" if turns else "m", experiment.folder)
        q[:, joint], v[:, joint] = experiment.sampled(number, point, time, drive)
        if point.kind in ("noise", "file"):
            a[:, joint] = np.gradient(v[:, joint], time)
        driven.append((joint, drive.unit))
    change = None
    if setup.clamp is not None:
        change = held_at_tool(robot, setup.model, q[0], setup.clamp)
    motion = Trajectory.sampled(rate, q, v, a)
    with _partner(experiment, robot, setup.foreign) as partner:
        run = simulate(
            robot,
            motion,
            setup.model,
            progress=progress,
            options=RunOptions(change=change, log_rate=d.rate, partner=partner),
        )
    responses = []
    for joint, unit in driven:
        got = run.log.q[:, joint]
        wanted = run.log.q_ref[:, joint]
        name = robot.joint_names[joint]
        responses.append(Response(name, unit, unit, run.log.time, wanted, got))
    return ExperimentRun(experiment, run.log, tuple(responses), run.energy, setup.clamp is not None)


def _partner(
    experiment: Experiment, robot: Robot | None, foreign: ForeignLoad | None
) -> AbstractContextManager[ForeignUnit | None]:
    """What pushes the robot or the bench from outside, if anything does."""
    if foreign is None:
        return nullcontext()
    return ForeignUnit(
        experiment.folder / foreign.unit,
        robot,
        inputs=foreign.inputs,
        outputs=foreign.outputs,
        start=foreign.start,
        timeout=foreign.timeout,
    )


def _joint(experiment: Experiment, robot: Robot, point: Setpoint, number: int) -> int:
    if point.on not in robot.joint_names:
        hint = did_you_mean(point.on, robot.joint_names)
        raise experiment.refused(
            f"setpoint.{number}.on: robot '{robot.name}' has no joint '{point.on}'. {hint}"
        )
    return list(robot.joint_names).index(point.on)


def _run_hydraulic(
    experiment: Experiment, setup: HydraulicSetup, progress: Callable[[float], None] | None
) -> ExperimentRun:
    answer = answer_of(experiment, setup, progress)
    responses = []
    for point in experiment.description.setpoint:
        k = answer.names.index(point.on)
        unit = unit_of(answer.robot, answer.unit, k)
        start = answer.start[k]
        wanted, got = start + answer.setpoint[:, k], start + answer.reading[:, k]
        responses.append(Response(point.on, unit, unit, answer.time, wanted, got))
    run = answer.run
    return ExperimentRun(
        experiment, run.log, tuple(responses), run.energy, clamped=False, answer=answer
    )
