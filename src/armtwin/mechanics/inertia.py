"""Ten inertia parameters of a body: moving them to another frame, and whether a body can have them.

A body is (m, m s_x, m s_y, m s_z, J_xx, J_yy, J_zz, J_xy, J_xz, J_yz): mass, first moments, inertia
about the frame's origin, products as components of the tensor (J_xy = -∫ x y dm).

Ref: [Waiboer 2007, eq. 4.21], [Wensing-Kim-Slotine 2018]
"""

import numpy as np
from numpy.typing import ArrayLike

from armtwin.maths.batch import Floats, Numbers
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import Ten, dot, rotate, row_of, ten, vector

# Rounding of principal moments, relative to the inertia about the frame's origin.
ROUNDING = 1e-13
# Row and column of xx, yy, zz, xy, xz, yz in a symmetric matrix.
_SIX = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)


@inlined
def transform_body(R: Numbers, P: Numbers, i: int, b: Ten) -> Ten:
    """The body b of frame i, seen in the parent frame at x' = R_i x + P_i.

    h' = R h + m p,   J' = R J Rᵀ + (2 p·Rh + m p·p) 1 - p (Rh)ᵀ - (Rh) pᵀ - m p pᵀ
    """
    m, hx, hy, hz, Jxx, Jyy, Jzz, Jxy, Jxz, Jyz = b
    p = vector(P, i)
    g = rotate(R, i, (hx, hy, hz))
    px, py, pz = p
    gx, gy, gz = g
    # columns of R J
    ux, uy, uz = rotate(R, i, (Jxx, Jxy, Jxz))
    vx, vy, vz = rotate(R, i, (Jxy, Jyy, Jyz))
    wx, wy, wz = rotate(R, i, (Jxz, Jyz, Jzz))
    # a row of R J times a row of R gives a component of R J Rᵀ
    x, y, z = row_of(R, i, 0), row_of(R, i, 1), row_of(R, i, 2)
    xx = dot((ux, vx, wx), x)
    yy = dot((uy, vy, wy), y)
    zz = dot((uz, vz, wz), z)
    xy = dot((ux, vx, wx), y)
    xz = dot((ux, vx, wx), z)
    yz = dot((uy, vy, wy), z)
    s = 2.0 * dot(p, g) + m * dot(p, p)
    return (
        m,
        gx + m * px,
        gy + m * py,
        gz + m * pz,
        xx + s - 2.0 * px * gx - m * px * px,
        yy + s - 2.0 * py * gy - m * py * py,
        zz + s - 2.0 * pz * gz - m * pz * pz,
        xy - px * gy - gx * py - m * px * py,
        xz - px * gz - gx * pz - m * px * pz,
        yz - py * gz - gy * pz - m * py * pz,
    )


@compiled
def _move(R: Floats, P: Floats, body: Floats, found: Floats) -> None:
    """Write ten parameters of a body, (1, 10), seen from its parent."""
    up = transform_body(R, P, 0, ten(body, 0))
    for k in range(10):
        found[k] = up[k]


def transform_to_parent(X: Floats, body: ArrayLike) -> Floats:
    """Ten parameters of a body given in a frame at pose X (4, 4), in the frame X is given in."""
    R = np.ascontiguousarray(X[None, :3, :3])
    P = np.ascontiguousarray(X[None, :3, 3])
    found = np.empty(10)
    _move(R, P, np.array(body, dtype=np.float64)[None], found)
    return found


def ten_parameters(
    mass: float, moment: ArrayLike, inertia: ArrayLike, about: ArrayLike | None
) -> Floats:
    """Ten parameters from mass, first moment m s and an inertia about a point, in one frame.

    J_r = J_0 + (m r·r - 2 r·h) 1 + r hᵀ + h rᵀ - m r rᵀ

    Args:
        mass: Mass [kg].
        moment: First moment m s, (3,) [kg m].
        inertia: xx, yy, zz, xy, xz, yz about the point, axes of the frame, (6,) [kg m²].
        about: The point, (3,) [m]; None is the origin.
    """
    h = np.asarray(moment, dtype=np.float64)
    six = np.array(inertia, dtype=np.float64)
    if about is not None:
        r = np.asarray(about, dtype=np.float64)
        across = mass * (r @ r) - 2 * (r @ h)
        mixed = np.outer(r, h)
        shift = across * np.eye(3) + mixed + mixed.T - mass * np.outer(r, r)
        six -= shift[_SIX]
    return np.concatenate([[mass], h, six])


def inertia_matrix(body: ArrayLike) -> Floats:
    """Inertia matrix about the frame's origin, (3, 3)."""
    b = np.asarray(body, dtype=np.float64)
    J = np.empty((3, 3))
    J[_SIX] = b[4:]
    J.T[_SIX] = b[4:]
    return J


def about_centre(body: ArrayLike) -> Floats:
    """Inertia matrix about the centre of mass, (3, 3), of a body with mass."""
    b = np.asarray(body, dtype=np.float64)
    c = b[1:4] / b[0]
    return inertia_matrix(b) - b[0] * ((c @ c) * np.eye(3) - np.outer(c, c))


def pseudo_inertia(body: ArrayLike) -> Floats:
    """Pseudo-inertia matrix ∫ [x 1]ᵀ[x 1] dm, (..., 4, 4): positive definite for every real body.

    Σ = ½ tr(J) 1 - J,   P = [[Σ, h], [hᵀ, m]]
    """
    b = np.asarray(body, dtype=np.float64)
    P = np.empty((*b.shape[:-1], 4, 4))
    half = 0.5 * (b[..., 4] + b[..., 5] + b[..., 6])
    for k in range(3):
        P[..., k, k] = half - b[..., 4 + k]
        P[..., k, 3] = P[..., 3, k] = b[..., 1 + k]
    P[..., 0, 1] = P[..., 1, 0] = -b[..., 7]
    P[..., 0, 2] = P[..., 2, 0] = -b[..., 8]
    P[..., 1, 2] = P[..., 2, 1] = -b[..., 9]
    P[..., 3, 3] = b[..., 0]
    return P


def why_unphysical(body: ArrayLike) -> str:
    """Why no real body has these ten parameters, as a phrase; empty if one has.

    A point, a rod and a disk are the limits of bodies: their inertias pass, and so does rounding.
    """
    b = np.asarray(body, dtype=np.float64)
    if b[0] < 0:
        return f"mass must be at least 0 kg, got {b[0]:.6g}"
    if b[0] == 0 and b[1:].any():
        return "a body without mass must have no first moment and no inertia"
    if b[0] == 0:
        return ""
    moments, axes = np.linalg.eigh(about_centre(b))
    least, middle, largest = moments
    rounding = ROUNDING * float(np.abs(b[4:7]).max())
    if least < -rounding:
        return (
            "inertia about the centre of mass must be positive semidefinite, got principal moments "
            f"{least:.6g}, {middle:.6g}, {largest:.6g} kg m²"
        )
    if least + middle < largest - rounding:
        worst = np.round(axes[:, 2], 3).tolist()
        return (
            "principal moments of inertia must satisfy the triangle inequality, got "
            f"{least:.6g} + {middle:.6g} < {largest:.6g} kg m² (largest about the axis {worst})"
        )
    return ""
