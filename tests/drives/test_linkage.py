"""Struts across an angle: a triangle, its derivatives, and the table that a kernel reads."""

import numpy as np
import pytest

from armtwin.drives import linkage
from armtwin.drives.linkage import TURN_INTERVALS, Triangle, turn_table

# The kernel in plain Python, which needs no compiler.
in_turn = getattr(linkage.in_turn, "py_func", linkage.in_turn)

TRIANGLE = Triangle(squares=0.05**2 + 0.4**2, product=2 * 0.05 * 0.4, angle=0.3)


def test_the_length_is_the_distance_of_the_pins(rng):
    x = rng.uniform(-4, 4, 30)
    first = 0.05 * np.exp(1j * (x + 0.3))
    assert np.abs(TRIANGLE.length(x) - np.abs(0.4 - first)).max() < 1e-15


def test_lever_and_curvature_are_derivatives_of_the_length(rng):
    """By complex steps, which take no difference."""
    x = rng.uniform(-4, 4, 30)
    step = 1e-100
    assert np.abs(TRIANGLE.length(x + 1j * step).imag / step - TRIANGLE.rate(x)).max() < 1e-15
    assert np.abs(TRIANGLE.rate(x + 1j * step).imag / step - TRIANGLE.curvature(x)).max() < 1e-15


def test_a_turn_brings_the_strut_back_and_no_torque_is_gained(rng):
    """The work of a constant force over a turn is the mean of the lever: none."""
    x = np.linspace(0, 2 * np.pi, 4096, endpoint=False)
    assert abs(TRIANGLE.rate(x).mean()) < 1e-17


@pytest.mark.parametrize("turns", [-3, 0, 7])
def test_the_table_is_the_function_in_every_turn(turns, rng):
    """Cubics err by h⁴ y''''/384 in value and by about h³ y''''/100 in slope."""
    table = turn_table(TRIANGLE.length)[None]
    h = 2 * np.pi / TURN_INTERVALS
    for x in rng.uniform(-np.pi, np.pi, 30):
        value, slope = in_turn(table, 0, x + 2 * np.pi * turns)
        assert abs(value - TRIANGLE.length(x)) < 0.1 * h**4 + 1e-15
        assert abs(slope - TRIANGLE.rate(x)) < 0.1 * h**3 + 1e-12


def test_pins_that_would_meet_are_refused():
    assert "squares greater than product" in Triangle(0.04, 0.04, 0.0).problem()
    assert TRIANGLE.problem() == ""
