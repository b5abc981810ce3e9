"""Friction laws: the printed equations, dissipation, and their rows on the coupled wrist."""

from dataclasses import dataclass
from typing import get_args

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.coulomb import Stribeck
from armtwin.drives.friction.curves import breakaway, tabulate
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.linear_law import LinearLaw
from armtwin.drives.friction.lubricated import GearedJoint, GearPair
from armtwin.drives.friction.table import TabulatedFriction
from tests.conftest import relative

NUMBERS = {"speed": 0.03, "exponent": 0.5, "viscous_exponent": 0.4, "limit_speed": 0.9}
NUMBERS |= {"rise_slope": 90.0, "fall_slope": 10.0}
LAWS = [k for k in get_args(Law) if k is not TabulatedFriction]


def torque(law, w):
    return law.columns(w) @ np.array([getattr(law, name) for name, _ in law.coefficients])


def example(kind, rng):
    from dataclasses import fields

    values = {
        f.name: NUMBERS.get(f.name, float(rng.uniform(1, 9)))
        for f in fields(kind)
        if f.name != "law"
    }
    return kind(**values)


@pytest.mark.parametrize("kind", [*LAWS, TabulatedFriction])
def test_friction_is_odd_and_takes_power(kind, rng):
    law = (
        TabulatedFriction((0.01, 0.1, 1.0), (3.0, 2.0, 4.0))
        if kind is TabulatedFriction
        else example(kind, rng)
    )
    w = np.geomspace(1e-6, 5, 200)
    assert np.all(torque(law, w) > 0)
    assert np.array_equal(torque(law, -w), -torque(law, w))
    assert torque(law, np.zeros(1))[0] == 0


def test_equation_3_48_with_table_3_1(robots):
    """Joint 1: normalised 0.0255, 0.0249 rad/s, 0.5, 0.0911, 0.3338, times 318 N m."""
    w = np.array([0.01, 0.3, 4.0])
    printed = 318 * (0.0255 * np.exp(-np.sqrt(w / 0.0249)) + 0.0911 * w ** (1 - 0.3338))
    v = np.zeros((3, 6))
    v[:, 0] = w
    assert relative(robots["rx90b"].friction_torque(v)[:, 0], printed) < 1e-12


def test_equations_3_51_and_3_52_couple_the_wrist(robots):
    """A motion of joint 5 alone is felt on joint 6 by the third friction; opposite ones cancel."""
    robot = robots["rx90b"]
    alone = robot.friction_torque([0, 0, 0, 0, 0.5, 0])
    assert alone[5] > 0
    assert alone[4] > alone[5]
    opposite = robot.friction_torque([0, 0, 0, 0, 0.5, -0.5])
    assert opposite[4] == pytest.approx(alone[4] - alone[5], rel=1e-12)


def test_one_film_for_gear_and_bearing_is_the_gear_pair():
    w = np.linspace(-2, 2, 41)
    joint, gear = GearedJoint(5, 0.03, 0.6, 7, 0.6), GearPair(5, 0.03, 0.6, 7)
    assert np.array_equal(torque(joint, w), torque(gear, w))


def test_stribeck_runs_from_static_to_coulomb():
    law = Stribeck(level=2, static=5, speed=0.1, exponent=1, viscous=0)
    assert torque(law, np.array([1e-9]))[0] == pytest.approx(5, rel=1e-6)
    assert torque(law, np.array([10.0]))[0] == pytest.approx(2, rel=1e-9)


def test_asymmetric_values_act_on_their_side_only(robots, tmp_path):
    """Document 002 allows other values for negative speed: the file's key `negative`."""
    text = """
format = 2
name = "bench"
[[joint]]
name = "j"
parent = "base"
child = "arm"
source = "assumed: bench"
[[link]]
name = "arm"
source = "assumed: bench"
body = { mass = 2, com = [0.1, 0, 0], inertia = { xx = 0.01, yy = 0.01, zz = 0.01 } }
[[friction]]
name = "j"
on = "j"
law = "stribeck"
level = 2
static = 3
speed = 0.1
negative = { level = 2.5 }
offset = 0.25
source = "assumed: bench"
"""
    path = tmp_path / "bench.toml"
    path.write_text(text)
    robot = at.Robot.load(path)
    assert robot.friction_torque([9.0])[0] == pytest.approx(2.25)
    assert robot.friction_torque([-9.0])[0] == pytest.approx(-2.25)
    q, v, a = np.ones((3, 2, 1)) * np.array([[[0.3]], [[0.5]], [[1]]]) * np.array([[[1], [-1]]])
    both = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
    assert relative(robot.regressor(q, v, a) @ robot.parameters, both) < 1e-14
    robot.save(tmp_path / "again.toml")
    assert at.Robot.load(tmp_path / "again.toml") == robot


def test_a_law_that_says_what_it_holds_at_rest_is_held_by_that_in_the_loop():
    """Any law may hold more than it slides with: 5 N m at rest, 2 N m from slow sliding on."""

    @dataclass(frozen=True)
    class Sticky(LinearLaw, units={"level": "N m"}, dry=("level",)):
        level: float
        law: str = "sticky"

        @property
        def held(self):
            return 5.0

        def columns(self, w):
            return np.sign(w)[..., None]

    sticky = Sticky(2.0)
    assert breakaway(sticky) == 5.0
    dry = tabulate(sticky, 1.0)[:, 0]
    assert dry[0] == pytest.approx(5.0, rel=1e-6)
    assert dry[-1] == pytest.approx(2.0, rel=1e-6)
