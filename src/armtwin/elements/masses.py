"""Inertia forces of nodes: rigid bodies, and beams whose mass bends with them.

g = M(x) ax + h(x, vx) is a force on the nodal coordinates. A body sits on a point and a triad with
its ten parameters about the point, in the axes of the reference state (order m, m s, xx yy zz xy xz
yz, xy = -∫ x y dm):

    F' = m a' + α'×h + ω'×(ω'×h)     T' = J'α' + ω'×J'ω' + h×a'     a' = R'(ax - gravity)
    g = (R F', 2 G'T')

The centre line of a beam with mass is Hermite's cubic through y = (x_p, l0 t_p, x_q, l0 t_q),
t = R n_x', so that its mass matrix M_y is constant:

    g = (dy/dx)' [M_y ÿ - ρA l0 (6, 1, 6, -1)/12 ⊗ gravity]
    spin about the axis, rates s = S(x) vx:   g += S' m S ax + 2 S(vx)' m S vx

Ref: [Waiboer 2007, 4.15-4.17], [Jonker-Meijaard 2013]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.elements.rotations import add_moment, doubled, rate_forms, rotation
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import Vector, add, cross, inertia_times, scaled


class Masses(NamedTuple):
    """What is heavy, packed.

    Attributes:
        bodies: Where the point and the triad of each body start, (m, 2).
        inertia: Ten parameters of each body, (m, 10).
        beams: Where point p, triad p, point q, triad q of each beam with mass start, (b, 4).
        forms: Coefficients of R n_x' of each such beam, (b, 3, 4, 4).
        axis: n_x' of each such beam, (b, 3).
        length: Its length, (b,) [m].
        density: Its mass per length ρA [kg/m] and polar inertia per length ρI_p [kg m], (b, 2).
        gravity: Acceleration of free fall, (3,) [m/s²].
    """

    bodies: Any
    inertia: Any
    beams: Any
    forms: Any
    axis: Any
    length: Any
    density: Any
    gravity: Any


@inlined
def body_wrench(ten: Any, i: int, om: Vector, al: Vector, ac: Vector) -> tuple[Vector, Vector]:
    """Force and torque about the point that a body needs, in its own axes."""
    h = (ten[i, 1], ten[i, 2], ten[i, 3])
    J = (ten[i, 4], ten[i, 5], ten[i, 6], ten[i, 7], ten[i, 8], ten[i, 9])
    force = add(scaled(ten[i, 0], ac), add(cross(al, h), cross(om, cross(om, h))))
    torque = add(inertia_times(J, al), add(cross(om, inertia_times(J, om)), cross(h, ac)))
    return force, torque


@inlined
def body_motion(
    x: Any, vx: Any, ax: Any, at: int, on: int, falling: Any, G: Any, E: Any, R: Any
) -> tuple[Vector, Vector, Vector]:
    """ω', α' and a' of a body on a point and a triad; writes its G and E (3, 4) and R (3, 3)."""
    rate_forms(x, on, G, E)
    rotation(G, E, R)
    a, b, c = ax[at] - falling[0], ax[at + 1] - falling[1], ax[at + 2] - falling[2]
    ac = (
        R[0, 0] * a + R[1, 0] * b + R[2, 0] * c,
        R[0, 1] * a + R[1, 1] * b + R[2, 1] * c,
        R[0, 2] * a + R[1, 2] * b + R[2, 2] * c,
    )
    return doubled(G, vx, on), doubled(G, ax, on), ac


@inlined
def _add_body(
    masses: Masses, i: int, x: Any, vx: Any, ax: Any, falling: Any, g: Any, G: Any, E: Any, R: Any
) -> None:
    """Add the force of body i."""
    at, on = masses.bodies[i, 0], masses.bodies[i, 1]
    om, al, ac = body_motion(x, vx, ax, at, on, falling, G, E, R)
    force, torque = body_wrench(masses.inertia, i, om, al, ac)
    for j in range(3):
        g[at + j] += R[j, 0] * force[0] + R[j, 1] * force[1] + R[j, 2] * force[2]
    add_moment(G, torque, g, on)


