"""Identification: rings on simulated torque, a real robot,
and estimates that a robot could have.
"""

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.fitting.factors import RegressionRows, factorise, merge_factors
from armtwin.identification.fitting.regularisation import LeastSquaresFit, fit
from armtwin.identification.rigid_body.data.preparation import LeftOutSquares, choose_highest_alike
from armtwin.identification.rigid_body.fit.consistency import (
    ParameterBounds,
    find_violations,
    solve_consistent,
)
from armtwin.identification.rigid_body.fit.free_parameters import (
    analyse_identifiability,
    free_parameters,
)


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
    return RegressionRows(
        Y.reshape(m, n * p), np.ones((n, p), dtype=bool), tau, np.ones_like(tau, dtype=bool)
    )


@pytest.mark.parametrize("name", ["rx90b", "tx40"])
def test_the_exact_ring_gives_back_every_base_parameter(robots, name):
    """Torque of a robot that differs, on an analytic motion:
    its base parameters to 1e-8, from a wrong prior.
    """
    robot = robots[name]
    chance = np.random.default_rng(5)
    links = np.repeat(
        chance.uniform(0.8, 1.2, robot.n), 10
    )  # each body by a factor of its own stays a body
    truth = robot.with_parameters(
        robot.parameters
        * np.concatenate([links, chance.uniform(0.8, 1.2, len(robot.parameters) - len(links))])
    )
    free = free_parameters(robot, at.Recipe())
    rows = merge_factors(
        [
            factorise(exact_rows(robot, truth, seed), np.eye(len(robot.parameters)))
            for seed in (1, 2)
        ]
    )
    found = fit(rows, free, 0.0, np.ones(robot.n))
    phi = free.parameters(found.z)
    C = analyse_identifiability(robot).combination
    scale = np.abs(C) @ np.abs(truth.parameters) + 1e-3
    assert np.abs(C @ (phi - truth.parameters) / scale).max() < 1e-8


def test_the_rank_of_the_rx90b_is_that_of_the_thesis(robots):
    """Without the head: 55 of its parameters can be told, as [Waiboer 2007, section 4.3] finds."""
    found = analyse_identifiability(robots["rx90b"])
    assert found.rank == 55
    assert len(found.base) == 55
    assert found.groups[:6] == ("none",) * 6  # the base's mass and most of link 1 never move


def test_combinations_are_what_the_torque_depends_on(robots):
    """Parameters moved along the null space of the combinations leave the torque unchanged."""
    robot = robots["tx40"]
    C = analyse_identifiability(robot).combination
    null = np.linalg.svd(C)[2][len(C) :]
    _, q, v, a = excitation(robot, 1.0)
    Y = robot.regressor(q, v, a)
    assert np.abs(Y @ null.T).max() < 1e-7 * np.abs(Y).max()


def test_an_estimate_of_no_real_robot_is_moved_to_the_nearest_that_is(robots):
    """A mass drawn negative by made-up rows comes back as a body that exists,
    the rest stays near.
    """
    robot = robots["tx40"]
    free = free_parameters(robot, at.Recipe())
    wanted = np.zeros(len(free.start))
    wanted[30] = -3.0  # mass of link 4: -2 times its prior
    assert find_violations(robot, free.parameters(wanted)) == [
        "link_4: its mass and inertia are not physically consistent"
    ]
    made_up = LeastSquaresFit(wanted, np.ones(6), 0.0, np.eye(len(wanted)), wanted, 1)
    phi = solve_consistent(robot, made_up, free)
    assert find_violations(robot, phi) == []
    assert phi[30] > 0
    robot.with_parameters(phi)  # a robot file would be accepted


def logged(robot, truth, seconds, seed, noise=0.0065):
    t, q, v, a = excitation(robot, seconds, seed=seed)
    tau = truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)
    chance = np.random.default_rng(seed)
    tau = tau + noise * robot.limits.torque * chance.normal(size=tau.shape)
    return at.Log.of(t, q=q + chance.normal(scale=1e-5, size=q.shape), tau=tau), tau


def test_identified_torque_of_another_motion_is_nearer_than_the_noise(robots):
    """Noise of 0.65 % of the largest torque;
    judged against the torque without noise of a motion not fitted.
    """
    robot = robots["rx90b"]
    groups = np.array([p.group for p in robot.parameter_table])
    truth = robot.with_parameters(
        robot.parameters
        * np.where(groups == "rotor", 1.2, np.where(groups == "friction", 0.8, 1.0))
    )
    found = at.identify(
        robot, [logged(robot, truth, 32.0, seed)[0] for seed in (1, 2)], cutoff=10.0
    )
    _, q, v, a = excitation(robot, 8.0, seed=9)
    exact = truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)
    told = found.robot.inverse_dynamics(q, v, a) + found.robot.friction_torque(v)
    error = np.sqrt(((told - exact) ** 2).mean(axis=0)) / (0.0065 * robot.limits.torque)
    assert error.max() < 0.3
    prior = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
    assert (
        np.sqrt(((prior - exact) ** 2).mean(axis=0)) / (0.0065 * robot.limits.torque)
    ).max() > 1.0


