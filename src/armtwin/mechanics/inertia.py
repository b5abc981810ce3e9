"""Ten inertia parameters of a body: moving them to another frame, and the test of physical consistency.

A body is (m, m s_x, m s_y, m s_z, J_xx, J_yy, J_zz, J_xy, J_xz, J_yz): mass, first moments, inertia about the
frame's origin, products as components of the tensor (J_xy = -∫ x y dm).

Ref: [Waiboer 2007, eq. 4.21], [Wensing-Kim-Slotine 2018]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import dot, turned, vector

Ten = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]


@inlined
def ten(table: Any, i: int) -> Ten:
    """Row i of an (n, 10) table as a tuple."""
    return (
        table[i, 0],
        table[i, 1],
        table[i, 2],
        table[i, 3],
        table[i, 4],
        table[i, 5],
        table[i, 6],
        table[i, 7],
        table[i, 8],
        table[i, 9],
    )


@inlined
def moved(R: Any, P: Any, i: int, b: Ten) -> Ten:
    """The body b of frame i, seen in the parent frame at x' = R_i x + P_i.

    h' = R h + m p,   J' = R J Rᵀ + (2 p·Rh + m p·p) 1 - p (Rh)ᵀ - (Rh) pᵀ - m p pᵀ
    """
    p = vector(P, i)
    g = turned(R, i, (b[1], b[2], b[3]))
    x = turned(R, i, (b[4], b[7], b[8]))
    y = turned(R, i, (b[7], b[5], b[9]))
    z = turned(R, i, (b[8], b[9], b[6]))
    # columns of R J; row r of R J times row c of R gives component (r, c)
    xx = x[0] * R[i, 0, 0] + y[0] * R[i, 0, 1] + z[0] * R[i, 0, 2]
    yy = x[1] * R[i, 1, 0] + y[1] * R[i, 1, 1] + z[1] * R[i, 1, 2]
    zz = x[2] * R[i, 2, 0] + y[2] * R[i, 2, 1] + z[2] * R[i, 2, 2]
    xy = x[0] * R[i, 1, 0] + y[0] * R[i, 1, 1] + z[0] * R[i, 1, 2]
    xz = x[0] * R[i, 2, 0] + y[0] * R[i, 2, 1] + z[0] * R[i, 2, 2]
    yz = x[1] * R[i, 2, 0] + y[1] * R[i, 2, 1] + z[1] * R[i, 2, 2]
    m = b[0]
    s = 2.0 * dot(p, g) + m * dot(p, p)
    return (
        m,
        g[0] + m * p[0],
        g[1] + m * p[1],
        g[2] + m * p[2],
        xx + s - 2.0 * p[0] * g[0] - m * p[0] * p[0],
        yy + s - 2.0 * p[1] * g[1] - m * p[1] * p[1],
        zz + s - 2.0 * p[2] * g[2] - m * p[2] * p[2],
        xy - p[0] * g[1] - g[0] * p[1] - m * p[0] * p[1],
        xz - p[0] * g[2] - g[0] * p[2] - m * p[0] * p[2],
        yz - p[1] * g[2] - g[1] * p[2] - m * p[1] * p[2],
    )


def moved_to_parent(X: Floats, body: ArrayLike) -> Floats:
    """Ten parameters of a body given in a frame at pose X (4, 4), expressed in the frame X is given in."""
    R = np.ascontiguousarray(X[None, :3, :3])
    P = np.ascontiguousarray(X[None, :3, 3])
    row = np.array(body, dtype=np.float64)[None]
    return np.array(moved(R, P, 0, ten(row, 0)))


def ten_parameters(
    mass: float, moment: ArrayLike, inertia: ArrayLike, about: ArrayLike | None
) -> Floats:
    """Ten parameters from mass, first moment m s and an inertia about a point, in one frame.

    J_r = J_0 + (m r·r - 2 r·h) 1 + r hᵀ + h rᵀ - m r rᵀ

    Args:
        mass: Mass [kg].
        moment: First moment m s, (3,) [kg m].
        inertia: xx, yy, zz, xy, xz, yz about the point, axes of the frame, (6,) [kg m²].
        about: The point, (3,) [m]; None stands for the origin.
    """
    h, six = np.asarray(moment, dtype=np.float64), np.array(inertia, dtype=np.float64)
    if about is not None:
        r = np.asarray(about, dtype=np.float64)
        cross = np.outer(r, h)
        shift = (mass * (r @ r) - 2 * (r @ h)) * np.eye(3) + cross + cross.T - mass * np.outer(r, r)
        six -= [shift[0, 0], shift[1, 1], shift[2, 2], shift[0, 1], shift[0, 2], shift[1, 2]]
    return np.concatenate([[mass], h, six])


def inertia_matrix(body: ArrayLike) -> Floats:
    """Inertia matrix about the frame's origin, (3, 3)."""
    b = np.asarray(body, dtype=np.float64)
    return np.array([[b[4], b[7], b[8]], [b[7], b[5], b[9]], [b[8], b[9], b[6]]])


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
    for k, (r, c) in enumerate(((0, 1), (0, 2), (1, 2))):
        P[..., r, c] = P[..., c, r] = -b[..., 7 + k]
    P[..., 3, 3] = b[..., 0]
    return P


def why_unphysical(body: ArrayLike) -> str:
    """Why no real body has these ten parameters, as a phrase; empty if one has."""
    b = np.asarray(body, dtype=np.float64)
    if b[0] < 0:
        return f"mass must be at least 0 kg, got {b[0]:.6g}"
    if b[0] == 0:
        return (
            ""
            if not b[1:].any()
            else "a body without mass must have no first moment and no inertia"
        )
    moments, axes = np.linalg.eigh(about_centre(b))
    if moments[0] <= 0:
        return (
            "inertia about the centre of mass must be positive definite, got principal moments "
            + ", ".join(f"{x:.6g}" for x in moments)
            + " kg m²"
        )
    if moments[0] + moments[1] <= moments[2]:
        worst = axes[:, 2]
        return (
            f"principal moments of inertia must satisfy the triangle inequality, got {moments[0]:.6g} + "
            f"{moments[1]:.6g} ≤ {moments[2]:.6g} kg m² (largest about the axis {np.round(worst, 3).tolist()})"
        )
    return ""
