"""Payloads by the difference of two runs, and drives by a known payload, on the virtual RX90B.

Ten harmonics, 250 Hz, two periods of 8 s, quantised encoders and currents, torque noise of 0.65 %.
"""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.identification.payload.difference import flange_columns
from armtwin.identification.payload.drive_gain import nearest_body
from armtwin.identification.rigid_body.data.clean_log import Motion
from armtwin.mechanics.inertia import why_unphysical
from armtwin.robot.dynamics.bodies import parameters_of
from tests.identification.virtual import NOISE, excitation, least_deviations, measured, on_the_bench

MASS = 4.12  # of the laser head [kg]


@pytest.fixture(scope="module")
def bare():
    return on_the_bench()


@pytest.fixture(scope="module")
def head():
    return on_the_bench("laser_head")


@pytest.fixture(scope="module")
def motion(head):
    return excitation(head, 1, periods=2)


@pytest.fixture(scope="module")
def silent(bare, head, motion):
    """Both runs as the loop quantises them, without noise on the torque."""
    return measured(bare, motion, 1, noise=0.0), measured(head, motion, 2, noise=0.0)


def noisy(robot, log, seed):
    chance = np.random.default_rng(seed)
    noise = NOISE * robot.limits.torque * chance.normal(size=log.tau.shape)
    return at.Log.of(log.time, q=log.q, q_ref=log.q_ref, tau=log.tau + noise)


@pytest.fixture(scope="module")
def runs(bare, silent):
    return noisy(bare, silent[0], 1), noisy(bare, silent[1], 2)


@pytest.fixture(scope="module")
def found(bare, runs):
    return at.identify_payload(bare, *runs)


def test_the_columns_of_the_flange_are_what_a_tool_adds(bare, head, rng):
    """Two roads: the robot with the head less the robot without it."""
    q, v, a = rng.normal(size=(3, 9, 6))
    added = head.inverse_dynamics(q, v, a) - bare.inverse_dynamics(q, v, a)
    body = head.description.tool["laser_head"].body
    by_columns = flange_columns(bare, Motion(q, v, a)) @ parameters_of(body)
    np.testing.assert_allclose(by_columns, added, atol=1e-11)


def test_the_mass_of_the_head_is_found_within_a_percent_and_covered(found):
    row = found.table[0]
    assert row.value == pytest.approx(MASS, rel=0.01)
    assert row.low < MASS < row.high
    assert found.refused == ""


def test_centre_and_inertia_are_covered(found, head):
    """Nine more intervals of 95 %: one of them may miss."""
    body = head.description.tool["laser_head"].body
    six = body.inertia
    truth = [*body.com, six.xx, six.yy, six.zz, six.xy, six.xz, six.yz]
    covered = [row.low < x < row.high for row, x in zip(found.table[1:], truth, strict=True)]
    assert sum(covered) >= 8


def test_intervals_cover_the_mass_in_ten_draws(bare, silent):
    """Nine of ten at least; studies/payload.py draws a hundred."""
    covered = 0
    for seed in range(10):
        one = noisy(bare, silent[0], 10 + seed), noisy(bare, silent[1], 50 + seed)
        row = at.identify_payload(bare, *one, cutoff=10.0).table[0]
        covered += row.low < MASS < row.high
    assert covered >= 9


def test_the_difference_needs_no_prior_of_the_arm(bare, runs):
    """Links 20 % too heavy in the file: the difference stays, the arm held is off by kilograms."""
    links = np.array([p.group == "link" for p in bare.parameter_table])
    wrong = bare.with_parameters(bare.parameters * np.where(links, 1.2, 1.0))
    by_difference = at.identify_payload(wrong, *runs)
    held = at.identify_payload(wrong, None, runs[1])
    assert by_difference.mass == pytest.approx(MASS, rel=0.01)
    assert abs(held.mass - MASS) > 1.0
    weighed = held.keep_mass(MASS)  # on scales
    assert (weighed.mass, weighed.table[0].std) == (MASS, 0)
    (carried,) = weighed.robot.description.payload.values()
    assert carried.body.mass == pytest.approx(MASS, rel=1e-12)
    assert all(row.std > 0 for row in weighed.table[1:])


def test_with_the_arm_held_as_it_is_one_run_is_enough(bare, runs):
    found = at.identify_payload(bare, None, runs[1])
    assert found.mass == pytest.approx(MASS, rel=0.02)


