"""Structures that several tests and the study ask: beams in a row, four-bars, slider-cranks."""

import numpy as np

from armtwin.elements.parts import (
    Beam,
    CrossSection,
    Hinge,
    Parts,
    Point,
    PointForce,
    RigidBody,
    Triad,
    Truss,
)
from armtwin.elements.structure import Structure

BENT = ("free",) * 6
UNSTRETCHED = ("held", *("free",) * 5)
PLANE = ("calculated", "calculated", "held")
FIXED = ("held", "held", "held")


def beam_row(
    count,
    section,
    length=1.0,
    loads=(),
    form="better",
    modes=BENT,
    gravity=(0.0, 0.0, 0.0),
    drive=None,
    turn=None,
):
    """A straight row of beams from the origin, clamped there or on a driven hinge.

    drive: axis of the hinge. turn: rotation per element about z [rad], for a curved beam.
    """
    points, heading = [np.zeros(3)], 0.0
    for _ in range(count):
        heading += 0.0 if turn is None else turn / 2
        step = np.array([np.cos(heading), np.sin(heading), 0.0])
        points.append(points[-1] + length / count * step)
        heading += 0.0 if turn is None else turn / 2
    nodes = [Point("p0", tuple(points[0]), FIXED)]
    nodes += [Point(f"p{i}", tuple(points[i])) for i in range(1, count + 1)]
    triads = [Triad("t0", held=drive is None)]
    triads += [Triad(f"t{i}") for i in range(1, count + 1)]
    elements = []
    if drive is not None:
        triads.insert(0, Triad("ground", held=True))
        elements.append(Hinge("drive", "ground", "t0", drive))
    for i in range(count):
        ends, sides = (f"p{i}", f"p{i + 1}"), (f"t{i}", f"t{i + 1}")
        side = tuple(np.cross([0.0, 0.0, 1.0], points[i + 1] - points[i]))
        elements.append(Beam(f"b{i}", ends, sides, section, modes, side, form))
    return Structure(Parts(tuple(nodes), tuple(triads), tuple(elements), (), tuple(loads), gravity))


def tube(EI=1.0, EA=1e6, GJ=None, EIy=None, **more):
    return CrossSection(EA, EI if GJ is None else GJ, EI if EIy is None else EIy, EI, **more)


def circles_meet(a, ra, b, rb):
    """Upper point at distances ra and rb from two points in the plane."""
    d = np.linalg.norm(b - a)
    along = (d * d + ra * ra - rb * rb) / (2 * d)
    up = np.sqrt(ra * ra - along * along)
    u = (b - a) / d
    return a + along * u + up * np.array([-u[1], u[0]])


CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.45


def four_bar(bodies=(), gravity=(0.0, 0.0, 0.0)):
    """A plane four-bar of a driven crank and two rods."""
    C = circles_meet(np.array([CRANK, 0.0]), COUPLER, np.array([GROUND, 0.0]), ROCKER)
    points = (
        Point("A", (0.0, 0.0, 0.0), FIXED),
        Point("B", (CRANK, 0.0, 0.0)),
        Point("C", (*C, 0.0), PLANE),
        Point("D", (GROUND, 0.0, 0.0), FIXED),
    )
    triads = (Triad("ground", held=True), Triad("crank"), Triad("crank_end"))
    elements = (
        Truss("coupler", "B", "C"),
        Truss("rocker", "C", "D"),
        Hinge("drive", "ground", "crank", (0.0, 0.0, 1.0)),
        Beam("crank_beam", ("A", "B"), ("crank", "crank_end")),
    )
    return Structure(Parts(points, triads, elements, tuple(bodies), (), gravity))


