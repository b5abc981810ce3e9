"""Rotations and poses: group laws, poles, and the roads of scipy."""

import numpy as np
import pytest
from scipy.linalg import expm, polar
from scipy.spatial.transform import Rotation

from armtwin.maths.rotations import (
    about,
    from_quaternion,
    from_rpy,
    inverse,
    nearest_rotation,
    pose,
    skew,
    to_rpy,
)


@pytest.fixture
def axis(rng):
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def test_a_turn_is_the_exponential_of_its_rotation_vector(axis):
    for angle in (-3.0, -1e-3, 0.7, np.pi):
        assert np.abs(about(axis, angle) - expm(angle * skew(axis))).max() < 1e-14


def test_turns_about_one_axis_add_their_angles(axis, rng):
    x, y = rng.uniform(-4, 4, size=(2, 50))
    assert np.abs(about(axis, x) @ about(axis, y) - about(axis, x + y)).max() < 1e-14
    assert np.abs(about(axis, x) @ axis - axis).max() < 1e-15


def test_a_small_turn_is_the_cross_product_to_second_order(axis, rng):
    """What is left of R x - x - angle a × x falls by 100 as the angle falls by 10."""
    x = rng.normal(size=3)
    left = []
    for angle in (1e-2, 1e-3):
        left.append(np.linalg.norm(about(axis, angle) @ x - x - angle * np.cross(axis, x)))
    assert left[0] / left[1] == pytest.approx(100, rel=0.01)


@pytest.mark.parametrize("from_pole", [1.0, 1e-4, 1e-9, 1e-11, 1e-13, 0.0])
@pytest.mark.parametrize("pole", [-np.pi / 2, np.pi / 2])
def test_roll_pitch_and_yaw_give_the_rotation_back_however_near_the_poles(pole, from_pole, rng):
    """Below 1e-12 of the pole the roll is taken as 0, which costs as much."""
    for roll, yaw in rng.uniform(-3, 3, size=(20, 2)):
        R = from_rpy(roll, pole - np.sign(pole) * from_pole, yaw)
        assert np.abs(from_rpy(*to_rpy(R)) - R).max() < 3e-13


def test_roll_pitch_and_yaw_are_those_of_scipy(rng):
    angles = rng.uniform([-3, -1.5, -3], [3, 1.5, 3], size=(50, 3))
    for three in angles:
        R = Rotation.from_euler("xyz", three).as_matrix()
        assert np.abs(from_rpy(*three) - R).max() < 1e-15
        assert np.abs(to_rpy(R) - three).max() < 1e-13


def test_a_quaternion_of_any_length_and_sign_is_one_rotation(rng):
    four = rng.normal(size=(4, 30))
    expected = Rotation.from_quat(four[[1, 2, 3, 0]].T).as_matrix()
    assert np.abs(from_quaternion(*four) - expected).max() < 1e-14
    assert np.abs(from_quaternion(*(-7.5 * four)) - expected).max() < 1e-14


def test_a_pose_and_its_inverse_cancel(axis, rng):
    X = pose(about(axis, 1.2), rng.normal(size=3))
    assert np.abs(inverse(X) @ X - np.eye(4)).max() < 1e-15


def test_the_nearest_rotation_is_the_polar_factor_and_never_a_mirror(rng):
    """M = R P with P symmetric positive definite has no nearer rotation than R."""
    matrices = about((0, 0, 1), rng.uniform(-3, 3, 20)) + 0.05 * rng.normal(size=(20, 3, 3))
    found = nearest_rotation(matrices)
    expected = np.array([polar(M)[0] for M in matrices])
    assert np.abs(found - expected).max() < 1e-14
    mirrored = nearest_rotation(matrices * [1, 1, -1])
    assert np.linalg.det(mirrored) == pytest.approx(np.ones(20), abs=1e-14)
