"""Forces on nodes: inertia of bodies and beams, loads, and laws of stress along deformations.

g = M(x) ax + h(x, vx) is a force on the nodal coordinates. A body sits on a point and a triad with
its ten parameters about the point, in the axes of the reference state (order m, m s, xx yy zz xy xz
yz, xy = -∫ x y dm):

    F' = m a' + α'×h + ω'×(ω'×h)     T' = J'α' + ω'×J'ω' + h×a'     a' = R'(ax - gravity)
    g = (R F', 2 G'T')

The centre line of a beam with mass is Hermite's cubic through y = (x_p, l0 t_p, x_q, l0 t_q),
t = R n_x', so that its mass matrix M_y is constant:

    g = (dy/dx)' [M_y ÿ - ρA l0 (6, 1, 6, -1)/12 ⊗ gravity]
    spin about the axis, rates s = S(x) vx:   g += S' m S ax + 2 S(vx)' m S vx

Laws of stress:

    σ = σ0 + Σ S e + Σ B de/dt + strength/(stroke - e)        the last one for a gas strut

A dead force acts on a point, a moment on a triad about its own axes or about those of the base (the
latter has no energy in large rotation).

Ref: [Waiboer 2007, 4.15-4.17], [Jonker-Meijaard 2013]
"""

from typing import NamedTuple

from armtwin.elements.beam import Ends, ends_of
from armtwin.elements.rotations import (
    Four,
    add_four,
    add_three,
    body_rate,
    four,
    moment_force,
    rotate_back_by_triad,
    rotate_bilinear,
    rotate_by_triad,
    three,
    turn_slope,
)
from armtwin.maths.batch import Floats, Integers
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import Vector, add, body_wrench, dot, scale_vector, ten, vector


class Masses(NamedTuple):
    """What is heavy, packed.

    Attributes:
        bodies: Where the point and the triad of each body start, (m, 2).
        inertia: Ten parameters of each body, (m, 10).
        beams: Where point p, triad p, point q, triad q of each beam with mass start, (b, 4).
        axis: n_x' of each such beam, (b, 3).
        bulk: Its length [m], mass per length ρA [kg/m], polar inertia per length ρI_p [kg m],
            (b, 3).
        gravity: Gravity vector, (3,) [m/s²].
    """

    bodies: Integers
    inertia: Floats
    beams: Integers
    axis: Floats
    bulk: Floats
    gravity: Floats


@inlined
def add_body(
    masses: Masses,
    i: int,
    at: tuple[int, int],
    x: Floats,
    vx: Floats,
    ax: Floats,
    gravity: Vector,
    g: Floats,
) -> None:
    """Add the force of body i, its point and triad at places of x."""
    point, triad = at
    turn = four(x, triad)
    pushed = add(three(ax, point), scale_vector(-1.0, gravity))
    om = body_rate(turn, four(vx, triad))
    al = body_rate(turn, four(ax, triad))
    ac = rotate_back_by_triad(turn, pushed)
    force, torque = body_wrench(ten(masses.inertia, i), om, al, ac)
    add_three(g, point, rotate_by_triad(turn, force))
    add_four(g, triad, moment_force(turn, torque))


@inlined
def _combine_rows(y: tuple[Vector, Vector, Vector, Vector], weights: Four) -> Vector:
    """Weighted sum of the four rows of a cubic."""
    a, b, c, d = weights
    at_p = add(scale_vector(a, y[0]), scale_vector(b, y[1]))
    at_q = add(scale_vector(c, y[2]), scale_vector(d, y[3]))
    return add(at_p, at_q)


@inlined
def _tangent_gain(x: Floats, vx: Floats, ax: Floats, triad: int, n: Vector) -> Vector:
    """Second rate of R n."""
    turn = four(x, triad)
    rate = four(vx, triad)
    gained = rotate_bilinear(turn, four(ax, triad), n)
    swept = rotate_bilinear(rate, rate, n)
    return scale_vector(2.0, add(gained, swept))


@inlined
def add_beam(
    masses: Masses, i: int, at: Ends, x: Floats, vx: Floats, ax: Floats, gravity: Vector, g: Floats
) -> None:
    """Add the force of beam i, its nodes at places of x."""
    n = vector(masses.axis, i)
    length, mass = masses.bulk[i, 0], masses.bulk[i, 0] * masses.bulk[i, 1]
    y = (
        three(ax, at[0]),
        scale_vector(length, _tangent_gain(x, vx, ax, at[1], n)),
        three(ax, at[2]),
        scale_vector(length, _tangent_gain(x, vx, ax, at[3], n)),
    )
    # Hermite's cubics: integrals of the products of the four shape functions, times 420, and of
    # each function, times 12
    share, weight = mass / 420.0, mass / 12.0
    at_p = scale_vector(share, _combine_rows(y, (156.0, 22.0, 54.0, -13.0)))
    turn_p = scale_vector(share, _combine_rows(y, (22.0, 4.0, 13.0, -3.0)))
    at_q = scale_vector(share, _combine_rows(y, (54.0, 13.0, 156.0, -22.0)))
    turn_q = scale_vector(share, _combine_rows(y, (-13.0, -3.0, -22.0, 4.0)))
    add_three(g, at[0], add(at_p, scale_vector(-6.0 * weight, gravity)))
    add_three(g, at[2], add(at_q, scale_vector(-6.0 * weight, gravity)))
    moved_p = scale_vector(length, add(turn_p, scale_vector(-weight, gravity)))
    moved_q = scale_vector(length, add(turn_q, scale_vector(weight, gravity)))
    add_four(g, at[1], turn_slope(four(x, at[1]), n, moved_p))
    add_four(g, at[3], turn_slope(four(x, at[3]), n, moved_q))
    _add_spin(masses.bulk[i, 2] * length / 6.0, n, at, x, vx, ax, g)


