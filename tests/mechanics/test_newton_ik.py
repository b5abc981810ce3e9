"""Newton's inverse kinematics: the error it measures, and how fast it falls."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armtwin.maths.rotations import about, pose
from armtwin.mechanics.elbow import NO_ELBOW
from armtwin.mechanics.newton_ik import descend, pose_error


@pytest.mark.parametrize("angle", [0.0, 1e-10, 1e-3, 1.0, 3.0, np.pi - 1e-6, np.pi])
def test_the_error_of_a_pose_is_its_shift_and_its_rotation_vector(angle, rng):
    """At half a turn both signs of the axis are right."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    R = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    X = pose(R, [0.1, 0.2, 0.3])
    target = pose(about(axis, angle) @ R, [0.4, 0.0, 0.3])
    e = np.empty(6)
    norm = pose_error(target, X, e)
    assert np.abs(e[:3] - [0.3, -0.2, 0.0]).max() < 1e-15
    turn = e[3:] * np.sign(e[3:] @ axis) if angle == np.pi else e[3:]
    assert np.abs(turn - angle * axis).max() < 3e-10
    assert norm == pytest.approx(np.linalg.norm(e), rel=1e-15)


def test_near_a_solution_every_step_squares_the_error(robots):
    """After k steps what is left goes with the start's distance to the power 2^k.

    The damping falls with the squared error and does not slow the steps down.
    """
    robot = robots["rx90b"].assembly
    q = np.array([0.3, -0.5, 1.2, 0.4, 0.9, -0.2])
    body, X_BF = robot.frame("tool")
    target = robots["rx90b"].forward_kinematics(q)

    def left(distance, steps):
        start = q + distance * np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        return descend(
            robot.arm, np.eye(6), np.zeros(6), body, X_BF, target, NO_ELBOW, start, steps
        )

    for steps in (1, 2, 3):
        power = np.log(left(0.05, steps) / left(0.02, steps)) / np.log(0.05 / 0.02)
        assert power == pytest.approx(2**steps, rel=0.1)
    assert left(0.05, 5) < 1e-14
