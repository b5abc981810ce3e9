"""Postures all over the workspace of a robot, or along its boundary."""

from itertools import pairwise, product

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.kinematics import wrist
from armtwin.robot.kinematics.strokes import levers
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import WristLimits

ALONG_EDGE = 26  # postures on each edge of r and z of a wrist's workspace
ALONG_RANGE = 101  # postures through the range of an angle at home
GAMMAS, PSIS = 5, 3  # values of the wrist's angles with which the edges are gone around
LEAST_LEVER = 0.5  # of a cylinder's longest lever, with which it feels 4 times the least mass
IN_JOINT_SPACE = 4096
SEED = 1983
BOUNDARY = "along the boundary of the wrist's workspace, its angles varied too"


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
    """Postures around the four edges of r and z, with the wrist's angles γ and ψ varied as well.

    Home is the first, then angles go through their ranges there, then each pair of angles goes
    around the edges. Where a cylinder's lever is shorter than LEAST_LEVER of its longest the
    posture is left out: at its dead point a cylinder would feel any mass as infinite.
    """
    limits = wrist.wrist_of(robot).limits
    still = wrist.wrist_coordinates(robot, np.array(wrist.wrist_of(robot).home))
    legs = [still[None]]
    for name in wrist.ANGLES:
        low, high = getattr(limits, name)
        leg = np.tile(still, (ALONG_RANGE, 1))
        leg[:, wrist.COORDINATES.index(name)] = np.linspace(low, high, ALONG_RANGE)
        legs.append(leg)
    gammas = np.linspace(limits.gamma[0], limits.gamma[1], GAMMAS)
    psis = np.linspace(limits.psi[0], limits.psi[1], PSIS)
    for gamma, psi in product(gammas.tolist(), psis.tolist()):
        around = np.tile(still, (4 * ALONG_EDGE, 1))
        around[:, :2] = _edges(limits)
        around[:, 3:] = gamma, psi
        legs.append(around)
    q = wrist.solve_wrist(robot, np.concatenate(legs))
    lever = np.abs(levers(robot, q).slope)
    return q[(lever >= LEAST_LEVER * lever.max(axis=0)).all(axis=1)]


def _edges(limits: WristLimits) -> Floats:
    """r and z around the rectangle of their limits from the inner lower corner outwards, (m, 2)."""
    (r0, r1), (z0, z1) = limits.r, limits.z
    corners = np.array([(r0, z0), (r1, z0), (r1, z1), (r0, z1), (r0, z0)])
    share = np.linspace(0.0, 1.0, ALONG_EDGE)[:, None]
    return np.concatenate([start + share * (end - start) for start, end in pairwise(corners)])
