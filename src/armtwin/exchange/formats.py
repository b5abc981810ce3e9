"""The formats that a robot is exported in, one row each, and the export with its check."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError, did_you_mean, printable
from armtwin.exchange import check as checks
from armtwin.exchange.check import Check, CheckMotion
from armtwin.exchange.export import c_compiler, pack_unit
from armtwin.exchange.feedforward import evaluate_torques, run_compiled, write_feedforward
from armtwin.exchange.mjcf import check_tree, to_mjcf
from armtwin.exchange.reductions import FrictionForm
from armtwin.exchange.robot_unit import prepare_hold, robot_unit
from armtwin.files.atomic import write_files
from armtwin.files.staging import Contents
from armtwin.maths.batch import Floats, Names
from armtwin.notebook.sections import Report, Text
from armtwin.report.result import Result
from armtwin.report.result_file import plain, to_description
from armtwin.robot.formats.urdf_reading import read_urdf
from armtwin.robot.robot import Robot
from armtwin.simulation.model import Model

CHECK = ".check.json"


class Converted(NamedTuple):
    """A robot in a format: its files by name, its check, what else is to be said of it."""

    contents: Contents
    check: Check
    remarks: Names = ()


@dataclass(frozen=True, eq=False, repr=False)
class ExportedRobot(Result):
    """A robot in another format, with its check.

    Attributes:
        title: Robot and format.
        path: Its main file; the check lies beside it, its name with .check.json.
        converted: Its files, its check and what else is to be said.
    """

    title: str
    path: Path
    converted: Converted

    @property
    def check(self) -> Check:
        """What it does beside the twin."""
        return self.converted.check

    @property
    def files(self) -> list[Path]:
        """All files, the check last."""
        return [
            self.path.with_name(name) for name in (*self.converted.contents, self.path.name + CHECK)
        ]

    def sections(self) -> Report:
        """What it comes to, torques, closed loop, costs, what did not map."""
        verdict = Text(f"{self.title}. {self.check.sentence}")
        return Report(self.title, "", tuple(self.check.sections()), (verdict,))

    def write(self) -> None:
        """Write its files and its check, all or none."""
        described = plain(to_description(self.sections()))
        check = {self.path.name + CHECK: json.dumps(described, indent=1)}
        write_files(self.path.parent, {**self.converted.contents, **check})


@dataclass(frozen=True)
class Choices:
    """What a format can be asked for; others pass over it.

    Attributes:
        friction: In MJCF: as "lugre", or as "frictionloss" and damping, or "off".
        fmi: Version of FMI, 2 or 3.
        sources_only: Of a unit: whether to make no binary, even where a C compiler is found.
    """

    friction: FrictionForm = "lugre"
    fmi: int = 2
    sources_only: bool = False


@dataclass(frozen=True)
class RobotFormat:
    """A format of robots.

    Attributes:
        title: What it is, in words.
        suffix: Ending of its main file.
        convert: From robot, name, motion and choices to its files and its check.
    """

    title: str
    suffix: str
    convert: Callable[[Robot, str, CheckMotion, Choices], Converted]


def _urdf(robot: Robot, name: str, motion: CheckMotion, choices: Choices) -> Converted:
    with TemporaryDirectory(prefix="armtwin-urdf-") as folder:
        path = Path(folder, f"{name}.urdf")
        lost = robot.to_urdf(path)
        text = path.read_text("utf-8")
        again = Robot(read_urdf(path, allow_unphysical=True))
    order = [again.joint_names.index(joint) for joint in robot.joint_names]
    back = np.argsort(order)

    def torque(*state: Floats) -> Floats:
        return again.inverse_dynamics(*(x[:, back] for x in state))[:, order]

    errors = checks.compare_torques(robot, motion.setpoints, torque, robot.inverse_dynamics)
    check = Check(motion.title, "the file read again", errors, lost=lost)
    return Converted({path.name: text}, check)


def _mjcf(robot: Robot, name: str, motion: CheckMotion, choices: Choices) -> Converted:
    check_tree(robot)
    hold = prepare_hold(robot, motion.model, robot.home)
    exported = to_mjcf(hold, motion.model, choices.friction)
    check = checks.check_mjcf(robot, motion, choices.friction)
    return Converted({f"{name}.xml": exported.text}, check)


def _fmu(robot: Robot, name: str, motion: CheckMotion, choices: Choices) -> Converted:
    unit = robot_unit(robot, printable(name), motion.model, posture=motion.setpoints.q[0])
    file = Path(f"{name}.fmu")
    packed = pack_unit(unit, file, version=choices.fmi, sources_only=choices.sources_only)
    check = checks.check_fmu(robot, motion, packed.content, bool(packed.binary))
    return Converted({file.name: packed.content}, check, packed.remarks)


def _c(robot: Robot, name: str, motion: CheckMotion, choices: Choices) -> Converted:
    sources = write_feedforward(robot, name)
    compiler = c_compiler()
    how = [checks.ESTIMATED]

    def torque(*state: Floats) -> Floats:
        if compiler is None:
            return evaluate_torques(robot, state).sum(axis=0)
        found = run_compiled(compiler, sources, name, state)
        how[0] = f"compiled with {Path(compiler[0]).name}, {1e6 * found.call:.2g} µs a call"
        return found.tau + found.friction

    def wanted(q: Floats, v: Floats, a: Floats) -> Floats:
        return robot.inverse_dynamics(q, v, a) + robot.friction_torque(v, q)

    errors = checks.compare_torques(robot, motion.setpoints, torque, wanted)
    lost = ("friction before sliding, and what follows load and temperature", "servo and limits")
    return Converted({**sources}, Check(motion.title, how[0], errors, lost=lost))


FORMATS = {
    "urdf": RobotFormat("URDF", ".urdf", _urdf),
    "mjcf": RobotFormat("MJCF, for MuJoCo >= 4", ".xml", _mjcf),
    "fmu": RobotFormat("Functional Mock-up Unit", ".fmu", _fmu),
    "c": RobotFormat("C99, torques for feed-forward", ".c", _c),
}


def export_robot(
    robot: Robot,
    path: str | Path,
    kind: str,
    *,
    motion: CheckMotion | None = None,
    friction: FrictionForm = "lugre",
    fmi: int = 2,
) -> ExportedRobot:
    """Write a robot in another format, with a check of what it does beside the twin.

    Args:
        robot: The robot, with what it carries mounted.
        path: The main file; what is there is replaced.
        kind: "urdf", "mjcf", "fmu" or "c".
        motion: The motion of the check, and the model that is exported; `check_motion_of` gives
            that of a prediction. By default all joints go there and back.
        friction: In MJCF: as "lugre", or as "frictionloss" and damping, or "off".
        fmi: Version of FMI of a unit, 2 or 3.
    """
    if motion is None:
        motion = checks.usual_motion(robot, Model())
    exported = convert_robot(robot, Path(path), kind, motion, Choices(friction, fmi))
    exported.write()
    return exported


def convert_robot(
    robot: Robot, path: Path, kind: str, motion: CheckMotion, choices: Choices
) -> ExportedRobot:
    """What `export_robot` writes; nothing is written."""
    if kind not in FORMATS:
        raise ArmtwinError(f"format '{kind}' is not known. {did_you_mean(kind, FORMATS)}")
    found = FORMATS[kind]
    name = "".join(x if x.isascii() and x.isalnum() else "_" for x in path.stem)
    if kind == "c" and (path.stem != name or name[:1].isdigit()):
        raise ArmtwinError(f"{path}: the name of a C file must be an identifier, as '{name}.c'")
    converted = found.convert(robot, path.stem, motion, choices)
    return ExportedRobot(f"{robot.name} as {found.title}", path, converted)
