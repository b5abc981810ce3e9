"""A tree of rigid bodies packed once into plain arrays, and the placing of its frames."""

from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats, Numbers, TwoArrays
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


class Frames(NamedTuple):
    """Where the bodies of an arm are.

    Attributes:
        R: Rotation of each in its parent's frame, (n, 3, 3).
        P: Position there, (n, 3) [m].
    """

    R: Numbers
    P: Numbers


class Bodies(NamedTuple):
    """What is computed of the bodies of an arm on the way to its equations; it has its Frames.

    Attributes:
        R: Rotation in the parent's frame, (n, 3, 3).
        P: Position there, (n, 3).
        w: Angular velocity, (n, 3).
        al: Angular acceleration, (n, 3).
        ac: Acceleration of the frame's origin, (n, 3).
        f: Force, (n, 3).
        t: Torque, (n, 3).
        Ic: Inertia of it and all that it carries, (n, 10).
        L: Mass matrix of the bodies, (n, n).
        none: Zeros, accelerations of all N coordinates of which there are none, (N,).
    """

    R: Numbers
    P: Numbers
    w: Numbers
    al: Numbers
    ac: Numbers
    f: Numbers
    t: Numbers
    Ic: Numbers
    L: Numbers
    none: Numbers


@inlined
def make_frames(arm: Arm, q: Numbers) -> Frames:
    """Room for the frames of an arm: numbers or symbols, as q (..., N) has."""
    n, kind = len(arm.parent), q.dtype
    return Frames(np.empty((n, 3, 3), kind), np.empty((n, 3), kind))


@inlined
def make_bodies(arm: Arm, q: Numbers) -> Bodies:
    """Room for the bodies of an arm: real numbers, complex ones or symbols, as q (..., N) has."""
    n, kind = len(arm.parent), q.dtype
    R = np.zeros((n, 3, 3), kind)
    P, f, t = np.zeros((n, 3), kind), np.zeros((n, 3), kind), np.zeros((n, 3), kind)
    w, al, ac = np.zeros((n, 3), kind), np.zeros((n, 3), kind), np.zeros((n, 3), kind)
    Ic, L, none = np.zeros((n, 10), kind), np.zeros((n, n), kind), np.zeros(q.shape[-1], kind)
    return Bodies(R, P, w, al, ac, f, t, Ic, L, none)


@inlined
def place(arm: Arm, q: Numbers, at: Frames | Bodies) -> None:
    """Place each body in its parent's frame at joint positions q."""
    turn, offset, R, P = arm.turn, arm.offset, at.R, at.P
    for i in range(len(arm.parent)):
        c = np.cos(q[i])
        s = np.sin(q[i])
        x = q[i] * arm.slides[i]
        for r in range(3):
            P[i, r] = offset[i, 0, r] + x * offset[i, 1, r]
            for k in range(3):
                R[i, r, k] = turn[i, 0, r, k] + c * turn[i, 1, r, k] + s * turn[i, 2, r, k]
