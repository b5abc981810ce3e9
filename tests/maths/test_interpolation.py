"""Cubics and quintics of all intervals at once: those that scipy makes, and of their orders."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.interpolate import BPoly, CubicHermiteSpline, PPoly

from armtwin.maths.interpolation import hermite_cubics, quintic


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_the_curve_is_that_of_scipy_interval_by_interval(shape, rng):
    x = np.cumsum(rng.uniform(0.01, 1.0, 50))
    given = rng.normal(size=(3, 50, *shape))
    curve, expected = quintic(x, *given), BPoly.from_derivatives(x, np.stack(given, axis=1))
    at = np.linspace(x[0], x[-1], 1000)
    for order in range(3):
        np.testing.assert_allclose(curve(at, order), expected(at, order), rtol=0, atol=1e-10)
        np.testing.assert_allclose(curve(x[:-1], order), given[order][:-1], rtol=0, atol=1e-9)


def test_cubics_with_their_slopes_are_the_curve_of_scipy(rng):
    """Slopes count per interval, so that they are h times those over x."""
    y, d = rng.normal(size=(2, 20))
    h = 0.3
    x = h * np.arange(20)
    found = PPoly(hermite_cubics(y, h * d)[:, ::-1].T, np.arange(20))
    at = np.linspace(0, x[-1], 500)
    np.testing.assert_allclose(found(at / h), CubicHermiteSpline(x, y, d)(at), rtol=0, atol=1e-13)


def test_a_quintic_polynomial_is_its_own_interpolation(rng):
    polynomial = Polynomial(rng.normal(size=6))
    x = np.array([-1.0, -0.3, 0.1, 1.2])
    given = [polynomial.deriv(k)(x) if k else polynomial(x) for k in range(3)]
    at = np.linspace(-1, 1.2, 100)
    np.testing.assert_allclose(quintic(x, *given)(at), polynomial(at), rtol=0, atol=1e-13)


def test_the_error_of_cubics_falls_with_the_fourth_power_of_the_step():
    errors = []
    for count in (20, 40):
        x = np.linspace(0, 2 * np.pi, count + 1)
        middle = 0.5 * (x[1:] + x[:-1])
        cubics = hermite_cubics(np.sin(x), x[1] * np.cos(x))
        errors.append(np.abs(cubics @ [1, 0.5, 0.25, 0.125] - np.sin(middle)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.05)
