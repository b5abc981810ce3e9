"""The direction of gravity by the logs: a wrong mounting is named, a base that leans is found."""

import tomllib

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.rigid_body.data.experiment import LowPassFilter, prepare_data
from armtwin.identification.rigid_body.gravity.gravity_direction import (
    compute_gravity_squares,
    estimate_gravity_direction,
)
from armtwin.robot.formats.reading import read_robot
from armtwin.robot.schema.mounting import angle_between, gravity_of
from tests.identification.test_identify import excitation

NOISE = 0.01  # of the largest torque
PENDULUM = """
format = 2
name = "pendulum"
[[joint]]
name = "swing"
parent = "base"
child = "bob"
axis = [0, 1, 0]
source = "assumed: an example"
[[link]]
name = "bob"
body = { mass = 3, com = [0.1, 0, -0.3], inertia = { xx = 0.03, yy = 0.03, zz = 0.01 } }
source = "assumed: an example"
[gear]
ratios = [50]
source = "assumed: an example"
[[motor]]
name = "motor"
rotor_inertia = 1e-5
source = "assumed: an example"
[[friction]]
name = "swing"
on = "swing"
law = "coulomb_viscous"
level = 0.2
viscous = 0.1
source = "assumed: an example"
"""


def logged(robot, mounting, seed, spread=0.2, sign=1.0):
    """A log of the robot on a base, its bodies, rotors and friction others than in its file."""
    chance = np.random.default_rng(seed)
    links = np.repeat(chance.uniform(1 - spread, 1 + spread, robot.n), 10)
    drives = chance.uniform(0.7, 1.3, len(robot.parameters) - len(links))
    truth = robot.with_parameters(robot.parameters * np.concatenate([links, drives]))
    truth = truth.with_gravity(gravity_of(mounting))
    t, q, v, a = excitation(robot, 16.0, rate=100.0, seed=seed)
    tau = truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)
    tau += NOISE * np.abs(tau).max(axis=0) * chance.normal(size=tau.shape)
    return at.Log.of(t, q=q, tau=sign * tau)


def found_in(robot, log, cutoff=10.0):
    return estimate_gravity_direction(
        prepare_data(robot, (log,), "tau", LowPassFilter(cutoff, True, at.Recipe()))
    )


def test_squares_of_another_gravity_are_those_of_a_robot_that_has_it(robots):
    """Two roads: the regressor's part that is linear in gravity, or the kernel with the other."""
    robot = robots["tx40"]
    log = logged(robot, "30 deg", 1)
    other = robot.with_gravity(gravity_of("30 deg about x"))
    how = LowPassFilter(10.0, True, at.Recipe())
    here, there = (
        compute_gravity_squares(prepare_data(x, (log,), "tau", how)) for x in (robot, other)
    )
    every = np.eye(len(robot.parameters) + 1)
    T = here.map_columns(every, there.gravity)
    moved = T.T @ here.whole @ T
    own = there.map_columns(every, there.gravity)
    expected = own.T @ there.whole @ own
    scale = np.sqrt(np.einsum("jaa->ja", expected))
    size = scale[:, :, None] * scale[:, None, :] + 1e-12
    assert (np.abs(moved - expected) / size).max() < 1e-9


@pytest.mark.parametrize("name", ["tx40", "rx90b", "kr300"])
@pytest.mark.parametrize(
    ("mounting", "option"),
    [
        ("wall", "--mounting wall"),
        ("90 deg about x", '--mounting "90 deg about x"'),
        ("45 deg", '--mounting "45 deg"'),
        ("ceiling", "--mounting ceiling"),
    ],
)
def test_another_mounting_than_the_files_is_found_whatever_the_masses(
    robots, name, mounting, option
):
    robot = robots[name]
    found = found_in(robot, logged(robot, mounting, 3))
    # friction and bodies 20 to 30 % off leave less than 2 deg, within which a mounting is named
    assert np.degrees(angle_between(found.logs, gravity_of(mounting))) < 2.0
    assert f"say {option}" in found.wrong_mounting
    assert not found.base_is_tilted


