"""A job from a robot program: a stretch of it of which every move is known.

Frames and tools are those of the program, else of a side file; a tool that neither has is the
robot's own. What is missing is asked for by name.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from armtwin.errors import FileError
from armtwin.files.writing import group_table
from armtwin.jobs.description import JobDescription
from armtwin.jobs.groups import Tolerance
from armtwin.jobs.program import describe_program
from armtwin.maths.batch import Floats, Record
from armtwin.maths.rotations import to_quaternion, to_rpy
from armtwin.motion.moves import ProgramMove
from armtwin.programs.execution import KnownFrame, Step
from armtwin.programs.table import ProgramFile
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Orientation, Pose, Tool

MOST_NAMED = 10  # lines that a note names
SAME_TOOL = 1e-6  # difference of two tools that is none [m]


def choose_stretch(of: ProgramFile, number: int | None) -> int:
    """Number of the stretch that is meant, from 0: as given, or that with the longest seams."""
    lengths = [measure_seams(stretch) for stretch in of.stretches]
    if number is not None:
        if not 1 <= number <= len(lengths):
            contract = f"stretch must be from 1 to {len(lengths)}, got {number}"
            raise FileError(of.path, f"{contract} (armtwin check FILE lists them)")
        return number - 1
    if not lengths or max(lengths) <= 0:
        gaps = [f"line {x.line}: {x.text}" for x in of.remarks if x.is_gap]
        raise FileError(of.path, ["has no stretch of known moves that lead the tool", *gaps[:20]])
    return int(np.argmax(lengths))


def measure_seams(stretch: tuple[Step, ...]) -> float:
    """Length of the straight lines between the ends of moves that lead the tool [m]."""
    length = 0.0
    for before, step in pairwise(stretch):
        if step.kind != "PTP" and step.spot.X is not None and before.spot.X is not None:
            length += float(np.linalg.norm(step.spot.X[:3, 3] - before.spot.X[:3, 3]))
        elif step.kind != "PTP":
            length += SAME_TOOL  # to or from joints: some length
    return length


def describe_stretch(
    of: ProgramFile, number: int, robot: Robot, tolerance: Tolerance
) -> JobDescription:
    """The job of a stretch of a program.

    Args:
        of: The program.
        number: Of the stretch, from 0.
        robot: The robot, tool mounted.
        tolerance: Lateral and vertical.
    """
    steps = of.stretches[number]
    own, robot = _with_own_tool(of, steps[0].tool, robot)
    tool = _tool_of(of, steps[0].tool, robot)
    missing = sorted({x.base.name for x in steps if x.base.X is None and x.spot.X is not None})
    if missing:
        wanted = [_ask("base", name, "in the robot's base frame") for name in missing]
        raise FileError(of.path, wanted)
    moves = [_to_move(of, step, robot, tool) for step in steps]
    description = describe_program(robot, moves, tolerance, name=of.path.stem)
    notes = tuple(_list_notes(of, number, steps[0].tool))
    description = replace(description, notes=notes, override=own)
    mounted = robot.description.mounted.tool
    if not mounted or np.abs(tool - own_tool(robot)).max() <= SAME_TOOL:
        return description
    keys = {f"tool.{mounted}.tcp.position": tool[:3, 3].tolist()}
    given = robot.description.tool[mounted].tcp.orientation
    if np.abs(tool[:3, :3] - given.rotation()).max() > SAME_TOOL:
        way, values = _turn_as(given, tool[:3, :3])
        keys[f"tool.{mounted}.tcp.orientation.{way}"] = values
    return replace(description, override=keys)


def _with_own_tool(of: ProgramFile, tool: KnownFrame, robot: Robot) -> tuple[Record, Robot]:
    """Keys that give a robot without a tool that of the program, and the robot with it.

    Where the robot carries a tool, or the program does not say what its own weighs, it stays as it
    is.
    """
    if robot.description.mounted.tool or tool.X is None or tool.load is None:
        return {}, robot
    name = re.sub(r"\W+", "_", tool.name).strip("_")
    made = Tool(f"document: {of.path.name}", Pose.from_matrix(tool.X), tool.load)
    others = robot.description.tool
    described = replace(robot.description, tool={**others, name: made})
    keys: Record = (
        {f"tool.{name}": group_table(made)} if others else {"tool": {name: group_table(made)}}
    )
    return keys, robot.with_description(described).with_tool(name)


def own_tool(robot: Robot) -> Floats:
    """Pose of the mounted tool in the flange's frame."""
    mounted = robot.description.mounted.tool
    return robot.description.tool[mounted].tcp.matrix() if mounted else np.eye(4)


