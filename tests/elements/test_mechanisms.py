"""Closed loops against their closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from armtwin.elements import together
from armtwin.elements.equations import (
    forward_dynamics,
    inverse_dynamics,
    linearise,
    mass_matrix,
    place,
    transfer_functions,
)
from armtwin.elements.loads import add_stress
from armtwin.elements.parts import (
    Beam,
    ElementSpring,
    Gas,
    Hinge,
    Moment,
    Parts,
    Point,
    PointForce,
    RigidBody,
    Triad,
    Truss,
)
from armtwin.elements.placed import tables_of
from armtwin.elements.rank import rank_problem, release_redundant
from armtwin.elements.structure import Structure
from armtwin.errors import ArmtwinError
from armtwin.maths.tracing import python_of
from tests.elements.models import (
    BENT,
    FIXED,
    PLANE,
    beam_row,
    circles_meet,
    four_bar,
    four_bar_by_hand,
    four_bar_of_beams,
    point_mass,
    polar_arm,
    slider_crank,
    tube,
)


def test_four_bar_follows_its_closed_form_over_a_whole_turn():
    structure = four_bar()
    C = structure.places["C"]
    x = structure.reference
    for angle in np.linspace(0, 2 * np.pi, 25):
        found = transfer_functions(structure, [angle], start=x)
        x = found.x
        v, a = 1.3, -0.7
        position, velocity, acceleration = four_bar_by_hand(angle, v, a)
        xv = found.DF[C : C + 2, 0] * v
        xa = found.DF[C : C + 2, 0] * a + found.D2F[C : C + 2, 0, 0] * v * v
        assert np.abs(found.x[C : C + 2] - position).max() < 1e-13
        assert np.abs(xv - velocity).max() < 1e-13
        assert np.abs(xa - acceleration).max() < 1e-12


def test_slider_crank_reads_its_stroke():
    """x = r cos θ + √(l² - r² sin² θ), with its derivatives."""
    r, rod = 0.1, 0.35
    structure = slider_crank(r, rod)
    row = structure.row("slider.elongation")
    for angle in (0.3, 1.9, 4.0):
        found = transfer_functions(structure, [angle])
        s, c = np.sin(angle), np.cos(angle)
        root = np.sqrt(rod**2 - (r * s) ** 2)
        slope = -r * s - r * r * s * c / root
        curvature = -r * c - r * r * (c * c - s * s) / root - (r * r * s * c) ** 2 / root**3
        assert abs(found.e[row] - (r * c + root - r - rod)) < 1e-14
        assert abs(found.DE[row, 0] - slope) < 1e-14
        assert abs(found.D2E[row, 0, 0] - curvature) < 1e-13


def test_four_bar_with_mass_and_weight_needs_the_torque_of_its_energy():
    """τ = d/dt(I v) - ½ I' v² + U' with the inertia I(θ) of a mass on the pin, by differences."""
    mass, g = 2.0, 9.81
    structure = four_bar(gravity=(0.0, -g, 0.0))
    structure = structure.with_parts(bodies=(point_mass("C", "ground", mass),))
    v, a, h = 1.4, 0.6, 1e-5

    def inertia(angle):
        return mass * np.sum(four_bar_by_hand(angle, 1.0, 0.0)[1] ** 2)

    for angle in (0.4, 2.2, 5.0):
        response = inverse_dynamics(structure, [[angle]], [[v]], [[a]])
        slope = (inertia(angle + h) - inertia(angle - h)) / (2 * h)
        weight = mass * g * four_bar_by_hand(angle, 1.0, 0.0)[1][1]
        expected = inertia(angle) * a + 0.5 * slope * v * v + weight
        assert abs(response.tau[0, 0] - expected) < 1e-8


def test_polar_arm_needs_the_torque_and_force_of_its_closed_form():
    mass, g = 3.0, (0.0, -9.81, 0.0)
    structure = polar_arm((point_mass("hand", "hand_triad", mass),), g)
    angle, slide, w, u, dw, du = 0.7, 0.3, 1.1, -0.4, 0.5, 0.8
    r = 0.5 + slide
    response = inverse_dynamics(structure, [[angle, slide]], [[w, u]], [[dw, du]])
    weight = mass * 9.81
    torque = mass * (r * r * dw + 2 * r * u * w) + weight * r * np.cos(angle)
    force = mass * (du - r * w * w) + weight * np.sin(angle)
    assert np.abs(response.tau[0] - [torque, force]).max() < 1e-13


def test_forward_dynamics_returns_the_accelerations():
    structure = four_bar(gravity=(0.0, -9.81, 0.0))
    structure = structure.with_parts(bodies=(point_mass("C", "ground", 2.0),))
    tau = inverse_dynamics(structure, [[0.8]], [[1.2]], [[-0.6]]).tau[0]
    assert abs(forward_dynamics(structure, [0.8], [1.2], tau)[0] + 0.6) < 1e-13
    M = mass_matrix(structure, [0.8])
    slow = inverse_dynamics(structure, [[0.8]], [[1.2]], [[0.0]]).tau[0]
    assert abs((tau - slow)[0] + 0.6 * M[0, 0]) < 1e-13


def whole_torque(structure, x, v, a):
    """Forces on the degrees of freedom at complex coordinates, everything in plain matrices."""
    tables = tables_of(structure)
    elements = tables.geometry.elements
    rows = len(elements.width)
    e, local = together.slopes(elements, x[:, None])
    e, local = e[:, 0], local[:, :, 0]
    D = np.zeros((rows, len(x)), complex)
    for row in range(rows):
        count = elements.width[row]
        D[row, elements.columns[row, :count]] = local[row, :count]
    held, unknown = structure.prescribed_rows, structure.calculated_columns
    J = D[np.ix_(held, unknown)]

    def follow(change):
        found = np.zeros(len(x), complex)
        found[unknown] = np.linalg.solve(J, change[held])
        return found

    def on_rows(value):
        found = np.zeros(rows, complex)
        found[structure.free_rows] = value
        return found

    vx = follow(on_rows(v))
    bend = together.curvatures(elements, x[:, None], vx[:, None], vx[:, None])[:, 0]
    ax = follow(on_rows(a) - bend)
    sigma = np.zeros(rows, complex)
    python_of(add_stress)(tables.laws, e, D @ vx, sigma)
    moving = x[:, None], vx[:, None], ax[:, None]
    g = together.forces(tables.masses, tables.loads, *moving)[:, 0]
    reaction = np.zeros(rows, complex)
    reaction[held] = np.linalg.solve(J.T, (g + D.T @ sigma)[unknown])
    return reaction[structure.free_rows]


def test_linear_equations_are_the_complex_step_of_the_whole(rng):
    """x + i h DF is F(q + i h) exactly: one complex evaluation is a column of K + N + G.

    A row of bending beams on a driven hinge with a loop to its tip, damped, moving, loaded.
    """
    section = tube(EI=20.0, EA=1e4, mass=1.0, polar=0.01, relaxation=1e-3)
    loads = (PointForce("p2", (1.0, 2.0, 3.0)), Moment("t2", (0.3, 0.2, 0.1), "base"))
    row = beam_row(2, section, loads=loads, gravity=(0.0, -9.81, 0.0), drive=(0.0, 0.0, 1.0))
    strut = Truss("strut", "p0", "p2", "calculated", ElementSpring(30.0, 400.0, 7.0))
    row = row.with_parts(elements=(strut, *row.parts.elements))
    q, v, a = rng.normal(size=(3, row.n)) * [[0.05], [0.5], [0.5]]
    linear, there = linearise(row, q, v, a), place(row, q)
    h = 1e-100
    scale = np.abs(linear.stiffness).max()
    for k in range(row.n):
        stepped = whole_torque(row, there.x + 1j * h * there.DF[:, k], v, a)
        assert np.abs(stepped.imag / h - linear.stiffness[:, k]).max() < 1e-12 * scale
        faster = whole_torque(row, there.x + 0j, v + 1j * h * np.eye(row.n)[k], a)
        assert np.abs(faster.imag / h - linear.C[:, k]).max() < 1e-12 * np.abs(linear.C).max()


def test_four_bar_of_spatial_hinges_is_held_three_times_too_often():
    structure = four_bar_of_beams()
    assert len(structure.prescribed_rows) == 33
    assert len(structure.calculated_columns) == 30
    sentence = rank_problem(structure, structure.reference)
    assert "held 3 times too often: 33 prescribed deformations on 30" in sentence
    with pytest.raises(ArmtwinError, match="held 3 times too often"):
        place(structure, [0.1])


def test_released_modes_stay_at_zero_and_have_no_stress():
    structure = release_redundant(four_bar_of_beams())
    assert len(structure.released) == 3
    rows = [structure.row(name) for name in structure.released]
    C = structure.places["C"]
    for angle in (0.5, 2.5, 5.5):
        there = place(structure, [angle])
        assert np.abs(there.e[rows]).max() < 1e-13
        assert np.abs(there.x[C : C + 2] - four_bar_by_hand(angle, 1, 0)[0]).max() < 1e-13
    response = inverse_dynamics(structure, [[0.5]], [[1.0]], [[0.0]])
    assert np.isnan(response.stress[0, rows]).all()


def test_one_constraint_too_little_is_named():
    parts = four_bar().parts
    loose = Structure(Parts(parts.points, parts.triads, parts.elements[1:]))
    with pytest.raises(ArmtwinError, match=r"held once too little.*Nothing holds C\.[xy]"):
        place(loose, [0.1])


def test_parallelogram_laid_flat_is_refused_by_name():
    """All four pins on a line: the coupler may go on as a parallelogram or fold over."""
    points = (
        Point("A", (0.0, 0.0, 0.0), FIXED),
        Point("B", (0.2, 0.0, 0.0)),
        Point("C", (0.7, 0.0, 0.0), PLANE),
        Point("D", (0.5, 0.0, 0.0), FIXED),
    )
    triads = (Triad("ground", held=True), Triad("crank"), Triad("crank_end"))
    elements = (
        Truss("coupler", "B", "C"),
        Truss("rocker", "C", "D"),
        Hinge("drive", "ground", "crank", (0.0, 0.0, 1.0)),
        Beam("crank_beam", ("A", "B"), ("crank", "crank_end")),
    )
    structure = Structure(Parts(points, triads, elements))
    with pytest.raises(ArmtwinError, match=r"singular position.*C\.y can move"):
        place(structure, [0.1])


def test_loop_that_cannot_close_says_where():
    """A crank of 0.4 m between a coupler of 0.3 and a rocker of 0.3 m cannot turn all the way."""
    B, D = np.array([0.0, 0.4]), np.array([0.3, 0.0])
    C = circles_meet(D, 0.3, B, 0.3)
    points = (
        Point("A", (0.0, 0.0, 0.0), FIXED),
        Point("B", (*B, 0.0)),
        Point("C", (*C, 0.0), PLANE),
        Point("D", (*D, 0.0), FIXED),
    )
    parts = four_bar().parts
    structure = Structure(Parts(points, parts.triads, parts.elements))
    with pytest.raises(ArmtwinError, match=r"cannot be placed at q = \(1.5\)|singular position"):
        place(structure, [1.5])


def test_beam_of_no_length_is_refused():
    points = (Point("A", (0.0, 0.0, 0.0), FIXED), Point("B", (0.0, 0.0, 0.0)))
    triads = (Triad("s", held=True), Triad("t"))
    with pytest.raises(ArmtwinError, match="beam 'rod': length must be above 0 m, got 0"):
        Structure(Parts(points, triads, (Beam("rod", ("A", "B"), ("s", "t")),)))


def test_unknown_node_is_named_with_a_suggestion():
    points = (Point("elbow", (0.0, 0.0, 0.0), FIXED), Point("wrist", (1.0, 0.0, 0.0)))
    with pytest.raises(ArmtwinError, match=r"point 'wirst' is not known\. Did you mean 'wrist'\?"):
        Structure(Parts(points, (), (Truss("rod", "elbow", "wirst"),)))


def test_tripod_carries_its_load_as_the_equilibrium_of_its_joint(rng):
    """Σ N u + F = 0 with the directions u of three rods, tension positive; one is driven."""
    feet = np.array([[1.0, 0.0, 0.0], [-0.6, 0.8, 0.1], [-0.5, -0.9, -0.2]])
    top, force = np.array([0.1, -0.05, 1.2]), rng.normal(size=3) * 100
    points = [Point(f"f{i}", tuple(foot), FIXED) for i, foot in enumerate(feet)]
    rods = [Truss(f"r{i}", f"f{i}", "top", "held" if i else "free") for i in range(3)]
    load = (PointForce("top", tuple(force)),)
    tripod = Structure(
        Parts((*points, Point("top", tuple(top))), (Triad("g", held=True),), tuple(rods), (), load)
    )
    away = (feet - top) / np.linalg.norm(feet - top, axis=1, keepdims=True)
    found = inverse_dynamics(tripod, [[0.0]], [[0.0]], [[0.0]])
    assert np.abs(found.stress[0] - np.linalg.solve(away.T, -force)).max() < 1e-11


def arm_of_beams(turn, shift, v):
    """Forces of a moving elastic arm, the whole of which is turned and shifted in space."""
    loads = (PointForce("p2", tuple(turn @ [1.0, 2.0, 3.0])), Moment("t2", tuple(turn @ [0, 1, 2])))
    section = tube(EI=20.0, EIy=30.0, EA=1e4, mass=1.0, polar=0.01)
    row = beam_row(2, section, loads=loads, drive=tuple(turn @ [0.0, 0.0, 1.0]))
    points = tuple(replace(p, at=tuple(turn @ p.at + shift)) for p in row.parts.points)
    beams = (replace(b, side=tuple(turn @ b.side)) for b in row.beams)
    gravity = tuple(turn @ [0.0, -9.81, 1.0])
    row = row.with_parts(points=points, elements=(*row.hinges, *beams), gravity=gravity)
    q, a = np.linspace(-0.04, 0.05, row.n), np.linspace(2.0, -1.0, row.n)
    return inverse_dynamics(row, [q], [v * np.linspace(1.0, 0.3, row.n)], [a]).tau[0]


def test_arm_turned_and_shifted_with_all_its_loads_needs_the_same_forces(rng):
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    still = arm_of_beams(np.eye(3), np.zeros(3), 1.0)
    there = arm_of_beams(turn, rng.normal(size=3), 1.0)
    assert np.abs(there - still).max() < 1e-10 * np.abs(still).max()


def test_undamped_arm_needs_the_same_forces_backwards_in_time():
    forwards, backwards, slow = (arm_of_beams(np.eye(3), np.zeros(3), v) for v in (1.5, -1.5, 0))
    assert np.abs(forwards - backwards).max() < 1e-12 * np.abs(forwards).max()
    assert np.abs(forwards - slow).max() > 0.1


def test_spinning_disc_that_is_turned_needs_the_gyroscopic_moment():
    """Ω z × I ω x = I ω Ω y, which the spin hinge gives: its stress is the opposite."""
    triads = (Triad("ground", held=True), Triad("table"), Triad("disc"))
    hinges = (
        Hinge("turn", "ground", "table", (0.0, 0.0, 1.0)),
        Hinge("spin", "table", "disc", (1.0, 0.0, 0.0), side=(0.0, 1.0, 0.0)),
    )
    disc = RigidBody("o", "disc", (0, 0, 0, 0, 0.4, 0.2, 0.2, 0, 0, 0))
    gyro = Structure(Parts((Point("o", (0, 0, 0), FIXED),), triads, hinges, (disc,)))
    found = inverse_dynamics(gyro, [[0.7, 0.0]], [[3.0, 50.0]], [[0.0, 0.0]])
    bends = [found.stress[0, gyro.row(f"spin.bend_{axis}")] for axis in "yz"]
    assert np.abs(found.tau).max() < 1e-12
    assert np.abs(np.subtract(bends, [-0.4 * 3.0 * 50.0, 0.0])).max() < 1e-11


def gas_strut():
    wall, slide = Point("wall", (0, 0, 0), FIXED), ("calculated", "held", "held")
    strut = Truss("strut", "wall", "eye", "free", Gas(50.0, 0.3))
    ends = (wall, Point("eye", (1, 0, 0), slide))
    return Structure(Parts(ends, (Triad("ground", held=True),), (strut,)))


def test_gas_strut_takes_the_isothermal_work():
    """∫ σ de = strength ln(stroke/(stroke - e)), by Gauss quadrature of twelve nodes."""
    at, weight = np.polynomial.legendre.leggauss(12)
    tau = inverse_dynamics(gas_strut(), 0.1 + 0.1 * at[:, None], *np.zeros((2, 12, 1))).tau[:, 0]
    assert abs(0.1 * weight @ tau - 50.0 * np.log(3.0)) < 1e-6


def test_gas_strut_stiffens_with_the_square_of_the_room_it_loses():
    stiffness = [linearise(gas_strut(), [e]).stiffness[0, 0] for e in (0.0, 0.15, 0.2)]
    assert np.allclose(stiffness, 50.0 / np.array([0.3, 0.15, 0.1]) ** 2, rtol=1e-13)


@pytest.mark.parametrize(
    ("diagonals", "sentence"),
    [(0, "held once too little"), (2, "held once too often"), (1, "")],
)
def test_square_of_rods_follows_maxwells_count(diagonals, sentence):
    """2 free pins have 4 coordinates: 3 sides and one diagonal hold them."""
    corners = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (1.0, 1.0), "d": (0.0, 1.0)}
    points = [Point(k, (*v, 0.0), FIXED if k in "ab" else PLANE) for k, v in corners.items()]
    rods = [Truss(ends, *ends) for ends in ("bc", "cd", "da", "ac", "bd")[: 3 + diagonals]]
    square = Structure(Parts(tuple(points), (), tuple(rods)))
    found = rank_problem(square, square.reference)
    assert sentence in found
    assert bool(found) == bool(sentence)


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (Hinge("h", "g", "g", (0.0, 0.0, 0.0)), "hinge 'h': axis must have a length"),
        (Truss("s", "a", "b", law=Gas(1.0, -0.2)), "stroke of its gas must be above 0 m, got -0.2"),
        (Beam("b", ("a", "b"), ("g", "g"), modes=BENT), "beam 'b': a section with stiffness"),
        (RigidBody("a", "g", (1.0, 0.0)), "body 1: ten finite parameters are needed"),
        (PointForce("c", (0.0, 0.0, 1.0)), "load 1: point 'c' is not known"),
        (Triad("a"), "node 'a': a name must be used once, got 2 times"),
    ],
)
def test_part_that_cannot_be_used_is_refused_with_its_reason(part, sentence):
    kinds = {Triad: "triads", RigidBody: "bodies", PointForce: "loads"}
    ends = (Point("a", (0.0, 0.0, 0.0), FIXED), Point("b", (1.0, 0.0, 0.0)))
    parts = Parts(ends, (Triad("g", held=True),), ())
    where = kinds.get(type(part), "elements")
    with pytest.raises(ArmtwinError, match=sentence):
        Structure(replace(parts, **{where: (*getattr(parts, where), part)}))


def test_degrees_of_freedom_that_are_not_finite_are_refused_with_their_place():
    with pytest.raises(ArmtwinError, match=r"q must be finite .*got nan at index \(1,\)"):
        place(polar_arm((), (0.0, 0.0, 0.0)), [0.1, np.nan])
