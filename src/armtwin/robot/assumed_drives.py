"""Drives for a robot whose file has none, so that its logs can be identified.

A bare URDF knows bodies and axes only. Each joint gets a rotor inertia, viscous and Coulomb
friction and an offset, marked as assumed; they are first guesses of the right size, for an
identification to replace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from armtwin.drives.friction.coulomb import CoulombViscous
from armtwin.robot.description import Description
from armtwin.robot.drive_groups import FrictionElement, Gear, Motor
from armtwin.robot.robot import Robot

START = 0.04  # time in which a joint's largest torque brings its rotor alone to full speed [s]
# of a joint's largest torque that is taken for dry, and at full speed for viscous friction
SHARE_OF_TORQUE = 0.02
POSES = 64
SOURCE = "assumed: the robot file gives none; first guess for identification"


def lacks_drives(robot: Robot) -> bool:
    """Whether the file gives no friction at all, or no motor that has an inertia."""
    description = robot.description
    if not description.active_friction():
        return True
    return not description.hydraulic and not _have_inertia(description.motor)


def _have_inertia(motors: Iterable[Motor]) -> bool:
    return any(motor.rotor_inertia for motor in motors)


def with_assumed_drives(robot: Robot) -> Robot:
    """The robot with rotors and friction for each joint where its file has none."""
    torque, speed = _sizes(robot)
    description = robot.description
    if not description.hydraulic:  # cylinders have no rotors
        inertia = START * np.array(torque) / np.array(speed)
        description = _with_rotors(robot, inertia.tolist())
    if not description.active_friction():
        elements = list(description.friction)
        for name, largest, top in zip(robot.joint_names, torque, speed, strict=True):
            dry = SHARE_OF_TORQUE * largest
            law = CoulombViscous(dry, dry / top)
            elements.append(FrictionElement(name, name, SOURCE, law, offset=0.0))
        description = replace(description, friction=tuple(elements))
    return Robot(description, robot.origin)


def _with_rotors(robot: Robot, inertia: Sequence[float]) -> Description:
    """The description with a rotor inertia on each joint, (n,), where no motor has one [kg m²]."""
    description = robot.description
    if not description.motor:
        motors = []
        rows = []
        for name, on_joint in zip(robot.joint_names, inertia, strict=True):
            motors.append(Motor(f"motor_{name}", on_joint, SOURCE))
            rows.append(tuple(float(name == joint.name) for joint in description.joint))
        gear = Gear(SOURCE, matrix=tuple(rows))
        return replace(description, motor=tuple(motors), gear=gear)
    if _have_inertia(description.motor):
        return description
    motors = []
    for motor, row in zip(description.motor, robot.assembly.motor_rows, strict=True):
        ratios = np.abs(row)
        on_motor = inertia[int(ratios.argmax())] / ratios.max() ** 2
        motors.append(replace(motor, rotor_inertia=on_motor, source=SOURCE))
    return replace(description, motor=tuple(motors))


def _sizes(robot: Robot) -> tuple[list[float], list[float]]:
    """Largest torque and highest speed of each joint, from limits where the file has them."""
    chance = np.random.default_rng(1)
    low, high = robot.position_limits
    low = np.where(np.isfinite(low), low, -np.pi)
    high = np.where(np.isfinite(high), high, np.pi)
    q = chance.uniform(low, high, (POSES, robot.n))
    inertia = np.einsum("mjj->mj", robot.mass_matrix(q)).mean(axis=0)
    weight = np.abs(robot.gravity(q)).max(axis=0) + inertia  # at 1 rad/s²
    limits = robot.limits
    torque = np.where(np.isfinite(limits.torque), limits.torque, weight)
    speed = np.where(np.isfinite(limits.velocity), limits.velocity, 1.0)
    return torque.tolist(), speed.tolist()