# Hermite's cubics: integrals of the products of the four shape functions, times 420, and of each
# function, times 12.
_PRODUCTS = (
    (156.0, 22.0, 54.0, -13.0),
    (22.0, 4.0, 13.0, -3.0),
    (54.0, 13.0, 156.0, -22.0),
    (-13.0, -3.0, -22.0, 4.0),
)
_SHARES = (6.0, 1.0, 6.0, -1.0)


@inlined
def _add_beam(
    masses: Masses, b: int, x: Any, vx: Any, ax: Any, falling: Any, g: Any, y: Any, slope: Any
) -> None:
    """Add the force of beam b; y (4, 3) and slope (2, 3, 4) are room."""
    ends, forms, length = masses.beams, masses.forms, masses.length[b]
    for end in range(2):
        at, on = ends[b, 2 * end], ends[b, 2 * end + 1]
        for i in range(3):
            y[2 * end, i] = ax[at + i]
            total = 0.0 * x[at]
            for j in range(4):
                half, by_rate = 0.0 * x[at], 0.0 * x[at]
                for k in range(4):
                    half += forms[b, i, j, k] * x[on + k]
                    by_rate += forms[b, i, j, k] * vx[on + k]
                slope[end, i, j] = 2.0 * length * half
                total += half * ax[on + j] + by_rate * vx[on + j]
            y[2 * end + 1, i] = 2.0 * length * total
    mass = masses.density[b, 0] * length
    for m in range(4):
        end, turns = m // 2, m % 2
        at, on = ends[b, 2 * end], ends[b, 2 * end + 1]
        for i in range(3):
            force = -_SHARES[m] / 12.0 * falling[i] + 0.0 * x[at]
            for k in range(4):
                force += _PRODUCTS[m][k] / 420.0 * y[k, i]
            if turns == 0:
                g[at + i] += mass * force
            else:
                for j in range(4):
                    g[on + j] += mass * slope[end, i, j] * force


@inlined
def _add_spin(
    masses: Masses, b: int, x: Any, vx: Any, ax: Any, g: Any, G: Any, E: Any, rate: Any
) -> None:
    """Add what turning of beam b about its own axis needs; rate (2, 4) is room."""
    share = masses.density[b, 1] * masses.length[b] / 6.0
    for end in range(2):
        on = masses.beams[b, 2 * end + 1]
        rate_forms(x, on, G, E)
        spin, gain = doubled(G, vx, on), doubled(G, ax, on)
        rate[end, 0], rate[end, 1] = 0.0 * x[on], 0.0 * x[on]
        for i in range(3):
            rate[end, 0] += masses.axis[b, i] * spin[i]
            rate[end, 1] += masses.axis[b, i] * gain[i]
    for end in range(2):
        on = masses.beams[b, 2 * end + 1]
        spin = 2.0 * share * (2.0 * rate[end, 0] + rate[1 - end, 0])
        gain = share * (2.0 * rate[end, 1] + rate[1 - end, 1])
        n = (masses.axis[b, 0], masses.axis[b, 1], masses.axis[b, 2])
        rate_forms(x, on, G, E)
        add_moment(G, scaled(gain, n), g, on)
        rate_forms(vx, on, G, E)
        add_moment(G, scaled(spin, n), g, on)


class MassRoom(NamedTuple):
    """Arrays in which masses and loads work, of the type of the coordinates."""

    G: Any
    E: Any
    R: Any
    y: Any
    slope: Any


def mass_room(dtype: Any) -> MassRoom:
    """Room for masses whose coordinates are real or complex."""
    shapes = ((3, 4), (3, 4), (3, 3), (4, 3), (2, 3, 4))
    return MassRoom(*(np.zeros(shape, dtype) for shape in shapes))


@inlined
def add_inertia(masses: Masses, x: Any, vx: Any, ax: Any, g: Any, room: MassRoom) -> None:
    """Add M ax + h(x, vx), with the weight, of everything that is heavy."""
    falling, G, E = masses.gravity, room.G, room.E
    for i in range(len(masses.bodies)):
        _add_body(masses, i, x, vx, ax, falling, g, G, E, room.R)
    for b in range(len(masses.beams)):
        _add_beam(masses, b, x, vx, ax, falling, g, room.y, room.slope)
        if masses.density[b, 1] != 0.0:
            _add_spin(masses, b, x, vx, ax, g, G, E, room.y)
