"""Beams that bend far, against quadrature, closed forms and published solutions."""

import numpy as np
import pytest
from scipy.optimize import brentq

from armtwin.elements.equations import (
    buckling_load,
    compliance,
    equilibrium,
    inverse_dynamics,
    modes,
)
from armtwin.elements.parts import (
    Beam,
    ElementSpring,
    Hinge,
    Moment,
    Parts,
    Point,
    PointForce,
    Triad,
    Truss,
)
from armtwin.elements.structure import Structure
from armtwin.errors import ArmtwinError
from tests.elements.models import (
    FIXED,
    STRIP,
    UNSTRETCHED,
    beam_row,
    narrow_strip,
    point_mass,
    polar_arm,
    supported_beam,
    tip_twist,
    tube,
    turned_about_z,
)


def tip(count, loads, steps=1, **more):
    row = beam_row(count, tube(**more.pop("section", {})), loads=loads, **more)
    return equilibrium(row, steps=steps).position(f"p{count}")


def test_one_element_is_exact_for_small_loads():
    """F L³/3EI, M L²/2EI and T L/GJ, the loads 1e-6 of what bends it by its own length."""
    load = 1e-6
    assert abs(tip(1, (PointForce("p1", (0, load, 0)),))[1] - load / 3) < 1e-12 * 1e-3
    assert abs(tip(1, (Moment("t1", (0, 0, load)),))[1] - load / 2) < 1e-12 * 1e-3
    row = beam_row(1, tube(GJ=0.8), loads=(Moment("t1", (load, 0, 0)),))
    twist = equilibrium(row).q[1]
    assert abs(twist - load / 0.8) < 1e-15


@pytest.mark.parametrize(
    ("load", "count", "form", "limit"),
    [
        (1, 2, "better", 8.7e-5),
        (1, 4, "printed", 1.9e-3),
        (5, 4, "better", 1.6e-4),
        (10, 4, "better", 4.6e-4),
    ],
)
def test_elastica_under_a_dead_force(load, count, form, limit):
    """w/L and u/L by quadrature; the error of each form as its order predicts, with 10 % room."""
    w, u = {1: (0.30172, 0.05643), 5: (0.71379, 0.38763), 10: (0.81061, 0.55500)}[load]
    modes = ("held", *("free",) * 5) if form == "better" else ("free",) * 6
    x = tip(count, (PointForce(f"p{count}", (0, load, 0)),), steps=load, form=form, modes=modes)
    error = max(abs(x[1] - w), abs(1 - x[0] - u))
    assert error < 1.1 * limit + 1e-5


def test_roll_up_closes_exactly_with_four_elements():
    x = tip(4, (Moment("t4", (0, 0, 2 * np.pi)),), steps=8)
    assert np.abs(x).max() < 1e-12


def test_45_degree_bend():
    """Simo and Vu-Quoc's bend of radius 100 under 600: (15.79, 47.23, 53.37) by their elements.

    Eight straight elements for an arc are within 0.1 of them.
    """
    R, count = 100.0, 8
    chord = 2 * R * np.sin(np.pi / 8 / count)
    section = tube(EI=833333.3, EA=1e7)
    loads = (PointForce("p8", (0.0, 0.0, 600.0)),)
    row = beam_row(count, section, count * chord, loads, turn=np.pi / 4 / count)
    x = equilibrium(row, steps=4).position("p8")
    # the arc starts along x here; theirs along y, bending towards x
    assert np.abs([x[1], x[0], x[2]] - np.array([15.79, 47.23, 53.37])).max() < 0.1


def test_column_buckles_at_eulers_load():
    for count, excess in ((1, 7.5e-3), (2, 5.1e-4)):
        row = beam_row(count, tube(), loads=(PointForce(f"p{count}", (-1.0, 0.0, 0.0)),))
        found = buckling_load(row) / (np.pi**2 / 4) - 1
        assert 0.9 * excess < found < 1.1 * excess


def test_narrow_beam_buckles_sideways():
    """4.0126 √(EI GJ)/L² under a tip force across the stiff plane; four elements 1.5 % above."""
    section = tube(EI=1e3, EIy=1.0, GJ=0.5)
    row = beam_row(4, section, loads=(PointForce("p4", (0.0, -1.0, 0.0)),))
    found = buckling_load(row) / (4.0126 * np.sqrt(0.5)) - 1
    assert 0 < found < 0.02


