"""Hinge between two triads: twist about its axis and two small bendings.

With r = conj(l_p) ∘ l_q, the rotation from p to q in the axes of p,

    r0 = p0 q0 + p·q,    r_v = p0 q - q0 p - p×q

and r1, r2, r3 the components of r_v along the constant directions n_x' (the axis), n_y', n_z' of
the reference state:

    e1 = 2 atan2(r1, r0)         twist, known up to 4π: l_q and -l_q are the same rotation
    e2 = 2 (r0 r2 - r1 r3)       small rotation about n_y'
    e3 = 2 (r1 r2 + r0 r3)       small rotation about n_z'

The hinge is singular where the axes of both sides are opposite (r0 = r1 = 0).

Ref: [Waiboer 2007, B.8-B.14], [Geradin-Robert-Buchet 1986]
"""

from typing import Any

import numpy as np

from armtwin.elements.jets import Jet, angle_of, plus, times
from armtwin.elements.rotations import Four, four, put_four, vector_part
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import Vector, add, cross, dot, scale_vector

TURNS_ALIKE = 4 * np.pi  # twists that differ by it are indistinguishable
Axes = tuple[Vector, Vector, Vector]


@inlined
def _relative(p: Four, q: Four, n: Axes) -> Four:
    """r of two triads, or of a triad and a change of the other: it is bilinear."""
    s = vector_part(p)
    t = vector_part(q)
    straight = add(scale_vector(p[0], t), scale_vector(-q[0], s))
    turn = add(straight, cross(t, s))
    first = p[0] * q[0] + dot(s, t)
    return first, dot(n[0], turn), dot(n[1], turn), dot(n[2], turn)


@inlined
def _put_slopes(D: Floats, row: int, p: Four, q: Four, n: Axes, c: Four) -> None:
    """Store the slopes with both triads of what has the slopes c with r."""
    s = vector_part(p)
    t = vector_part(q)
    across = add(scale_vector(c[2], n[1]), scale_vector(c[3], n[2]))
    cv = add(scale_vector(c[1], n[0]), across)
    turn_p = add(scale_vector(-q[0], cv), cross(cv, t))
    turn_q = add(scale_vector(p[0], cv), cross(s, cv))
    x, y, z = add(scale_vector(c[0], t), turn_p)
    first = c[0] * q[0] + dot(cv, t)
    put_four(D, row, 0, 1.0, (first, x, y, z))
    x, y, z = add(scale_vector(c[0], s), turn_q)
    first = c[0] * p[0] - dot(cv, s)
    put_four(D, row, 4, 1.0, (first, x, y, z))


@inlined
def measure_hinge(x: Floats, at: tuple[int, int], n: Axes, row: int, e: Floats, D: Floats) -> None:
    """Three deformations of a hinge and their slopes in its 8 coordinates.

    Args:
        x: Coordinates of all nodes.
        at: Where triads p and q start.
        n: Directions n_x', n_y', n_z'.
        row: First of the three rows.
        e: Deformations, of which three are written.
        D: Slopes, (rows, 14), of which three rows are written.
    """
    p = four(x, at[0])
    q = four(x, at[1])
    r0, r1, r2, r3 = _relative(p, q, n)
    e[row] = 2.0 * angle_of(r1, r0)
    e[row + 1] = 2.0 * (r0 * r2 - r1 * r3)
    e[row + 2] = 2.0 * (r1 * r2 + r0 * r3)
    turn = 2.0 / (r0 * r0 + r1 * r1)
    none = 0.0 * r0
    of_twist = (-turn * r1, turn * r0, none, none)
    of_y = (2.0 * r2, -2.0 * r3, 2.0 * r0, -2.0 * r1)
    of_z = (2.0 * r3, 2.0 * r2, 2.0 * r1, 2.0 * r0)
    _put_slopes(D, row, p, q, n, of_twist)
    _put_slopes(D, row + 1, p, q, n, of_y)
    _put_slopes(D, row + 2, p, q, n, of_z)


@inlined
def curve_hinge(
    x: Floats, u: Floats, w: Floats, at: tuple[int, int], n: Axes, row: int, curved: Floats
) -> None:
    """Second derivatives of a hinge's deformations along u and w."""
    p = four(x, at[0])
    q = four(x, at[1])
    p_u = four(u, at[0])
    q_u = four(u, at[1])
    p_w = four(w, at[0])
    q_w = four(w, at[1])
    r = _relative(p, q, n)
    by_u = plus(_relative(p_u, q, n), _relative(p, q_u, n))
    by_w = plus(_relative(p_w, q, n), _relative(p, q_w, n))
    both = plus(_relative(p_u, q_w, n), _relative(p_w, q_u, n))
    r0 = (r[0], by_u[0], by_w[0], both[0])
    r1 = (r[1], by_u[1], by_w[1], both[1])
    r2 = (r[2], by_u[2], by_w[2], both[2])
    r3 = (r[3], by_u[3], by_w[3], both[3])
    curved[row] = 2.0 * _turn(r1, r0)
    curved[row + 1] = 2.0 * (times(r0, r2)[3] - times(r1, r3)[3])
    curved[row + 2] = 2.0 * (times(r1, r2)[3] + times(r0, r3)[3])


@inlined
def _turn(b: Jet, a: Jet) -> Any:
    """Second derivative of atan2(b, a): of its slope (a b_u - b a_u)/(a² + b²) along w."""
    a0, a_u, a_w, a_uw = a
    b0, b_u, b_w, b_uw = b
    square = a0 * a0 + b0 * b0
    growth = 2.0 * (a0 * a_w + b0 * b_w)
    top = a0 * b_u - b0 * a_u
    change = a_w * b_u - b_w * a_u
    change += a0 * b_uw - b0 * a_uw
    return (change - top * growth / square) / square
