"""Euler parameters of a triad, l = (l0, k): rotation since the reference state and its rates.

    R n = B(l, l) n,   B(a, b) n = (a0 b0 - a·b) n + a (b·n) + b (a·n) + a0 b×n + b0 a×n

is quadratic in l, without a division. The angular velocity in body axes is ω' = 2 G dl/dt with
G = [-k | l0 1 - [k]×], the acceleration α' = 2 G d²l/dt² (dG/dt dl/dt = 0), and a moment T' about
body axes is the force 2 G' T' on l.

Ref: [Waiboer 2007, appendix B], [Jonker 1988]
"""

from typing import Any

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import Vector, add, cross, dot, scale_vector

Four = tuple[Any, Any, Any, Any]


@inlined
def four(x: Floats, at: int) -> Four:
    """Four numbers of x from a place on: a triad, or its rates."""
    return x[at], x[at + 1], x[at + 2], x[at + 3]


@inlined
def three(x: Floats, at: int) -> Vector:
    """Three numbers of x from a place on: a point, or its rates."""
    return x[at], x[at + 1], x[at + 2]


@inlined
def vector_part(turn: Four) -> Vector:
    """k of (l0, k)."""
    return turn[1], turn[2], turn[3]


@inlined
def rotate_bilinear(a: Four, b: Four, n: Vector) -> Vector:
    """B(a, b) n: half of what R n changes by when a changes by b."""
    s = vector_part(a)
    t = vector_part(b)
    product = a[0] * b[0] - dot(s, t)
    mixed = add(scale_vector(dot(t, n), s), scale_vector(dot(s, n), t))
    lever = add(scale_vector(a[0], t), scale_vector(b[0], s))
    rest = add(mixed, cross(lever, n))
    return add(scale_vector(product, n), rest)


@inlined
def rotate_by_triad(turn: Four, n: Vector) -> Vector:
    """R n."""
    k = vector_part(turn)
    square = turn[0] * turn[0] - dot(k, k)
    along = scale_vector(2.0 * dot(k, n), k)
    across = scale_vector(2.0 * turn[0], cross(k, n))
    return add(scale_vector(square, n), add(along, across))


@inlined
def rotate_back_by_triad(turn: Four, n: Vector) -> Vector:
    """R' n."""
    return rotate_by_triad((turn[0], -turn[1], -turn[2], -turn[3]), n)


@inlined
def turn_slope(turn: Four, n: Vector, c: Vector) -> Four:
    """Slope of c·(R n) with the four parameters."""
    k = vector_part(turn)
    across = cross(n, c)
    straight = dot(n, c)
    first = turn[0] * straight + dot(k, across)
    mixed = add(scale_vector(dot(k, c), n), scale_vector(dot(k, n), c))
    turning = add(scale_vector(turn[0], across), scale_vector(-straight, k))
    x, y, z = add(mixed, turning)
    return 2.0 * first, 2.0 * x, 2.0 * y, 2.0 * z


@inlined
def body_rate(turn: Four, rate: Four) -> Vector:
    """2 G dl/dt: ω' from the rates of a triad, α' from their rates."""
    k = vector_part(turn)
    s = vector_part(rate)
    turning = add(scale_vector(turn[0], s), scale_vector(-rate[0], k))
    return scale_vector(2.0, add(turning, cross(s, k)))


@inlined
def moment_force(turn: Four, T: Vector) -> Four:
    """2 G' T': the force on a triad of a moment about body axes."""
    k = vector_part(turn)
    x, y, z = add(scale_vector(turn[0], T), cross(k, T))
    return -2.0 * dot(k, T), 2.0 * x, 2.0 * y, 2.0 * z


@inlined
def put_four(table: Floats, row: int, at: int, sign: float, turn: Four) -> None:
    """Store four numbers, times a sign, in a row of a table from a column on."""
    table[row, at] = sign * turn[0]
    table[row, at + 1] = sign * turn[1]
    table[row, at + 2] = sign * turn[2]
    table[row, at + 3] = sign * turn[3]


@inlined
def put_three(table: Floats, row: int, at: int, sign: float, x: Vector) -> None:
    """Store three numbers, times a sign, in a row of a table from a column on."""
    table[row, at] = sign * x[0]
    table[row, at + 1] = sign * x[1]
    table[row, at + 2] = sign * x[2]


@inlined
def add_four(g: Floats, at: int, turn: Four) -> None:
    """Add four numbers to g from a place on."""
    for i in range(4):
        g[at + i] += turn[i]


@inlined
def add_three(g: Floats, at: int, x: Vector) -> None:
    """Add three numbers to g from a place on."""
    for i in range(3):
        g[at + i] += x[i]
