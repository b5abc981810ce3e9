"""The command that finds link lengths and zeros of a robot from measured positions of its tool."""

from pathlib import Path
from typing import Annotated

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.run import robot_run


def calibrate(
    robot: opt.RobotFile,
    poses: Annotated[
        Path,
        opt.argument("POSES", "A table (.csv) of q1, q2, ... (or all drives by name) and x, y, z."),
    ],
    only: Annotated[
        str | None,
        opt.option("--only", "NAMES", 'What may change, as "L3,L4" or "joint_3.x"; else all.'),
    ] = None,
    free_frame: Annotated[
        bool, opt.flag("--free-frame", "x, y, z are in the instrument's frame, which is found too.")
    ] = False,
    deviations: Annotated[
        bool,
        opt.flag("--deviations", "Write joints as [[deviation]] that the controller has not."),
    ] = False,
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
    found = at.calibrate(
        prior, measured, only=chosen, free_frame=free_frame, as_deviations=deviations
    )
    run.finish(found, robot=found.robot, passed=not found.outlying)
