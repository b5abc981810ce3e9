"""The commands that list robots and take in those of others."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import armtwin as at
from armtwin import ArmtwinError, Robot
from armtwin.app import options as opt
from armtwin.app.export_commands import free
from armtwin.app.run import end_with_cautions
from armtwin.app.showing import describe
from armtwin.robot.formats.urdf_meshes import read_urdf_meshes


def robots(name: opt.ShippedName = None, json: opt.Json = False) -> None:
    """List the shipped robots, or show one of them."""
    describe(at.robots() if name is None else Robot.load(name).sections(sources=False), json)


def import_robot(
    file: Path = opt.argument("FILE", "A URDF file, or a Denavit-Hartenberg table (.csv)."),
    kind: Literal["urdf", "dh"] | None = opt.flag(
        "--as", "What the file is; by default what its ending says.", default=None
    ),
    convention: Literal["standard", "modified"] = opt.option(
        "Of a Denavit-Hartenberg table.", default="standard"
    ),
    allow_unphysical: bool = opt.flag(
        "--allow-unphysical", "Keep bodies that cannot exist, marked so."
    ),
    tip: str = opt.option(
        "LINK", "Of a URDF: last link of the chain that is wanted, as of one arm.", default=""
    ),
    gravity: opt.Gravity = None,
    mounting: opt.Mounting = None,
    *,
    output: opt.FileOutput,
) -> None:
    """Make a robot file from a URDF file or a Denavit-Hartenberg table.

    Exit code 1: done, but a mistake would explain what the file says.
    """
    if kind is None:
        kind = "dh" if file.suffix == ".csv" else "urdf"
    if kind == "dh" and tip:
        raise ArmtwinError("--tip chooses a chain of a URDF; a table has one")
    if kind == "dh":
        found = Robot.from_dh(file, convention)
    elif file.suffix in {".urdf", ".xml", ".xacro"}:
        found = Robot.load(file, allow_unphysical=allow_unphysical, tip=tip)
        meshes = read_urdf_meshes(file, found.assembly)
        found = found.with_numbers(replace(found.description, meshes=meshes))
    else:
        raise ArmtwinError(f"{file}: import reads URDF files (.urdf) and, --as dh, tables (.csv)")
    robot = opt.on_base(found, gravity, mounting, "import")
    target = free(robot, ".toml", output, file)
    robot.save(target)
    describe(robot.sections(sources=False), output.json, [target])
    end_with_cautions(robot.cautions)