def _turn_as(like: Orientation, R: Floats) -> tuple[str, list[Any]]:
    """A rotation in the convention of another one: which, and its values."""
    roll, pitch, yaw = to_rpy(R).tolist()
    if like.abc is not None:
        return "abc", [yaw, pitch, roll]
    if like.quaternion is not None:
        return "quaternion", to_quaternion(R).tolist()
    if like.matrix is not None:
        return "matrix", R.tolist()
    return "rpy", [roll, pitch, yaw]


def _ask(kind: str, name: str, where: str) -> str:
    example = f'[{kind}."{name}"] with position and orientation {where}'
    return f"{kind} {name} has no values in the program: give --frames FILE.toml that has {example}"


def _tool_of(of: ProgramFile, tool: KnownFrame, robot: Robot) -> Floats:
    """Pose of the program's tool in the flange's frame."""
    mounted = robot.description.mounted.tool
    if tool.X is not None:
        if not mounted and np.abs(tool.X - np.eye(4)).max() > SAME_TOOL:
            away = 1e3 * float(np.linalg.norm(tool.X[:3, 3]))
            raise FileError(
                of.path,
                f"tool {tool.name} is {away:.4g} mm from the flange, and the program does not say "
                "what it weighs: give --tool NAME, a tool of the robot's file, or --frames "
                f'FILE.toml that has [load."{tool.name}"] with mass and com in the flange\'s frame',
            )
        return tool.X
    if not mounted:
        choice = "--tool NAME, a tool of the robot's file whose frame is used, or "
        raise FileError(
            of.path,
            _ask("tool", tool.name, "in the flange's frame").replace("give ", f"give {choice}"),
        )
    return own_tool(robot)


def _to_move(of: ProgramFile, step: Step, robot: Robot, tool: Floats) -> ProgramMove:
    """A move in the base frame."""
    q = None if step.spot.joints is None else np.radians(step.spot.joints)
    if q is not None and len(q) != robot.n:
        text = f"line {step.line}: has {len(q)} joints, but '{robot.name}' has {robot.n}"
        raise FileError(of.path, text)
    X, via = None, step.via
    if step.spot.X is not None:
        assert step.base.X is not None
        X = step.base.X @ step.spot.X
        via = None if via is None else step.base.X @ via
    elif step.kind != "PTP":
        assert q is not None
        X, q = robot.forward_kinematics(q, frame="flange") @ tool, None
    return ProgramMove(
        kind=step.kind,
        pose=X,
        joints=q,
        via=via,
        speed=step.speed,
        zone=step.zone,
        joined=step.joined,
        judged=bool(step.judged) or (step.judged is None and not of.is_marked),
        wait=step.wait,
        line=step.line,
        name=step.name,
    )


def _list_notes(of: ProgramFile, number: int, tool: KnownFrame) -> Iterator[str]:
    """What is assumed, and what of the program is left out, as sentences."""
    steps = of.stretches[number]
    if len(of.stretches) > 1:
        lines = f"lines {steps[0].line} to {steps[-1].line}"
        count = len(of.stretches)
        yield f"{of.path.name}: stretch {number + 1} of {count}, {lines}; the others are left out"
    if tool.load is not None:
        yield f"{of.path.name}: tool {tool.name} weighs {tool.load.mass:.4g} kg"
    if tool.X is None:
        yield f"{of.path.name}: tool {tool.name} is taken to be the robot's tool"
    gaps = [x for x in of.remarks if x.is_gap]
    if gaps:
        named = "; ".join(f"line {x.line}: {x.text}" for x in gaps[:MOST_NAMED])
        yield f"{of.path.name}: {len(gaps)} lines are not understood and left out: {named}"
    for remark in of.remarks:
        if not remark.is_gap:
            yield f"{of.path.name}, line {remark.line}: {remark.text}"