@inlined
def _add_spin(
    share: float, n: Vector, at: Ends, x: Floats, vx: Floats, ax: Floats, g: Floats
) -> None:
    """Add what turning of a beam about its own axis needs."""
    p = four(x, at[1])
    q = four(x, at[3])
    rate_p = four(vx, at[1])
    rate_q = four(vx, at[3])
    spin_p = dot(n, body_rate(p, rate_p))
    spin_q = dot(n, body_rate(q, rate_q))
    gain_p = dot(n, body_rate(p, four(ax, at[1])))
    gain_q = dot(n, body_rate(q, four(ax, at[3])))
    twice = 2.0 * share
    gained_p = scale_vector(share * (2.0 * gain_p + gain_q), n)
    gained_q = scale_vector(share * (2.0 * gain_q + gain_p), n)
    spun_p = scale_vector(twice * (2.0 * spin_p + spin_q), n)
    spun_q = scale_vector(twice * (2.0 * spin_q + spin_p), n)
    add_four(g, at[1], moment_force(p, gained_p))
    add_four(g, at[3], moment_force(q, gained_q))
    add_four(g, at[1], moment_force(rate_p, spun_p))
    add_four(g, at[3], moment_force(rate_q, spun_q))


FORCE, OWN_MOMENT, BASE_MOMENT = range(3)


class Laws(NamedTuple):
    """Stress on rows of the deformations, packed.

    Attributes:
        preload: σ0 on every row, (rows,) [N, N m].
        spring_rows: Row of the stress and row of the deformation, (s, 2).
        springs: Stiffness of each pair, (s,).
        damper_rows: The same for dampers, (d, 2).
        dampers: Damping of each pair, (d,).
        gas_rows: Rows with a gas strut, (g,).
        gas: Strength [J] and stroke [m] at which the gas has no room left, (g, 2).
    """

    preload: Floats
    spring_rows: Integers
    springs: Floats
    damper_rows: Integers
    dampers: Floats
    gas_rows: Integers
    gas: Floats


class LoadTables(NamedTuple):
    """Loads on nodes, packed.

    Attributes:
        kind: FORCE, OWN_MOMENT or BASE_MOMENT, (loads,).
        at: Where the loaded points and triads start, (loads,).
        value: Forces [N] and moments [N m], (loads, 3).
    """

    kind: Integers
    at: Integers
    value: Floats


@inlined
def add_stress(laws: Laws, e: Floats, rate: Floats, sigma: Floats) -> None:
    """Add the stress of all laws at deformations e with rates de/dt."""
    for i in range(len(e)):
        sigma[i] += laws.preload[i]
    for i in range(len(laws.springs)):
        sigma[laws.spring_rows[i, 0]] += laws.springs[i] * e[laws.spring_rows[i, 1]]
    for i in range(len(laws.dampers)):
        sigma[laws.damper_rows[i, 0]] += laws.dampers[i] * rate[laws.damper_rows[i, 1]]
    for i in range(len(laws.gas_rows)):
        row = laws.gas_rows[i]
        sigma[row] += laws.gas[i, 0] / (laws.gas[i, 1] - e[row])


@inlined
def add_load(kind: int, T: Vector, at: int, x: Floats, g: Floats) -> None:
    """Add a load on the node that starts at a place of x."""
    if kind == FORCE:
        add_three(g, at, T)
    elif kind == OWN_MOMENT:
        add_four(g, at, moment_force(four(x, at), T))
    else:
        turn = four(x, at)
        add_four(g, at, moment_force(turn, rotate_back_by_triad(turn, T)))


@inlined
def add_forces(
    masses: Masses, loads: LoadTables, share: float, x: Floats, vx: Floats, ax: Floats, g: Floats
) -> None:
    """Add M ax + h(x, vx) of all masses, less a share of their weight and of all loads."""
    gravity = (share * masses.gravity[0], share * masses.gravity[1], share * masses.gravity[2])
    bodies, beams = masses.bodies, masses.beams
    for i in range(len(bodies)):
        add_body(masses, i, (bodies[i, 0], bodies[i, 1]), x, vx, ax, gravity, g)
    for i in range(len(beams)):
        add_beam(masses, i, ends_of(beams, i), x, vx, ax, gravity, g)
    for i in range(len(loads.kind)):
        T = scale_vector(-share, vector(loads.value, i))
        add_load(loads.kind[i], T, loads.at[i], x, g)
