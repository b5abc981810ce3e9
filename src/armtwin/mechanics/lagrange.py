"""Lagrange's road to the equations of motion: their coefficients, one by one.

    τ_i = Σ_j D_ij a_j + Σ_jk D_ijk v_j v_k + D_i

    D_ij  = Σ_p tr(∂T_p/∂q_j J_p ∂T_p/∂q_iᵀ)
    D_ijk = Σ_p tr(∂²T_p/∂q_j∂q_k J_p ∂T_p/∂q_iᵀ)
    D_i   = -Σ_p (g, 0)ᵀ ∂T_p/∂q_i J_p e_4

T_p is the pose of body p in the base frame, (4, 4), J_p its pseudo-inertia. A joint turns all that
it carries about one axis of the base frame, so a derivative is a product from the left:

    ∂T_p/∂q_j = W_j T_p,   ∂²T_p/∂q_j∂q_k = W_j W_k T_p  for j nearer to the base than k

and the bodies that a joint carries act as one, K_i = Σ T_p J_p T_pᵀ.

Much slower than the recursive kernels, and the second road to their numbers.

Ref: [Uicker 1965], [Kahn 1969], [Machielsen 1983, section 4.3.2]
"""

from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Flags, Floats
from armtwin.maths.rotations import skew
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.inertia import pseudo_inertia


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients of the equations of motion of n bodies at m postures.

    Attributes:
        inertia: D_ij, (m, n, n) [kg m²].
        velocity: D_ijk, symmetric in j and k, (m, n, n, n) [kg m²].
        gravity: D_i, (m, n) [N m].
    """

    inertia: Floats
    velocity: Floats
    gravity: Floats


def coefficients(arm: Arm, q: Floats) -> Coefficients:
    """Coefficients of the equations of motion of an arm at joint positions (m, n)."""
    m, n = q.shape
    T = poses(arm, q)
    W = np.stack([_turning(arm, i, T[:, i]) for i in range(n)], axis=1)
    carries = carrying(arm)
    J = pseudo_inertia(arm.inertia)
    seen = T @ J @ np.swapaxes(T, -1, -2)
    K = np.einsum("ip,mpab->miab", carries.astype(np.float64), seen)
    inertia = np.zeros((m, n, n))
    velocity = np.zeros((m, n, n, n))
    for j, k in np.argwhere(carries):  # j is nearer to the base, or the same
        second = W[:, j] @ W[:, k]
        for i in np.flatnonzero(carries[:, k] | carries[k]):
            carried = K[:, i] if carries[k, i] else K[:, k]
            velocity[:, i, j, k] = velocity[:, i, k, j] = _trace(second, carried, W[:, i])
        inertia[:, j, k] = inertia[:, k, j] = _trace(W[:, k], K[:, k], W[:, j])
    falling = np.append(np.asarray(arm.gravity), 0.0)
    gravity = -np.einsum("a,miab,mib->mi", falling, W, K[..., 3])
    return Coefficients(inertia, velocity, gravity)


def poses(arm: Arm, q: Floats) -> Floats:
    """Poses T of all bodies in the base frame, (m, n, 4, 4)."""
    m, n = q.shape
    T = np.zeros((m, n, 4, 4))
    for i in range(n):
        c, s = np.cos(q[:, i, None, None]), np.sin(q[:, i, None, None])
        own = np.zeros((m, 4, 4))
        own[:, :3, :3] = arm.turn[i, 0] + c * arm.turn[i, 1] + s * arm.turn[i, 2]
        own[:, :3, 3] = arm.offset[i, 0] + (q[:, i] * arm.slides[i])[:, None] * arm.offset[i, 1]
        own[:, 3, 3] = 1.0
        carrier = arm.parent[i]
        T[:, i] = own if carrier < 0 else T[:, carrier] @ own
    return T


def carrying(arm: Arm) -> Flags:
    """Whether joint i carries body j, itself included, (n, n)."""
    n = len(arm.parent)
    carries = np.eye(n, dtype=bool)
    for j, carrier in enumerate(arm.parent):
        if carrier >= 0:
            carries[:, j] |= carries[:, carrier]
    return carries


def _turning(arm: Arm, i: int, T: Floats) -> Floats:
    """W_i = T_i S_i T_i⁻¹: what joint i does to a point of the base frame, (m, 4, 4)."""
    S = np.zeros((4, 4))
    if arm.slides[i]:
        S[:3, 3] = arm.axis[i]
    else:
        S[:3, :3] = skew(arm.axis[i])
    back = np.zeros_like(T)
    back[:, :3, :3] = np.swapaxes(T[:, :3, :3], -1, -2)
    back[:, :3, 3] = -np.einsum("mab,mb->ma", back[:, :3, :3], T[:, :3, 3])
    back[:, 3, 3] = 1.0
    return T @ S @ back


def _trace(left: Floats, K: Floats, right: Floats) -> Floats:
    """tr(left K rightᵀ) of each posture, (m,)."""
    return ((left @ K) * right).sum(axis=(1, 2))