def frequencies(count, **more):
    row = beam_row(count, tube(mass=1.0), modes=UNSTRETCHED, **more)
    return 2 * np.pi * modes(equilibrium(row)).frequencies


def test_cantilever_has_the_frequencies_of_euler_and_bernoulli():
    """Consistent mass: one element 0.48 % above the first, two 0.05 % and 0.85 %."""
    exact = np.array([1.8751, 4.6941]) ** 2
    assert np.isclose(frequencies(1)[0] / exact[0], 1.0048, atol=2e-4)
    two = frequencies(2)[[0, 2]] / exact
    assert np.allclose(two, [1.0005, 1.0085], atol=2e-4)


def test_spinning_beam_stiffens():
    """Flap frequencies of Wright, 7.3604 at 6 and 13.1702 at 12; two elements 1 % above."""
    section = tube(mass=1.0)
    for speed, exact in ((6.0, 7.3604), (12.0, 13.1702)):
        row = beam_row(2, section, modes=UNSTRETCHED, drive=(0.0, 0.0, 1.0))
        v = np.zeros(row.n)
        v[0] = speed
        spun = equilibrium(row, still=("drive.twist",), v=v)
        found = modes(spun)
        flap = np.abs(found.coordinates[row.places["p2"] + 2]) > 1e-6
        first = 2 * np.pi * found.frequencies[flap][0]
        assert abs(first / exact - 1) < 0.011


def test_steady_spin_stretches_the_beam():
    """tan(kL)/k - L with k² = ρA Ω²/EA: 5.143e-4 m at 6 rad/s; four elements 0.3 % above."""
    row = beam_row(4, tube(EI=1.4e4, EA=2.8e7, mass=1.2), 10.0, drive=(0.0, 0.0, 1.0))
    v = np.zeros(row.n)
    v[0] = 6.0
    stretch = equilibrium(row, still=("drive.twist",), v=v).position("p4")[0] - 10
    assert abs(stretch / 5.143e-4 - 1) < 4e-3


def test_compliance_of_a_tip_is_that_of_the_beam():
    row = beam_row(2, tube(EI=2.0, EIy=3.0, EA=50.0))
    found = compliance(equilibrium(row), "p2")
    assert np.abs(found - np.diag([1 / 50, 1 / 6, 1 / 9])).max() < 1e-14


def test_motion_without_stiffness_is_refused():
    row = beam_row(1, tube(), drive=(0.0, 0.0, 1.0))
    with pytest.raises(ArmtwinError, match="no stiffness against one of its motions"):
        equilibrium(row)


def test_narrow_strip_bends_and_twists_as_a_kirchhoff_rod():
    """Loaded at 30 degrees to its stiff side: to 7.5e-4 of its length with four elements."""
    rest = equilibrium(narrow_strip(4), steps=4)
    off = rest.position("p4") - np.array([490.837, 117.898, -16.771]) * 1e-3
    assert np.linalg.norm(off) < 8e-4 * STRIP
    assert abs(tip_twist(rest, 4) / -2.990 - 1) < 2e-3


SMALL = 1e-6  # of the load that bends a beam by its own length: what is left is its square


def test_tip_turns_by_the_slope_of_the_textbook():
    """F L²/2EI under a force and M L/EI under a moment."""
    for load, slope in ((PointForce("p1", (0, SMALL, 0)), 0.5), (Moment("t1", (0, 0, SMALL)), 1)):
        rest = equilibrium(beam_row(1, tube(EI=2.0), loads=(load,)))
        assert abs(turned_about_z(rest, "t1") - slope * SMALL / 2.0) < 1e-14


def test_clamped_beam_sags_under_its_own_weight_as_the_textbook_says():
    """ρA g L⁴/8EI; loads that are consistent with cubics leave the nodes exact."""
    row = beam_row(2, tube(EI=3.0, mass=0.5), gravity=(0.0, -SMALL, 0.0))
    assert abs(equilibrium(row).position("p2")[1] + 0.5 * SMALL / 24.0) < 1e-15


