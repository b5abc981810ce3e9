"""The noun Experiment, and how one is run: a bench or a robot, driven by set-points."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.fields import bad_texts, groups_of
from armtwin.files.kinds import check_name, check_tables
from armtwin.files.reading import checked_format, read_tables
from armtwin.files.schema import Schema
from armtwin.files.writing import group_table
from armtwin.jobs.experiment_description import BenchSetup, ExperimentDescription, RobotSetup
from armtwin.jobs.features import OF_RESPONSES, Feature, Response
from armtwin.jobs.setpoints import Drive, FromFile, Setpoint
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook import cards
from armtwin.notebook.figures import Panel, draw_panels
from armtwin.robot.overrides import overridden
from armtwin.robot.robot import Robot
from armtwin.simulation.bench import Bench, bench_of, checked_bench, simulate_bench
from armtwin.simulation.clamped_tool import held_at_tool
from armtwin.simulation.closed_loop import setpoint_rate, simulate
from armtwin.simulation.outcome import Energy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from armtwin.identification.clamping.clamp import Clamping

SCHEMA = Schema(ExperimentDescription, "experiment file")
BENCH = Schema(Bench, "bench")
UNITS = {"torque": "N m", "position": "rad"}  # what a bench is driven by
EARLY = ("following_error", "unstable")  # events that end a run
RATE = 250.0  # of a bench's log where none is given [Hz]


def shipped() -> dict[str, Path]:
    """Names and files of the experiments that come with the package."""
    folder = Path(str(resources.files("armtwin.jobs") / "experiments"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


@dataclass(frozen=True, eq=False)
class Experiment:
    """An experiment file.

    Attributes:
        description: What it says.
        origin: Where it came from, "" for one made otherwise.
    """

    description: ExperimentDescription
    origin: str = ""

    def __post_init__(self) -> None:
        found = list(_problems(self.description))
        if found:
            raise FileError(self.origin or "experiment", found)

    @staticmethod
    def load(name_or_path: str | Path) -> Experiment:
        """A shipped experiment by name, or one of a file."""
        path, known = Path(name_or_path), shipped()
        if str(name_or_path) in known:
            path = known[str(name_or_path)]
        else:
            check_name(name_or_path, "experiment")
        if path.suffix != ".toml":
            hint = did_you_mean(str(name_or_path), known)
            raise ArmtwinError(
                f"experiment '{name_or_path}' is neither shipped nor a .toml file. {hint}"
            )
        tables = read_tables(path)
        check_tables(tables, "experiment", str(path))
        tables = checked_format(tables, str(path), ExperimentDescription.format_number)
        try:
            description = SCHEMA.read(tables, str(path))
        except FileError:
            raise
        except ArmtwinError as error:  # what a group refuses when it is made
            raise FileError(str(path), [str(error)]) from None
        if not description.name:
            description = replace(description, name=path.stem)
        return Experiment(description, str(path))

    def __repr__(self) -> str:
        d = self.description
        kinds = ", ".join(f"{point.kind} on {point.on}" for point in d.setpoint)
        return cards.line("Experiment", repr(d.name), d.setup.kind, kinds)

    @property
    def folder(self) -> Path:
        """Folder in which files that it names lie."""
        return Path(self.origin).parent if self.origin else Path()

    @property
    def files(self) -> list[Path]:
        """All files that it is read from."""
        named = [self.description.setup.robot]
        for point in self.description.setpoint:
            if isinstance(point, FromFile):
                named.append(point.file)
        return [Path(self.origin), *(self.folder / name for name in named if name)]

    def robot(self) -> Robot | None:
        """The robot of the set-up, equipped; None where there is none."""
        setup = self.description.setup
        if not setup.robot:
            return None
        beside = self.folder / setup.robot
        robot = Robot.load(beside if beside.suffix and os.path.exists(beside) else setup.robot)
        if isinstance(setup, BenchSetup):
            return robot
        if setup.override:
            changed = overridden(robot.description, setup.override, self.origin or "experiment")
            robot = Robot(changed, robot.origin)
        if setup.tool:
            robot = robot.with_tool(setup.tool)
        return robot.with_payload(setup.payload) if setup.payload else robot


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
    """

    experiment: Experiment
    log: Log
    responses: tuple[Response, ...]
    energy: Energy
    clamped: bool
    gear_ratio: float | None = None

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
    experiment: Experiment, *, progress: Callable[[float], None] | None = None
) -> ExperimentRun:
    """Run an experiment.

    Args:
        experiment: The experiment.
        progress: Called now and then with the share that is done.
    """
    setup = experiment.description.setup
    if isinstance(setup, BenchSetup):
        return _run_bench(experiment, setup)
    return _run_robot(experiment, setup, progress)


