"""What is shipped, as tables: `at.robots()`, `at.jobs()`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armtwin.notebook import cards

if TYPE_CHECKING:
    from armtwin.jobs.job import Job
    from armtwin.robot.robot import Robot

Row = dict[str, Any]


@dataclass(frozen=True)
class Catalog:
    """What is shipped of one kind; it is iterated by name.

    Attributes:
        kind: "robots" or "jobs".
        table: A row for each, SI units.
    """

    kind: str
    table: tuple[Row, ...]

    def __iter__(self) -> Iterator[str]:
        return (row["name"] for row in self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        rows = [tuple(self.table[0]), *self._cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"Shipped {self.kind}, at.{self.kind[:-1].capitalize()}.load(name):"]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return cards.table(f"Shipped {self.kind}", self._cells(), tuple(self.table[0]))

    def _cells(self) -> list[tuple[str, ...]]:
        return [tuple(map(str, row.values())) for row in self.table]


def robots() -> Catalog:
    """The robots that come with the package."""
    from armtwin.robot.files import shipped
    from armtwin.robot.robot import Robot

    return Catalog("robots", tuple(describe_robot(Robot.load(name)) for name in shipped()))


def jobs() -> Catalog:
    """The jobs that come with the package."""
    from armtwin.jobs.files import shipped
    from armtwin.jobs.job import Job

    return Catalog("jobs", tuple(describe_job(Job.load(name)) for name in shipped()))


def describe_robot(robot: Robot) -> Row:
    """A robot in one row."""
    lacking = {phrase.partition(":")[0].partition(".")[0] for phrase in robot.provenance.missing}
    return {
        "name": robot.name,
        "title": robot.description.title,
        "joints": robot.n,
        "parameters": len(robot.parameters),
        "inverse": robot.inverse_kinematics_kind.partition(" (")[0],
        "missing": ", ".join(sorted(lacking)),
    }


def describe_job(job: Job) -> Row:
    """A job in one row."""
    d = job.description
    return {"name": job.name, "robot": d.robot, "title": d.title, "speed_m_s": d.speed}
