"""Finite Fourier series: at rest at both ends, and each its derivative's integral."""

import numpy as np
import pytest

from armtwin.errors import ArmtwinError
from armtwin.motion.fourier import FourierSeries, Harmonics


@pytest.fixture
def series(rng):
    harmonics = Harmonics(8.0, 10)
    return FourierSeries(harmonics, rng.normal(size=(harmonics.at_rest.shape[1], 6)))


def test_two_of_the_coefficients_of_each_joint_go_into_rest():
    """126 coefficients of six joints [Waiboer 2007, eq. 4.76] less two a joint."""
    assert Harmonics(8.0, 10).at_rest.shape == (21, 19)


def test_a_period_starts_and_ends_at_rest(series):
    ends = series.at(np.array([0.0, 8.0]))
    assert np.abs(ends.v).max() < 1e-12
    assert np.abs(ends.a).max() < 1e-11
    np.testing.assert_allclose(ends.q[0], ends.q[1], atol=1e-12)


def test_speed_and_acceleration_are_derivatives(series):
    """Central differences of step h err by h²/6 times the third derivative, here below 1e-4."""
    t, h = np.linspace(0.1, 7.9, 50), 1e-4
    ahead, here, behind = (series.at(t + step) for step in (h, 0.0, -h))
    np.testing.assert_allclose((ahead.q - behind.q) / (2 * h), here.v, atol=1e-4)
    np.testing.assert_allclose((ahead.v - behind.v) / (2 * h), here.a, atol=2e-3)


def test_the_series_is_that_of_the_thesis(series):
    """q₀ + Σ a sin + b cos [Waiboer 2007, eq. 4.75a], its a, b being ours over l ω."""
    c = series.coefficients
    w = series.harmonics.omega * np.arange(1, 11)
    a, b = c[1:11] / w[:, None], -c[11:] / w[:, None]
    t = np.linspace(0, 8, 33)
    q = c[0] + np.sin(np.outer(t, w)) @ a + np.cos(np.outer(t, w)) @ b
    np.testing.assert_allclose(series.at(t).q, q, atol=1e-12)


def test_a_trajectory_of_periods_repeats_and_ends_at_rest(series):
    motion = series.trajectory(250.0, periods=2)
    assert motion.duration == 16.0
    np.testing.assert_allclose(motion.q[:2001], motion.q[2000:], atol=1e-11)
    assert not motion.v[[0, -1]].any()
    assert not motion.a[[0, -1]].any()


def test_a_smaller_swing_keeps_the_centre(series):
    half = series.scale_amplitudes(0.5)
    t = np.linspace(0, 8, 20)
    np.testing.assert_allclose(half.at(t).v, 0.5 * series.at(t).v, atol=1e-12)
    np.testing.assert_allclose(half.centre, series.centre)


def test_two_harmonics_cannot_rest_and_are_refused():
    with pytest.raises(ArmtwinError, match=r"harmonics must be at least 3.*got 2"):
        Harmonics(8.0, 2)
