"""Frames along a path, a row for each place: kernels, so that no array is made on the way.

A direction is made perpendicular to the path's tangent x, and the frame is x, y = z × x and z.
"""

import math

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled, exactly
from armtwin.maths.exact_vectors import cross, dot, minus, over, plus, times
from armtwin.maths.vectors import Vector, vector

LEAST_SINE = 0.02  # of the angle between the path and the direction that is made perpendicular
NOWHERE = -1  # no such row


@exactly
def across(direction: Vector, x: Vector) -> Vector:
    """What of a direction is perpendicular to a unit vector x."""
    return minus(direction, times(dot(direction, x), x))


@exactly
def put_frame(frames: Floats, i: int, z: Vector, x: Vector) -> None:
    """Store x, z × x and z as the columns of matrix i."""
    y = cross(z, x)
    for k in range(3):
        frames[i, k, 0] = x[k]
        frames[i, k, 1] = y[k]
        frames[i, k, 2] = z[k]


@exactly
def put_across(frames: Floats, i: int, direction: Vector, x: Vector) -> bool:
    """Store the frame whose z is a direction made perpendicular to x; whether there is one."""
    rest = across(direction, x)
    size = math.sqrt(dot(rest, rest))
    if size < LEAST_SINE:
        return False
    put_frame(frames, i, over(rest, size), x)
    return True


@compiled(exact=True)
def travel_frames(normal: Floats, tangents: Floats, frames: Floats) -> int:
    """Frames (m, 3, 3) whose z is a normal (3,) made perpendicular to tangents (m, 3).

    Returns the first row where the path runs along the normal, or NOWHERE.
    """
    n = normal[0], normal[1], normal[2]
    for i in range(tangents.shape[0]):
        if not put_across(frames, i, n, vector(tangents, i)):
            return i
    return NOWHERE


@compiled(exact=True)
def seam_frames(turns: Floats, tangents: Floats, frames: Floats) -> int:
    """Frames (m, 3, 3) whose z is against the beam, the third column of turns (m, 3, 3).

    Returns the first row where the path runs along the beam, or NOWHERE.
    """
    for i in range(tangents.shape[0]):
        up = -turns[i, 0, 2], -turns[i, 1, 2], -turns[i, 2, 2]
        if not put_across(frames, i, up, vector(tangents, i)):
            return i
    return NOWHERE


@compiled(exact=True)
def travel_turns(
    normal: Floats, tangents: Floats, bends: Floats, jerks: Floats, turns: Floats
) -> None:
    """Turn vectors of travel frames by arc length and their rates, side by side (m, 6).

        m = n - (n·x) x,  z = m / |m|,  y = z × x;   ω = -(z'·y) x - (x'·z) y + (x'·y) z

    Args:
        normal: Direction n that z is made from, (3,).
        tangents: Unit tangents x, (m, 3).
        bends: Their rates c by arc length, (m, 3).
        jerks: The rates j of these, (m, 3).
        turns: ω and its rate.
    """
    n = normal[0], normal[1], normal[2]
    for i in range(tangents.shape[0]):
        x = vector(tangents, i)
        c = vector(bends, i)
        j = vector(jerks, i)
        m = across(n, x)
        size = math.sqrt(dot(m, m))
        z = over(m, size)
        y = cross(z, x)
        dm = minus(times(-dot(c, n), x), times(dot(x, n), c))
        ddm = minus(times(-dot(j, n), x), times(2 * dot(c, n), c))
        ddm = minus(ddm, times(dot(x, n), j))
        g = dot(z, dm)
        dz = over(minus(dm, times(g, z)), size)
        ddz = minus(ddm, times(dot(dz, dm) + dot(z, ddm), z))
        ddz = over(minus(ddz, times(2 * g, dz)), size)
        dy = plus(cross(dz, x), cross(z, c))
        w = minus(times(-dot(dz, y), x), times(dot(c, z), y))
        w = plus(w, times(dot(c, y), z))
        about_x = -dot(ddz, y) - dot(dz, dy)
        about_y = -dot(j, z) - dot(c, dz)
        about_z = dot(j, y) + dot(c, dy)
        dw = plus(plus(times(about_x, x), times(about_y, y)), times(about_z, z))
        for k in range(3):
            turns[i, k] = w[k]
            turns[i, 3 + k] = dw[k]
