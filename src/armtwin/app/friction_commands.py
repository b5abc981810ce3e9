"""The commands of friction experiments: friction curves, shapes, load, presliding; warmup."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import typer
from typer.core import TyperGroup

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.places import Source, files_of_log
from armtwin.app.progress import of, progress_bar
from armtwin.app.run import folder_run, inputs_of, read_logs, robot_run
from armtwin.errors import ArmtwinError
from armtwin.files.opening import FRICTION_CURVES, read_text

# options of the one command that friction was, and what they became
FORMER = {"--moving": "shapes", "--load": "load", "--breakaway": "presliding"}


class FrictionCommands(TyperGroup):
    """The friction commands; what does not name one of them is refused with their names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the name of a command; refuse a robot in its place."""
        if args and args[0] not in (*self.commands, "--help"):
            kind = next((FORMER[word] for word in args if word in FORMER), "curves")
            raise ArmtwinError(
                f"friction needs what is looked for, one of {', '.join(self.commands)}, before "
                f"the robot, got '{args[0]}'; write armtwin friction {kind} ROBOT FILE..."
            )
        return super().parse_args(ctx, args)


friction = typer.Typer(
    cls=FrictionCommands,
    no_args_is_help=True,
    help="Friction: laws, their shapes, load, pre-sliding.",
)


@opt.command_of(friction)
def curves(
    robot: opt.RobotFile,
    files: list[Path] = opt.argument(
        "CURVE.csv|LOG", "A table joint,v,tau[,std,temperature], or logs of constant speeds."
    ),
    weight: Literal["directions", "file", "pose"] = opt.flag(
        "--weight",
        "How weight is taken out: by both directions, by the robot's file, or not at all, "
        "as the pose or the mounting put the axis along gravity.",
        default="directions",
    ),
    sweep: bool = opt.flag("--sweep", "Logs of slow motion back and forth, not of plateaus."),
    law: str | None = opt.option("LAW", 'The law to take, or "file" for the file\'s own.'),
    torque: opt.Torque = None,
    columns: opt.Columns = None,
    *,
    installation: opt.Installation,
    output: opt.Output,
) -> None:
    """Friction laws from torques at constant speed: robot file, and report.

    Exit code 1: a number of a law is not identifiable.
    """
    prior = installation.by(robot, "friction")
    run = robot_run("friction curves", prior, output, inputs_of(robot, files, columns))
    with progress_bar("curves"):
        if _table(files) is not None:
            measured = at.FrictionCurves.read(files[0], prior.joint_names)
        else:
            of_logs = at.curves_of_sweeps if sweep else at.curves_of_logs
            measured = of_logs(prior, read_logs(files, columns), torque)
        found = at.fit_friction(prior, measured, gravity=weight, law=law)
    changed = found.robot if found.curves.unit == "N m" else None
    run.finish(found, robot=changed, passed=_all_identified(found.table))


@opt.command_of(friction)
def shapes(
    robot: opt.RobotFile,
    logs: opt.LogFiles,
    cutoff: opt.Cutoff = None,
    torque: opt.Torque = None,
    columns: opt.Columns = None,
    *,
    installation: opt.Installation,
    output: opt.Output,
) -> None:
    """Speeds and exponents of the file's laws from logs of any motion, as an excitation.

    Everything linear is fitted with them. Exit code 1: one of them is not identifiable.
    """
    if _table(logs) is not None:
        raise ArmtwinError(f"{logs[0]}: friction shapes needs logs, not a table of friction curves")
    prior = installation.by(robot, "friction")
    run = robot_run("friction shapes", prior, output, inputs_of(robot, logs, columns))
    with progress_bar("logs") as progress:
        found = at.fit_friction_shapes(
            prior,
            read_logs(logs, columns),
            torque=torque,
            cutoff=cutoff,
            progress=of(progress, "shapes"),
        )
    run.finish(found, robot=found.robot, passed=_all_identified(found.table))


@opt.command_of(friction)
def load(
    robot: opt.RobotFile,
    logs: opt.LogFiles,
    elements: str = opt.option(
        "LIST", 'Friction that may follow the load of its gear, as "wrist_a, wrist_c".', default=...
    ),
    tools: str = opt.option("LIST", 'The tool of each log, as "none, laser_head".', default=...),
    columns: opt.Columns = None,
    *,
    installation: opt.Installation,
    output: opt.Output,
) -> None:
    """Friction that follows the load of its gear, from logs with several tools."""
    prior = installation.by(robot, "friction")
    mounted = [None if word == "none" else word for word in opt.words_of_list("--tools", tools)]
    named = opt.words_of_list("--elements", elements)
    run = robot_run("friction load", prior, output, inputs_of(robot, logs, columns))
    with progress_bar("logs"):
        found = at.identify_worm(prior, read_logs(logs, columns), mounted, named)
    run.finish(found, robot=found.robot)


@opt.command_of(friction)
def presliding(
    robot: opt.RobotFile,
    log: opt.LogFile,
    joint: str | None = opt.option("NAME", "The joint; by default that moves most."),
    columns: opt.Columns = None,
    *,
    installation: opt.Installation,
    output: opt.Output,
) -> None:
    """Stiffness before sliding from a log of a slow break-away ramp, or of slow reversals.

    Exit code 1: the encoder cannot resolve it.
    """
    prior = installation.by(robot, "friction")
    source = Source("friction presliding", prior.name, prior.origin)
    run = folder_run(source, output, inputs_of(robot, [log], columns))
    with progress_bar("logs"):
        found = at.fit_presliding(prior, at.Log.read(log, columns), joint)
    run.finish(found, passed=not found.refused)


def _all_identified(numbers: Sequence[Any]) -> bool:
    return all(number.told for number in numbers)


def _table(files: Sequence[Path]) -> Path | None:
    """The table of friction curves, None where all are logs; one that is not alone is refused."""
    tables = [path for path in files if _is_table(path)]
    if tables and len(files) > 1:
        raise ArmtwinError(f"{tables[0]}: give one table of friction curves, or logs")
    return tables[0] if tables else None


def _is_table(path: Path) -> bool:
    """Whether a file is a table of friction curves: its header begins a log with time."""
    if path.suffix != ".csv":
        return False
    lines = read_text(path, FRICTION_CURVES).splitlines()
    header = [word.strip() for word in lines[0].split(",")] if lines else []
    return "time" not in header and "joint" in header


def warmup(
    log: opt.LogFile,
    period: opt.Period = None,
    limit: float = opt.quantity(
        "--limit", "1", "Change from cycle to cycle below which a joint is warm.", default=1e-4
    ),
    torque: opt.Torque = None,
    columns: opt.Columns = None,
    *,
    output: opt.Output,
) -> None:
    """Is the robot warm, and how fast does it warm: from a log of one motion over and over.

    Exit code 1: a joint is not warm.
    """
    options = {"period_s": period, "limit": limit, "torque": torque}
    source = Source("warmup", log.name.partition(".")[0], str(log), options)
    run = folder_run(source, output, files_of_log(log, columns))
    with progress_bar("log"):
        read = at.Log.read(log, columns)
        found = at.identify_warm_up(read, period=period, limit=limit, torque=torque)
    run.finish(found, passed=found.warm)
