"""Worm gears from runs with and without the head of a virtual RX90B."""

import numpy as np
import pytest

import armtwin as at
from tests.simulation.test_worm import with_worms

SHARE = 0.25


@pytest.fixture(scope="module")
def runs(robots):
    """Runs of 12 s with quantised currents and encoders, and 0.02 N m of noise in the torques."""
    rng = np.random.default_rng(3)
    t = np.arange(0, 12, 1 / 250)[:, None]
    q = np.tile([0, 0.6, 1.3, 0.2, 1.0, 0.1], (len(t), 1))
    v, a = np.zeros_like(q), np.zeros_like(q)
    for k in range(1, 6):
        size = rng.normal(size=6) * np.array([0.05, 0.04, 0.05, 0.1, 0.14, 0.14])
        w = 2 * np.pi * k / 12
        q = q + size / w * (1 - np.cos(w * t))
        v = v + size * np.sin(w * t)
        a = a + size * w * np.cos(w * t)
    motion = at.Trajectory.sampled(250, q, v, a)
    truth = with_worms(robots["rx90b"], SHARE)
    logs = []
    for tool in (None, "laser_head"):
        log = at.simulate(truth.with_tool(tool), motion, at.Model(), settle=(0.2, 0.2)).log
        noisy = log.tau + 0.02 * rng.standard_normal(log.tau.shape)
        logs.append(at.Log.of(log.time, q=log.q, tau=noisy))
    return logs


def test_levels_and_shares_within_5_percent(robots, runs):
    found = at.identify_worm(robots["rx90b"], runs, [None, "laser_head"], ["wrist_a", "wrist_c"])
    for row in found.table:
        if row.name == "load.share":
            assert row.value == pytest.approx(SHARE, rel=0.05)
        if row.name == "asperity" and row.element != "wrist_b":
            assert row.value == pytest.approx(row.prior, rel=0.05)


def test_the_plain_law_takes_the_load_for_level(robots, runs):
    """Its asperity friction of model a is half as much again, its residual ten times as large."""
    found = at.identify_worm(robots["rx90b"], runs, [None, "laser_head"], ["wrist_a", "wrist_c"])
    (level,) = [r for r in found.table if (r.element, r.name) == ("wrist_a", "asperity")]
    assert level.plain > 1.3 * level.prior
    assert found.residual_rms_plain[0] > 5 * found.missed[0]
    (axes,) = found.plot()
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [*found.missed, *found.residual_rms_plain]


def test_the_found_robot_has_the_shares(robots, runs):
    found = at.identify_worm(robots["rx90b"], runs, [None, "laser_head"], ["wrist_a", "wrist_c"])
    element = found.robot.description.friction[4]
    assert element.load.share == pytest.approx(SHARE, rel=0.05)
    assert element.source["load"].startswith("identified")


def test_wrong_names_and_counts_are_told(robots, runs):
    with pytest.raises(at.ArmtwinError, match="2 logs must have as many tools, got 1"):
        at.identify_worm(robots["rx90b"], runs, [None], ["wrist_a"])
    with pytest.raises(at.ArmtwinError, match="friction 'wrist_d' is not known"):
        at.identify_worm(robots["rx90b"], runs, [None, None], ["wrist_d"])


def test_identify_takes_the_files_share_of_the_load_as_known(robots, runs):
    """Joint 5 with the head: the torque error is a third with the worms in the robot file."""
    errors = {}
    for name, share in (("plain", 0.0), ("worm", SHARE)):
        robot = robots["rx90b"].with_tool("laser_head")
        prior = with_worms(robot, share) if share else robot
        recipe = at.Recipe(friction="file")
        fit = at.identify(prior, [runs[1]], cutoff=10.0, recipe=recipe)
        seen = fit.validate(runs[1], cutoff=10.0)
        speed = np.gradient(runs[1].q[:, 4:], runs[1].time, axis=0)
        slowest = np.minimum(np.abs(speed[:, 0]), np.abs(speed.sum(axis=1)))
        sliding = slowest > 0.05  # reversals are the filter's, not the law's
        errors[name] = np.sqrt(((seen.tau - seen.tau_hat)[sliding, 4] ** 2).mean())
    assert errors["worm"] < errors["plain"] / 3