def test_a_truncated_fit_is_reported_as_not_independent_of_its_prior(bare, head, runs):
    """A head 30 % too heavy in the file: the difference does not see it, the fit does."""
    description = head.description
    tool = description.tool["laser_head"]
    heavy = replace(tool, body=replace(tool.body, mass=1.3 * MASS))
    tools = {**description.tool, "laser_head": heavy}
    expected = at.Robot(replace(description, tool=tools))
    found = at.identify_payload(bare, *runs, expected=expected)
    assert found.mass == pytest.approx(MASS, rel=0.01)
    assert found.road.expected == pytest.approx(1.3 * MASS)
    assert not found.road.is_independent
    assert "not independent of the prior of 5.36 kg" in found.road.sentence
    assert abs(found.road.mass - MASS) > 0.05 * MASS


def test_clocks_that_do_not_agree_are_set(bare, runs, found):
    """Half a sample and some seconds apart."""
    later = replace(runs[1], time=runs[1].time + 3.502)
    shifted = at.identify_payload(bare, runs[0], later)
    assert shifted.runs.shift == pytest.approx(found.runs.shift + 3.502, abs=1e-4)
    assert shifted.mass == pytest.approx(found.mass, rel=0.002)


def test_the_robot_carries_what_was_found(found, bare, head, rng):
    q, v, a = rng.normal(size=(3, 5, 6))
    carried = found.robot.inverse_dynamics(q, v, a) - bare.inverse_dynamics(q, v, a)
    exact = head.inverse_dynamics(q, v, a) - bare.inverse_dynamics(q, v, a)
    assert np.abs(carried - exact).max() < 0.02 * np.abs(exact).max()


def test_torque_constants_are_found_within_two_percent(bare, silent):
    """Only the mass is known; the file has no constants at all."""
    constants = np.array([motor.torque_constant for motor in bare.description.motor])
    logs = []
    for seed, log in enumerate(silent):
        torque = noisy(bare, log, seed).tau @ bare.assembly.motor_inverse
        logs.append(at.Log.of(log.time, q=log.q, current=torque / constants))
    motors = [replace(m, torque_constant=None, current_limit=None) for m in bare.description.motor]
    blind = at.Robot(replace(bare.description, motor=tuple(motors)), bare.origin)
    found = at.identify_drive_gains(blind, *logs, MASS, torque="current")
    np.testing.assert_allclose(found.gain.constants, constants, rtol=0.02)
    assert found.gain.told.all()
    told = [motor.torque_constant for motor in found.robot.description.motor]
    np.testing.assert_allclose(told, found.gain.constants)


def test_runs_of_different_motions_are_refused(bare, head, runs):
    other = measured(head, excitation(head, 2, periods=2), 3)
    with pytest.raises(ArmtwinError, match="are of different motions"):
        at.identify_payload(bare, runs[0], other)


def test_two_runs_without_a_payload_tell_none(bare, silent):
    first, second = noisy(bare, silent[0], 3), noisy(bare, silent[0], 4)
    found = at.identify_payload(bare, first, second)
    assert "shows no payload" in found.refused
    assert found.robot is bare


def test_currents_without_constants_ask_for_the_mass(bare, runs):
    motors = [replace(m, torque_constant=None, current_limit=None) for m in bare.description.motor]
    blind = at.Robot(replace(bare.description, motor=tuple(motors)), bare.origin)
    logs = [at.Log.of(log.time, q=log.q, current=log.tau) for log in runs]
    with pytest.raises(ArmtwinError, match="holds currents, and the file has no torque constants"):
        at.identify_payload(blind, *logs)


@pytest.mark.parametrize(
    ("mass", "sentence"),
    [
        (-1.0, "mass above 0 kg, got -1.0"),
        (5.0, "found from currents, and 'tau' is a torque"),
        (4120.0, "carries a payload of 4120 kg. Is the known mass in another unit"),
        (4.12e-3, "feels a payload of 0.00412 kg. Is the known mass in another unit"),
    ],
)
def test_masses_that_cannot_be_are_refused(bare, runs, mass, sentence):
    with pytest.raises(ArmtwinError, match=sentence):
        at.identify_drive_gains(bare, *runs, mass)


def test_a_run_in_another_unit_than_the_other_gives_no_payload(bare, runs):
    """The first log alone is weighed against the arm; the payload would be of hundreds of kg."""
    without, with_it = runs
    in_n_cm = replace(with_it, channels={**with_it.channels, "tau": 100 * with_it.tau})
    with pytest.raises(ArmtwinError, match=r"carries a payload of .* Is a torque in another unit"):
        at.identify_payload(bare, without, in_n_cm)


