"""Complete a robot: what a prediction still lacks, filled by rules and marked as assumed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.identification.completion.result import Completion
from armtwin.identification.completion.rules import (
    with_bristles,
    with_current_limits,
    with_friction,
    with_motors,
    with_servo,
    with_torque_constants,
)
from armtwin.identification.completion.sizes import sizes
from armtwin.logs.log import Log, as_logs
from armtwin.robot.defaults.joint_sizes import some_postures
from armtwin.robot.robot import Robot
from armtwin.robot.schema.provenance import missing


def complete(
    robot: Robot, logs: Log | Sequence[Log] = (), *, bandwidth: float | None = None
) -> Completion:
    """Fill what a prediction lacks in a robot file by named rules, each number marked as assumed.

    Nothing that the file gives is changed. Rotor inertias and friction come from the joints'
    largest torques and speeds; current limits from torque limits, from logs, or from the torque
    that weight, friction and full speed need; bristles from break-away and a turn of 1e-4 rad; a
    servo from a bandwidth and the inertia that motors feel.

    Args:
        robot: An imported or identified robot, what it carries mounted.
        logs: Logs of it, for postures, speeds and largest torques.
        bandwidth: Natural frequency of the position loop of a servo by rule [Hz]; by default it
            follows from the reach.
    """
    read = as_logs(logs, "complete", least=0)
    if not isinstance(robot, Robot):
        raise ArmtwinError("complete needs a Robot and Logs: at.complete(at.Robot.load(name))")
    if bandwidth is not None and not 0 < bandwidth < np.inf:
        raise ArmtwinError(f"bandwidth must be greater than 0 Hz, got {bandwidth}")
    lacking = missing(robot.description, seam=True)
    _refuse_following_joints(robot, lacking)
    done, motors = with_motors(robot)
    _refuse_weightless(done)
    done, friction = with_friction(done)
    found = sizes(done, read)
    done, constants = with_torque_constants(done, found)
    done, limits = with_current_limits(done, found)
    done, bristles = with_bristles(done, found)
    done, servo = with_servo(done, found, bandwidth)
    table = (*motors, *friction, *constants, *limits, *bristles, *servo)
    still = missing(done.description, seam=True)
    return Completion(robot, done, tuple(lacking), table, tuple(still), read)


def _refuse_following_joints(robot: Robot, lacking: Sequence[str]) -> None:
    """Refuse joints that follow others, which no rule can help."""
    for phrase in lacking:
        if phrase.startswith("joint.mimic"):
            origin = robot.origin or f"robot '{robot.name}'"
            raise FileError(origin, [f"cannot be completed: {phrase}"])


def _refuse_weightless(robot: Robot) -> None:
    """Refuse a robot whose joints move nothing: rules measure by weight and inertia."""
    postures = some_postures(robot)
    M = robot.mass_matrix(postures).mean(axis=0)
    if np.linalg.eigvalsh(M)[0] > 0:
        return
    j = int(np.diag(M).argmin())
    moved = f"{robot.joint_names[j]} moves {M[j, j]:.3g} kg m²"
    raise ArmtwinError(
        f"robot '{robot.name}': bodies and rotors must have inertia to be completed, but {moved}; "
        "give masses and inertias of the links, or torque limits of the joints"
    )
