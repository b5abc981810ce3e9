"""Servo filters: gains at their frequencies, the designs of scipy, coefficients as given."""

import numpy as np
import pytest
from scipy import signal

import armtwin as at
from armtwin.control.filters import (
    apply_filter,
    coefficients,
    integrator_coefficients,
    settle,
    steady_gain,
)
from armtwin.maths.compiled import compiled
from armtwin.robot.schema.servo import Filter

RATE = 4000


def response(spec, frequency):
    b0, b1, b2, a1, a2 = coefficients(spec, RATE, 1)[0]
    z = np.exp(2j * np.pi * frequency / RATE)
    return (b0 + b1 / z + b2 / z**2) / (1 + a1 / z + a2 / z**2)


@pytest.mark.parametrize(
    ("spec", "at_corner"),
    [
        (Filter("low_pass", (200.0,)), np.sqrt(0.5)),
        (Filter("low_pass_2", (200.0,)), np.sqrt(0.5)),
        (Filter("low_pass_2", (200.0,), (0.4,)), 1 / 0.8),
        (Filter("notch", (200.0,), (0.5,)), 0.0),
    ],
)
def test_kinds_have_their_gains(spec, at_corner):
    assert abs(response(spec, 1e-3)) == pytest.approx(1, rel=1e-6)
    assert abs(response(spec, 200)) == pytest.approx(at_corner, rel=0.02, abs=1e-12)


def test_coefficients_are_taken_as_given():
    spec = Filter(b=((0.2, 0.1),), a=((2.0, -0.6),))
    assert coefficients(spec, RATE, 2).tolist() == [[0.1, 0.05, 0.0, -0.3, 0.0]] * 2
    assert coefficients(None, RATE, 1).tolist() == [[1, 0, 0, 0, 0]]


def test_impossible_filters_are_refused():
    with pytest.raises(at.ArmtwinError, match="below half the loop's rate"):
        coefficients(Filter("low_pass", (2500.0,)), RATE, 1)
    with pytest.raises(at.ArmtwinError, match="at most 3 coefficients"):
        coefficients(Filter(b=((1, 2, 3, 4),), a=((1,),)), RATE, 1)


def sides(five):
    """Numerator and denominator of b0, b1, b2, a1, a2."""
    return five[:3], np.array([1.0, *five[3:]])


@compiled
def answer(c, memory, x, y):
    for k in range(len(x)):
        y[k] = apply_filter(c, memory, 0, 0, x[k])


def run(five, x):
    """The kernel's answer to a signal from rest."""
    y = np.empty(len(x))
    answer(five.reshape(1, 1, 5), np.zeros((1, 1, 2)), x, y)
    return y


def test_a_second_order_low_pass_is_the_butterworth_of_scipy():
    b, a = sides(coefficients(Filter("low_pass_2", (200.0,)), RATE, 1)[0])
    expected = signal.butter(2, 200.0, fs=RATE)
    assert np.abs(b - expected[0]).max() < 1e-15
    assert np.abs(a - expected[1]).max() < 1e-15


def test_a_notch_is_the_one_of_scipy_with_the_same_width():
    """Its width at -3 dB is 2 atan(damping sin w0), of which scipy's quality is the ratio to w0."""
    damping, w0 = 0.3, 2 * np.pi * 200.0 / RATE
    quality = w0 / (2 * np.arctan(damping * np.sin(w0)))
    b, a = sides(coefficients(Filter("notch", (200.0,), (damping,)), RATE, 1)[0])
    expected = signal.iirnotch(200.0, quality, fs=RATE)
    assert np.abs(b - expected[0]).max() < 1e-15
    assert np.abs(a - expected[1]).max() < 1e-15


def test_a_first_order_low_pass_steps_as_its_time_constant_says():
    five = coefficients(Filter("low_pass", (200.0,)), RATE, 1)[0]
    t = np.arange(1, 101) / RATE
    assert np.abs(run(five, np.ones(100)) - (1 - np.exp(-2 * np.pi * 200.0 * t))).max() < 1e-14


SPECS = [
    Filter("low_pass", (60.0,)),
    Filter("low_pass_2", (300.0,), (0.3,)),
    Filter("notch", (150.0,), (0.5,)),
    Filter(b=((0.2, -0.1, 0.05),), a=((2.0, -0.6, 0.4),)),
]


@pytest.mark.parametrize("spec", SPECS)
def test_the_kernel_is_the_difference_equation(spec, rng):
    five = coefficients(spec, RATE, 1)[0]
    noise = rng.normal(size=200)
    assert np.abs(run(five, noise) - signal.lfilter(*sides(five), noise)).max() < 1e-13


@pytest.mark.parametrize("spec", SPECS)
def test_a_settled_filter_goes_on_giving_its_steady_gain(spec):
    c, memory = coefficients(spec, RATE, 1).reshape(1, 1, 5), np.zeros((1, 1, 2))
    steady = settle(c, memory, 0, 0, 1.7)
    assert steady == pytest.approx(1.7 * steady_gain(c, 0, 0), rel=1e-14)
    assert steady == pytest.approx(1.7 * abs(response(spec, 0.0)), rel=1e-12)
    y = np.empty(50)
    answer(c, memory, np.full(50, 1.7), y)
    assert y == pytest.approx(np.full(50, steady), rel=1e-13)


def test_a_reset_gives_the_input_and_its_sum(rng):
    x = rng.normal(size=100)
    integral, plain = integrator_coefficients(np.array([25.0, 0.0]), 1 / RATE)
    assert np.abs(run(integral, x) - (x + 25.0 * np.cumsum(x) / RATE)).max() < 1e-13
    assert (run(plain, x) == x).all()
    assert steady_gain(integral.reshape(1, 1, 5), 0, 0) == np.inf
