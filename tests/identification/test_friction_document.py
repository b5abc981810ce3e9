"""Sections 3.2.2, 3.5.2, 3.6 and 3.8 of document 000 as printed, errata named."""

import re
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.lubricated import GearedJoint
from armtwin.identification.friction_curves.document_steps import (
    means_of_series,
    viscous_by_logarithms,
)
from armtwin.identification.friction_curves.presliding import position_step
from tests.identification.virtual_friction import SPEEDS, torque_of

ONE = GearedJoint(0.0255, 0.0249, 0.5, 0.0911, 0.3338)  # table 3.1, normalised torque
C = GearedJoint(0.03, 0.225, 0.5, 0.0499, 0.3156)


def test_the_examples_of_the_page_on_experiments_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "experiments.md"
    examples = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    ours = [code for code in examples if "fit_friction" in code or "at.Contact" in code]
    assert len(ours) == 2
    for example in ours:
        exec(compile(example, "docs/experiments.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("geared_joint")
    assert "GearPair(" in said
    assert at.Robot.load("with_friction.toml").description.friction[0].law.law == "geared_joint"


def test_section_3_2_2_on_all_speeds_static_falls_below_coulomb():
    """Model 1: a viscous part that is too straight is mended by a negative Stribeck effect."""
    v = np.concatenate([np.geomspace(0.005, 0.5, 14), np.linspace(1, 4, 6)])
    law = at.armstrong_steps(v, torque_of(ONE, v))
    assert (law.exponent, law.speed) == (0.33, 0.024)
    assert law.static < law.level


def test_section_3_2_2_on_low_speeds_it_fits_there_and_fails_above():
    """Model 2: 0 to 0.5 rad/s to a few per cent, with a Stribeck effect, far too much at 4."""
    v = np.geomspace(0.005, 0.5, 20)
    law = at.armstrong_steps(v, torque_of(ONE, v))
    assert law.static > law.level
    assert np.abs(torque_of(law, v) / torque_of(ONE, v) - 1).max() < 0.05
    assert torque_of(law, [4.0])[0] > 1.3 * torque_of(ONE, [4.0])[0]


def test_equation_3_58_has_the_logarithm_of_the_torque():
    """Erratum: with ln T a pure power is found exactly; six speeds of 0.5 to 4.5 rad/s."""
    v = np.linspace(0.5, 4.5, 6)
    exponent, viscous = viscous_by_logarithms(v, 0.0911 * v**0.6662)
    assert exponent == pytest.approx(0.3338, abs=1e-12)
    assert viscous == pytest.approx(0.0911, rel=1e-12)


def test_steps_1_to_3_start_close_for_joint_1():
    """Asperities left out above 0.5 rad/s cost joint 1 less than 2 % of its viscous friction."""
    law = at.lubricated_steps(SPEEDS, torque_of(ONE, SPEEDS))
    assert law.viscous == pytest.approx(ONE.viscous, rel=0.02)
    assert law.viscous_exponent == pytest.approx(ONE.viscous_exponent, abs=0.02)
    assert law.exponent == law.viscous_exponent
    assert law.speed == pytest.approx(SPEEDS[np.argmin(torque_of(ONE, SPEEDS))])


def test_step_1_biases_model_c_by_11_percent():
    """Erratum of 3.6 step 1: its asperities reach far beyond 0.5 rad/s."""
    v = np.linspace(0.5, 4.5, 6)
    _, viscous = viscous_by_logarithms(v, torque_of(C, v))
    assert viscous / C.viscous == pytest.approx(1.11, abs=0.015)


def test_equation_3_53_parts_the_wrist_with_c_at_twice_the_speed(robots):
    """Erratum of 3.53b; what c holds while it stands drops out of the differences."""
    laws = {e.name: e.law for e in robots["rx90b"].description.friction}
    a, b = torque_of(laws["wrist_a"], SPEEDS), torque_of(laws["wrist_b"], SPEEDS)
    c = torque_of(laws["wrist_c"], 2 * SPEEDS)
    held = np.linspace(-0.7, 0.7, len(SPEEDS))
    against = np.column_stack([a + held, -b + held])
    along = np.column_stack([a + c, b + c])
    found = at.separated_wrist(against, along)
    assert found.a == pytest.approx(a)
    assert found.b == pytest.approx(b)
    assert found.c == pytest.approx(c)


def test_equation_3_65_with_three_series_is_less_by_the_root_of_two_thirds():
    """Its squares are divided by 3; ours by 2, which is free of bias."""
    tau = np.array([1.0, 1.2, 1.7])
    means = means_of_series(np.full(3, 0.5), tau)
    assert np.sqrt(2 / 3) * means.spread[0] == pytest.approx(np.sqrt(np.mean((tau - 1.3) ** 2)))


def ramp(robot, stiffness, level, quantum):
    """A log of joint 1 whose torque rises slowly until it breaks away, by (3.78)."""
    travel = level / stiffness
    x = np.concatenate([np.linspace(0, 8 * travel, 400), np.linspace(8, 12, 50) * travel])
    tau = level * -np.expm1(-x / travel)
    q, torque = np.zeros((450, 6)), np.zeros((450, 6))
    q[:, 0] = np.round(x / quantum) * quantum if quantum else x
    torque[:, 0] = tau
    return at.Log.of(np.arange(450) / 50, q=q, tau=torque + robot.gravity(q))


def test_a_break_away_ramp_tells_the_stiffness(robots):
    robot = robots["rx90b"]
    found = at.fit_presliding(robot, ramp(robot, 2e5, 8.0, 1e-6))
    assert found.way == "a break-away ramp"
    assert found.stiffness == pytest.approx(2e5, rel=0.02)
    assert found.level == pytest.approx(8.0, rel=0.01)
    (axes,) = found.plot()
    (rise,) = [line for line in axes.lines if line.get_label() == "exponential"]
    assert rise.get_ydata().max() == pytest.approx(found.level, rel=1e-3)
    assert axes.get_xlabel() == "displacement [µrad]"


def test_an_encoder_that_cannot_resolve_it_is_told(robots):
    robot = robots["rx90b"]
    found = at.fit_presliding(robot, ramp(robot, 1e7, 8.0, 1e-6))
    assert np.isnan(found.stiffness)
    assert "encoder cannot resolve" in found.refused
    assert "at least 2.67e+06 N m/rad" in found.refused
    assert found.sections().verdict[0].text == found.refused


def test_reversals_tell_the_stiffness(robots):
    """Slow motion back and forth of 1 mrad; after each turn -T rises to T over the travel."""
    robot, level, stiffness = robots["rx90b"], 8.0, 2e5
    way = np.concatenate([np.linspace(0, 1e-3, 2000), np.linspace(1e-3, 0, 2000)] * 3)
    tau = np.empty(len(way))
    z = 0.0
    for k, dq in enumerate(np.diff(way, prepend=0.0)):
        steady = np.sign(dq) * level
        z = steady + (z - steady) * np.exp(-abs(dq) * stiffness / level)
        tau[k] = z
    q, torque = np.zeros((len(way), 6)), np.zeros((len(way), 6))
    q[:, 0], torque[:, 0] = way, tau
    log = at.Log.of(np.arange(len(way)) / 100, q=q, tau=torque + robot.gravity(q))
    found = at.fit_presliding(robot, log)
    assert found.stiffness == pytest.approx(stiffness, rel=0.03)


def test_the_step_of_an_encoder_is_seen():
    q = np.cumsum(np.abs(np.sin(np.arange(500)))) * 1e-4
    assert position_step(np.round(q / 2e-5) * 2e-5) == pytest.approx(2e-5)
    assert position_step(q) == 0
