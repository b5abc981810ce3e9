"""Drives for a robot whose file has none, so that its logs can be identified.

A bare URDF knows bodies and axes only. Each joint gets a rotor inertia, viscous and Coulomb friction and an offset,
marked as assumed; they are first guesses of the right size, for an identification to replace.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armtwin.drives.friction.coulomb import CoulombViscous
from armtwin.robot.drive_groups import FrictionElement, Gear, Motor
from armtwin.robot.robot import Robot

START = 0.04  # time in which a joint's largest torque brings its rotor alone to full speed [s]
SHARE_OF_TORQUE = 0.02  # of a joint's largest torque that is taken for dry, and at full speed for viscous friction
POSES = 64
SOURCE = "assumed: the robot file gives none; first guess for identification"


def lacks_drives(robot: Robot) -> bool:
    """Whether the file gives no friction at all, or no motor that has an inertia."""
    d = robot.description
    return not d.active_friction() or not (d.hydraulic or any(m.rotor_inertia for m in d.motor))


def with_assumed_drives(robot: Robot) -> Robot:
    """The robot with rotor inertia, viscous and Coulomb friction and offset for each joint where its file has none."""
    description, names = robot.description, robot.joint_names
    torque, speed = _sizes(robot)
    inertia = [START * t / v for t, v in zip(torque, speed, strict=True)]
    if description.hydraulic:
        pass  # cylinders have no rotors
    elif not description.motor:
        rows = tuple(tuple(float(name == j.name) for j in description.joint) for name in names)
        motors = tuple(
            Motor(f"motor_{name}", m, SOURCE) for name, m in zip(names, inertia, strict=True)
        )
        description = replace(description, motor=motors, gear=Gear(SOURCE, matrix=rows))
    elif not any(m.rotor_inertia for m in description.motor):
        of_joints = [
            inertia[int(np.abs(row).argmax())] / np.abs(row).max() ** 2
            for row in robot.assembly.motor_rows
        ]
        motors = tuple(
            replace(m, rotor_inertia=x, source=SOURCE)
            for m, x in zip(description.motor, of_joints, strict=True)
        )
        description = replace(description, motor=motors)
    if not description.active_friction():
        elements = tuple(
            FrictionElement(
                name,
                name,
                SOURCE,
                CoulombViscous(SHARE_OF_TORQUE * t, SHARE_OF_TORQUE * t / v),
                offset=0.0,
            )
            for name, t, v in zip(names, torque, speed, strict=True)
        )
        description = replace(description, friction=(*description.friction, *elements))
    return Robot(description, robot.origin)


def _sizes(robot: Robot) -> tuple[list[float], list[float]]:
    """Largest torque and highest speed of each joint, from limits where the file has them."""
    chance = np.random.default_rng(1)
    low, high = robot.position_limits
    q = chance.uniform(
        np.where(np.isfinite(low), low, -np.pi),
        np.where(np.isfinite(high), high, np.pi),
        (POSES, robot.n),
    )
    inertia = np.einsum("mjj->mj", robot.mass_matrix(q)).mean(axis=0)
    weight = np.abs(robot.gravity(q)).max(axis=0) + inertia  # at 1 rad/s²
    limits = robot.limits
    torque = np.where(np.isfinite(limits.torque), limits.torque, weight)
    speed = np.where(np.isfinite(limits.velocity), limits.velocity, 1.0)
    return torque.tolist(), speed.tolist()