@pytest.mark.parametrize(
    ("ends", "share"),
    [("clamped-clamped", 1 / 192), ("clamped-pinned", 7 / 768), ("pinned-pinned", 1 / 48)],
)
def test_force_at_midspan_bends_a_supported_beam_by_its_share(ends, share):
    """F L³/EI times the share of the tables, exact with a node under the force."""
    load = (PointForce("p1", (0.0, SMALL, 0.0)),)
    rest = equilibrium(supported_beam(ends, 2, tube(EI=4.0), load))
    assert abs(rest.position("p1")[1] - share * SMALL / 4.0) < 1e-14


EULER = {
    "clamped-free": np.pi**2 / 4,
    "pinned-pinned": np.pi**2,
    "clamped-pinned": brentq(lambda k: np.sin(k) - k * np.cos(k), 4.4, 4.6) ** 2,
    "clamped-clamped": 4 * np.pi**2,
}


@pytest.mark.parametrize("ends", EULER)
def test_column_buckles_at_eulers_load_of_its_ends(ends):
    """Cubics are stiffer than the sine: above it, with four elements by less than 1 %."""
    row = supported_beam(ends, 4, tube(EI=2.5, EA=1e9), (PointForce("p4", (-1.0, 0.0, 0.0)),))
    assert 0 < buckling_load(row) / (2.5 * EULER[ends]) - 1 < 1e-2


def test_pulled_column_never_buckles():
    row = supported_beam("pinned-pinned", 2, tube(), (PointForce("p2", (1.0, 0.0, 0.0)),))
    assert buckling_load(row) == np.inf


CHARACTERISTIC = {  # functions of k L that vanish at the modes, and where their first root lies
    "clamped-free": (lambda k: np.cos(k) * np.cosh(k) + 1, 1.5, 2.5),
    "pinned-pinned": (np.sin, 3.0, 3.5),
    "clamped-pinned": (lambda k: np.tan(k) - np.tanh(k), 3.5, 4.5),
    "clamped-clamped": (lambda k: np.cos(k) * np.cosh(k) - 1, 4.5, 5.0),
}


def first_frequency(ends, count, loads=(), EI=1.0):
    """First angular frequency of bending [rad/s], about the loaded state."""
    row = supported_beam(ends, count, tube(EI=EI, EA=1e9, mass=2.0), loads)
    rest = equilibrium(row)
    return 2 * np.pi * modes(rest).frequencies[0]


@pytest.mark.parametrize("ends", CHARACTERISTIC)
def test_supported_beam_vibrates_at_the_root_of_its_characteristic_equation(ends):
    """(kL)² √(EI/ρA)/L², from above as Rayleigh's quotient; four elements within 0.2 %."""
    exact = brentq(*CHARACTERISTIC[ends], xtol=1e-14) ** 2 * np.sqrt(3.0 / 2.0)
    assert 0 < first_frequency(ends, 4, EI=3.0) / exact - 1 < 2e-3


def test_frequencies_of_beams_converge_with_the_fourth_power_of_the_elements():
    exact = np.pi**2 / np.sqrt(2.0)
    errors = [first_frequency("pinned-pinned", count) - exact for count in (3, 6)]
    assert 3.9 < np.log2(errors[0] / errors[1]) < 4.1


@pytest.mark.parametrize("share", [-0.5, 0.4, 0.8])
def test_axial_force_takes_its_share_of_eulers_load_from_the_square_of_the_frequency(share):
    """ω² = ω0² (1 - P/P_cr) of a pinned beam: both have the same sine as their shape."""
    push = (PointForce("p4", (-share * np.pi**2, 0.0, 0.0)),)
    ratio = first_frequency("pinned-pinned", 4, push) / first_frequency("pinned-pinned", 4)
    assert abs(ratio**2 - (1 - share)) < 1e-3


def test_mass_on_a_light_beam_vibrates_at_the_root_of_its_stiffness_over_its_mass():
    """√(3 EI/m L³) across; the light beam's own inertia is 1e-9 of it."""
    row = supported_beam("clamped-free", 1, tube(EI=2.0, EA=1e9, mass=1e-9))
    row = row.with_parts(bodies=(point_mass("p1", "t1", 5.0),))
    found = modes(equilibrium(row)).frequencies[0]
    assert abs(2 * np.pi * found / np.sqrt(6.0 / 5.0) - 1) < 1e-8


def random_loads(rng, size):
    """Forces of one size on the middle and on the tip of a row of two."""
    ways = rng.normal(size=(2, 3))
    ways *= size / np.linalg.norm(ways, axis=1, keepdims=True)
    return [PointForce(point, tuple(way)) for point, way in zip(("p1", "p2"), ways, strict=True)]


