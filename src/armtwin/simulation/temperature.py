"""Which joints react to the temperature of a model, and what a log has of it."""

import numpy as np

from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot
from armtwin.simulation.model import Model


def find_heated_joints(robot: Robot) -> Flags:
    """Joints of whose friction some depends on temperature, (n,)."""
    heated = np.zeros(robot.n, dtype=bool)
    for element, row in robot.assembly.friction:
        if element.thermal is not None:
            heated |= row.weights[list(robot.assembly.free)] != 0
    return heated


def logged_temperatures(robot: Robot, model: Model) -> Floats | None:
    """Temperatures [K] of the first joints of the arm as far as all of them react, (k,).

    A log numbers its columns from the first joint on, so that what reacts behind a joint that does
    not has no column; None where nothing is logged.
    """
    given = model.joint_temperatures(robot.n)
    if given is None:
        return None
    heated = find_heated_joints(robot)
    count = robot.n if heated.all() else int(np.argmin(heated))
    return given[:count] if count else None


def describe_unheated_joints(robot: Robot, model: Model) -> str:
    """A sentence about joints that a given temperature does not change; "" where there are none."""
    if model.temperature is None:
        return ""
    heated = find_heated_joints(robot)
    if heated.all():
        return ""
    names = np.array(robot.joint_names)
    return (
        f"The temperature changes the friction of {', '.join(names[heated])} alone: "
        f"{', '.join(names[~heated])} have no friction.thermal in the robot file, and the friction "
        "of its reference."
    )
