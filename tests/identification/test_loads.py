"""Friction that follows the torque of its gear: found where a robot has it, and in its file."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.coulomb import Coulomb
from armtwin.drives.friction.load import Load
from armtwin.drives.friction.terms import Loaded
from armtwin.identification.rigid_body.data.clean_log import Motion
from armtwin.identification.rigid_body.data.reversals import mean_friction
from armtwin.identification.rigid_body.evaluation.diagnostics import describe_friction
from armtwin.identification.rigid_body.friction.terms import LOAD, find_hosts, with_terms
from tests.identification.test_memory import NOISE, steps_between_poses

SHARE, USUAL, CUTOFF = 0.08, 10.0, 20.0


def rubbing_by_load(robot):
    """The robot with friction of a share of the load of every gear."""
    terms = []
    for host in find_hosts(robot, at.Recipe(), np.ones(robot.n)):
        if host.geared:
            terms.append(host.load(USUAL, None))
    wide = with_terms(robot, tuple(terms))
    values = wide.parameters.copy()
    values[len(robot.parameters) :] = SHARE
    return wide.with_parameters(values)


def logged(robot, seed):
    """A log with noise."""
    t, q, v, a = steps_between_poses(robot, seed)
    friction = mean_friction(robot, Motion(q, v, a), np.zeros(robot.n))
    noise = NOISE * np.random.default_rng(seed).normal(size=q.shape)
    return at.Log.of(t, q=q, tau=robot.inverse_dynamics(q, v, a) + friction + noise)


@pytest.fixture(scope="module")
def rubbing(robots):
    """A TX40 with friction by load, identified from the file that knows nothing of it."""
    truth = rubbing_by_load(robots["tx40"])
    return truth, at.identify(robots["tx40"], [logged(truth, 1)], cutoff=CUTOFF)


def test_shares_of_gears_that_carry_the_arm_are_found_within_their_deviations(rubbing):
    """Joints 2 and 3 carry weight; their shares are identified to within 10 %."""
    _, found = rubbing
    rows = {row.name: row for row in found.table}
    for joint in ("joint_2", "joint_3"):
        row = rows[f"{joint}{LOAD}.share"]
        assert row.value == pytest.approx(SHARE, rel=0.15)
        assert abs(row.value - SHARE) < 3 * row.std
    assert any("torque that gears transmit" in sentence for sentence in describe_friction(found))


def missed_while_moving(found, log):
    """Residual rms of an estimate on a log where a joint moves, (n,) [N m]."""
    judged, moves = found.validate(log), ~found.standing(log)
    squares = np.where(moves, (judged.tau - judged.tau_hat) ** 2, 0.0)
    return np.sqrt(squares.sum(axis=0) / moves.sum(axis=0))


def test_the_found_robot_predicts_another_run_to_its_noise_and_one_without_loads_not(
    rubbing, robots
):
    truth, found = rubbing
    other = logged(truth, 2)
    recipe = at.Recipe(friction="file")
    without = at.identify(robots["tx40"], [logged(truth, 1)], cutoff=CUTOFF, recipe=recipe)
    own, plain = missed_while_moving(found, other), missed_while_moving(without, other)
    assert (own[1:3] < 1.2 * NOISE).all()
    assert (plain[1:3] > 1.3 * own[1:3]).all()


def test_a_robot_whose_friction_knows_no_load_gets_none(robots):
    found = at.identify(robots["tx40"], [logged(robots["tx40"], 1)], cutoff=CUTOFF)
    assert not [term for term in found.model.terms if term.element.name.endswith(LOAD)]


def test_shares_and_their_deviations_survive_the_file(rubbing, tmp_path):
    _, found = rubbing
    found.robot.save(tmp_path / "found.toml")
    again = at.Robot.load(tmp_path / "found.toml")
    assert again.parameter_names == found.robot.parameter_names
    assert again.parameters == pytest.approx(found.robot.parameters, rel=1e-12)
    known = dict(zip(again.uncertainty.names, again.uncertainty.deviations, strict=True))
    rows = {row.name: row for row in found.table}
    name = f"joint_2{LOAD}.share"
    assert known[name] == pytest.approx(rows[name].std, rel=1e-9)


def split_in_two(robot, share):
    """A level that follows its load, and the same as a level and a loaded element beside it."""
    (first, *others) = robot.description.friction
    level = replace(first, law=Coulomb(20.0), source="assumed: a test", thermal=None)
    whole = replace(level, load=Load(share))
    beside = replace(level, name="teeth", law=Loaded(share, 50.0))
    one = replace(robot.description, friction=(whole, *others))
    two = replace(robot.description, friction=(level, beside, *others))
    return at.Robot(one), at.Robot(two)


def test_a_loaded_element_beside_a_level_is_a_level_that_follows_its_load(robots, rng):
    """Two roads: a (1 + b |load| / a), and a plus b |load| about its usual load."""
    one, two = split_in_two(robots["rx90b"], 0.3)
    q, v, a = rng.normal(size=(3, 50, 6))
    first = one.friction_torque(v) + one.load_dependent_friction(q, v, a)
    second = two.friction_torque(v) + two.load_dependent_friction(q, v, a)
    assert second == pytest.approx(first, rel=1e-12, abs=1e-12)
    assert np.abs(one.load_dependent_friction(q, v, a)).max() > 1
    Y = two.regressor(q, v, a)
    torque = two.inverse_dynamics(q, v, a) + two.friction_torque(v)
    assert Y @ two.parameters == pytest.approx(torque, rel=1e-10, abs=1e-9)


def test_both_run_alike_in_the_closed_loop(robots):
    """Bristles of a level grow softer with their load than two; sliding they are one."""
    t = np.arange(0, 0.8, 1 / 250)[:, None]
    size, w = np.array([0.3, 0.2, 0.3, 0.1, 0.1, 0.1]), 2 * np.pi / 0.8
    pose = np.array([0.0, 0.6, 1.3, 0.2, 1.0, 0.1])
    q = pose + size * (t - np.sin(w * t) / w)
    v = size * (1 - np.cos(w * t))
    motion = at.Trajectory.sampled(250, q, v, size * w * np.sin(w * t))
    model = at.Model(quantise=False)
    logs = [at.simulate(robot, motion, model).log for robot in split_in_two(robots["rx90b"], 0.3)]
    sliding = logs[0].v[:, 0] > 0.05
    one, two = (log.tau_friction[sliding, 0] for log in logs)
    assert two == pytest.approx(one, rel=2e-3)
    assert np.ptp(one) > 2  # the load of the first joint is its inertia


def test_a_loaded_law_refuses_a_load_of_another_and_a_second_side(robots):
    (first, *others) = robots["rx90b"].description.friction
    twice = replace(first, law=Loaded(0.1, 50.0), load=Load(0.1))
    with pytest.raises(at.ArmtwinError, match="follows its load by itself"):
        at.Robot(replace(robots["rx90b"].description, friction=(twice, *others)))


def test_a_share_that_the_file_has_is_taken_as_known(rubbing, robots):
    """Its steady column is that of a level: they are identifiable only in combination."""
    truth, found = rubbing
    again = at.identify(found.robot, [logged(truth, 2)], cutoff=CUTOFF)
    first = {row.name: row.value for row in found.table}
    for row in again.table:
        if row.name.endswith(f"{LOAD}.share"):
            assert row.value == pytest.approx(first[row.name], rel=1e-12)
            assert row.from_logs == 0
    other = logged(truth, 3)
    assert (missed_while_moving(again, other)[1:3] < 1.2 * NOISE).all()


def test_a_load_without_memory_bends_as_far_as_its_host(rubbing):
    """Bristles of the host's stiffness would make a small share stiffer than all the rest."""
    _, found = rubbing
    elements = {element.name: element for element in found.robot.description.friction}
    load = elements[f"joint_2{LOAD}"]
    host = {e.name: e for e in found.prior.description.friction}["joint_2"]
    assert load.radius == pytest.approx(host.radius, rel=1e-6)