def displace(*loads):
    """Displacements of three points of a bent row in space under loads, (9,) [m]."""
    row = beam_row(2, tube(EI=2.0, EIy=3.0, GJ=0.7, EA=50.0), loads=loads, turn=0.4)
    return equilibrium(row).placed.x[:9] - row.reference[:9]


def test_loads_superpose_to_the_square_of_their_size():
    """What both do together and neither alone quadruples with twice the load."""

    def miss(share):
        first, second = random_loads(np.random.default_rng(5), share)
        return displace(first, second) - displace(first) - displace(second)

    once, twice = miss(0.01), miss(0.02)
    assert np.abs(twice - 4 * once).max() < 0.05 * np.abs(twice).max()
    assert np.abs(once).max() < 1e-4


def test_work_of_one_load_along_the_other_ones_displacement_is_mutual(rng):
    """Betti: F1·u2 = F2·u1 for forces in any directions at two points of a bent row."""
    first, second = random_loads(rng, SMALL)
    one = np.array(first.value) @ displace(second)[3:6]
    other = np.array(second.value) @ displace(first)[6:9]
    assert abs(one - other) < 1e-5 * abs(one)


def test_force_turns_as_far_as_the_moment_shifts():
    """Maxwell: slope at the middle per force on the tip is shift of the tip per moment there."""
    pushed = equilibrium(beam_row(2, tube(), loads=(PointForce("p2", (0, SMALL, 0)),)))
    turned = equilibrium(beam_row(2, tube(), loads=(Moment("t1", (0, 0, SMALL)),)))
    assert abs(turned_about_z(pushed, "t1") - turned.position("p2")[1]) < 1e-14
    assert abs(turned.position("p2")[1] / SMALL - 3 / 8) < 1e-9


def test_tip_moves_by_the_slope_of_the_potential_it_loses():
    """Far bent: Π(F) = U - F u at rest has dΠ/dF = -u, by central differences of 1e-4."""

    def rest(force):
        """Potential and displacement; U = ½ q' K q, as every deformation is one of q."""
        row = beam_row(2, tube(), loads=(PointForce("p2", (0.0, force, 0.0)),))
        found = equilibrium(row, steps=2)
        shift = found.position("p2")[1]
        return 0.5 * found.q @ found.linear.K @ found.q - force * shift, shift

    h = 1e-4
    slope = (rest(2 + h)[0] - rest(2 - h)[0]) / (2 * h)
    assert abs(slope + rest(2.0)[1]) < 1e-7


@pytest.mark.parametrize("height", [0.3, 0.1, -0.2])
def test_shallow_truss_carries_the_force_of_von_mises(height):
    """F = 2 k (l0 - l) y/l of two springs from ±1 m that meet at height y, through the snap."""
    k, rise = 1000.0, 0.4
    points = (
        Point("left", (-1.0, 0.0, 0.0), FIXED),
        Point("right", (1.0, 0.0, 0.0), FIXED),
        Point("foot", (0.0, -1.0, 0.0), FIXED),
        Point("top", (0.0, rise, 0.0), ("held", "calculated", "held")),
    )
    law = ElementSpring(0.0, k, 0.0)
    springs = [Truss(f"{side}_rod", side, "top", "calculated", law) for side in ("left", "right")]
    jack = Truss("jack", "foot", "top", "free")
    structure = Structure(Parts(points, (Triad("ground", held=True),), (jack, *springs)))
    found = inverse_dynamics(structure, [[height - rise]], [[0.0]], [[0.0]]).tau[0, 0]
    length, rest = np.hypot(1.0, height), np.hypot(1.0, rise)
    assert abs(found - 2 * k * (length - rest) * height / length) < 1e-9


def hanging_chain(count, span):
    """Rods of 1/count m between two walls, with 2 N on each joint, first in an arc."""
    half = brentq(lambda a: np.sin(a) / np.sin(a / count) / count - span, 1e-3, 3.0)
    angles = np.linspace(-half, half, count + 1)
    radius = 0.5 / count / np.sin(half / count)
    arc = radius * np.stack([np.sin(angles), -np.cos(angles), 0 * angles], axis=1)
    kinds = [
        FIXED,
        *[("calculated", "free", "held")] * (count - 2),
        ("calculated",) * 2 + FIXED[:1],
    ]
    points = [Point(f"p{i}", tuple(arc[i]), kind) for i, kind in enumerate([*kinds, FIXED])]
    rods = tuple(Truss(f"r{i}", f"p{i}", f"p{i + 1}") for i in range(count))
    loads = tuple(PointForce(f"p{i}", (0.0, -2.0, 0.0)) for i in range(1, count))
    ground = (Triad("ground", held=True),)
    return Structure(Parts(tuple(points), ground, rods, (), loads)), arc


