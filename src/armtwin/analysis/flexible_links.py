"""A robot at rest whose links bend and whose gears give way: sag, compliance, modes.

The brakes are on: motors do not turn. A joint stays where it is, or moves against the stiffness of
its transmission; links with a beam in the robot file bend and twist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from armtwin.elements import statics
from armtwin.elements.statics import Equilibrium, equilibrium
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, checked
from armtwin.robot.dynamics.structure import RobotStructure, structure_of, with_joint_springs
from armtwin.robot.robot import Robot

Joints = Literal["locked", "elastic"]


@dataclass(frozen=True)
class Resting:
    """A robot at rest under its own weight, with what gives way.

    Attributes:
        robot: The robot.
        q: Positions of the motors, as joint angles, (n,).
        structure: Its elements.
        state: Where they come to rest.
        still: Degrees of freedom that do not move.
    """

    robot: Robot
    q: Floats
    structure: RobotStructure
    state: Equilibrium
    still: tuple[str, ...]

    def pose(self, frame: str = "tool") -> Floats:
        """Pose of "tool" or "flange" where the robot rests, (4, 4)."""
        return self.structure.pose(self.state.placed.x, frame)


def resting(robot: Robot, q: ArrayLike, *, joints: Joints = "elastic") -> Resting:
    """A robot at rest at one posture, brakes on.

    Args:
        robot: The robot.
        q: The posture, (n,).
        joints: "elastic" lets joints with a transmission stiffness give way, "locked" none.
    """
    what = f"one posture of the {robot.n} joints of '{robot.name}'"
    posture = checked("q", q, (robot.n,), what)
    if posture.ndim != 1:
        raise ArmtwinError(f"q must have shape ({robot.n},) ({what}), got {posture.shape}")
    if any(joint.mimic is not None for joint in robot.description.joint):
        raise ArmtwinError(f"robot '{robot.name}': joints that follow others cannot bend yet")
    stiffness = _stiffness(robot) if joints == "elastic" else {}
    rigid = structure_of(robot.assembly)
    structure = with_joint_springs(rigid, posture, stiffness)
    still = []
    for name, coordinate in zip(robot.joint_names, structure.joint_names, strict=True):
        if name not in stiffness:
            still.append(coordinate)
    if len(still) == structure.structure.n:
        raise ArmtwinError(
            f"robot '{robot.name}': nothing gives way. Its file needs a [[link.beam]], or a "
            "[[transmission]] with a stiffness"
        )
    start = structure.coordinates(posture)
    state = equilibrium(structure.structure, start, still=still)
    return Resting(robot, posture, structure, state, tuple(still))


def _stiffness(robot: Robot) -> dict[str, float]:
    """Stiffness of the joints that have one [N m/rad]."""
    found = {}
    for transmission in robot.description.transmission:
        if transmission.stiffness is not None:
            found[transmission.joint] = transmission.stiffness
    return found


@dataclass(frozen=True)
class Sag:
    """How far a frame sinks under the robot's weight.

    Attributes:
        shift: Displacement against the stiff robot, base axes, (3,) [m].
        turn: Rotation against it, about base axes, (3,) [rad].
    """

    shift: Floats
    turn: Floats


def sag(rest: Resting, frame: str = "tool") -> Sag:
    """Displacement of "tool" or "flange" against a robot that does not give way."""
    stiff = structure_of(rest.robot.assembly, bending=False).forward_kinematics(rest.q, frame)
    bent = rest.pose(frame)
    R = bent[:3, :3] @ stiff[:3, :3].T
    turn = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return Sag(bent[:3, 3] - stiff[:3, 3], turn)


def compliance(rest: Resting, frame: str = "tool") -> Floats:
    """Displacement of "tool" or "flange" per force on it, base axes, (3, 3) [m/N]."""
    point = rest.structure.frames[frame][0]
    return statics.compliance(rest.state.linear, rest.state.placed, point, still=rest.still)


@dataclass(frozen=True)
class RobotModes:
    """Vibrations of a robot with its brakes on.

    Attributes:
        frequencies: Lowest first, (k,) [Hz].
        tool: Motion of the tool in each, of unit modal mass, (k, 3) [m/√kg].
        points: Names of the nodes.
        shapes: Motion of every node in each, (k, points, 3).
    """

    frequencies: Floats
    tool: Floats
    points: tuple[str, ...]
    shapes: Floats


def modes(rest: Resting, count: int = 6) -> RobotModes:
    """The lowest vibrations about the state of rest."""
    found = statics.modes(rest.state.linear, rest.state.placed, still=rest.still)
    structure = rest.structure.structure
    names = tuple(point.name for point in structure.parts.points)
    kept = min(count, len(found.frequencies))
    shapes = np.empty((kept, len(names), 3))
    for i, name in enumerate(names):
        at = structure.places[name]
        shapes[:, i] = found.coordinates[at : at + 3, :kept].T
    tool = shapes[:, names.index(rest.structure.frames["tool"][0])]
    return RobotModes(found.frequencies[:kept], tool, names, shapes)
