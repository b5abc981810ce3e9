"""Identification: rings on simulated torque, a real robot, and estimates that a robot could have."""

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.consistency import nearest, violations
from armtwin.identification.estimators import Fit, fit
from armtwin.identification.factors import factors, together
from armtwin.identification.freedom import freedom
from armtwin.identification.identifiable import identifiable
from armtwin.identification.regression import Rows


def excitation(robot, seconds=32.0, rate=250.0, seed=1):
    """q, v, a of a Fourier series of ten harmonics with a period of 8 s, well inside the limits."""
    chance = np.random.default_rng(seed)
    t = np.arange(0, seconds, 1 / rate)[:, None, None]
    w = 2 * np.pi / 8 * np.arange(1, 11)[None, :, None]
    a, b = chance.normal(scale=0.25, size=(2, 1, 10, robot.n)) / np.arange(1, 11)[None, :, None]
    q0 = np.array([0.0, 0.3, 1.2, 0.0, 0.6, 0.0])[: robot.n]
    q = q0 + (a * np.sin(w * t) + b * np.cos(w * t)).sum(axis=1)
    v = (w * (a * np.cos(w * t) - b * np.sin(w * t))).sum(axis=1)
    acc = (-w * w * (a * np.sin(w * t) + b * np.cos(w * t))).sum(axis=1)
    return t[:, 0, 0], q, v, acc


def exact_rows(robot, truth, seed):
    _, q, v, a = excitation(robot, 8.0, seed=seed)
    Y = robot.regressor(q, v, a)
    tau = truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)
    m, n, p = Y.shape
    return Rows(Y.reshape(m, n * p), np.ones((n, p), dtype=bool), tau, np.ones_like(tau, dtype=bool))


@pytest.mark.parametrize("name", ["rx90b", "tx40"])
def test_the_exact_ring_gives_back_every_base_parameter(robots, name):
    """Torque of a robot that differs, on an analytic motion: its base parameters to 1e-8, from a wrong prior."""
    robot = robots[name]
    chance = np.random.default_rng(5)
    links = np.repeat(chance.uniform(0.8, 1.2, robot.n), 10)  # each body by a factor of its own stays a body
    truth = robot.with_parameters(
        robot.parameters * np.concatenate([links, chance.uniform(0.8, 1.2, len(robot.parameters) - len(links))])
    )
    free = freedom(robot, at.Recipe())
    rows = together([factors(exact_rows(robot, truth, seed), np.eye(len(robot.parameters))) for seed in (1, 2)])
    found = fit(rows, free, 0.0, np.ones(robot.n))
    phi = free.parameters(found.z)
    C = identifiable(robot).combination
    scale = np.abs(C) @ np.abs(truth.parameters) + 1e-3
    assert np.abs(C @ (phi - truth.parameters) / scale).max() < 1e-8


def test_the_rank_of_the_rx90b_is_that_of_the_thesis(robots):
    """Without the head: 55 of its parameters can be told, as [Waiboer 2007, section 4.3] finds."""
    found = identifiable(robots["rx90b"])
    assert found.rank == 55
    assert len(found.base) == 55
    assert found.groups[:6] == ("none",) * 6  # the base's mass and most of link 1 never move


def test_combinations_are_what_the_torque_depends_on(robots):
    """Parameters moved along the null space of the combinations leave the torque unchanged."""
    robot = robots["tx40"]
    C = identifiable(robot).combination
    null = np.linalg.svd(C)[2][len(C) :]
    _, q, v, a = excitation(robot, 1.0)
    Y = robot.regressor(q, v, a)
    assert np.abs(Y @ null.T).max() < 1e-7 * np.abs(Y).max()


def test_an_estimate_of_no_real_robot_is_moved_to_the_nearest_that_is(robots):
    """A mass drawn negative by made-up rows comes back as a body that exists, the rest stays near."""
    robot = robots["tx40"]
    free = freedom(robot, at.Recipe())
    wanted = np.zeros(len(free.start))
    wanted[30] = -3.0  # mass of link 4: -2 times its prior
    assert violations(robot, free.parameters(wanted)) == ["link_4: its mass and inertia are those of no real body"]
    made_up = Fit(wanted, np.ones(6), 0.0, np.eye(len(wanted)), wanted, 1)
    phi = free.parameters(nearest(robot, made_up, free, {}))
    assert violations(robot, phi) == []
    assert phi[30] > 0
    robot.with_parameters(phi)  # a robot file would be accepted


def logged(robot, truth, seconds, seed, noise=0.0065):
    t, q, v, a = excitation(robot, seconds, seed=seed)
    tau = truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)
    chance = np.random.default_rng(seed)
    tau = tau + noise * robot.limits.torque * chance.normal(size=tau.shape)
    return at.Log.of(t, q=q + chance.normal(scale=1e-5, size=q.shape), tau=tau), tau


def test_identified_torque_of_another_motion_is_nearer_than_the_noise(robots):
    """Noise of 0.65 % of the largest torque; judged against the torque without noise of a motion not fitted."""
    robot = robots["rx90b"]
    groups = np.array([p.group for p in robot.parameter_table])
    truth = robot.with_parameters(
        robot.parameters * np.where(groups == "rotor", 1.2, np.where(groups == "friction", 0.8, 1.0))
    )
    found = at.identify(robot, [logged(robot, truth, 32.0, seed)[0] for seed in (1, 2)], cutoff=10.0)
    _, q, v, a = excitation(robot, 8.0, seed=9)
    exact = truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)
    told = found.robot.inverse_dynamics(q, v, a) + found.robot.friction_torque(v)
    error = np.sqrt(((told - exact) ** 2).mean(axis=0)) / (0.0065 * robot.limits.torque)
    assert error.max() < 0.3
    prior = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
    assert (np.sqrt(((prior - exact) ** 2).mean(axis=0)) / (0.0065 * robot.limits.torque)).max() > 1.0


def test_the_written_robot_reproduces_the_fits_torque_and_says_where_it_comes_from(robots, tmp_path):
    robot = robots["rx90b"]
    found = at.identify(robot, [logged(robot, robot, 16.0, 1)[0]], cutoff=10.0)
    found.robot.save(tmp_path / "fit.toml")
    again = at.Robot.load(tmp_path / "fit.toml")
    _, q, v, a = excitation(robot, 1.0)
    phi = np.array([row.value for row in found.table])
    torque = robot.regressor(q, v, a) @ phi
    told = again.inverse_dynamics(q, v, a) + again.friction_torque(v)
    assert np.abs(told - torque).max() / (1 + np.abs(torque).max()) < 1e-12
    assert again.provenance.of_kind("identified")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda q, tau: (q * [1, 1, 0, 1, 1, 1], tau), "joint_3 does not move in the log"),
        (lambda q, tau: (q[:, :5], tau), "must have 6 columns of q for robot 'rx90b', got 5"),
    ],
)
def test_a_log_that_cannot_be_used_is_refused_in_one_sentence(robots, change, sentence):
    t, q, _, _ = excitation(robots["rx90b"], 4.0)
    positions, tau = change(q, np.zeros_like(q))
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.identify(robots["rx90b"], [at.Log.of(t, q=positions, tau=tau)])
    with pytest.raises(at.ArmtwinError, match="at least one log"):
        at.identify(robots["rx90b"], [])
