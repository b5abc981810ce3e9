"""The commands of friction experiments: friction, warmup."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

import armtwin as at
from armtwin.app.options import Force, Json, Mounting, Output, given_path, optional_quantity
from armtwin.app.places import Source, files_of_log, result_folder
from armtwin.app.progress import of, progress_bar
from armtwin.app.robot_run import RobotRun, inputs_of, robot_run
from armtwin.app.robots import mounted, on_base
from armtwin.app.showing import REPORT, finish
from armtwin.errors import ArmtwinError
from armtwin.files.opening import FRICTION_CURVES, read_text
from armtwin.report.folder import RESULT

DONE, NOT_TOLD = 0, 1


def friction(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file.")],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="CURVE.csv|LOG...",
            help="A table joint,v,tau[,std,temperature], or logs of constant speeds.",
        ),
    ],
    weight: Annotated[
        Literal["directions", "file", "pose"],
        typer.Option(
            "--weight",
            help="How weight is taken out: by both directions, by the robot's file, or not at all, "
            "as the pose or the mounting put the axis along gravity.",
        ),
    ] = "directions",
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Logs of slow motion to and fro, not of plateaus.")
    ] = False,
    moving: Annotated[
        bool,
        typer.Option(
            "--moving",
            help="Logs of any motion, as an excitation: shape numbers (speeds, exponents) of the "
            "file's laws, everything linear fitted with them; then no curves are fitted.",
        ),
    ] = False,
    cutoff: Annotated[
        str | None,
        typer.Option("--cutoff", help='With --moving: cut-off of the filter, as "10 Hz".'),
    ] = None,
    law: Annotated[
        str | None, typer.Option("--law", help='The law to take, or "file" for the file\'s own.')
    ] = None,
    breakaway: Annotated[
        Path | None,
        typer.Option("--breakaway", help="A log of a slow break-away ramp, or of slow reversals."),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(
            "--load",
            help='Friction that may follow the load of its gear, as "wrist_a, wrist_c": from logs '
            "of different loads; then no curves are fitted.",
        ),
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option("--tools", help='With --load: the tool of each log, as "none, laser_head".'),
    ] = None,
    torque: Annotated[
        str | None, typer.Option("--torque", help="Channel of the torque, as tau_m or current.")
    ] = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the logs.")
    ] = None,
    mounting: Mounting = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Tool mounted while logging.")] = None,
    payload: Annotated[
        str | None, typer.Option("--payload", help="Payload mounted while logging.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=given_path, metavar="PATH", help="The robot file (.toml)."),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Friction laws from torques at constant speed, or of any motion: robot file, and report.

    Exit code 1: some number of a law is not told.
    """
    from armtwin.identification.friction_curves.friction_report import friction_report

    prior = on_base(mounted(robot, tool, payload), None, mounting, "friction")
    inputs = inputs_of(robot, [*files, breakaway], columns)
    run = robot_run("friction", prior, inputs, Output(out, json, force))
    if moving:
        others = {
            "--sweep": sweep,
            "--law": law,
            "--breakaway": breakaway,
            "--load": load,
            "--weight": weight != "directions",
        }
        _refuse("--moving", others)
        hertz = optional_quantity("--cutoff", cutoff, "Hz")
        _moving(run, (files, columns), (torque, hertz))
    if cutoff is not None:
        raise ArmtwinError("--cutoff goes with --moving alone; curves are not filtered")
    if load is not None:
        _worm(run, files, columns, (load, tools))
        return
    with progress_bar("curves"):
        curves = _curves(prior, files, columns, torque, sweep)
        found = at.fit_friction(prior, curves, gravity=weight, law=law)
        bending = None
        if breakaway is not None:
            bending = at.fit_presliding(prior, at.Log.read(breakaway, columns))
    changed = found.robot if found.curves.unit == "N m" else None
    run.finish(friction_report(found, bending), changed)
    raise typer.Exit(DONE if all(number.told for number in found.table) else NOT_TOLD)


