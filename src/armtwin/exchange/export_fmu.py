"""A robot, one of its joints or a bench as a Functional Mock-up Unit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, did_you_mean, printable
from armtwin.exchange.export import Exported, write_unit
from armtwin.exchange.robot_unit import robot_unit
from armtwin.exchange.transmission_unit import Driven, joint_bench, transmission_unit
from armtwin.maths.units import Unit
from armtwin.robot.robot import Robot
from armtwin.simulation.bench import Bench
from armtwin.simulation.model import FrictionModel, Model

MovedInertia = Annotated[float, Unit("kg m^2", above=0)]


@dataclass(frozen=True, eq=False)
class WholeRobot:
    """A robot in closed loop as a unit.

    Attributes:
        model: What is simulated; the full model with rigid joints where none is given.
        posture: Joint positions of its first set-point, (n,) [rad].
    """

    model: Model | None = None
    posture: ArrayLike | None = None


@dataclass(frozen=True)
class OneJoint:
    """The transmission of one joint as a unit.

    Attributes:
        joint: Number from 1 or name of the joint.
        friction: Friction model.
        driven: What drives the motor: a "torque" or an "angle".
        inertia: Inertia behind the joint, which then moves [kg m²]; by default it is clamped.
    """

    joint: int | str
    friction: FrictionModel | None = None
    driven: Driven = "torque"
    inertia: MovedInertia | None = None


WHOLE = WholeRobot()


def export_fmu(
    robot: Robot,
    path: str | Path,
    part: WholeRobot | OneJoint = WHOLE,
    *,
    fmi: int = 2,
    sources_only: bool = False,
) -> Exported:
    """Write a robot in closed loop, or the transmission of one joint, as a unit.

    Args:
        robot: The robot, tool mounted.
        path: The file to write, .fmu; what is there is replaced.
        part: What of the robot is written, and how it is simulated.
        fmi: Version of FMI, 2 or 3.
        sources_only: Whether to make no binary, even where a C compiler is found.
    """
    name = printable(Path(path).stem)
    if isinstance(part, WholeRobot):
        unit = robot_unit(robot, name, part.model, posture=part.posture)
    else:
        moved = joint_name(robot, part.joint)
        bench = joint_bench(robot, moved, part.friction, part.inertia)
        of = f"{moved} of robot {robot.name}"
        unit = transmission_unit(bench, name, driven=part.driven, of=of)
    return write_unit(unit, Path(path), version=fmi, sources_only=sources_only)


def export_bench(
    bench: Bench,
    path: str | Path,
    *,
    fmi: int = 2,
    driven: Driven = "torque",
    step: float | None = None,
    sources_only: bool = False,
) -> Exported:
    """Write a transmission on a bench as a unit.

    Args:
        bench: The bench; its gear must be elastic.
        path: The file to write, .fmu; what is there is replaced.
        fmi: Version of FMI, 2 or 3.
        driven: What drives its motor: a "torque" or an "angle".
        step: Longest step of the integration [s]; by default a share of the fastest
            vibration's period.
        sources_only: Whether to make no binary, even where a C compiler is found.
    """
    unit = transmission_unit(bench, printable(Path(path).stem), driven=driven, step=step)
    return write_unit(unit, Path(path), version=fmi, sources_only=sources_only)


def joint_name(robot: Robot, joint: int | str) -> str:
    """The name of a joint that is given by number from 1 or by name."""
    names = list(robot.joint_names)
    if isinstance(joint, str) and joint.isascii() and joint.isdigit():
        joint = int(joint[:9])
    if isinstance(joint, int):
        if not 1 <= joint <= len(names):
            raise ArmtwinError(
                f"robot '{robot.name}': joint must be 1 to {len(names)} or a name, got {joint}"
            )
        return names[joint - 1]
    if joint not in names:
        hint = did_you_mean(joint, names)
        raise ArmtwinError(f"robot '{robot.name}': has no joint '{joint}'. {hint}")
    return joint