def four_bar_of_beams():
    """The same of four hinges and three rigid beams in space: held three times too often."""
    C = circles_meet(np.array([CRANK, 0.0]), COUPLER, np.array([GROUND, 0.0]), ROCKER)
    points = (
        Point("A", (0.0, 0.0, 0.0), FIXED),
        Point("B", (CRANK, 0.0, 0.0)),
        Point("C", (*C, 0.0)),
        Point("D", (GROUND, 0.0, 0.0), FIXED),
    )
    names = ("crank_a", "crank_b", "coupler_b", "coupler_c", "rocker_c", "rocker_d")
    triads = (Triad("ground", held=True), *(Triad(name) for name in names))
    z, passive = (0.0, 0.0, 1.0), ("calculated", "held", "held")
    elements = (
        Hinge("drive", "ground", "crank_a", z),
        Hinge("at_b", "crank_b", "coupler_b", z, passive),
        Hinge("at_c", "coupler_c", "rocker_c", z, passive),
        Hinge("at_d", "rocker_d", "ground", z, passive),
        Beam("crank_beam", ("A", "B"), ("crank_a", "crank_b")),
        Beam("coupler_beam", ("B", "C"), ("coupler_b", "coupler_c")),
        Beam("rocker_beam", ("C", "D"), ("rocker_c", "rocker_d")),
    )
    return Structure(Parts(points, triads, elements))


def four_bar_by_hand(angle, v, a):
    """Position, velocity and acceleration of the pin C: two circles, differentiated by hand."""
    turn = np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-turn[1], turn[0]])
    B, vB, aB = CRANK * turn, CRANK * v * across, CRANK * (a * across - v * v * turn)
    D = np.array([GROUND, 0.0])
    C = circles_meet(B, COUPLER, D, ROCKER)
    sides = np.array([C - B, C - D])
    vC = np.linalg.solve(sides, [(C - B) @ vB, 0.0])
    right = [(C - B) @ aB - (vC - vB) @ (vC - vB), -vC @ vC]
    return C, vC, np.linalg.solve(sides, right)


def slider_crank(radius=0.1, rod=0.35):
    """A crank, a rod and a pin on the x axis; the slider truss reads its stroke from x = -0.2."""
    points = (
        Point("A", (0.0, 0.0, 0.0), FIXED),
        Point("B", (radius, 0.0, 0.0)),
        Point("C", (radius + rod, 0.0, 0.0), ("calculated", "held", "held")),
        Point("wall", (-0.2, 0.0, 0.0), FIXED),
    )
    triads = (Triad("ground", held=True), Triad("crank"), Triad("crank_end"))
    elements = (
        Truss("rod", "B", "C"),
        Truss("slider", "wall", "C", "calculated"),
        Hinge("drive", "ground", "crank", (0.0, 0.0, 1.0)),
        Beam("crank_beam", ("A", "B"), ("crank", "crank_end")),
    )
    return Structure(Parts(points, triads, elements))


def polar_arm(bodies, gravity):
    """An arm that turns about z and slides out along x."""
    points = (Point("pole", (0.0, 0.0, 0.0), FIXED), Point("hand", (0.5, 0.0, 0.0)))
    triads = (Triad("ground", held=True), Triad("arm"), Triad("hand_triad"))
    slide = ("free", *("held",) * 5)
    elements = (
        Hinge("turn", "ground", "arm", (0.0, 0.0, 1.0)),
        Beam("slide", ("pole", "hand"), ("arm", "hand_triad"), None, slide),
    )
    return Structure(Parts(points, triads, elements, bodies, (), gravity))


def point_mass(point, triad, mass):
    return RigidBody(point, triad, (mass, *(0.0,) * 9))


STRIP = 0.508  # length of the narrow strip [m]


def narrow_strip(count, form="better"):
    """The Princeton strip of aluminium, loaded by 13.345 N at 30 degrees to its stiff side."""
    width, thick, E, nu = 12.377e-3, 3.2024e-3, 71.7e9, 0.31
    wide, flat = E * thick * width**3 / 12, E * width * thick**3 / 12
    ratio = thick / width
    J = width * thick**3 * (1 / 3 - 0.21 * ratio * (1 - ratio**4 / 12))
    angle, force = np.radians(30), 13.345
    section = tube(EI=flat, EIy=wide, GJ=E / (2 * (1 + nu)) * J, EA=E * width * thick)
    load = (PointForce(f"p{count}", (0.0, force * np.sin(angle), -force * np.cos(angle))),)
    return beam_row(count, section, STRIP, load, form)


