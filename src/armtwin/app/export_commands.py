"""The commands that write a robot in another format: URDF, Functional Mock-up Units."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from armtwin import ArmtwinError, Robot
from armtwin.app.options import Force, given_path, optional_quantity
from armtwin.app.showing import say
from armtwin.files.names import safe_name
from armtwin.files.whole import check_file
from armtwin.report.folder import refuse_inputs

export = typer.Typer(no_args_is_help=True, help="Write a robot in another format.")

NOT_IN_URDF = (
    "motor",
    "gear",
    "balancer",
    "friction",
    "transmission",
    "flexure",
    "deviation",
    "hydraulic",
    "servo",
    "payload",
    "standard_deviation",
)


@export.command(name="urdf")
def export_urdf(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file.")],
    out: Annotated[
        Path | None,
        typer.Option(
            parser=given_path,
            metavar="PATH",
            help="URDF file to write; by default NAME.urdf in this folder.",
        ),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(help="Mount a tool of the robot's file first.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a URDF file with the robot's kinematics and bodies."""
    loaded = Robot.load(robot)
    if tool is not None:
        loaded = loaded.with_tool(tool)
    target = free(out or file_name(loaded, ".urdf"), force, robot)
    loaded.to_urdf(target)
    say(f"wrote {target}")
    for what in lost_in_urdf(loaded):
        say(f"not in a URDF, left out: {what}")


def lost_in_urdf(robot: Robot) -> list[str]:
    """Groups of a robot file that a URDF has no place for."""
    d = robot.description
    lost = [name for name in NOT_IN_URDF if getattr(d, name)]
    lost += [f"tool {name} (not mounted)" for name in d.tool if name != d.mounted.tool]
    if d.gravity != (0.0, 0.0, -9.81):
        lost.append("gravity of a tilted base")
    for link in d.link:
        if link.unphysical:
            lost.append(f"why {link.name} is unphysical (import needs --allow-unphysical)")
    return lost


def file_name(robot: Robot, suffix: str) -> Path:
    """A file in this folder named after the robot, whatever characters its name has."""
    return Path(safe_name(robot.name, "robot") + suffix)


def free(path: Path, force: bool, source: str | Path) -> Path:
    """The path, if it may be written; never that of the file which is read."""
    check_file(path)
    refuse_inputs([path], [Path(source)])
    if os.path.lexists(path) and not force:
        raise ArmtwinError(
            f"{path}: exists already; use --force to replace it, or --out to choose another name"
        )
    return path


@export.command(name="fmu")
def export_fmu(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file.")],
    joint: Annotated[
        str | None,
        typer.Option(help="Number or name: the transmission of this joint alone, on a bench."),
    ] = None,
    fmi: Annotated[
        int, typer.Option(help="2: co-simulation and model exchange; 3: co-simulation.")
    ] = 2,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=given_path,
            metavar="PATH",
            help="Unit to write; by default NAME.fmu or NAME_JOINT.fmu in this folder.",
        ),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(help="Mount a tool of the robot's file first.")
    ] = None,
    payload: Annotated[
        str | None, typer.Option(help="Mount a payload of the robot's file first.")
    ] = None,
    friction: Annotated[
        Literal["lugre", "switching", "arctan", "off"] | None,
        typer.Option(help="Friction model; by default bristles where the file gives them."),
    ] = None,
    driven: Annotated[
        Literal["torque", "angle"],
        typer.Option("--input", help="Of a joint: what its motor is driven by."),
    ] = "torque",
    inertia: Annotated[
        str | None,
        typer.Option(help='Of a joint: inertia behind it, as "10 kg m^2"; without it is clamped.'),
    ] = None,
    joints: Annotated[
        Literal["rigid", "elastic"], typer.Option(help="Of a whole robot: its gears.")
    ] = "rigid",
    servo: Annotated[str, typer.Option(help="Of a whole robot: a servo of its file.")] = "cascade",
    quantise: Annotated[
        bool, typer.Option(help="Of a whole robot: currents and encoders in steps.")
    ] = True,
    sources_only: Annotated[
        bool, typer.Option("--sources-only", help="Make no binary, even with a C compiler.")
    ] = False,
    force: Force = False,
) -> None:
    """Write a robot in closed loop, or one transmission, as a Functional Mock-up Unit."""
    from armtwin.exchange.export_fmu import OneJoint, WholeRobot, export_fmu, joint_name
    from armtwin.simulation.model import Model

    loaded = Robot.load(robot)
    if tool is not None:
        loaded = loaded.with_tool(tool)
    if payload is not None:
        loaded = loaded.with_payload(payload)
    if fmi not in (2, 3):
        raise ArmtwinError(f"--fmi must be 2 or 3, got {fmi}")
    behind = optional_quantity("--inertia", inertia, "kg m^2")
    suffix = ".fmu" if joint is None else f"_{joint_name(loaded, joint)}.fmu"
    target = free(out or file_name(loaded, suffix), force, robot)
    model = Model(friction or "lugre", servo, quantise, joints)
    part = WholeRobot(model) if joint is None else OneJoint(joint, friction, driven, behind)
    written = export_fmu(loaded, target, part, fmi=fmi, sources_only=sources_only)
    say(f"wrote {target}: FMI {fmi}.0, {' and '.join(written.kinds)}")
    if written.binary:
        say(f"binary for this platform: {written.binary}")
    elif sources_only:
        say("a unit of sources, as asked for: a host must compile it")
    else:
        say("no C compiler (CC, cc, gcc, clang) is found: a unit of sources")
        say("a host must compile it; sources/ holds all that is needed")