def _refuse(option: str, others: Mapping[str, object]) -> None:
    """Refuse options that do not go with another."""
    given = [name for name, value in others.items() if value]
    if given:
        raise ArmtwinError(f"{option} does not go with {' and '.join(given)}")


def _moving(
    run: RobotRun,
    sources: tuple[list[Path], Path | None],
    choices: tuple[str | None, float | None],
) -> NoReturn:
    """Shape numbers of the file's laws, from logs of any motion."""
    from armtwin.identification.closed_loop.shape_report import shape_report

    files, columns = sources
    torque, cutoff = choices
    for path in files:
        if _is_table(path):
            raise ArmtwinError(f"{path}: --moving needs logs, not a table of friction curves")
    with progress_bar("logs") as progress:
        logs = [at.Log.read(path, columns) for path in files]
        found = at.fit_friction_shapes(
            run.prior, logs, torque=torque, cutoff=cutoff, progress=of(progress, "shapes")
        )
    run.finish(shape_report(found), found.robot)
    raise typer.Exit(DONE if all(number.told for number in found.table) else NOT_TOLD)


def _worm(
    run: RobotRun, files: list[Path], columns: Path | None, words: tuple[str, str | None]
) -> None:
    """Friction that follows loads, from logs with several tools."""
    from armtwin.identification.worm_report import worm_report

    load, tools = words
    if tools is None:
        raise ArmtwinError('--load needs --tools, the tool of each log, as "none, laser_head"')
    named = [word.strip() for word in tools.split(",")]
    mounted_tools = [None if word == "none" else word for word in named]
    elements = [word.strip() for word in load.split(",")]
    with progress_bar("logs"):
        logs = [at.Log.read(path, columns) for path in files]
        found = at.identify_worm(run.prior, logs, mounted_tools, elements)
    run.finish(worm_report(found), found.robot)


def _curves(
    robot: at.Robot, files: list[Path], columns: Path | None, torque: str | None, sweep: bool
) -> at.FrictionCurves:
    """Curves of one table, or of logs."""
    tables = [path for path in files if _is_table(path)]
    if tables and len(files) > 1:
        raise ArmtwinError(f"{tables[0]}: give one table of friction curves, or logs")
    if tables:
        return at.FrictionCurves.read(tables[0], robot.joint_names)
    logs = [at.Log.read(path, columns) for path in files]
    if sweep:
        return at.curves_of_sweeps(robot, logs, torque)
    return at.curves_of_logs(robot, logs, torque)


def _is_table(path: Path) -> bool:
    """Whether a file is a table of friction curves: its header begins a log with time."""
    if path.suffix != ".csv":
        return False
    lines = read_text(path, FRICTION_CURVES).splitlines()
    header = [word.strip() for word in lines[0].split(",")] if lines else []
    return "time" not in header and "joint" in header


def warmup(
    log: Annotated[Path, typer.Argument(help="A log of one motion repeated (.csv, .npz).")],
    period: Annotated[
        str | None, typer.Option("--period", help='Duration of a cycle, as "8 s".')
    ] = None,
    limit: Annotated[
        str,
        typer.Option("--limit", help="Change from cycle to cycle below which a joint is warm."),
    ] = "0.01 %",
    torque: Annotated[
        str | None, typer.Option("--torque", help="Channel of the torque, as tau_m or current.")
    ] = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the log.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=given_path, metavar="PATH", help="Folder for the results."),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Is the robot warm, and how fast does it warm: from a log of one motion over and over.

    Exit code 1: some joint is not warm.
    """
    from armtwin.identification.warm_up_report import warm_up_report

    length = optional_quantity("--period", period, "s")
    share = optional_quantity("--limit", limit, "1")
    assert share is not None
    options = {"period_s": length, "limit": share, "torque": torque}
    source = Source("warmup", log.name.partition(".")[0], str(log), options)
    place = result_folder(source, out, (RESULT, REPORT), files_of_log(log, columns), force)
    read = at.Log.read(log, columns)
    found = at.identify_warm_up(read, period=length, limit=share, torque=torque)
    finish(warm_up_report(found), place, {}, json)
    raise typer.Exit(DONE if found.warm else NOT_TOLD)
