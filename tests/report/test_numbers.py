"""Numbers for people: digits that are asked for, no exponents in between, no minus zero."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from armtwin.notebook.numbers import FINE_PERCENT, MICROMETRES, SECONDS, Number


@pytest.mark.parametrize(
    ("number", "value", "text"),
    [
        (Number(), 1049.6, "1050"),
        (Number(digits=4), 123456.7, "123500"),
        (Number(digits=2), 3.2e-5, "3.2e-5"),
        (Number(), 2.5e7, "2.5e7"),
        (Number(), 0.1, "0.1"),
        (SECONDS, -1e-7, "0.000"),
        (FINE_PERCENT, 3.76e-14, "0.0"),
        (Number(100.0, "%"), 3.76e-14, "0"),
        (MICROMETRES, -0.4e-6, "0"),
        (MICROMETRES, -93.4e-6, "-93"),
        (Number(places=1, signed=True), 2.04, "+2.0"),
        (Number(places=1, signed=True), -0.04, "0.0"),
        (MICROMETRES, float("nan"), "-"),
        (MICROMETRES, None, "-"),
        (MICROMETRES, float("inf"), "-"),
    ],
)
def test_a_number_is_written_as_people_would(number, value, text):
    assert number.text(value) == text


@given(st.floats(-1e9, 1e9), st.integers(1, 9))
def test_the_written_number_is_the_number_to_its_digits(value, digits):
    text = Number(digits=digits).text(value)
    size = abs(value) if abs(value) > 1e-12 else 0.0
    assert abs(float(text) - value) <= 0.5 * 10 ** (1 - digits) * size * (1 + 1e-9) + 1e-12
    assert not text.startswith("-0.") or float(text) < 0
    assert np.signbit(float(text)) == (float(text) < 0)


def test_a_unit_follows_the_number_but_not_the_dash():
    assert MICROMETRES.with_unit(1e-6) == "1 µm"
    assert MICROMETRES.with_unit(None) == "-"
