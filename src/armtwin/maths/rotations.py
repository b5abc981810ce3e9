"""Rotations and poses as people write them, to matrices and back."""

import numpy as np
from numpy.typing import ArrayLike

from armtwin.maths.batch import Floats


def about(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Rotation by an angle [rad] about a unit vector, (..., 3, 3)."""
    a = np.asarray(axis, dtype=np.float64)
    turn = np.asarray(angle, dtype=np.float64)[..., None, None]
    along = np.outer(a, a)
    across = np.eye(3) - along
    return along + np.cos(turn) * across + np.sin(turn) * skew(a)


def skew(a: Floats) -> Floats:
    """Matrix [a]× of the cross product, [a]× x = a × x, (3, 3)."""
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def from_rpy(roll: ArrayLike, pitch: ArrayLike, yaw: ArrayLike) -> Floats:
    """Rz(yaw) Ry(pitch) Rx(roll): the roll, pitch and yaw of URDF [rad], (..., 3, 3)."""
    return about((0, 0, 1), yaw) @ about((0, 1, 0), pitch) @ about((1, 0, 0), roll)


def to_rpy(R: Floats) -> Floats:
    """Roll, pitch, yaw of a rotation [rad], (3,); at pitch ±90° the roll is set to 0.

    The yaw is what the roll leaves, Rz Ry = R Rxᵀ: near ±90°, where only their sum or difference is
    well determined, both together still give the rotation to rounding.
    """
    level = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], level)
    roll = 0.0 if level < 1e-12 else np.arctan2(R[2, 1], R[2, 2])
    x, y, _ = np.cos(roll) * R[:, 1] - np.sin(roll) * R[:, 2]
    yaw = np.arctan2(-x, y)
    return np.array([roll, pitch, yaw])


def from_quaternion(w: ArrayLike, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Floats:
    """Rotation of a quaternion with the real part first, scaled to unit length, (..., 3, 3)."""
    four = np.array([w, x, y, z], dtype=np.float64)
    length = np.sqrt((four * four).sum(axis=0))
    r, i, j, k = four / length
    R = np.empty((*r.shape, 3, 3))
    R[..., 0, 0] = 1 - 2 * (j * j + k * k)
    R[..., 0, 1] = 2 * (i * j - r * k)
    R[..., 0, 2] = 2 * (i * k + r * j)
    R[..., 1, 0] = 2 * (i * j + r * k)
    R[..., 1, 1] = 1 - 2 * (i * i + k * k)
    R[..., 1, 2] = 2 * (j * k - r * i)
    R[..., 2, 0] = 2 * (i * k - r * j)
    R[..., 2, 1] = 2 * (j * k + r * i)
    R[..., 2, 2] = 1 - 2 * (i * i + j * j)
    return R


def to_quaternion(R: Floats) -> Floats:
    """Unit quaternion of a rotation (3, 3), real part first and not negative, (4,)."""
    # the eigenvector of the largest eigenvalue, as safe at half a turn as at none
    K = np.array(
        [
            [np.trace(R), R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0.0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0.0, 0.0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [0.0, 0.0, 0.0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    _, vectors = np.linalg.eigh(K, UPLO="U")
    largest = vectors[:, -1]
    return largest if largest[0] >= 0 else -largest


def pose(R: ArrayLike, p: ArrayLike) -> Floats:
    """Homogeneous matrix (4, 4) of a rotation and a position."""
    X = np.eye(4)
    X[:3, :3] = R
    X[:3, 3] = p
    return X


def inverse(X: Floats) -> Floats:
    """Inverse of a homogeneous matrix (4, 4)."""
    R, p = X[:3, :3], X[:3, 3]
    return pose(R.T, -R.T @ p)


def nearest_rotation(R: Floats) -> Floats:
    """Rotation nearest to each matrix of a stack (..., 3, 3)."""
    U, _, Vt = np.linalg.svd(R)
    flip = np.sign(np.linalg.det(U @ Vt))
    U[..., :, 2] *= flip[..., None]
    return U @ Vt
