"""Wrist coordinates r, z, φ, γ, ψ of an arm on a turntable, and joint positions.

    r = x cos φ + y sin φ,   z,   φ, γ, ψ = weights · q

x, y, z are the place of the wrist's frame. Joint positions are found by Newton's method from the
home of the robot file, which decides on which side the elbow lies.

Ref: [Machielsen 1983, sections 2.1, 2.3]
"""

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, check_known
from armtwin.maths.batch import Floats, NamedNumbers, check_array
from armtwin.robot.kinematics.strokes import check_levers
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Wrist

COORDINATES = ("r", "z", "phi", "gamma", "psi")
ANGLES = COORDINATES[2:]
ROUNDS = 50
CLOSE = 1e-13  # of m or rad
ROUNDING = 1e-12  # of m or rad beyond a limit
LONGEST_STEP = 0.3  # of a round [rad]


def wrist_of(robot: Robot) -> Wrist:
    """The wrist group of a robot's file."""
    wrist = robot.description.wrist
    if wrist is None:
        raise ArmtwinError(f"robot '{robot.name}' has no [wrist]: its coordinates are its joints")
    return wrist


def wrist_coordinates(robot: Robot, q: ArrayLike) -> Floats:
    """r, z, φ, γ, ψ at joint positions, (..., 5) [m, rad]; angles in (-π, π]."""
    wrist = wrist_of(robot)
    q = check_array("q", q, (robot.n,), "joint positions")
    p = robot.forward_kinematics(q, wrist.frame)[..., :3, 3]
    angles = q @ _angle_weights(robot, wrist).T
    phi = angles[..., 0]
    r = p[..., 0] * np.cos(phi) + p[..., 1] * np.sin(phi)
    wrapped = np.arctan2(np.sin(angles), np.cos(angles))
    return np.concatenate([r[..., None], p[..., 2:3], wrapped], axis=-1)


def from_wrist(robot: Robot, coordinates: ArrayLike) -> Floats:
    """Joint positions, (..., n), of wrist coordinates (..., 5) within the limits of the file.

    Within them a cylinder may still come to its dead point, which is refused.
    """
    q = solve_wrist(robot, coordinates)
    check_levers(robot, q.reshape(-1, robot.n))
    return q


def solve_wrist(robot: Robot, coordinates: ArrayLike) -> Floats:
    """Joint positions of wrist coordinates as above, beyond the dead points of cylinders too."""
    wrist = wrist_of(robot)
    given = check_array("coordinates", coordinates, (len(COORDINATES),), "r, z, phi, gamma, psi")
    table = given.reshape(-1, len(COORDINATES))
    _check_limits(robot, wrist, table)
    q = np.tile(np.array(wrist.home), (len(table), 1))
    for _ in range(ROUNDS):
        missing = _coordinate_error(robot, wrist, q, table)
        if np.abs(missing).max() < CLOSE:
            return q.reshape(*given.shape[:-1], robot.n)
        step = np.linalg.solve(_slopes(robot, wrist, q), missing[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        q = q + step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
    worst = table[int(np.argmax(np.abs(missing).max(axis=1)))]
    raise ArmtwinError(
        f"robot '{robot.name}': r = {worst[0]:.6g} m and z = {worst[1]:.6g} m are out of reach"
    )


def replace_home_coordinates(robot: Robot, changes: NamedNumbers) -> Floats:
    """The home of a robot in wrist coordinates, some of them replaced by name, (5,)."""
    wrist = wrist_of(robot)
    found = wrist_coordinates(robot, np.array(wrist.home))
    for name, value in changes.items():
        check_known("wrist coordinate", name, COORDINATES)
        found[COORDINATES.index(name)] = value
    return found


def _angle_weights(robot: Robot, wrist: Wrist) -> Floats:
    """Weights of the joints in φ, γ, ψ, (3, n)."""
    weights = np.zeros((len(ANGLES), robot.n))
    for i, name in enumerate(ANGLES):
        for joint, weight in getattr(wrist, name).items():
            weights[i, robot.joint_names.index(joint)] = weight
    return weights


def _check_limits(robot: Robot, wrist: Wrist, table: Floats) -> None:
    for name, values in zip(COORDINATES, table.T, strict=True):
        low, high = getattr(wrist.limits, name)
        out = (values < low - ROUNDING) | (values > high + ROUNDING)
        if out.any():
            unit, scale = ("deg", 180 / np.pi) if name in ANGLES else ("m", 1.0)
            raise ArmtwinError(
                f"robot '{robot.name}': {name} must be from {scale * low:.6g} to "
                f"{scale * high:.6g} {unit}, got {scale * values[out][0]:.6g}"
            )


def _coordinate_error(robot: Robot, wrist: Wrist, q: Floats, wanted: Floats) -> Floats:
    """What wanted coordinates are beyond those at q, angles along the shorter arc, (m, 5)."""
    missing = wanted - wrist_coordinates(robot, q)
    missing[:, 2:] = np.arctan2(np.sin(missing[:, 2:]), np.cos(missing[:, 2:]))
    return missing


def _slopes(robot: Robot, wrist: Wrist, q: Floats) -> Floats:
    """Change of the coordinates with the joints, (m, 5, n)."""
    weights = _angle_weights(robot, wrist)
    phi = q @ weights[0]
    c, s = np.cos(phi)[:, None], np.sin(phi)[:, None]
    p = robot.forward_kinematics(q, wrist.frame)[:, :3, 3]
    J = robot.jacobian(q, wrist.frame)
    across = (p[:, 1:2] * c - p[:, 0:1] * s) * weights[0]
    slopes = np.empty((len(q), len(COORDINATES), robot.n))
    slopes[:, 0] = c * J[:, 0] + s * J[:, 1] + across
    slopes[:, 1] = J[:, 2]
    slopes[:, 2:] = weights
    return slopes
