import numpy as np
import pytest

from armtwin.elements import packing, together
from armtwin.elements.deformation import curve, measure
from armtwin.elements.equations import place
from armtwin.elements.parts import Beam, CrossSection, Hinge, Parts, Point, Triad, Truss
from armtwin.elements.placed import Placed, tables_of
from armtwin.elements.rotations import rotate_by_triad
from armtwin.elements.structure import Structure
from armtwin.errors import ArmtwinError
from armtwin.maths.tracing import python_of
from tests.elements.models import BENT, FIXED, beam_row, tube


def product(p, q):
    """Product of two quaternions, the second turn first."""
    s, t = p[1:], q[1:]
    return np.concatenate([[p[0] * q[0] - s @ t], p[0] * t + q[0] * s + np.cross(s, t)])


def quaternion(axis, angle):
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis)])


def rotate(turn, n):
    return np.array(python_of(rotate_by_triad)(turn, n))


def one_of_each(form):
    """A truss, a hinge and a beam between nodes that all move."""
    points = (Point("p", (0.1, 0.2, 0.3)), Point("q", (0.5, -0.1, 0.6)))
    triads = (Triad("s"), Triad("t"))
    elements = (
        Truss("rod", "p", "q", "calculated"),
        Hinge("hinge", "s", "t", (1.0, 2.0, -1.0), ("calculated",) * 3),
        Beam("beam", ("p", "q"), ("s", "t"), tube(), ("calculated",) * 6, form=form),
    )
    base = Point("base", (0.0, 0.0, 0.0), FIXED)
    grounded = Truss("ground", "base", "p", "calculated")
    return Structure(Parts((*points, base), triads, (*elements, grounded)))


def measured(structure, x):
    """Deformations, measured without asking whether the structure is determined."""
    elements = packing.pack_elements(structure)
    columns, width = elements.columns, elements.width
    e, D = together.slopes(elements, x[:, None])
    whole = np.zeros((len(width), len(x)), x.dtype)
    for row in range(len(width)):
        whole[row, columns[row, : width[row]]] = D[row, : width[row], 0]
    return e[:, 0], whole


@pytest.mark.parametrize("form", ["printed", "better"])
def test_a_rigid_motion_deforms_nothing(form, rng):
    """Rounding of lengths below a metre: 1e-14."""
    structure = one_of_each(form)
    own = slice(0, 9 + 2 + 1)
    for _ in range(20):
        axis = rng.normal(size=3)
        turn = quaternion(axis / np.linalg.norm(axis), rng.uniform(-6, 6))
        R = np.array([rotate(turn, n) for n in np.eye(3)]).T
        shift = rng.normal(size=3)
        x = structure.reference.copy()
        for i in range(2):
            x[3 * i : 3 * i + 3] = R @ x[3 * i : 3 * i + 3] + shift
        x[9:13] = x[13:17] = turn
        e, _ = measured(structure, x)
        names = structure.row_names[own]
        moved = [value for name, value in zip(names, e[own], strict=True) if "ground" not in name]
        assert np.abs(moved).max() < 1e-14


@pytest.mark.parametrize("form", ["printed", "better"])
def test_slopes_and_second_derivatives_are_those_of_the_deformations(form, rng):
    """Two roads: complex steps of the values and of the slopes, against slopes and jets."""
    structure = one_of_each(form)
    x = structure.reference + 0.1 * rng.normal(size=len(structure.reference))
    u, w = rng.normal(size=(2, len(x)))
    e, D = measured(structure, x + 1e-100j * w)
    assert np.abs(e.imag / 1e-100 - D.real @ w).max() < 1e-13
    elements = packing.pack_elements(structure)
    c = together.curvatures(elements, x[:, None], u[:, None], w[:, None])[:, 0]
    bent = D.imag / 1e-100 @ u
    assert np.abs(c - bent).max() < 1e-12 * np.abs(bent).max()


@pytest.mark.parametrize("form", ["printed", "better"])
def test_compiled_elements_are_those_of_the_plain_ones(form, rng):
    """Fused multiply-adds apart; the angles and the slopes of a state far from rest."""
    structure = one_of_each(form)
    elements = packing.pack_elements(structure)
    x = structure.reference + 0.1 * rng.normal(size=len(structure.reference))
    u, w = rng.normal(size=(2, len(x)))
    rows = len(elements.width)
    e, D, c = np.zeros(rows), np.zeros((rows, 14)), np.zeros(rows)
    measure(elements, x, e, D)
    curve(elements, x, u, w, c)
    plain_e, plain_D = together.slopes(elements, x[:, None])
    plain_c = together.curvatures(elements, x[:, None], u[:, None], w[:, None])
    assert np.abs(e - plain_e[:, 0]).max() < 1e-14
    assert np.abs(D - plain_D[:, :, 0]).max() < 1e-13
    assert np.abs(c - plain_c[:, 0]).max() < 1e-12 * np.abs(c).max()


