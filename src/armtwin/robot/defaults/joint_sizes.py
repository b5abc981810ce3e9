"""How strong and how fast the joints of an arm are: its file's limits, else what it must carry.

    τ = 2 (max |g(q)| + mean M_jj v / rise)

Weight and inertia are those of the arm with a tenth of its mass at the tool: arms are built to
carry about so much, by drives whose peak torque is twice what they give for long.
"""

from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.robot.kinematics.limits import highest_speeds
from armtwin.robot.robot import Robot

POSES = 64  # random postures over which sizes are taken
RISE = 0.3  # time in which a joint comes to full speed [s]
PEAK = 2.0  # peak torque of a drive over what it gives for long
CARRIED = 0.1  # of the arm's mass
ASIDE = (0.1, 0.0, 0.1)  # where it is carried, in the tool's frame [m]


class JointSizes(NamedTuple):
    """Largest torques and highest speeds of the joints, (n,) each.

    Attributes:
        torque: Largest torque [N m or N].
        speed: Highest speed [rad/s or m/s].
        limited: Where the torque is the file's limit.
    """

    torque: Floats
    speed: Floats
    limited: Flags


def some_postures(robot: Robot) -> Floats:
    """Postures within the position limits, or half a turn to both sides, (POSES, n)."""
    chance = np.random.default_rng(1)
    low, high = robot.position_limits
    low = np.where(np.isfinite(low), low, -np.pi)
    high = np.where(np.isfinite(high), high, np.pi)
    return chance.uniform(low, high, (POSES, robot.n))


def joint_sizes(
    robot: Robot, postures: Floats | None = None, fastest: Floats | None = None
) -> JointSizes:
    """Largest torques and highest speeds of the joints of a robot.

    A torque limit of the file that does not hold the bare arm is ignored.

    Args:
        robot: The robot.
        postures: Where it works, (k, n); by default anywhere within its limits.
        fastest: Its highest speeds where the file gives none, (n,).
    """
    q = some_postures(robot) if postures is None else postures
    limits = robot.limits
    speed = highest_speeds(robot.assembly, fastest)
    bare_weight = np.abs(robot.gravity(q)).max(axis=0)
    limited = np.isfinite(limits.torque) & (limits.torque >= bare_weight)
    M, g = _carrying(robot, q)
    weight = np.abs(g).max(axis=0)
    inertia = np.einsum("mjj->mj", M).mean(axis=0)
    needed = PEAK * (weight + inertia * speed / RISE)
    torque = np.where(limited, limits.torque, needed)
    return JointSizes(torque, speed, limited)


def _carrying(robot: Robot, q: Floats) -> TwoArrays:
    """Mass matrices (k, n, n) and weights (k, n) of the arm with a point mass beside its tool."""
    links = robot.parameters[robot.layout.all_links].reshape(-1, 10)
    mass = CARRIED * links[:, 0].sum()
    R = robot.forward_kinematics(q)[:, :3, :3]
    arm = R @ np.array(ASIDE)
    # velocities per joint speed, (k, n, 3) each: of the tool point, of turning, of the mass
    by_joint = np.moveaxis(robot.jacobian(q), 1, 2)
    moving, turning = by_joint[..., :3], by_joint[..., 3:]
    moved = moving + np.cross(turning, arm[:, None])
    M = robot.mass_matrix(q) + mass * moved @ np.moveaxis(moved, 1, 2)
    falling = np.array(robot.description.gravity)
    g = robot.gravity(q) - mass * moved @ falling
    return M, g
