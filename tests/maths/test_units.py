"""Quantities with units become SI numbers, and the wrong kind of unit is refused."""

import math

import pytest

from armtwin.errors import ArmtwinError
from armtwin.maths.units import Unit, parse_quantity


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("100 mm/s", "m/s", 0.1),
        ("45 deg", "rad", math.pi / 4),
        ("4.12 kg", "kg", 4.12),
        ("3000 rpm", "rad/s", 100 * math.pi),
        ("25.7 Nm/rad", "N m/rad", 25.7),
        ("25.7 N m", "N m/rad", 25.7),
        ("12 kg cm^2", "kg m^2", 12e-4),
        ("25 degC", "K", 298.15),
        ("-1.5e-3 m", "m", -1.5e-3),
    ],
)
def test_a_quantity_is_converted_to_si(text, unit, value):
    assert parse_quantity(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "sentence"),
    [
        ("45 deg", "m", "must be in m or a unit of that kind"),
        ("10 Hz", "rad/s", "must be in rad/s"),
        ("1,5 kg", "kg", "decimal point"),
        ("12", "m", "must carry a unit"),
        ("12 mmm", "m", "Did you mean 'mm'"),
    ],
)
def test_the_wrong_kind_of_unit_is_refused(text, unit, sentence):
    with pytest.raises(ArmtwinError, match=sentence):
        parse_quantity(text, unit)


def test_degrees_given_as_radians_are_refused_unless_the_unit_is_written():
    angle = Unit("rad", plausible=4 * math.pi, hint="deg")
    with pytest.raises(ArmtwinError, match="Did you mean '160 deg'"):
        angle.read(160)
    assert angle.read("1600 deg") == pytest.approx(1600 * math.pi / 180)


@pytest.mark.parametrize("value", [True, None, [1.0], math.nan, math.inf])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(ArmtwinError, match="must be"):
        Unit("kg").read(value)
