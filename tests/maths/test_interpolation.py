"""Quintics of all intervals at once: those that scipy makes of one interval after the other."""

import numpy as np
import pytest
from scipy.interpolate import BPoly

from armtwin.maths.interpolation import quintic


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_the_curve_is_that_of_scipy_interval_by_interval(shape, rng):
    x = np.cumsum(rng.uniform(0.01, 1.0, 50))
    given = rng.normal(size=(3, 50, *shape))
    curve, expected = quintic(x, *given), BPoly.from_derivatives(x, np.stack(given, axis=1))
    at = np.linspace(x[0], x[-1], 1000)
    for order in range(3):
        np.testing.assert_allclose(curve(at, order), expected(at, order), rtol=0, atol=1e-10)
        np.testing.assert_allclose(curve(x[:-1], order), given[order][:-1], rtol=0, atol=1e-9)