def tip_twist(rest, count):
    """How far the tip of a strip has turned about its own axis [deg]."""
    at = rest.placed.structure.places[f"t{count}"]
    turn = rest.placed.x[at : at + 4]
    return np.degrees(2 * np.arctan2(turn[1], turn[0]))


def double_pendulum(count, EI=10.0, gravity=9.81):
    """Two flexible links of 1 m with 0.5 kg at the tip, level at the start."""
    points = [Point("p0", (0.0, 0.0, 0.0), FIXED)]
    triads, beams = [Triad("ground", held=True)], []
    section = tube(EI=EI, EA=1e5, mass=1.0)
    for link in range(2):
        triads.append(Triad(f"s{link}"))
        before = f"s{link}"
        for i in range(1, count + 1):
            at = link * count + i
            points.append(Point(f"p{at}", (link + i / count, 0.0, 0.0)))
            triads.append(Triad(f"t{at}"))
            ends, sides = (f"p{at - 1}", f"p{at}"), (before, f"t{at}")
            kinds = ("free", "held", "held", "held", "free", "free")
            beams.append(Beam(f"b{at}", ends, sides, section, kinds, (0.0, 1.0, 0.0), "better"))
            before = f"t{at}"
    z = (0.0, 0.0, 1.0)
    hinges = (Hinge("first", "ground", "s0", z), Hinge("second", f"t{count}", "s1", z))
    tip = point_mass(f"p{2 * count}", f"t{2 * count}", 0.5)
    weight = (0.0, -gravity, 0.0)
    return Structure(Parts(tuple(points), tuple(triads), (*hinges, *beams), (tip,), (), weight))


IN_PLANE = ("free", "held", "held", "held", "free", "free")
ON_A_ROLLER = ("calculated", "held", "calculated")
ENDS = {  # is the left end clamped; modes of the right point; is its triad held; last beam
    "clamped-free": (True, ("calculated",) * 3, False, IN_PLANE),
    "clamped-pinned": (True, ON_A_ROLLER, False, (*IN_PLANE[:4], "calculated", "free")),
    "pinned-pinned": (False, ON_A_ROLLER, False, IN_PLANE),
    "clamped-clamped": (True, ("calculated", "held", "held"), True, ("free", *("calculated",) * 5)),
}


def supported_beam(ends, count, section, loads=(), gravity=(0.0, 0.0, 0.0)):
    """A straight beam of 1 m in the plane of x and y, whose right end may slide along x."""
    clamped, at_end, turned, last = ENDS[ends]
    points = [Point(f"p{i}", (i / count, 0.0, 0.0)) for i in range(1, count)]
    points = [Point("p0", (0.0, 0.0, 0.0), FIXED), *points, Point(f"p{count}", (1, 0, 0), at_end)]
    triads = [Triad("t0", held=clamped), *(Triad(f"t{i}") for i in range(1, count))]
    triads.append(Triad(f"t{count}", held=turned))
    elements = []
    if not clamped:
        triads.append(Triad("ground", held=True))
        elements.append(Hinge("pin", "ground", "t0", (0, 0, 1), ("calculated", "held", "held")))
    for i in range(count):
        names = (f"p{i}", f"p{i + 1}"), (f"t{i}", f"t{i + 1}")
        kinds = IN_PLANE if i < count - 1 else last
        elements.append(Beam(f"b{i}", *names, section, kinds, (0.0, 1.0, 0.0), "better"))
    return Structure(Parts(tuple(points), tuple(triads), tuple(elements), (), loads, gravity))


def turned_about_z(rest, triad):
    """Rotation of a triad about z since the reference state [rad]."""
    at = rest.placed.structure.places[triad]
    return 2 * np.arctan2(rest.placed.x[at + 3], rest.placed.x[at])
