"""What is shipped: robots, jobs and experiments, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from armtwin.jobs.experiment import Experiment
from armtwin.jobs.job import Job
from armtwin.notebook.numbers import MILLIMETRES_PER_SECOND, Number
from armtwin.notebook.sections import Column, Record, Report, Section, Table, Text
from armtwin.report.result import Result
from armtwin.robot.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class Shelf(Result):
    """What is shipped of one kind.

    Attributes:
        kind: "robots", "jobs" or "experiments".
        columns: What is shown of each.
        records: A record for each, SI units.
        use: What to do with one.
    """

    kind: str
    columns: tuple[Column, ...]
    records: Sequence[Record]
    use: str

    def sections(self) -> Report:
        """One line for each."""
        table = Table(self.columns, self.records, self.kind)
        hint = Text(f"Show one: armtwin {self.kind} NAME. {self.use}")
        return Report(f"Shipped {self.kind}", "", (Section("", (table, hint)),))


def robot_shelf(robots: Iterable[Robot]) -> Shelf:
    """One line for each robot."""
    columns = (
        Column("name", "name"),
        Column("title", "robot"),
        Column("joints", "joints", Number()),
        Column("parameters", "parameters", Number()),
        Column("inverse", "inverse kin."),
        Column("missing", "missing"),
    )
    records = [_robot(robot) for robot in robots]
    return Shelf("robots", columns, records, "What its numbers rest on: armtwin check NAME.")


def _robot(robot: Robot) -> Record:
    lacking = {phrase.partition(":")[0].partition(".")[0] for phrase in robot.provenance.missing}
    return {
        "name": robot.name,
        "title": robot.description.title,
        "joints": robot.n,
        "parameters": len(robot.parameters),
        "inverse": robot.inverse_kinematics_kind.partition(" (")[0],
        "missing": ", ".join(sorted(lacking)),
    }


def job_shelf(jobs: Iterable[Job]) -> Shelf:
    """One line for each job."""
    columns = (
        Column("name", "job"),
        Column("robot", "robot"),
        Column("title", "seam"),
        Column("speed_m_s", "speed", MILLIMETRES_PER_SECOND),
    )
    records = []
    for job in jobs:
        d = job.description
        records.append({"name": job.name, "robot": d.robot, "title": d.title, "speed_m_s": d.speed})
    return Shelf("jobs", columns, records, "Run one: armtwin predict NAME.")


def experiment_shelf(experiments: Iterable[Experiment]) -> Shelf:
    """One line for each experiment."""
    columns = (
        Column("name", "experiment"),
        Column("robot", "robot"),
        Column("title", "what"),
        Column("duration_s", "lasts", Number(1.0, "s", digits=4)),
    )
    records = []
    for experiment in experiments:
        d = experiment.description
        record = {"name": d.name, "robot": d.setup.robot, "title": d.title}
        records.append({**record, "duration_s": d.duration})
    return Shelf("experiments", columns, records, "Run one: armtwin simulate NAME.")
