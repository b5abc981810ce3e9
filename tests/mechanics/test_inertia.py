"""Ten parameters of a body: sums over point masses are the second road to all of them."""

import numpy as np
import pytest

from armtwin.maths.rotations import from_rpy, inverse, pose
from armtwin.mechanics.inertia import (
    about_centre,
    inertia_matrix,
    pseudo_inertia,
    ten_parameters,
    transform_to_parent,
    why_unphysical,
)


def tensor(masses, points):
    """Σ m (p·p 1 - p pᵀ)."""
    return np.einsum("k,kij->ij", masses, [(p @ p) * np.eye(3) - np.outer(p, p) for p in points])


def six(J):
    return [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]


def ten_of(masses, points):
    """Ten parameters of point masses, from their definition."""
    return np.concatenate([[masses.sum()], masses @ points, six(tensor(masses, points))])


@pytest.fixture
def cloud(rng):
    return rng.uniform(0.1, 2, 9), rng.normal(size=(9, 3))


@pytest.fixture
def X(rng):
    return pose(from_rpy(*rng.uniform(-3, 3, 3)), rng.normal(size=3))


def test_a_moved_body_is_the_body_of_the_moved_points(cloud, X):
    masses, points = cloud
    moved = points @ X[:3, :3].T + X[:3, 3]
    found = transform_to_parent(X, ten_of(masses, points))
    assert np.abs(found - ten_of(masses, moved)).max() < 1e-12


def test_a_body_moved_there_and_back_is_the_same(cloud, X):
    body = ten_of(*cloud)
    back = transform_to_parent(inverse(X), transform_to_parent(X, body))
    assert np.abs(back - body).max() < 1e-12


def test_two_moves_are_the_move_by_their_product(cloud, X, rng):
    Y = pose(from_rpy(*rng.uniform(-3, 3, 3)), rng.normal(size=3))
    body = ten_of(*cloud)
    twice = transform_to_parent(Y, transform_to_parent(X, body))
    assert np.abs(transform_to_parent(Y @ X, body) - twice).max() < 1e-11


def test_pseudo_inertia_is_the_second_moment_of_the_points_and_moves_as_they_do(cloud, X):
    masses, points = cloud
    body = ten_of(masses, points)
    ones = np.column_stack([points, np.ones(9)])
    P = pseudo_inertia(body)
    assert np.abs(P - ones.T * masses @ ones).max() < 1e-12
    assert np.abs(pseudo_inertia(transform_to_parent(X, body)) - X @ P @ X.T).max() < 1e-11


def test_an_inertia_given_about_any_point_is_that_of_the_same_body(cloud, rng):
    masses, points = cloud
    r = rng.normal(size=3)
    J = tensor(masses, points - r)
    found = ten_parameters(masses.sum(), masses @ points, six(J), r)
    assert np.abs(found - ten_of(masses, points)).max() < 1e-12


def test_the_parallel_axis_theorem(cloud, rng):
    """About an axis at a distance d from the centre of mass the inertia is larger by m d²."""
    masses, points = cloud
    body = ten_of(masses, points)
    centre = masses @ points / masses.sum()
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    distance = np.linalg.norm(np.cross(axis, centre))
    more = axis @ inertia_matrix(body) @ axis - axis @ about_centre(body) @ axis
    assert more == pytest.approx(masses.sum() * distance**2, rel=1e-12)


def test_every_cloud_of_points_is_a_body_and_no_longer_with_one_moment_too_large(cloud, X):
    masses, points = cloud
    body = transform_to_parent(X, ten_of(masses, points))
    assert why_unphysical(body) == ""
    moments, axes = np.linalg.eigh(about_centre(body))
    excess = 1.001 * (moments[0] + moments[1]) - moments[2]
    body[4:] += six(excess * np.outer(axes[:, 2], axes[:, 2]))
    assert "triangle inequality" in why_unphysical(body)


def test_bodies_that_do_not_exist_are_refused_with_their_reason():
    assert why_unphysical([-1] + [0] * 9) == "mass must be at least 0 kg, got -1"
    assert why_unphysical(np.zeros(10)) == ""
    assert "without mass" in why_unphysical([0, 0, 0, 0.1, 0, 0, 0, 0, 0, 0])
    hollow = why_unphysical([2, 0, 0, 0, 1, 1, -0.5, 0, 0, 0])
    assert hollow.endswith("got principal moments -0.5, 1, 1 kg m²")


def test_rounding_of_an_inertia_passes_and_a_truly_negative_one_does_not(X):
    """A point of 0.2 kg seen from elsewhere: its inertia about itself is 0 to rounding."""
    point = transform_to_parent(X, [0.2] + [0] * 9)
    assert why_unphysical(point) == ""
    size = np.abs(point[4:7]).max()
    assert "semidefinite" in why_unphysical(point - 1e-9 * size * np.r_[[0] * 4, 1, 1, 1, 0, 0, 0])
    disk = transform_to_parent(X, [3, 0, 0, 0, 0.1, 0.1, 0.2, 0, 0, 0])
    assert why_unphysical(disk) == ""