def test_hanging_chain_takes_the_shape_of_a_discrete_catenary():
    """Slopes of the rods grow by weight over horizontal pull, which the span determines."""
    count, span = 8, 0.7
    structure, arc = hanging_chain(count, span)
    steps = 2.0 * (np.arange(count) - (count - 1) / 2)

    def drawn_out(pull):
        return np.sum(1 / np.hypot(1.0, steps / pull)) / count - span

    slopes = steps / brentq(drawn_out, 1e-2, 1e3, xtol=1e-13)
    drops = np.cumsum(slopes / np.hypot(1.0, slopes)) / count
    rest = equilibrium(structure, arc[1 : count - 1, 1])
    found = [rest.position(f"p{i}")[1] - arc[0, 1] for i in range(1, count + 1)]
    assert np.abs(found - drops).max() < 1e-9


def test_spun_mass_on_a_spring_settles_where_its_pull_is_centripetal():
    """k (r - r0) = m Ω² r."""
    mass, k, speed, r0 = 2.0, 300.0, 5.0, 0.5
    arm = polar_arm((point_mass("hand", "hand_triad", mass),), (0.0, 0.0, 0.0))
    spring = Truss("spring", "pole", "hand", "calculated", ElementSpring(0.0, k, 0.0))
    arm = arm.with_parts(elements=(spring, *arm.parts.elements))
    spun = equilibrium(arm, still=("turn.twist",), v=[speed, 0.0])
    assert abs(spun.q[1] - (k * r0 / (k - mass * speed**2) - r0)) < 1e-12


def test_still_degree_of_freedom_that_is_not_known_is_refused_with_the_known_ones():
    with pytest.raises(ArmtwinError, match=r"'turm\.twist' is not known\. Known: turn\.twist"):
        equilibrium(polar_arm((), (0.0, 0.0, 0.0)), still=("turm.twist",))


# stability


def upright_pendulum(stiffness):
    """A mass of 2 kg 0.5 m above a hinge with a spring."""
    points = (Point("pivot", (0.0, 0.0, 0.0), FIXED), Point("bob", (0.0, 0.0, 0.5)))
    triads = (Triad("ground", held=True), Triad("rod"), Triad("end"))
    laws = (ElementSpring(0.0, stiffness), None, None)
    elements = (
        Hinge("pivot", "ground", "rod", (0.0, 1.0, 0.0), laws=laws),
        Beam("rod_beam", ("pivot", "bob"), ("rod", "end")),
    )
    bodies = (point_mass("bob", "end", 2.0),)
    return Structure(Parts(points, triads, elements, bodies, (), (0.0, 0.0, -9.81)))


def test_an_inverted_pendulum_is_unstable_below_m_g_l():
    """m g l = 9.81 N m: 1e-6 above it is stable, 1e-6 below it is not and says so."""
    assert equilibrium(upright_pendulum(9.81 * (1 + 1e-6))).cautions == ()
    weak = equilibrium(upright_pendulum(9.81 * (1 - 1e-6)))
    (sentence,) = weak.cautions
    assert sentence.startswith(
        "The equilibrium is unstable: its stiffness has 1 negative eigenvalue"
    )
    assert "most of it along pivot.twist" in sentence
    assert modes(weak).frequencies[0] < 0


@pytest.mark.parametrize(("share", "falling"), [(0.99, 0), (1.01, 1), (9.5, 2)])
def test_a_column_that_stays_straight_beyond_eulers_load_is_unstable(share, falling):
    """A clamped column in its plane: π²/4, then nine times as much."""
    load = (PointForce("p8", (-share * np.pi**2 / 4, 0.0, 0.0)),)
    row = supported_beam("clamped-free", 8, tube(EA=1e9), load)
    rest = equilibrium(row)
    assert len(rest.cautions) == (falling > 0)
    if falling:
        assert f"has {falling} negative eigenvalue" in rest.cautions[0]
