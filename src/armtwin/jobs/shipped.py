"""What comes with the package: robots, jobs and experiments, one line each."""

from __future__ import annotations

from armtwin.jobs import experiment, files as job_files
from armtwin.jobs.experiment import Experiment
from armtwin.jobs.job import Job
from armtwin.maths.batch import Record
from armtwin.notebook.numbers import MILLIMETRES_PER_SECOND, Number
from armtwin.notebook.sections import Table, list_columns
from armtwin.report.catalog import Catalog
from armtwin.robot import files as robot_files
from armtwin.robot.robot import Robot


def robots() -> Catalog:
    """The robots that come with the package, one line for each."""
    columns = list_columns(
        name="name",
        title="robot",
        joints=("joints", Number()),
        parameters=("parameters", Number()),
        inverse="inverse kin.",
        missing="missing",
    )
    records = [_in_one_line(Robot.load(name)) for name in robot_files.list_shipped()]
    hint = "Show one: armtwin robots NAME. Sources of its numbers: armtwin check NAME."
    return Catalog("Shipped robots", Table(columns, records, "robots"), hint)


def _in_one_line(robot: Robot) -> Record:
    lacking = {phrase.partition(":")[0].partition(".")[0] for phrase in robot.provenance.missing}
    return {
        "name": robot.name,
        "title": robot.description.title,
        "joints": robot.n,
        "parameters": len(robot.parameters),
        "inverse": robot.inverse_kinematics_kind.partition(" (")[0],
        "missing": ", ".join(sorted(lacking)),
    }


def jobs() -> Catalog:
    """The jobs that come with the package, one line for each."""
    columns = list_columns(
        name="job", robot="robot", title="seam", speed_m_s=("speed", MILLIMETRES_PER_SECOND)
    )
    records = []
    for name in job_files.list_shipped():
        d = Job.load(name).description
        records.append({"name": d.name, "robot": d.robot, "title": d.title, "speed_m_s": d.speed})
    hint = "Show one: armtwin jobs NAME. Run one: armtwin predict NAME."
    return Catalog("Shipped jobs", Table(columns, records, "jobs"), hint)


def experiments() -> Catalog:
    """The experiments that come with the package, one line for each."""
    columns = list_columns(
        name="experiment",
        robot="robot",
        title="what",
        duration_s=("lasts", Number(1.0, "s", digits=4)),
    )
    records = []
    for name in experiment.list_shipped():
        d = Experiment.load(name).description
        record = {"name": d.name, "robot": d.setup.robot, "title": d.title}
        records.append({**record, "duration_s": d.duration})
    hint = "Show one: armtwin experiments NAME. Run one: armtwin simulate NAME."
    return Catalog("Shipped experiments", Table(columns, records, "experiments"), hint)
