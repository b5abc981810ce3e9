"""Postures all over the workspace of a robot, or along its boundary."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.kinematics.wrist import (
    ANGLES,
    COORDINATES,
    from_wrist,
    wrist_coordinates,
    wrist_of,
)
from armtwin.robot.robot import Robot

ALONG_EDGE = 101  # postures on each edge of a wrist's workspace
IN_JOINT_SPACE = 4096
SEED = 1983
BOUNDARY = "along the boundary of the wrist's workspace"


def workspace(robot: Robot) -> tuple[Floats, str]:
    """Postures (m, n) that sample the workspace of a robot, and how they were chosen."""
    if robot.description.wrist is not None:
        return boundary(robot), BOUNDARY
    lower, upper = robot.position_limits
    if not np.isfinite([lower, upper]).all():
        raise ArmtwinError(
            f"robot '{robot.name}' has no position limits that bound its workspace; give a posture "
            "(--at) or a motion (--along)"
        )
    rng = np.random.default_rng(SEED)
    q = rng.uniform(lower, upper, (IN_JOINT_SPACE, robot.n))
    return q, f"{IN_JOINT_SPACE} postures spread evenly within the joints' limits"


def boundary(robot: Robot) -> Floats:
    """Home, then postures along the four edges of r and z and through the wrist's angles."""
    limits = wrist_of(robot).limits
    share = np.linspace(0.0, 1.0, ALONG_EDGE)
    still = wrist_coordinates(robot, np.array(wrist_of(robot).home))
    (r0, r1), (z0, z1) = limits.r, limits.z
    corners = [(r0, z0), (r1, z0), (r1, z1), (r0, z1), (r0, z0)]
    legs = [still[None]]
    for start, end in pairwise(corners):
        leg = np.tile(still, (ALONG_EDGE, 1))
        leg[:, 0] = start[0] + share * (end[0] - start[0])
        leg[:, 1] = start[1] + share * (end[1] - start[1])
        legs.append(leg)
    for name in ANGLES:
        low, high = getattr(limits, name)
        leg = np.tile(still, (ALONG_EDGE, 1))
        leg[:, COORDINATES.index(name)] = low + share * (high - low)
        legs.append(leg)
    return from_wrist(robot, np.concatenate(legs))
