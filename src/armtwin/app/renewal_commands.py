"""The commands that renew a robot file by measurements or rules: calibrate, complete, servo."""

from pathlib import Path

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.progress import progress_bar
from armtwin.app.run import inputs_of, read_logs, robot_run


def calibrate(
    robot: opt.RobotFile,
    poses: Path = opt.argument(
        "POSES", "A table (.csv) of q1, q2, ... (or all drives by name) and x, y, z."
    ),
    only: str | None = opt.option("NAMES", 'What may change, as "L3,L4" or "joint_3.x"; else all.'),
    free_frame: bool = opt.flag(
        "--free-frame", "x, y, z are in the instrument's frame, which is found too."
    ),
    deviations: bool = opt.flag(
        "--deviations", "Write joints as [[deviation]] that the controller has not."
    ),
    *,
    carried: opt.Carried,
    output: opt.Output,
) -> None:
    """Find link lengths, zeros and cylinder triangles from measured positions of the tool.

    Writes the corrected robot, with 95 % intervals and what is not identifiable. Exit code 1: the
    other postures contradict one of them.
    """
    prior = carried.by(robot)
    run = robot_run("calibrate", prior, output, [Path(robot), poses])
    measured = at.ToolPositions.read(poses, prior)
    chosen = [] if only is None else opt.words_of_list("--only", only)
    with progress_bar("fit"):
        found = at.calibrate(
            prior, measured, only=chosen, free_frame=free_frame, as_deviations=deviations
        )
    run.finish(found, robot=found.robot, passed=not found.outlying)


def complete(
    robot: opt.RobotFile,
    logs: list[Path] | None = opt.argument(
        "LOG", "Logs of it, for postures, speeds, torques.", default=None
    ),
    bandwidth: float | None = opt.quantity(
        "--bandwidth", "Hz", 'Of the position loop of a guessed servo, as "10 Hz".'
    ),
    columns: opt.Columns = None,
    *,
    carried: opt.Carried,
    output: opt.Output,
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


def servo(
    robot: opt.RobotFile,
    logs: opt.LogFiles,
    validate: list[Path] | None = opt.option(
        "LOG", "A log that the fit does not see; may be repeated."
    ),
    columns: opt.Columns = None,
    tool: opt.Tool = None,
    payload: list[str] | None = opt.option(
        "NAME", "Payload of the robot's file that it carries; one, or one for each log."
    ),
    *,
    output: opt.Output,
) -> None:
    """Fit the servo from the reference q_ref and the motion q of logs: robot file, and report.

    Exit code 1: as written it explains less than 80 % of a joint's error on the validation log.
    """
    payloads = payload or []
    unseen = validate or []
    prior = opt.Carried(tool, payloads[0] if len(payloads) == 1 else None).by(robot)
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
