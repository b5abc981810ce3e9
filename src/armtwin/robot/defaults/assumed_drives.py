"""Drives for a robot whose file has none, so that its logs can be identified.

A bare URDF knows bodies and axes only. Each joint gets a rotor inertia, viscous and Coulomb
friction and an offset, marked as assumed; they are first guesses of the right size, for an
identification to replace.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from armtwin.drives.friction.coulomb import CoulombViscous
from armtwin.robot.defaults.joint_sizes import joint_sizes
from armtwin.robot.dynamics.assembly import gear_matrix
from armtwin.robot.robot import Robot
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.drive_groups import FrictionElement, Gear, Motor
from armtwin.robot.schema.servo import Side

START = 0.04  # time in which a joint's largest torque brings its rotor alone to full speed [s]
# of a joint's largest torque that is taken for dry, and at full speed for viscous friction
SHARE_OF_TORQUE = 0.02
ROTOR_SOURCE = f"assumed: the joint's largest torque brings it alone to full speed in {START:g} s"
FRICTION_SOURCE = (
    f"assumed: {100 * SHARE_OF_TORQUE:g} % of the joint's largest torque dry, and as much viscous "
    "at full speed"
)
GEAR_SOURCE = "assumed: motors on the joints, without gears"


def lacks_drives(robot: Robot) -> bool:
    """Whether the file gives no friction at all, or no motor that has an inertia."""
    description = robot.description
    if not _find_rubbing(robot):
        return True
    return not description.hydraulic and not _have_inertia(description.motor)


def _find_rubbing(robot: Robot) -> set[str]:
    """Names of the friction elements that have any torque."""
    table = robot.parameter_table
    return {p.name.rpartition(".")[0] for p in table if p.group == "friction" and p.value}


def lacks_gears(robot: Robot) -> bool:
    """Whether the file gives neither gears nor motors, so that no gear ratio is known."""
    gear = robot.description.gear
    if gear is None:
        return not robot.description.motor
    return gear.source == GEAR_SOURCE


def _have_inertia(motors: Iterable[Motor]) -> bool:
    return any(motor.rotor_inertia for motor in motors)


def with_assumed_drives(robot: Robot) -> Robot:
    """The robot with rotors and friction for each joint where its file has none."""
    found = joint_sizes(robot)
    torque, speed = found.torque.tolist(), found.speed.tolist()
    description = robot.description
    if not description.hydraulic:  # cylinders have no rotors
        inertia = START * np.array(torque) / np.array(speed)
        description = _with_rotors(robot, inertia.tolist())
    if not _find_rubbing(robot):
        without = description.active_friction()
        elements = [element for element in description.friction if element not in without]
        sprung = {x.joint for x in description.transmission if x.joint}
        for name, largest, top in zip(robot.joint_names, torque, speed, strict=True):
            dry = SHARE_OF_TORQUE * largest
            law = CoulombViscous(dry, dry / top)
            side: Side | None = "motor" if name in sprung else None
            element = FrictionElement(name, name, FRICTION_SOURCE, law, offset=0.0, side=side)
            elements.append(element)
        description = replace(description, friction=tuple(elements))
    return robot.with_description(description)


def _with_rotors(robot: Robot, inertia: Sequence[float]) -> Description:
    """The description with motors on joints that none turns, and rotors where no motor has one.

    Args:
        robot: The robot.
        inertia: Inertia of the rotor of each joint, on the joint, (n,) [kg m²].
    """
    description = robot.description
    motors = list(description.motor)
    if not _have_inertia(motors):
        motors = _with_inertias(robot, inertia)
    gear = description.gear
    rows = list(map(tuple, gear_matrix(description).tolist()))
    for j in idle_joints(robot):
        name = robot.joint_names[j]
        motors.append(Motor(f"motor_{name}", inertia[j], ROTOR_SOURCE))
        rows.append(tuple(float(name == joint.name) for joint in description.joint))
    if len(motors) > len(description.motor):
        gear = replace(gear or Gear(GEAR_SOURCE), matrix=tuple(rows))
    return replace(description, motor=tuple(motors), gear=gear)


def _with_inertias(robot: Robot, inertia: Sequence[float]) -> list[Motor]:
    """The motors of the file with rotor inertias by those on the joints, (n,) [kg m²]."""
    motors = []
    for motor, row in zip(robot.description.motor, robot.assembly.motor_rows, strict=True):
        ratios = np.abs(row)
        on_motor = inertia[int(ratios.argmax())] / ratios.max() ** 2
        motors.append(replace(motor, rotor_inertia=on_motor, source=ROTOR_SOURCE))
    return motors


def idle_joints(robot: Robot) -> list[int]:
    """Numbers of the joints that no motor turns."""
    turned = robot.assembly.motor_rows.any(axis=0)
    return np.flatnonzero(~turned).tolist()
