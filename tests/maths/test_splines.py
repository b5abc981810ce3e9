"""Cubic splines."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_lsq_spline

from armtwin.errors import ArmtwinError
from armtwin.maths.splines import fit_cubic, interpolate_cubic


@pytest.mark.parametrize("count", [2, 3, 4, 5, 40])
def test_the_spline_through_values_and_its_derivatives_are_those_of_scipy(count):
    rng = np.random.default_rng(count)
    x, values = np.cumsum(rng.uniform(0.1, 1.0, count)), rng.normal(size=(count, 2))
    at = np.linspace(x[0] - 0.2, x[-1] + 0.2, 301)
    own, other = interpolate_cubic(x, values), CubicSpline(x, values)
    for order in range(3):
        wanted = other(at, order)
        assert own(at, order) == pytest.approx(wanted, abs=1e-10 * np.abs(wanted).max())


def test_a_cubic_goes_through_both_splines_as_it_is():
    """Not of rounding alone: the space of splines holds every cubic."""
    x = np.linspace(0.0, 3.0, 200)
    cubic = np.stack([1 + x - 2 * x**2 + 0.5 * x**3, x**3], axis=1)
    assert interpolate_cubic(x[::7], cubic[::7])(x) == pytest.approx(cubic, abs=1e-11)
    assert fit_cubic(x, cubic, 3.0, 17)(x) == pytest.approx(cubic, abs=1e-11)


def test_the_spline_of_least_squares_is_that_of_scipy():
    rng = np.random.default_rng(1)
    x, values = np.sort(rng.uniform(0.0, 2.0, 900)), rng.normal(size=(900, 2))
    knots = np.linspace(0.0, 2.0, 41)
    other = make_lsq_spline(x, values, np.r_[[0.0] * 3, knots, [2.0] * 3], k=3)
    at = np.linspace(0.0, 2.0, 501)
    assert fit_cubic(x, values, 2.0, 40)(at) == pytest.approx(other(at), abs=1e-9)


def test_a_gap_in_what_is_fitted_is_refused_with_its_place():
    x = np.r_[np.linspace(0.0, 0.5, 100), np.linspace(1.5, 2.0, 100)]
    with pytest.raises(ArmtwinError, match=r"every interval of 0\.05, got none at 0\.[56]"):
        fit_cubic(x, x[:, None], 2.0, 40)
