"""The low-pass: its gain, no delay, and ends that carry the trend on."""

import numpy as np
import pytest

from armtwin.maths.smoothing import low_pass


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0, 2.0])
def test_the_gain_is_that_of_a_butterworth_run_both_ways(share):
    """1 / (1 + (sin(pi f / fs) / sin(pi fc / fs))^6), half at the cut-off, and no phase."""
    rate, cutoff = 250.0, 10.0
    t = np.arange(0, 20, 1 / rate)
    wave = np.sin(2 * np.pi * share * cutoff * t + 0.3)
    ratio = np.sin(np.pi * share * cutoff / rate) / np.sin(np.pi * cutoff / rate)
    inside = slice(500, -500)
    assert np.abs(low_pass(wave, rate, cutoff) - wave / (1 + ratio**6))[inside].max() < 1e-9


def test_a_parabola_passes_unchanged_up_to_the_ends():
    """Position, speed and constant acceleration are carried on where samples end."""
    t = np.arange(0, 4, 1 / 250)
    q = 0.3 - 1.2 * t + 2.5 * t**2
    assert np.abs(low_pass(q, 250.0, 5.0) - q).max() < 1e-9 * np.abs(q).max()


def test_the_filter_is_linear_and_takes_any_shape():
    chance = np.random.default_rng(0)
    x, y = chance.normal(size=(2, 400, 3, 2))
    both = low_pass(x + 3 * y, 250, 10.0)
    assert np.abs(both - low_pass(x, 250, 10.0) - 3 * low_pass(y, 250, 10.0)).max() < 1e-12
    assert np.abs(both[:, 1, 0] - low_pass((x + 3 * y)[:, 1, 0], 250, 10.0)).max() < 1e-14


def test_noise_above_the_cut_off_goes():
    noise = np.random.default_rng(1).normal(size=20_000)
    assert low_pass(noise, 1000.0, 10.0).std() == pytest.approx(np.sqrt(10.0 / 500.0), rel=0.15)


@pytest.mark.parametrize("cutoff", [20.0, 5.0, 2.0, 0.5])
def test_a_very_low_cut_off_loses_no_digits(cutoff):
    """5 kHz: a slow wave passes, a constant stays one."""
    t = np.arange(0, 20, 1 / 5000)
    slow = np.sin(2 * np.pi * 0.02 * cutoff * t)
    assert (
        np.abs(
            low_pass(np.stack([slow, np.ones_like(t)], axis=1), 5000.0, cutoff)
            - np.stack([slow, np.ones_like(t)], axis=1)
        ).max()
        < 1e-4
    )


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6, 7, 40])
def test_the_banded_solution_is_that_of_the_whole_matrix(m):
    """(1 + λ DᵀD) y = x with the third differences written out; up to three samples none exist."""
    x = np.random.default_rng(m).normal(size=(m, 2))
    D = np.diff(np.eye(m), 3, axis=0)
    weight = (2 * np.sin(np.pi * 8.0 / 250.0)) ** -6
    expected = np.linalg.solve(np.eye(m) + weight * D.T @ D, x)
    assert np.abs(low_pass(x, 250.0, 8.0) - expected).max() < 1e-9


def test_backwards_in_time_it_is_the_same_filter():
    """λ is 4e3 here and third differences gain up to 64, so that rounding counts as much more."""
    x = np.random.default_rng(2).normal(size=500)
    assert np.abs(low_pass(x[::-1], 250.0, 10.0)[::-1] - low_pass(x, 250.0, 10.0)).max() < 1e-10


def test_what_it_takes_away_has_no_mean_no_trend_and_no_curvature():
    """DᵀD is blind to parabolas, so that x - y = λ DᵀD y is at right angles to them."""
    t = np.linspace(-1, 1, 300)
    x = np.exp(t) + np.random.default_rng(3).normal(size=300)
    removed = x - low_pass(x, 250.0, 10.0)
    for parabola in (t**0, t, t**2):
        assert abs(parabola @ removed) < 1e-9 * np.linalg.norm(removed)