def test_printed_torsion_is_zero_for_every_twist_and_the_corrected_one_is_not():
    """(B.16b) has (z_p, z_q) - (y_p, y_q), which a twist about x leaves at zero."""
    for twist in (0.1, 0.7, 2.0):
        turn = quaternion([1.0, 0.0, 0.0], twist)
        yq, zq = rotate(turn, [0.0, 1.0, 0.0]), rotate(turn, [0.0, 0.0, 1.0])
        yp, zp = np.eye(3)[1], np.eye(3)[2]
        assert abs(zp @ zq - yp @ yq) < 1e-15
        assert np.isclose((zp @ yq - yp @ zq) / 2, np.sin(twist), atol=1e-15)


def test_hinge_follows_its_angle_beyond_half_a_turn():
    triads = (Triad("ground", held=True), Triad("link"))
    hinge = Hinge("hinge", "ground", "link", (0.0, 0.0, 1.0))
    structure = Structure(Parts((), triads, (hinge,)))
    for angle in (-4.7, 3.5, 4.7, 7.0, 30.0):
        found = place(structure, [angle]).x[4:]
        expected = quaternion([0.0, 0.0, 1.0], angle)
        assert min(np.abs(found - expected).max(), np.abs(found + expected).max()) < 1e-14


def test_hinge_measures_about_its_axis_in_the_axes_of_its_first_triad():
    """p turned by 90° about z, q by 0.7 rad about the hinge axis x: (B.13) as printed gives 0."""
    triads = (Triad("ground", held=True), Triad("p"), Triad("q"))
    first = Hinge("first", "ground", "p", (0.0, 0.0, 1.0))
    second = Hinge("second", "p", "q", (1.0, 0.0, 0.0))
    structure = Structure(Parts((), triads, (first, second)))
    x = place(structure, [np.pi / 2, 0.7]).x
    p, q = x[4:8], x[8:12]
    want = product(p, quaternion([1.0, 0.0, 0.0], 0.7))
    assert np.abs(q - want).max() < 1e-14


def test_one_better_element_stores_nearly_the_energy_of_eight():
    """Under one load in all directions, against eight elements with their inner nodes at rest.

    Both forms agree with the eight to second order in the load; the better one also to third.
    """
    from armtwin.elements.equations import equilibrium

    section = tube(EA=2e3)

    def energy(structure, q):
        laws = tables_of(structure).laws
        e = place(structure, q).e
        pairs = zip(laws.springs, laws.spring_rows, strict=True)
        return 0.5 * sum(k * e[i] * e[j] for k, (i, j) in pairs)

    def relaxed(load, form, count):
        row = beam_row(count, section, loads=load, form=form)
        found = equilibrium(row)
        return energy(row, found.q), found

    from armtwin.elements.parts import Moment, PointForce

    load = (PointForce("p1", (0.3, 0.2, -0.25)), Moment("t1", (0.2, 0.1, -0.15)))
    many = tuple(
        PointForce("p8", part.value) if isinstance(part, PointForce) else Moment("t8", part.value)
        for part in load
    )
    exact, _ = relaxed(many, "better", 8)
    errors = {form: abs(relaxed(load, form, 1)[0] - exact) for form in ("better", "printed")}
    assert errors["better"] < 2e-2 * exact
    assert errors["better"] < errors["printed"] / 3


def test_bent_section_needs_its_stiffness():
    section = CrossSection(1e6, 1.0, 0.0, 1.0)
    with pytest.raises(ArmtwinError, match="beam 'b0': EIy must be above 0, got 0"):
        beam_row(1, section, modes=BENT)


def test_placed_slopes_are_the_transfer_function(rng):
    """x + i h DF δq is F(q + i h δq): prescribed deformations change by exactly δq."""
    structure = beam_row(2, tube())
    q = 0.1 * rng.normal(size=structure.n)
    there = place(structure, q)
    again = Placed(structure, there.x)
    rows = structure.free_rows
    assert np.abs(again.DE[rows] - np.eye(structure.n)).max() < 1e-12
