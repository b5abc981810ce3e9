"""Servo filters: gains at their frequencies, coefficients taken as given."""

import numpy as np
import pytest

import armtwin as at
from armtwin.control.filters import coefficients
from armtwin.robot.servo import Filter

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
