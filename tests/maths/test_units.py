"""Quantities with units become SI numbers, and the wrong kind of unit is refused."""

import math

import pytest

from armtwin.errors import ArmtwinError
from armtwin.maths.units import Unit, parse_quantity, whole_number


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
        ("379 \u00b5m", "m", 379e-6),
        ("379 \u03bcm", "m", 379e-6),
        ("379 um", "m", 379e-6),
        ("50 \u00b5s", "s", 50e-6),
        ("2 \u00b5m/s^2", "m/s^2", 2e-6),
        ("2 in", "m", 0.0508),
        ("2 inch", "m", 0.0508),
        ("10 in/s", "m/s", 0.254),
        ("30 in/min", "m/s", 0.0127),
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


def test_a_unit_is_only_suggested_where_the_number_is_plausible_in_it():
    """100 000 mm/s would be as much of a slip as 100 000 m/s."""
    speed = Unit("m/s", above=0, plausible=5, hint="mm/s")
    with pytest.raises(ArmtwinError, match=r"at most 5 m/s, got 100000. If it is meant, write"):
        speed.read(1e5)
    with pytest.raises(ArmtwinError, match="Did you mean '4000 mm/s'"):
        speed.read(4e3)


@pytest.mark.parametrize("value", [True, None, [1.0], math.nan, math.inf])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(ArmtwinError, match="must be"):
        Unit("kg").read(value)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (1e300, r"must be at most 1e\+06 m/s"),
        (1e-300, "must be at least 1e-30 m/s"),
        ("1e300 m/s", r"must be at most 1e\+06 m/s"),
        (int("f" * 5000, 16), "must be a finite number in m/s, got inf"),
        ("² m/s", "must be a number with a decimal point"),
        ("1" * 5000 + " m/s", "must be a number or a quantity"),
        ("1" + " " * 100_000 + "x", "must be a number or a quantity"),
        ("1 " + "m" * 50, "is not known"),
    ],
    ids=["huge", "tiny", "huge text", "endless integer", "power", "digits", "spaces", "unit"],
)
def test_a_number_that_no_machine_has_is_refused(value, sentence):
    with pytest.raises(ArmtwinError, match=sentence):
        Unit("m/s", above=0).read(value)


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("²", None), ("٣", None), ("9" * 5000, None), ("", None)],
    ids=range(5),
)
def test_a_whole_number_is_plain_digits(text, number):
    assert whole_number(text) == number


def test_a_unit_that_is_not_known_is_answered_with_units_of_its_kind():
    with pytest.raises(ArmtwinError) as caught:
        parse_quantity("3 thou/s", "m/s")
    told = str(caught.value)
    assert "mm" in told
    assert "min" in told
    assert "kg" not in told
    assert "%" not in told
