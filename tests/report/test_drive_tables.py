"""Friction and hydraulic drives of a robot as its report shows them."""

import pytest

import armtwin as at
from armtwin.robot.showing.overview import friction_section, hydraulic_section


def records(section):
    (table,) = section.blocks
    return {record["name"]: record for record in table.records}


def test_friction_of_a_piston_is_a_force_and_that_of_a_motor_a_torque():
    shown = records(friction_section(at.Robot.load("epaas").assembly))
    assert shown["L1"]["unit"] == "N"
    assert shown["L1"]["at 0.1"] == pytest.approx(200 + 501 * 0.1)
    assert shown["vane"]["unit"] == "N m"
    assert friction_section(at.Robot.load("rx90b").assembly).title == "Friction (N m on its row)"


def test_no_load_speeds_are_those_at_the_limits_of_the_current():
    """0.95 m/s at -202 mA and 0.96 at -300: at the limit of -290 mA 0.959."""
    shown = records(hydraulic_section(at.Robot.load("epaas").description.hydraulic))
    assert shown["L3"]["slowest"] == pytest.approx(-0.95 - 0.01 * 88 / 98)
    assert shown["L3"]["fastest"] == pytest.approx(0.73 + 0.01 * 85 / 95)
    assert shown["vane"]["leakage"] == 0
