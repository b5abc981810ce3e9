"""The command that identifies what a robot carries, or its drives by what it carries."""

from pathlib import Path

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.progress import progress_bar
from armtwin.app.run import inputs_of, robot_run
from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.logs.channels import channel_kind
from armtwin.logs.joints import torque_channel


def payload(
    robot: opt.RobotFile,
    with_it: Path = opt.option("--with", "LOG", "Log with the payload.", default=...),
    without: Path | None = opt.option("LOG", "Log of the same motion without it."),
    known: float | None = opt.quantity(
        "--known", "kg", 'Its mass on scales, "5 kg": kept, or finds torque constants.'
    ),
    held: bool = opt.flag("--held", "Hold the arm as in its file; one run is enough."),
    expected: str | None = opt.option(
        "NAME", "A tool or payload of the file that it is believed to be."
    ),
    torque: opt.Torque = None,
    cutoff: opt.Cutoff = None,
    columns: opt.Columns = None,
    *,
    carried: opt.Carried,
    output: opt.Output,
) -> None:
    """Identify a payload by the difference of two runs, or torque constants by a known one.

    With torques a known mass is kept, with currents it gives their torque constants. What --tool
    and --payload name is carried in both runs. Exit code 1: the runs show no payload, or do not
    determine a torque constant.
    """
    prior = carried.by(robot)
    if without is None and not held:
        raise ArmtwinError(
            "a difference needs a log without the payload: give it by --without, or hold the arm "
            "as its file has it, --held"
        )
    believed = None if expected is None else _mount_expected(prior, expected)
    run = robot_run("payload", prior, output, inputs_of(robot, [with_it, without], columns))
    with progress_bar("logs") as progress:
        first = None if without is None or held else at.Log.read(without, columns)
        second = at.Log.read(with_it, columns)
        if progress is not None:
            progress("fit", 0.5)
        if known is not None and channel_kind(torque_channel(second, torque)) == "current":
            if first is None:
                raise ArmtwinError(
                    "torque constants come from the difference of two runs, not held ones"
                )
            found = at.identify_drive_gains(
                prior, first, second, known, torque=torque, cutoff=cutoff
            )
        else:
            found = at.identify_payload(
                prior, first, second, expected=believed, torque=torque, cutoff=cutoff
            )
            found = found if known is None else found.keep_mass(known)
    passed = not found.refused if found.gain is None else bool(found.gain.told.all())
    run.finish(found, robot=found.robot, passed=passed)


def _mount_expected(robot: at.Robot, name: str) -> at.Robot:
    """The robot with a tool or payload of its file on it."""
    description = robot.description
    if name in description.payload:
        return robot.with_payload(name)
    if name in description.tool:
        return robot.with_tool(name)
    known = [*description.tool, *description.payload]
    raise ArmtwinError(
        f"--expected: robot '{robot.name}' has no tool or payload '{name}'. "
        f"{did_you_mean(name, known)}"
    )
