"""Beams that bend far, against quadrature, closed forms and published solutions."""

import numpy as np
import pytest

from armtwin.elements.equations import linearise, place
from armtwin.elements.parts import Moment, PointForce
from armtwin.elements.statics import (
    buckling_load,
    compliance,
    equilibrium,
    modes,
)
from armtwin.errors import ArmtwinError
from tests.elements.models import STRIP, UNSTRETCHED, beam_row, narrow_strip, tip_twist, tube


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
    q = np.zeros(row.n)
    return 2 * np.pi * modes(linearise(row, q), place(row, q)).frequencies


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
        found = modes(spun.linear, spun.placed, still=("drive.twist",))
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
    q = np.zeros(row.n)
    found = compliance(linearise(row, q), place(row, q), "p2")
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