def _run_bench(experiment: Experiment, setup: BenchSetup) -> ExperimentRun:
    d = experiment.description
    if len(d.setpoint) != 1 or d.setpoint[0].on not in UNITS:
        driven = ", ".join(point.on for point in d.setpoint)
        raise FileError(
            experiment.origin or "experiment",
            [f'a bench needs one setpoint, on = "torque" or on = "position", got {driven}'],
        )
    point = d.setpoint[0]
    bench = _bench(experiment, setup)
    drive = Drive(UNITS[point.on], experiment.folder)
    time = _bench_times(experiment, point, drive)
    values, _ = _sampled(experiment, 1, point, time, drive)
    given: dict[str, Any] = {point.on: values}
    run = simulate_bench(bench, time, **given)
    got = run.log.q_m[:, 0]
    response = Response("motor angle", "rad", drive.unit, time, values, got)
    return ExperimentRun(
        experiment, run.log, (response,), run.energy, bench.joint == "clamped", bench.gear_ratio
    )


def _bench(experiment: Experiment, setup: BenchSetup) -> Bench:
    """The bench: the numbers given, before those of the robot's joint."""
    robot = experiment.robot()
    base = {} if robot is None else group_table(bench_of(robot, setup.axis))
    origin = experiment.origin or "experiment"
    bench: Bench = BENCH.read({**base, **setup.bench}, f"{origin}: setup.bench")
    try:
        return checked_bench(bench)
    except ArmtwinError as error:
        raise FileError(origin, [f"setup.{error}"]) from None


def _bench_times(experiment: Experiment, point: Setpoint, drive: Drive) -> Floats:
    """Times of the log: those of a file that drives it, even or not; else an even grid."""
    d = experiment.description
    if isinstance(point, FromFile) and d.rate is None and d.duration is None:
        time, _ = point.log_column(drive)
        return time - time[0]
    return _even_times(experiment, d.rate or RATE)


def _even_times(experiment: Experiment, rate: float) -> Floats:
    duration = experiment.description.duration
    if duration is None:
        raise FileError(experiment.origin or "experiment", ["duration is missing, as '20 s'"])
    return np.arange(round(duration * rate) + 1) / rate


def _sampled(
    experiment: Experiment, number: int, point: Setpoint, time: Floats, drive: Drive
) -> tuple[Floats, Floats]:
    try:
        return point.samples(time, drive)
    except FileError:
        raise
    except ArmtwinError as error:
        place = f"setpoint.{number} ('{point.on}')"
        raise FileError(experiment.origin or "experiment", [f"{place}: {error}"]) from None


def _run_robot(
    experiment: Experiment, setup: RobotSetup, progress: Callable[[float], None] | None
) -> ExperimentRun:
    d = experiment.description
    robot = experiment.robot()
    assert robot is not None
    posture = np.array(setup.posture)
    if len(posture) != robot.n:
        raise FileError(
            experiment.origin or "experiment",
            [f"setup.posture must have {robot.n} values, got {len(posture)}"],
        )
    rate = setpoint_rate(robot, setup.model)
    time = _even_times(experiment, rate)
    q = np.tile(posture, (len(time), 1))
    v, a = np.zeros_like(q), np.zeros_like(q)
    driven = []
    for number, point in enumerate(d.setpoint, 1):
        joint = _joint(experiment, robot, point, number)
        turns = robot.assembly.tree.joints[joint].type == "revolute"
        drive = Drive("rad" if turns else "m", experiment.folder)
        q[:, joint], v[:, joint] = _sampled(experiment, number, point, time, drive)
        if point.kind in ("noise", "file"):
            a[:, joint] = np.gradient(v[:, joint], time)
        driven.append((joint, drive.unit))
    change = None
    if setup.clamp is not None:
        change = held_at_tool(robot, setup.model, q[0], setup.clamp)
    motion = Trajectory.sampled(rate, q, v, a)
    run = simulate(robot, motion, setup.model, change=change, log_rate=d.rate, progress=progress)
    responses = []
    for joint, unit in driven:
        got = run.log.q[:, joint]
        wanted = run.log.q_ref[:, joint]
        name = robot.joint_names[joint]
        responses.append(Response(name, unit, unit, run.log.time, wanted, got))
    return ExperimentRun(experiment, run.log, tuple(responses), run.energy, setup.clamp is not None)


def _joint(experiment: Experiment, robot: Robot, point: Setpoint, number: int) -> int:
    if point.on not in robot.joint_names:
        hint = did_you_mean(point.on, robot.joint_names)
        raise FileError(
            experiment.origin or "experiment",
            [f"setpoint.{number}.on: robot '{robot.name}' has no joint '{point.on}'. {hint}"],
        )
    return list(robot.joint_names).index(point.on)


def _problems(description: ExperimentDescription) -> Iterator[str]:
    """What is wrong with the groups of an experiment."""
    for path, group in groups_of(description, by_name=False):
        own = group.problem() if hasattr(group, "problem") else ""
        for problem in (own, bad_texts(group)):
            if problem:
                yield f"{path}: {problem}" if path else problem
