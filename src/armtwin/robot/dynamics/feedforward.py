"""The torque that a servo feeds forward: of the controller's own model, else of the robot's."""

import numpy as np

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics.friction_columns import ContactStates, friction_over_motion
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import ControllerModel, DriveFriction

SLOW = 1e-3  # of a joint's largest speed, over which friction that is fed forward changes sign
USUAL_SPEED = 1.0  # of a joint without a limit [rad/s]
PIECE = 4000  # samples whose regressor is held at a time


def feedforward_torque(
    robot: Robot, model: ControllerModel | None, q: Floats, v: Floats, a: Floats
) -> Floats:
    """Motor torques that a controller's model asks for along a motion, (m, motors) [N m].

    Args:
        robot: The robot, with what it carries mounted.
        model: The controller's model; None where it is that of the robot itself.
        q: Joint positions, (m, n).
        v: Joint speeds, (m, n).
        a: Joint accelerations, (m, n).
    """
    inverse = robot.assembly.motor_inverse
    if model is None:
        torque = robot.inverse_dynamics(q, v, a) + continuous_friction(robot, q, v, a)
        return np.asarray(torque @ inverse)
    phi = _parameters(robot, model)
    torque = np.empty(q.shape)
    for first in range(0, len(q), PIECE):
        rows = slice(first, first + PIECE)
        torque[rows] = rigid_regressor(robot, q[rows], v[rows], a[rows]) @ phi
    found = torque @ inverse
    if model.friction:
        speed = v @ robot.assembly.motor_rows.T
        for k, friction in enumerate(model.friction):
            found[:, k] += friction_columns(friction, speed[:, k]) @ (
                *friction.level,
                friction.viscous,
            )
    return np.asarray(found)


def rigid_regressor(robot: Robot, q: Floats, v: Floats, a: Floats) -> Floats:
    """Columns of the regressor without those of friction, (m, n, p)."""
    return robot.regressor(q, v, a)[..., : robot.layout.friction.start]


def friction_columns(friction: DriveFriction, speed: Floats) -> Floats:
    """Columns of the levels and of the viscous friction of a drive, (m, k + 1)."""
    columns = [np.tanh(speed / one) for one in friction.speed]
    return np.stack([*columns, speed], axis=1)


def continuous_friction(robot: Robot, q: Floats, v: Floats, a: Floats) -> Floats:
    """A robot's own friction, its dry part made continuous at rest, on the joints, (m, n)."""
    limit = robot.limits.velocity
    largest = np.where(np.isfinite(limit), limit, USUAL_SPEED)
    bends = []
    for _, row in robot.assembly.friction:
        w = row.lever(q) * (v @ row.weights)
        bends.append(np.tanh(w / (SLOW * float(np.abs(row.weights) @ largest))))
    if not bends:
        return np.zeros_like(v)
    contacts = ContactStates(bends=np.stack(bends, axis=1))
    torque = friction_over_motion(robot.assembly.friction, v, q, contacts)
    by_load = robot.load_dependent_friction(q, v, a)
    return torque + by_load * np.tanh(v / (SLOW * largest))


def _parameters(robot: Robot, model: ControllerModel) -> Floats:
    """The rigid parameters of a controller that knows what is mounted now, (p,)."""
    names = robot.parameter_names[: robot.layout.friction.start]
    unknown = [name for name in model.parameters if name not in names]
    if unknown:
        raise ArmtwinError(
            f"robot '{robot.name}': the controller's model has the parameter '{unknown[0]}', which "
            f"the robot has not. {did_you_mean(unknown[0], names)}"
        )
    phi = np.array([model.parameters.get(name, 0.0) for name in names])
    mounted = robot.description.mounted
    if (mounted.tool, mounted.payload) == (model.tool, model.payload):
        return phi
    then = robot.with_tool(model.tool or None).with_payload(model.payload or None)
    return np.asarray(phi + (robot.parameters - then.parameters)[: len(names)])
