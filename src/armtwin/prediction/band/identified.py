"""Samples of identified parameters, by their covariance.

Parameters that were fitted to logs err together, and a sample need not be physically consistent.
Where it is one, it is simulated. Where it is none, the robot of the file is, and what the sample dφ
would need more is taken from its joints as a torque from outside along the commanded motion:

    τ = -Y(q, v, a) dφ
"""

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot
from armtwin.robot.uncertainty import Uncertainty

STREAM = 1  # of the seed: other numbers than those of the residual


def parameter_draws(robot: Robot, count: int, seed: int) -> list[Floats | None]:
    """Errors of the parameters of each variant, (p,); None where no deviation is known.

    Args:
        robot: The robot.
        count: Number of variants.
        seed: Seed of the samples; half as many are the first half of them.
    """
    known = robot.uncertainty.known
    if not known.any():
        return [None] * count
    values, vectors = np.linalg.eigh(robot.uncertainty.covariance[np.ix_(known, known)])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    found: list[Floats | None] = []
    for sample in range(count):
        random = np.random.default_rng((seed, sample, STREAM))
        error = np.zeros(len(known))
        error[known] = root @ random.standard_normal(root.shape[1])
        found.append(error)
    return found


def with_errors(robot: Robot, error: Floats) -> Robot | None:
    """A robot with errors of its parameters; None where no such robot is possible."""
    try:
        return robot.with_parameters(robot.parameters + error)
    except ArmtwinError:
        return None


def missing_torque(robot: Robot, motion: Trajectory, error: Floats) -> Floats:
    """What errors of the parameters take from the joints along a motion, (m, n) [N m]."""
    return -(robot.regressor(motion.q, motion.v, motion.a) @ error)


def is_identified(known: Uncertainty, start: str) -> bool:
    """Whether a deviation is known of some parameter whose name begins so."""
    pairs = zip(known.names, known.known, strict=True)
    return any(has and name.startswith(start) for name, has in pairs)
