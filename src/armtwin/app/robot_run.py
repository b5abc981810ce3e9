"""The one writer of robots: every command that makes a robot of another ends here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import armtwin as at
from armtwin.app.options import Output
from armtwin.app.places import Source, files_of_log, result_folder
from armtwin.app.showing import COVARIANCE, REPORT, ROBOT, Place, finish
from armtwin.files.disk import Content
from armtwin.notebook.sections import Report
from armtwin.report.beside import ResultBeside
from armtwin.report.folder import RESULT
from armtwin.robot.files import contents


@dataclass(frozen=True)
class RobotRun:
    """A run that makes a robot of another one.

    Attributes:
        prior: The robot that it begins with.
        place: Where the new one goes, with its covariance and report.
        json: Whether the result is printed as JSON.
    """

    prior: at.Robot
    place: Place
    json: bool

    def finish(
        self, report: Report, robot: at.Robot | None, beside: Mapping[str, Content] | None = None
    ) -> None:
        """Write the robot, its covariance and what lies beside them, and show the report.

        Args:
            report: The report.
            robot: The robot, made of the prior; None where the run could make none.
            beside: Other files by name.
        """
        written: dict[str, Content] = {}
        if robot is not None:
            written = contents(robot.description, ROBOT)
        finish(report, self.place, {**written, **(beside or {})}, self.json)


def robot_run(
    command: str,
    prior: at.Robot,
    inputs: Collection[Path],
    output: Output,
    beside: tuple[str, ...] = (),
) -> RobotRun:
    """A run whose place is checked before any work is done.

    Args:
        command: The command.
        prior: The robot that it begins with.
        inputs: Files that it reads.
        output: What was asked of its results.
        beside: Names of files that lie beside the robot.
    """
    names = (ROBOT, COVARIANCE, *beside, REPORT, RESULT)
    if output.out is None:
        source = Source(command, prior.name, prior.origin)
        place: Place = result_folder(source, None, names, inputs, output.force)
        return RobotRun(prior, place, output.json)
    named = ResultBeside(output.out, ROBOT, names, inputs, output.force)
    named.check()
    return RobotRun(prior, named, output.json)


def inputs_of(robot: str, logs: Iterable[Path | None], columns: Path | None) -> list[Path]:
    """The files of a run: the robot's own, those of its logs, and their columns files."""
    inputs = [Path(robot)]
    for log in logs:
        if log is not None:
            inputs += files_of_log(log, columns)
    return inputs
