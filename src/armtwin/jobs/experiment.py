"""The dataclass Experiment: a bench or a robot, driven by set-points, as its file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.fields import own_problems
from armtwin.files.names import folder_of
from armtwin.files.overrides import with_values
from armtwin.files.reading import list_shipped_files, load_description
from armtwin.files.schema import Schema
from armtwin.files.shape import Tables
from armtwin.files.writing import group_table, to_tables
from armtwin.jobs import experiment_description as setups
from armtwin.jobs.job import load_robot, override_robot
from armtwin.jobs.setpoints import Drive, FromFile, Setpoint
from armtwin.maths.batch import Floats, TwoArrays
from armtwin.motion.seam import MOST_SAMPLES
from armtwin.notebook import cards
from armtwin.notebook.numbers import Number
from armtwin.notebook.sections import Blocks, Facts, Report, Section, Table, list_columns
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.simulation.bench import Bench, bench_of, check_bench

SCHEMA = Schema(setups.ExperimentDescription, "experiment file")
BENCH = Schema(Bench, "bench")


def list_shipped() -> dict[str, Path]:
    """Names and files of the experiments that come with the package."""
    return list_shipped_files("armtwin.jobs", "experiments")


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Result):
    """An experiment file.

    Attributes:
        description: What it says.
        origin: Where it came from, "" for one made otherwise.
    """

    description: setups.ExperimentDescription
    origin: str = ""

    def __post_init__(self) -> None:
        found = list(own_problems(self.description))
        if found:
            raise FileError(self.place, found)

    @staticmethod
    def load(name_or_path: str | Path) -> Experiment:
        """A shipped experiment by name, or one of a file."""
        return Experiment(*load_description(name_or_path, "experiment", SCHEMA, list_shipped()))

    def __repr__(self) -> str:
        d = self.description
        kinds = ", ".join(f"{point.kind} on {point.on}" for point in d.setpoint)
        return cards.line("Experiment", repr(d.name), d.setup.kind, kinds)

    def sections(self) -> Report:
        """Its set-up, its set-points, what is read off the responses; nothing is run."""
        d = self.description
        sections = (Section("", _set_up(d)), Section("Set-points", _setpoints(d)))
        return Report(f"{d.name}: {d.title or 'no title'}", "", sections)

    @property
    def name(self) -> str:
        """Its short name."""
        return self.description.name

    @property
    def folder(self) -> Path:
        """Folder in which files that it names lie."""
        return folder_of(self.origin)

    @property
    def files(self) -> list[Path]:
        """All files that it is read from."""
        setup = self.description.setup
        named = [setup.robot]
        if not isinstance(setup, setups.HydraulicSetup) and setup.foreign is not None:
            named.append(setup.foreign.unit)
        for point in self.description.setpoint:
            if isinstance(point, FromFile):
                named.append(point.file)
        return [Path(self.origin), *(self.folder / name for name in named if name)]

    def robot(self) -> Robot | None:
        """The robot of the set-up, equipped; None where there is none."""
        setup = self.description.setup
        if not setup.robot:
            return None
        robot = load_robot(setup.robot, self.folder)
        if isinstance(setup, setups.BenchSetup):
            return robot
        if setup.override:
            robot = override_robot(robot, setup.override, self.place)
        if setup.tool:
            robot = robot.with_tool(setup.tool)
        return robot.with_payload(setup.payload) if setup.payload else robot

    @property
    def place(self) -> str:
        """What error messages name: its file, or that it is an experiment."""
        return self.origin or "experiment"

    def refused(self, sentence: str) -> FileError:
        """An error that names the experiment's file."""
        return FileError(self.place, sentence)

    def times(self, rate: float) -> Floats:
        """Even times of the run, (m,) [s].

        Args:
            rate: Samples a second [Hz].
        """
        duration = self.description.duration
        if duration is None:
            raise self.refused("duration is missing, as '20 s'")
        last = round(duration * rate)
        if not 1 <= last <= MOST_SAMPLES:
            contract = f"must be from 1 to {MOST_SAMPLES} samples at {rate:g} Hz"
            raise self.refused(f"duration {contract}, got {duration:g} s")
        return np.arange(last + 1) / rate

    def sampled(self, number: int, point: Setpoint, time: Floats, drive: Drive) -> TwoArrays:
        """Values and rates of a set-point at times (m,).

        Args:
            number: Its number in the file, from 1.
            point: The set-point.
            time: The times.
            drive: What it drives.
        """
        try:
            return point.samples(time, drive)
        except FileError:
            raise
        except ArmtwinError as error:
            raise self.refused(f"setpoint.{number} ('{point.on}'): {error}") from None

    def bench(self) -> Bench:
        """The bench of the set-up: the numbers given, before those of the robot's joint."""
        setup = self.description.setup
        assert isinstance(setup, setups.BenchSetup)
        robot = self.robot()
        base = {} if robot is None else group_table(bench_of(robot, setup.axis))
        bench: Bench = BENCH.read({**base, **setup.bench}, f"{self.place}: setup.bench")
        try:
            return check_bench(bench)
        except ArmtwinError as error:
            raise self.refused(f"setup.{error}") from None

    def numbers(self) -> Tables:
        """The numbers that may be changed by key path: of the robot's file, or of the bench."""
        if isinstance(self.description.setup, setups.BenchSetup):
            return group_table(self.bench())
        robot = self.robot()
        assert robot is not None
        return to_tables(robot.description)

    def with_values(self, values: Mapping[str, Any]) -> Experiment:
        """The experiment with other values at key paths of the robot's file or of the bench."""
        if not values:
            return self
        setup = self.description.setup
        if isinstance(setup, setups.BenchSetup):
            numbers = with_values(self.numbers(), values, Bench, "", self.place)
            described = replace(self.description, setup=replace(setup, bench=numbers))
        else:
            override = {**setup.override, **values}
            described = replace(self.description, setup=replace(setup, override=override))
        return Experiment(described, self.origin)


def _set_up(d: setups.ExperimentDescription) -> Blocks:
    facts = [("set-up", _setup_words(d.setup))]
    if isinstance(d.setup, setups.HydraulicSetup):
        facts.append(("set-points in", d.setup.coordinates))
    for what in ("tool", "payload"):
        facts.append((what, getattr(d.setup, what, "") or ""))
    if d.duration is not None:
        facts.append(("lasts", Number(1.0, "s", digits=4).with_unit(d.duration)))
    facts.append(("features", ", ".join(d.features) or "none"))
    yield Facts(facts)


def _setpoints(d: setups.ExperimentDescription) -> Blocks:
    columns = list_columns(on="set-point on", kind="kind", how="how")
    records = []
    for point in d.setpoint:
        records.append({"on": point.on, "kind": point.kind, "how": _point_words(point)})
    yield Table(columns, records, "setpoints")


def _setup_words(setup: setups.Setup) -> str:
    if not setup.robot:
        return "a bench"
    axis = getattr(setup, "axis", "")
    return f"{axis} of {setup.robot} on a bench" if axis else f"robot {setup.robot}"


def _point_words(point: Setpoint) -> str:
    """The keys of a set-point that are not its kind and what it drives."""
    words = []
    for key, value in vars(point).items():
        if key in ("on", "kind") or value is None:
            continue
        shown = ", ".join(str(x) for x in value) if isinstance(value, tuple) else value
        words.append(f"{key} {shown}")
    return "; ".join(words)
