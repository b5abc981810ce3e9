"""The command that fits the servo of a robot to its logs."""

from pathlib import Path
from typing import Annotated

import armtwin as at
from armtwin.app.options import Carried, Columns, LogFiles, Output, RobotFile, Tool, option
from armtwin.app.progress import progress_bar
from armtwin.app.run import inputs_of, read_logs, robot_run


def servo(
    robot: RobotFile,
    logs: LogFiles,
    validate: Annotated[
        list[Path] | None,
        option("--validate", "LOG", "A log that the fit does not see; may be repeated."),
    ] = None,
    columns: Columns = None,
    tool: Tool = None,
    payload: Annotated[
        list[str] | None,
        option(
            "--payload",
            "NAME",
            "Payload of the robot's file that it carries; one, or one for each log.",
        ),
    ] = None,
    *,
    output: Output,
) -> None:
    """Fit the servo from the reference q_ref and the motion q of logs: robot file, and report.

    Exit code 1: as written it explains less than 80 % of a joint's error on the validation log.
    """
    payloads = payload or []
    unseen = validate or []
    prior = Carried(tool, payloads[0] if len(payloads) == 1 else None).by(robot)
    run = robot_run("servo", prior, output, inputs_of(robot, [*logs, *unseen], columns))
    with progress_bar("logs") as progress:
        read = read_logs(logs, columns)
        held_out = read_logs(unseen, columns)
        if progress is not None:
            progress("fit", 0.3)
        found = at.identify_servo(
            prior, read, held_out or None, payloads=payloads if len(payloads) > 1 else None
        )
    run.finish(found, robot=found.robot, passed=found.validated)
