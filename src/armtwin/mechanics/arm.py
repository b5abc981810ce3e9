"""A tree of rigid bodies packed once into plain arrays, and the placing of its frames."""

from __future__ import annotations

from collections.abc import Sized
from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats, Integers, Numbers, TwoArrays
from armtwin.maths.compiled import inlined
from armtwin.maths.rotations import skew
from armtwin.maths.traced_fields import Index, Pattern


class Arm(NamedTuple):
    """Tree of n moving bodies; one joint connects body i to body parent[i] < i (-1: the base).

    The frame of a body is the frame of its joint at q = 0, turned or shifted by q:
    R(q) = turn_0 + cos q turn_1 + sin q turn_2 and p(q) = offset_0 + q offset_1, child to parent.

    Attributes:
        parent: Index of the parent body, (n,).
        slides: 1 for a prismatic joint, 0 for a revolute one, (n,).
        turn: Rotation as a function of the angle, (n, 3, 3, 3).
        offset: Position as a function of the displacement, (n, 2, 3) [m].
        axis: Joint axis in the body's own frame, unit vector, (n, 3).
        inertia: m, m s (3), J about the frame's origin (xx, yy, zz, xy, xz, yz), (n, 10).
        gravity: Gravity vector in the base frame, (3,) [m/s²].
    """

    parent: Index
    slides: Index
    turn: Pattern
    offset: Pattern
    axis: Pattern
    inertia: Floats
    gravity: Pattern


def joint_motion(R: Floats, p: Floats, axis: Floats, slides: bool) -> TwoArrays:
    """Tables `turn` and `offset` of a joint at pose (R, p) in its parent, along or about `axis`.

    R(q) = R (a aᵀ) + cos q R (1 - a aᵀ) + sin q R [a]×
    """
    turn = np.zeros((3, 3, 3))
    offset = np.zeros((2, 3))
    offset[0] = p
    if slides:
        turn[0] = R
        offset[1] = R @ axis
    else:
        along = np.outer(axis, axis)
        turn[0] = R @ along
        turn[1] = R @ (np.eye(3) - along)
        turn[2] = R @ skew(axis)
    return turn, offset


@inlined
def place(
    size: Sized, slides: Integers, turn: Floats, offset: Floats, q: Numbers, R: Numbers, P: Numbers
) -> None:
    """Rotation R_i and position P_i of each body in its parent's frame.

    Here and in the other kernels len(size) is the number of bodies: a tuple makes it known to the
    compiler, which unrolls the loops; an array keeps one compiled kernel for all arms.
    """
    for i in range(len(size)):
        c = np.cos(q[i])
        s = np.sin(q[i])
        x = q[i] * slides[i]
        for r in range(3):
            P[i, r] = offset[i, 0, r] + x * offset[i, 1, r]
            for k in range(3):
                R[i, r, k] = turn[i, 0, r, k] + c * turn[i, 1, r, k] + s * turn[i, 2, r, k]