@pytest.mark.parametrize("name", ["tx40", "rx90b", "kr300"])
def test_a_base_as_the_file_has_it_neither_leans_nor_is_wrong(robots, name):
    robot = robots[name]
    for seed in range(4):
        found = found_in(robot, logged(robot, "floor", seed))
        assert not found.differs_from_file
        assert found.told


def test_joints_that_hardly_move_do_not_turn_the_base(robots):
    """Strokes of 2 deg: what the friction model lacks at reversals looks like a turned gravity."""
    robot = robots["tx40"]
    time = np.arange(0, 20, 0.004)
    phase = 2.0 * time[:, None] + np.arange(6)
    q = 0.03 * np.sin(phase) + np.array([0.0, 0.3, 1.2, 0.0, 0.6, 0.0])
    v, a = 0.06 * np.cos(phase), -0.12 * np.sin(phase)
    tau = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
    for cutoff in (1.0, 5.0, 20.0):
        found = found_in(robot, at.Log.of(time, q=q, tau=tau), cutoff)
        assert found.wrong_mounting == ""
        assert not found.base_is_tilted


def test_a_wrong_mounting_is_named_in_one_sentence_and_nothing_is_predicted(robots):
    robot = robots["rx90b"]
    log = logged(robot, "wall", 3)
    sentence = r"torque is that of a base on a wall .* has it on a floor.*say --mounting wall"
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.identify(robot, [log], cutoff=10.0)
    trusted = at.identify(robot, [log], cutoff=10.0, recipe=at.Recipe(trust=True))
    assert "say --mounting wall" in trusted.distrusted
    told = robot.with_gravity(gravity_of("wall"))
    right = at.identify(told, [log], cutoff=10.0)
    assert right.distrusted == ""
    assert np.mean(right.validate(log).nrmse) < 0.5 * np.mean(trusted.validate(log).nrmse)


def test_a_torque_with_the_wrong_sign_is_not_taken_for_a_ceiling(robots):
    robot = robots["rx90b"]
    with pytest.raises(at.ArmtwinError, match="Are the torques of all joints counted"):
        at.identify(robot, [logged(robot, "floor", 3, sign=-1.0)], cutoff=10.0)


def test_a_base_that_leans_one_degree_is_found_and_written(robots, tmp_path):
    robot = robots["rx90b"]
    log, other = logged(robot, "1 deg", 3), logged(robot, "1 deg", 3)
    found = at.identify(robot, [log], cutoff=10.0)
    truth = gravity_of("1 deg")
    # within three of its own deviations, and to a tenth of the lean
    off = angle_between(found.robot.description.gravity, truth)
    assert off < max(3 * found.fall.angle_deviation, np.radians(0.1))
    assert np.degrees(found.fall.angle) == pytest.approx(1.0, abs=0.2)
    assert found.prior.description.gravity == robot.description.gravity
    level = at.identify(robot, [log], cutoff=10.0, recipe=at.Recipe(tilt="file"))
    assert level.fall is None
    assert level.robot.description.gravity == robot.description.gravity
    assert found.validate(other).rmse[0] < 0.8 * level.validate(other).rmse[0]
    found.robot.save(tmp_path / "leaning.toml")
    again = at.Robot.load(tmp_path / "leaning.toml")
    assert again.description.gravity == found.robot.description.gravity
    assert again.description.standard_deviation.gravity == found.fall.deviation
    (origin,) = [origin for origin in again.provenance.origins if origin.path == "gravity"]
    assert origin.kind == "identified"


def test_a_pendulum_does_not_tell_gravity_from_where_its_mass_is():
    """Along its axis gravity shows nowhere, across it a turned mass looks the same."""
    robot = at.Robot(read_robot(tomllib.loads(PENDULUM), "pendulum.toml"))
    found = found_in(robot, logged(robot, "20 deg", 3))
    assert found.share < 0.6  # the draw shares an angle evenly between both
    assert not found.told
    assert not found.differs_from_file
