"""Kernels of frames, row by row, and the same equations over whole arrays: equal to the last bit.

A kernel that fused a product with a sum, or added in another order, would differ in some of the
thousands of numbers.
"""

import numpy as np
import pytest

import armtwin as at
from armtwin.motion import frames
from armtwin.motion.curves import Following
from armtwin.motion.joint_motion import jacobian_rate
from armtwin.prediction.path_error import path_error

ROWS = 3000


def dot(a, b):
    return (a * b).sum(axis=-1, keepdims=True)


def unit(a):
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


@pytest.fixture
def path(rng):
    """Tangents, curvature vectors and their rates."""
    return unit(rng.normal(size=(ROWS, 3))), *rng.normal(size=(2, ROWS, 3))


@pytest.fixture
def n(rng):
    return unit(rng.normal(size=3))


def perpendicular(direction, x):
    rest = direction - dot(direction, x) * x
    size = np.linalg.norm(rest, axis=1, keepdims=True)
    return rest, size, rest / size


def far_enough(direction, x):
    return perpendicular(direction, x)[1][:, 0] > frames.LEAST_SINE


def test_travel_frames_have_the_bits_of_whole_arrays(path, n):
    x = path[0][far_enough(n, path[0])]
    _, _, z = perpendicular(np.broadcast_to(n, x.shape), x)
    found = np.empty((len(x), 3, 3))
    assert frames.travel_frames(n, x, found) == frames.NOWHERE
    assert np.array_equal(found, np.stack([x, np.cross(z, x), z], axis=2))


def test_seam_frames_have_the_bits_of_whole_arrays(path, rng):
    R = np.linalg.qr(rng.normal(size=(ROWS, 3, 3)))[0]
    some = far_enough(-R[:, :, 2], path[0])
    R, x = R[some], path[0][some]
    _, _, z = perpendicular(-R[:, :, 2], x)
    found = np.empty((len(x), 3, 3))
    assert frames.seam_frames(R, x, found) == frames.NOWHERE
    assert np.array_equal(found, np.stack([x, np.cross(z, x), z], axis=2))


def test_turns_have_the_bits_of_whole_arrays(path, n):
    x, c, j = path
    _, size, z = perpendicular(np.broadcast_to(n, x.shape), x)
    dm = -dot(c, n) * x - dot(x, n) * c
    ddm = -dot(j, n) * x - 2 * dot(c, n) * c - dot(x, n) * j
    g = dot(z, dm)
    dz = (dm - g * z) / size
    ddz = (ddm - (dot(dz, dm) + dot(z, ddm)) * z - 2 * g * dz) / size
    y = np.cross(z, x)
    dy = np.cross(dz, x) + np.cross(z, c)
    w = -dot(dz, y) * x - dot(c, z) * y + dot(c, y) * z
    about_x = -dot(ddz, y) - dot(dz, dy)
    about_y = -dot(j, z) - dot(c, dz)
    about_z = dot(j, y) + dot(c, dy)
    dw = about_x * x + about_y * y + about_z * z
    found = np.empty((ROWS, 6))
    frames.travel_turns(n, x, c, j, found)
    assert np.array_equal(found, np.hstack([w, dw]))


def test_the_first_place_where_a_path_runs_along_its_normal_is_named(path, n):
    x = path[0][far_enough(n, path[0])]
    x[[70, 90]] = n
    assert frames.travel_frames(n, x, np.empty((len(x), 3, 3))) == 70


def test_rotations_alone_are_those_that_come_with_their_turns():
    seam = at.Job.load("rx90b_corner_follow").seam
    assert isinstance(seam.orientations, Following)
    s = np.linspace(0.0, seam.length, 1001)
    jet, turning = seam.at(s)
    assert np.array_equal(seam.orientations.rotations(s, jet), turning.R)
    assert np.array_equal(seam.frames(s)[2], turning.R)


def test_jacobian_rates_have_the_bits_of_whole_arrays(rng):
    J, v = rng.normal(size=(ROWS, 6, 6)), rng.normal(size=(ROWS, 6))
    columns = np.swapaxes(J, 1, 2) * v[:, :, None]
    linear, angular = columns[..., :3], columns[..., 3:]
    before = np.cumsum(angular, axis=1)
    after = np.cumsum(linear[:, ::-1], axis=1)[:, ::-1] - linear
    moved = np.cross(before, linear) + np.cross(angular, after)
    turned = np.cross(before, angular)
    whole = np.concatenate([moved.sum(axis=1), turned.sum(axis=1)], axis=1)
    assert np.array_equal(jacobian_rate(J, v), whole)


def test_path_errors_have_the_bits_of_whole_arrays(rng):
    """Beside the closest points that it found: frames, distances and angles over whole arrays."""
    seam = at.Job.load("rx90b_corner_follow").seam
    time = seam.times(1000.0)[:ROWS]
    jet, _, R = seam.frames(seam.command(time).s)
    X = np.tile(np.eye(4), (len(time), 1, 1))
    X[:, :3, :3] = R + 1e-4 * rng.normal(size=R.shape)
    X[:, :3, 3] = jet.p + 1e-4 * rng.normal(size=jet.p.shape)
    found = path_error(seam, time, X)
    there, E, R = seam.frames(found.place)
    e = X[:, :3, 3] - there.p
    assert np.array_equal(found.lateral, np.einsum("mi,mi->m", e, E[:, :, 1]))
    assert np.array_equal(found.vertical, np.einsum("mi,mi->m", e, E[:, :, 2]))
    apart = np.linalg.norm(X[:, :3, :3] - R, axis=(1, 2))
    assert np.array_equal(found.orientation, 2 * np.arcsin(apart / np.sqrt(8)))
