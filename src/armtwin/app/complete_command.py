"""The command that fills what a prediction still lacks in a robot file."""

from pathlib import Path
from typing import Annotated

import armtwin as at
from armtwin.app.options import Carried, Columns, Output, RobotFile, argument, quantity
from armtwin.app.progress import progress_bar
from armtwin.app.run import inputs_of, read_logs, robot_run


def complete(
    robot: RobotFile,
    logs: Annotated[
        list[Path] | None, argument("LOG", "Logs of it, for postures, speeds, torques.")
    ] = None,
    bandwidth: Annotated[
        float | None,
        quantity("--bandwidth", "Hz", 'Of the position loop of a guessed servo, as "10 Hz".'),
    ] = None,
    columns: Columns = None,
    *,
    carried: Carried,
    output: Output,
) -> None:
    """Fill what a prediction still lacks in a robot file by named rules, marked as assumed.

    Exit code 1: no rule gives all that it lacks, or a mistake would explain what it says.
    """
    given = carried.by(robot)
    paths = logs or []
    run = robot_run("complete", given, output, inputs_of(robot, paths, columns))
    with progress_bar("rules"):
        found = at.complete(given, read_logs(paths, columns), bandwidth=bandwidth)
    run.finish(found, robot=found.robot, passed=not (found.still or given.cautions))
