"""Rotations and poses as people write them, to matrices and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armtwin.maths.batch import Floats


def about(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Rotation by an angle [rad] about a unit vector, (..., 3, 3)."""
    x, y, z = np.asarray(axis, dtype=np.float64)
    turn = np.asarray(angle, dtype=np.float64)[..., None, None]
    c, s = np.cos(turn), np.sin(turn)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    along = np.outer((x, y, z), (x, y, z))
    return along + c * (np.eye(3) - along) + s * skew


def from_rpy(roll: ArrayLike, pitch: ArrayLike, yaw: ArrayLike) -> Floats:
    """Rz(yaw) Ry(pitch) Rx(roll): the roll, pitch and yaw of URDF [rad], (..., 3, 3)."""
    return about((0, 0, 1), yaw) @ about((0, 1, 0), pitch) @ about((1, 0, 0), roll)


def to_rpy(R: Floats) -> Floats:
    """Roll, pitch, yaw of a rotation [rad], (3,); at pitch ±90° the roll is set to 0."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def from_quaternion(w: ArrayLike, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Floats:
    """Rotation of a quaternion with the real part first, scaled to unit length, (..., 3, 3)."""
    four = np.array([w, x, y, z], dtype=np.float64)
    r, i, j, k = four / np.sqrt((four * four).sum(axis=0))
    rows = np.array(
        [
            [1 - 2 * (j * j + k * k), 2 * (i * j - r * k), 2 * (i * k + r * j)],
            [2 * (i * j + r * k), 1 - 2 * (i * i + k * k), 2 * (j * k - r * i)],
            [2 * (i * k - r * j), 2 * (j * k + r * i), 1 - 2 * (i * i + j * j)],
        ]
    )
    return np.moveaxis(rows, (0, 1), (-2, -1))


def pose(R: ArrayLike, p: ArrayLike) -> Floats:
    """Homogeneous matrix (4, 4) of a rotation and a position."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def inverse(X: Floats) -> Floats:
    """Inverse of a homogeneous matrix (4, 4)."""
    return pose(X[:3, :3].T, -X[:3, :3].T @ X[:3, 3])


def nearest_rotation(R: Floats) -> Floats:
    """Rotation nearest to each matrix of a stack (..., 3, 3)."""
    U, _, Vt = np.linalg.svd(R)
    flip = np.sign(np.linalg.det(U @ Vt))
    U[..., :, 2] *= flip[..., None]
    return U @ Vt