def test_the_written_robot_reproduces_the_fits_torque_and_says_where_it_comes_from(
    robots, tmp_path
):
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
        (
            lambda q, tau: (q[:, :5], tau[:, :5]),
            "must have 6 columns of q for robot 'rx90b', got 5",
        ),
    ],
)
def test_a_log_that_cannot_be_used_is_refused_in_one_sentence(robots, change, sentence):
    t, q, _, _ = excitation(robots["rx90b"], 4.0)
    positions, tau = change(q, np.zeros_like(q))
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.identify(robots["rx90b"], [at.Log.of(t, q=positions, tau=tau)])
    with pytest.raises(at.ArmtwinError, match="at least one log"):
        at.identify(robots["rx90b"], [])


@pytest.mark.parametrize("cutoff", [1.0, 1e-9])
def test_a_cut_off_that_leaves_nothing_of_a_log_is_refused_with_the_least(shared_data, cutoff):
    """Segments of 0.75 s hold three periods of 4 Hz."""
    folder = shared_data / "staubli_tx40"
    logs = [at.Log.read(folder / f"segment_{k:02d}.csv.gz") for k in (0, 2)]
    with pytest.raises(at.ArmtwinError) as error:
        at.identify(at.Robot.load("tx40"), logs, torque="tau", cutoff=cutoff)
    assert f"cutoff must be at least 4.001 Hz for a log of 0.7498 s, got {cutoff:g}" in str(
        error.value
    )


def test_a_cut_off_below_the_period_of_a_motion_is_refused(robots):
    robot = robots["tx40"]
    log, _ = logged(robot, robot, 16.0, 1)
    with pytest.raises(
        at.ArmtwinError, match=r"cutoff must be at least 0.125 Hz for a period of 8 s, got 1e-09"
    ):
        at.identify(robot, [log], cutoff=1e-9, recipe=at.Recipe(period=8.0))


def test_a_log_that_begins_with_a_long_rest_is_identified(robots):
    """All samples on which the width of a reversal would be tried stand still."""
    robot = robots["tx40"]
    log, _ = logged(robot, robot, 8.0, 1)
    rest = 9000
    time = np.arange(rest + len(log.time)) / 250
    q, tau = (np.concatenate([np.tile(x[:1], (rest, 1)), x]) for x in (log.q, log.tau))
    found = at.identify(robot, [at.Log.of(time, q=q, tau=tau)], cutoff=25.0)
    assert found.validate(log).nrmse[:3].max() < 10


@pytest.mark.parametrize("seed", [2, 4, 6, 10])
def test_a_contract_of_zero_is_kept_exactly(robots, seed):
    """Rows of sizes that differ by 1e6:
    the solver misses a bound by its tolerance, the parameters must not.
    """
    robot = robots["tx40"]
    free = free_parameters(robot, at.Recipe())
    signed = [k for k, p in enumerate(robot.parameter_table) if p.group in ("rotor", "friction")]
    signed = [k for k in signed if not robot.parameter_names[k].endswith(".offset")]
    size, chance = len(free.start), np.random.default_rng(seed)
    R = np.linalg.qr(chance.normal(size=(size, size)))[1] * 10.0 ** chance.uniform(-3, 3, size)
    wanted = np.zeros(size)
    wanted[signed] = -3.0  # of the prior's size: far below zero
    phi = solve_consistent(robot, LeastSquaresFit(wanted, np.ones(6), 0.0, R, R @ wanted, 1), free)
    assert phi[signed].min() >= 0.0
    assert phi[signed].min() == pytest.approx(0.0, abs=1e-6)


def test_a_rotor_keeps_a_tenth_of_its_inertia_whatever_takes_its_part(robots):
    """No drive is without a rotor: rows that want it negative leave it at its bound."""
    robot = robots["tx40"]
    free = free_parameters(robot, at.Recipe())
    rotors = robot.layout.rotors
    wanted = np.zeros(len(free.start))
    wanted[rotors] = -3.0
    made_up = LeastSquaresFit(wanted, np.ones(6), 0.0, np.eye(len(wanted)), wanted, 1)
    bounds = ParameterBounds(rotor=0.1)
    phi = solve_consistent(robot, made_up, free, bounds)
    assert phi[rotors] == pytest.approx(0.1 * robot.parameters[rotors])
    assert find_violations(robot, phi, bounds) == []
    assert find_violations(robot, 0.5 * phi, bounds)


def test_of_cut_offs_that_predict_alike_the_highest_is_taken(rng):
    """Errors that differ by chance do not decide, those that differ in every part do."""
    parts = rng.uniform(0.5, 2.0, size=(6, 4))
    growth = {3.0: 1.0, 10.0: 1.005, 20.0: 1.3}
    tried = {
        cutoff: LeftOutSquares(np.log(factor), np.log(factor), factor * parts)
        for cutoff, factor in growth.items()
    }
    assert choose_highest_alike(tried, duration=5.0) == 10.0
    assert choose_highest_alike({3.0: tried[3.0], 20.0: tried[20.0]}, duration=500.0) == 3.0


def test_numbers_that_a_robot_cannot_have_are_not_blamed_on_its_file(shared_data):
    from armtwin.robot.defaults.assumed_drives import with_assumed_drives

    robot = with_assumed_drives(at.Robot.load(shared_data / "ur10e" / "ur10e.urdf"))
    phi = robot.parameters.copy()
    phi[[p.group for p in robot.parameter_table].index("rotor")] = -4.6e-14
    with pytest.raises(at.FileError) as error:
        robot.with_parameters(phi)
    assert error.value.origin == "robot 'ur10e' with these parameters"
