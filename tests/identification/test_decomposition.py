"""Singular values, the 10 % rule,
and the truncated estimate that fills its null space from the prior.
"""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.fitting.decomposition import decompose
from armtwin.identification.fitting.factors import factorise
from armtwin.identification.rigid_body.fit.free_parameters import free_parameters
from tests.identification.test_identify import exact_rows, excitation, logged


@pytest.fixture(scope="module")
def case():
    """Rows of an RX90B with noise, as matrices: W φ = y scaled by the largest torques."""
    robot = at.Robot.load("rx90b")
    rows = exact_rows(robot, robot, 1)
    noise = np.random.default_rng(2).normal(size=rows.target.shape) * 0.0065 * robot.limits.torque
    rows = replace(rows, target=rows.target + noise)
    m, n = rows.target.shape
    W = rows.Y.reshape(m, n, -1) / robot.limits.torque[:, None]
    y = rows.target / robot.limits.torque
    prior = robot.with_parameters(robot.parameters * 1.1)
    free = free_parameters(prior, at.Recipe())
    found = decompose(factorise(rows, np.eye(len(robot.parameters))), robot.limits.torque, free)
    return prior, W.reshape(m * n, -1), y.ravel(), found, free


def test_the_truncated_estimate_is_that_of_the_thesis(case):
    """p̂ = V₁ α + V₂ V₂ᵀ (p_F - V₁ α) with α = g / σ of the whole torque,
    [Waiboer 2007, eq. 4.54-4.60].
    """
    prior, W, y, found, free = case
    A = W * free.sizes
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    for r in (10, 22, 40):
        alpha = (U.T @ y)[:r] / s[:r]
        V1, V2 = Vt[:r].T, Vt[r:].T  # A has more rows than columns: V is whole
        scaled = V1 @ alpha
        expected = scaled + V2 @ (V2.T @ (prior.parameters / free.sizes - scaled))
        assert np.abs(found.truncate(r) / free.sizes - expected).max() < 1e-7


def test_singular_values_and_residuals_are_those_of_the_rows(case):
    _, W, y, found, free = case
    s = np.linalg.svd(W * free.sizes, compute_uv=False)
    assert found.singular[:50] == pytest.approx(s[:50], rel=1e-9)
    for r in (0, 5, 22, 55):
        left = y - W @ found.truncate(r)
        assert found.residuals[r] == pytest.approx(left @ left, rel=1e-9)
    assert found.deviation == pytest.approx(0.0065, rel=0.02)


def test_the_10_percent_rule_counts_directions_whose_error_is_a_tenth(case):
    """Thirty repetitions of the noise:
    the spread of a coordinate is below 0.1 up to the rule's count, above beyond.
    """
    prior, W, y, found, free = case
    exact = W @ (prior.parameters / 1.1)
    U, s, _ = np.linalg.svd(W * free.sizes, full_matrices=False)
    chance = np.random.default_rng(7)
    noise = 0.0065 * chance.normal(size=(30, len(y)))
    spread = ((exact + noise) @ U / s).std(axis=0, ddof=1)
    assert spread[: found.kept - 2].max() < 0.1 * 1.4  # 30 repetitions give a spread to 13 %
    assert spread[found.kept + 2 : found.rank].min() > 0.1 / 1.4


@pytest.fixture(scope="module")
def torque_model():
    """A truncated estimate of so many directions that some of its links cannot exist."""
    robot = at.Robot.load("rx90b")
    log, unseen = (logged(robot, robot, 8.0, seed)[0] for seed in (1, 2))
    recipe = at.Recipe(estimator="truncated", kept=45, friction="file", tilt="file")
    return at.identify(robot, [log], cutoff=10.0, recipe=recipe), unseen


def test_a_truncated_estimate_of_no_real_robot_predicts_torques(torque_model, tmp_path):
    """It is written with its flag, reads back, and stands beside other models in a report."""
    found, unseen = torque_model
    assert "link_" in found.robot.description.torques_only
    assert np.nanmax(found.validate(unseen).nrmse) < 25  # 13 to 16 of it are noise
    found.robot.save(tmp_path / "model.toml")
    again = at.Robot.load(tmp_path / "model.toml")
    assert again.description == found.robot.description
    judged = at.judge(found.prior, found, unseen, others={"again": again})
    titles = [block.title for block in judged.sections().blocks if hasattr(block, "title")]
    for title in (
        "Residual against the number of directions",  # figure 4.6
        "Parameters in the directions kept",  # 4.8
        "Free parameters over their sizes in the robot file",  # 4.9
        "Parameters of all models",  # 4.12, 4.15
    ):
        assert title in titles


def test_a_model_of_torques_is_not_simulated(torque_model):
    robot = torque_model[0].robot
    q = np.zeros((100, 6))
    with pytest.raises(at.ArmtwinError, match=r"truncated estimate, whose link_.* cannot exist"):
        at.simulate(robot, at.Trajectory.sampled(100.0, q, q, q))
    with pytest.raises(at.ArmtwinError, match="cannot exist"):
        at.predict(at.Job.load("rx90b_line"), robot)


def test_standard_deviations_are_those_of_repeated_experiments():
    """Noisy repetitions of one motion: scores of base parameters have a spread of one.

    Sixteen give each spread to 18 %, and the median of some twenty of them better.
    """
    robot = at.Robot.load("tx40")
    base = np.array(
        [k for k in range(len(robot.parameters)) if k >= 62]
    )  # rotors 3 to 6 and friction
    t, q, v, a = excitation(robot, 8.0)
    exact = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
    scores = []
    for seed in range(16):
        chance = np.random.default_rng(seed)
        log = at.Log.of(t, q=q, tau=exact + 2.0 * chance.normal(size=exact.shape))
        found = at.identify(
            robot, [log], cutoff=10.0, recipe=at.Recipe(weight=1e-5, friction="file")
        )
        told = [(r.value - p) / r.std for r, p in zip(found.table, robot.parameters, strict=True)]
        scores.append(np.array(told)[base])
    spread = np.sqrt((np.array(scores) ** 2).mean(axis=0))
    assert np.median(spread) == pytest.approx(1.0, abs=0.3)


def test_the_deviation_of_a_torque_is_that_of_its_parameters_and_of_what_is_missed():
    """sqrt(y C yᵀ + |y L|² + σ²) for one row y of the regressor, σ what parts left out miss and L
    what the logs leave to the file.
    """
    robot = at.Robot.load("tx40")
    log = logged(robot, robot, 8.0, 1)[0]
    found = at.identify(robot, [log], cutoff=10.0)
    deviation = found.torque_deviation(log)
    assert deviation.shape == log.tau.shape
    moving, at_rest = found.missed
    own = np.sqrt(deviation**2 - np.where(found.standing(log), at_rest, moving) ** 2)
    _, q, v, a = excitation(robot, 8.0, seed=1)  # the same motion without noise
    slides = np.abs(v) > 0.2 * np.abs(v).max(axis=0)
    # the mean of many rows is known better than one row; a contact at rest may bear anything
    assert (own < found.sigma)[slides].all()
    inside = slice(200, -200, 100)
    Y = robot.regressor(q, v, a)[inside]
    both = found.covariance + found.left_open @ found.left_open.T
    expected = np.sqrt(np.einsum("mij,jk,mik->mi", Y, both, Y))
    ratio = own[inside] / expected
    assert np.abs(np.median(ratio, axis=0) - 1).max() < 0.05
