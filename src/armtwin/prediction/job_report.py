"""What is shown of jobs: seam, speed, tolerance, process, model; nothing is run."""

from __future__ import annotations

from collections.abc import Iterable

from armtwin.jobs.job import Job
from armtwin.motion.cell import Cell
from armtwin.motion.path import SplineFit, Stretch
from armtwin.notebook.numbers import MILLIMETRES, MILLIMETRES_PER_SECOND, SECONDS, Number
from armtwin.notebook.sections import Column, Facts, Record, Report, Section, Table, Text
from armtwin.prediction.band.quantities import quantities_for
from armtwin.prediction.predict import assumed, missing
from armtwin.prediction.verdicts import ALLOWED

ORIENTATIONS = {"fixed": "fixed", "follow": "follows the seam", "given": "given at points"}
LAWS = {"ramp": "s", "acceleration": "m/s²", "jerk": "m/s³"}
SHAPES = ("lin", "circ", "spline", "points")
COORDINATE = Number(1e3, digits=6)


def job_shelf(jobs: Iterable[Job]) -> Report:
    """One line for each job."""
    columns = (
        Column("name", "job"),
        Column("robot", "robot"),
        Column("title", "seam"),
        Column("speed", "speed", MILLIMETRES_PER_SECOND),
    )
    records = []
    for job in jobs:
        d = job.description
        records.append({"name": job.name, "robot": d.robot, "title": d.title, "speed": d.speed})
    hint = Text("Show one: armtwin jobs NAME. Run one: armtwin predict NAME.")
    return Report("Shipped jobs", "", (Section("", (Table(columns, records, "jobs"), hint)),))


def job_report(job: Job) -> Report:
    """What a job is."""
    title = f"{job.name}: {job.description.title or 'no title'}"
    columns = (
        Column("name", "segment"),
        Column("from", "from", MILLIMETRES),
        Column("to", "to", MILLIMETRES),
        Column("speed", "speed", MILLIMETRES_PER_SECOND),
        Column("shape", "shape"),
    )
    records = [_stretch(job, stretch) for stretch in job.seam.path.stretches]
    seam = f"Seam of {MILLIMETRES.with_unit(job.seam.length)}"
    sections = (Section("", (_facts(job),)), Section(seam, (Table(columns, records, "segments"),)))
    return Report(title, "", sections)


def _facts(job: Job) -> Facts:
    d, seam, robot = job.description, job.seam, job.robot()
    mounted = f"{d.tool or 'no tool'} and {d.payload}" if d.payload else d.tool or "no tool"
    place = ", ".join(COORDINATE.text(x) for x in d.workpiece.position)
    tolerance = d.tolerance
    process = []
    for start, stop in job.process_on():
        process.append(f"{MILLIMETRES.text(start)} to {MILLIMETRES.with_unit(stop)}")
    model = f"friction {d.model.friction}, servo {d.model.servo}, {d.model.words}"
    duration = SECONDS.with_unit(seam.duration)
    moving = SECONDS.with_unit(seam.profile.duration)
    count = len(assumed(robot, job))
    return Facts(
        (
            ("robot, tool", f"{d.robot} with {mounted}"),
            ("workpiece at", f"({place}) mm in the base frame"),
            ("orientation", ORIENTATIONS[d.orientation.mode]),
            (
                "tolerance",
                f"±{ALLOWED.with_unit(tolerance.lateral)} lateral, "
                f"±{ALLOWED.with_unit(tolerance.vertical)} vertical",
            ),
            ("time law", _time_law(job)),
            ("duration", f"{duration}, of which {moving} in motion"),
            ("process on", ", ".join(process)),
            ("model", model),
            ("cell", _cell(d.cell)),
            ("splines", "; ".join(_spline(fit) for fit in job.splines)),
            ("forces", ", ".join(f"at {force.at}" for force in d.force)),
            ("overrides", ", ".join(f"{key} = {value}" for key, value in d.override.items())),
            (
                "assumed numbers",
                f"{count} of the robot file are in use: armtwin check {d.robot}",
            ),
            ("uncertainty", _widths(job)),
            ("missing", "; ".join(missing(robot, job))),
        )
    )


def _widths(job: Job) -> str:
    """Quantities whose width the job gives; one for what its robot does not have is refused."""
    given = set(job.description.uncertainty.widths)
    robot = job.robot()
    if not given or missing(robot, job):
        return ""
    found = []
    for quantity in quantities_for(robot, job):
        if given.intersection(quantity.names):
            found.append(f"{quantity.name} {quantity.width_in_words}")
    return ", ".join(found)


def _cell(cell: Cell) -> str:
    """What stands around the robot; nothing where the file says nothing."""
    parts = []
    if cell.floor is not None:
        parts.append(f"floor at {MILLIMETRES.with_unit(cell.floor)}")
    parts += [f"plane '{plane.name or k}'" for k, plane in enumerate(cell.plane, 1)]
    parts += [f"box '{box.name or k}'" for k, box in enumerate(cell.box, 1)]
    return ", ".join(parts)


def _spline(fit: SplineFit) -> str:
    """How far a spline leaves its points' polyline."""
    place = MILLIMETRES.with_unit(fit.at_m)
    return f"'{fit.name}' leaves its polyline by {ALLOWED.with_unit(fit.deviation)} at {place}"


def _time_law(job: Job) -> str:
    law = job.description.time_law
    numbers = []
    for key, unit in LAWS.items():
        value = getattr(law, key)
        if value is not None:
            numbers.append(f"{key} {value:g} {unit}")
    return f"{law.kind}, {', '.join(numbers)}"


def _stretch(job: Job, stretch: Stretch) -> Record:
    """A stretch of the seam."""
    segment = job.description.segment[stretch.move]
    speed = segment.speed or job.description.speed
    shape = next(key for key in SHAPES if getattr(segment, key) is not None)
    if stretch.corner:
        speed = segment.blend_speed or speed
        shape = f"corner r {MILLIMETRES_PER_SECOND.text(segment.blend or 0.0)} mm"
    return {
        "name": stretch.name,
        "from": stretch.start,
        "to": stretch.stop,
        "speed": speed,
        "shape": shape,
    }