@pytest.mark.parametrize(
    ("factors", "asked"),
    [
        (1000.0, "Is the torque in N mm"),
        (-1.0, "Are the torques of all joints counted the other way"),
        (np.array([1, -1, 1, 1, 1, 1]), "Is the sign of joint_2's torque reversed"),
    ],
    ids=["N mm", "sign", "joint 2"],
)
def test_runs_with_a_mistake_are_refused_by_its_name(bare, runs, factors, asked):
    spoilt = [at.Log.of(run.time, q=run.q, q_ref=run.q_ref, tau=factors * run.tau) for run in runs]
    with pytest.raises(at.ArmtwinError) as error:
        at.identify_payload(bare, *spoilt)
    assert asked in str(error.value).partition("If so")[0]


def test_a_run_that_stands_still_is_refused(bare, runs):
    still = at.Log.of(runs[0].time, q=np.zeros_like(runs[0].q), tau=runs[0].tau)
    with pytest.raises(ArmtwinError):
        at.identify_payload(bare, still, still)


def test_the_nearest_body_can_exist():
    impossible = np.array([2.0, 0.0, 0.0, 0.2, -0.01, 0.02, 0.01, 0.0, 0.0, 0.0])
    assert why_unphysical(impossible)
    assert not why_unphysical(nearest_body(impossible))


def test_the_load_of_a_real_ur10e_shows_in_measured_currents_alone(shared_data):
    """The runs of 31 January with and without: about 2.4 kg in the measured currents, by gains from
    the unloaded run; the targets of the controller know nothing of it. A gain found back from that
    mass agrees with the one it came from.
    """
    folder = shared_data / "ur10e"
    robot = at.Robot.load(folder / "ur10e.urdf")
    unload = at.Log.read(folder / "ident_20_01_31_unload.csv.gz")
    load = at.Log.read(folder / "ident_20_01_31_load.csv.gz")
    arm = at.identify(robot, [unload], torque="current_des").robot
    found = at.identify_payload(arm, unload, load, torque="current")
    assert found.runs.shift == pytest.approx(1.55, abs=0.002)
    assert 2.2 < found.mass < 2.8
    assert found.table[0].high - found.table[0].low < 0.2
    assert found.fit.explained[1:].min() > 0.99
    target = at.identify_payload(arm, unload, load, torque="current_des")
    assert "does not include the payload" in target.refused
    back = at.identify_drive_gains(arm, unload, load, found.mass, torque="current").gain
    had = np.array([motor.torque_constant for motor in arm.description.motor])
    told = back.told
    assert told.sum() >= 5
    np.testing.assert_allclose(back.constants[told], had[told], rtol=0.1)


def currents_of(robot, silent, seed):
    """Both runs as currents, and the robot without torque constants."""
    constants = np.array([motor.torque_constant for motor in robot.description.motor])
    logs = []
    for k, log in enumerate(silent):
        torque = noisy(robot, log, seed + k).tau @ robot.assembly.motor_inverse
        logs.append(at.Log.of(log.time, q=log.q, current=torque / constants))
    motors = [replace(m, torque_constant=None, current_limit=None) for m in robot.description.motor]
    return at.Robot(replace(robot.description, motor=tuple(motors)), robot.origin), logs, constants


def test_deviations_of_mass_and_torque_constants_are_those_of_the_information(
    bare, head, motion, silent, found
):
    """Two roads: what the fits say of themselves, and the bound of Cramer and Rao for white noise
    on the difference of two runs of the motion that was asked for. Jackknifes of ten parts scatter
    by a quarter and only ever add."""
    mass, constants = least_deviations(
        bare, motion, parameters_of(head.description.tool["laser_head"].body)
    )
    assert 0.85 * mass < found.table[0].std / MASS < 1.6 * mass
    blind, logs, truth = currents_of(bare, silent, 80)
    gain = at.identify_drive_gains(blind, *logs, MASS, torque="current").gain
    share = gain.std / gain.constants
    assert (share > 0.8 * constants).all()
    assert (share < 2.0 * constants).all()
    assert (np.abs(gain.constants / truth - 1)[share < 0.01] < 0.02).all()


def test_the_page_says_how_much_longer_a_log_tells_a_constant(bare, silent, tmp_path):
    blind, logs, _ = currents_of(bare, silent, 80)
    result = at.identify_drive_gains(blind, *logs, MASS, torque="current")
    at.write_report(result, tmp_path / "gain.html")
    page = (tmp_path / "gain.html").read_text(encoding="utf-8")
    wide = (result.gain.std / result.gain.constants) > 0.01
    assert ("times as long" in page) == bool(wide.any())
