"""Beam between two points with two triads: six deformations, all in metres.

With d = x_q - x_p, n_x' along it in the reference state, n_y' and n_z' the section's axes, and
y = R n_y', z = R n_z' at each end:

    e1 = |d| - l0
    e2 = l0/2 (z_p·y_q - y_p·z_q)            l0 times the angle of twist
    e3 = -z_p·c      e4 = z_q·c              bending in x-z, c = d
    e5 = y_p·c       e6 = -y_q·c             bending in x-y

They are zero for every motion of a rigid beam. A beam that bends far is better measured with
c = l0 d/|d| and the strains of `strains.py` on top; both agree to first order.

Coordinates in order: point p (3), triad p (4), point q (3), triad q (4).

Ref: [Waiboer 2007, B.15-B.16]; its torsion is zero for every twist as printed
"""

from typing import Any

import numpy as np

from armtwin.elements.jets import (
    Jet,
    VectorJet,
    difference,
    inner,
    length_jet,
    plus,
    rotate_jet,
    share,
)
from armtwin.elements.rotations import Four, four, put_four, put_three, rotate_by_triad, turn_slope
from armtwin.maths.batch import Floats, Integers
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import Vector, add, dot, scale_vector

Ends = tuple[int, int, int, int]
Six = tuple[Jet, Jet, Jet, Jet, Jet, Jet]
Chord = tuple[Vector, Vector, float, int]


@inlined
def ends_of(nodes: Integers, i: int) -> Ends:
    """Row i of an (elements, 4) table of places."""
    return nodes[i, 0], nodes[i, 1], nodes[i, 2], nodes[i, 3]


@inlined
def _put_torsion(D: Floats, row: int, half: float, p: Four, q: Four, ny: Vector, nz: Vector) -> Any:
    """Store the slopes of e2; return it."""
    yp = rotate_by_triad(p, ny)
    zp = rotate_by_triad(p, nz)
    yq = rotate_by_triad(q, ny)
    zq = rotate_by_triad(q, nz)
    less_p = share(-1.0, turn_slope(p, ny, zq))
    less_q = share(-1.0, turn_slope(q, nz, yp))
    put_three(D, row, 0, 0.0, zp)
    put_three(D, row, 7, 0.0, zp)
    put_four(D, row, 3, half, plus(turn_slope(p, nz, yq), less_p))
    put_four(D, row, 10, half, plus(turn_slope(q, ny, zp), less_q))
    return half * (dot(zp, yq) - dot(yp, zq))


@inlined
def _put_bending(
    D: Floats, row: int, sign: float, columns: tuple[int, int], turn: Four, n: Vector, chord: Chord
) -> Any:
    """Store the slopes of ±(R n)·c at one end; return it.

    columns are those of this end's triad and of the other's; chord is c, u = d/|d|, c's scale
    |c|/|d| and how much of the stretch c leaves out.
    """
    c, along, scale, far = chord
    side = rotate_by_triad(turn, n)
    slope = turn_slope(turn, n, c)
    left_out = -far * dot(along, side)
    across = add(side, scale_vector(left_out, along))
    put_three(D, row, 0, -sign * scale, across)
    put_three(D, row, 7, sign * scale, across)
    put_four(D, row, columns[0], sign, slope)
    put_four(D, row, columns[1], 0.0, slope)
    return sign * dot(side, c)


@inlined
def measure_beam(
    x: Floats,
    at: Ends,
    ny: Vector,
    nz: Vector,
    length: float,
    far: int,
    row: int,
    e: Floats,
    D: Floats,
) -> None:
    """Six deformations of a beam and their slopes in its 14 coordinates.

    Args:
        x: Coordinates of all nodes.
        at: Where point p, triad p, point q and triad q start.
        ny: Direction n_y'.
        nz: Direction n_z'.
        length: Length in the reference state [m].
        far: 1 for the chord of the better strains, 0 for the printed one.
        row: First of the six rows.
        e: Deformations, of which six are written.
        D: Slopes, (rows, 14), of which six rows are written.
    """
    d = difference(x, at[0], at[2])
    p, q = four(x, at[1]), four(x, at[3])
    now = np.sqrt(dot(d, d))
    along = scale_vector(1.0 / now, d)
    scale = far * length / now + (1 - far)
    chord = (scale_vector(scale, d), along, scale, far)
    e[row] = now - length
    put_three(D, row, 0, -1.0, along)
    put_three(D, row, 7, 1.0, along)
    put_four(D, row, 3, 0.0, p)
    put_four(D, row, 10, 0.0, q)
    e[row + 1] = _put_torsion(D, row + 1, 0.5 * length, p, q, ny, nz)
    at_p, at_q = (3, 10), (10, 3)
    e[row + 2] = _put_bending(D, row + 2, -1.0, at_p, p, nz, chord)
    e[row + 3] = _put_bending(D, row + 3, 1.0, at_q, q, nz, chord)
    e[row + 4] = _put_bending(D, row + 4, 1.0, at_p, p, ny, chord)
    e[row + 5] = _put_bending(D, row + 5, -1.0, at_q, q, ny, chord)


@inlined
def _chord_jet(d: Vector, by_u: Vector, by_w: Vector, now: Jet, length: float, far: int) -> Any:
    """c = s d with its changes, s = l0/|d| or 1."""
    first = far * length / now[0] + (1 - far)
    second = -far * length / (now[0] * now[0])
    third = -2.0 * second / now[0]
    s_u, s_w = second * now[1], second * now[2]
    both = second * now[3] + third * now[1] * now[2]
    return (
        scale_vector(first, d),
        add(scale_vector(first, by_u), scale_vector(s_u, d)),
        add(scale_vector(first, by_w), scale_vector(s_w, d)),
        add(scale_vector(both, d), add(scale_vector(s_u, by_w), scale_vector(s_w, by_u))),
    )


@inlined
def beam_jets(
    x: Floats, u: Floats, w: Floats, at: Ends, ny: Vector, nz: Vector, length: float, far: int
) -> Six:
    """The six deformations of a beam with their changes along u and w."""
    d = difference(x, at[0], at[2])
    by_u = difference(u, at[0], at[2])
    by_w = difference(w, at[0], at[2])
    now = length_jet(d, by_u, by_w)
    c: VectorJet = _chord_jet(d, by_u, by_w, now, length, far)
    yp = rotate_jet(x, u, w, at[1], ny)
    zp = rotate_jet(x, u, w, at[1], nz)
    yq = rotate_jet(x, u, w, at[3], ny)
    zq = rotate_jet(x, u, w, at[3], nz)
    half = 0.5 * length
    one_way = share(half, inner(zp, yq))
    other_way = share(-half, inner(yp, zq))
    return (
        (now[0] - length, now[1], now[2], now[3]),
        plus(one_way, other_way),
        share(-1.0, inner(zp, c)),
        inner(zq, c),
        inner(yp, c),
        share(-1.0, inner(yq, c)),
    )
