"""Torques by causes: what must hold for every robot."""

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.strokes import drive_forces
from tests.conftest import SHIPPED, relative

SPEED_AND_INERTIA = ("inertial", "coupling", "centripetal", "coriolis", "square", "viscous")


@pytest.mark.parametrize("name", SHIPPED)
def test_shares_add_up_to_the_inverse_dynamics(name, robots, rng):
    """Nothing is left for rotors' spin where no robot file models it."""
    robot = robots[name]
    q = np.array(robot.description.wrist.home) if robot.description.wrist else rng.normal(size=6)
    v, a = rng.normal(size=(2, robot.n))
    found = at.analyse(robot, "torques", q, v=v, a=a)
    tau = robot.inverse_dynamics(q, v, a)[None]
    assert relative(found.joints.total, tau) < 1e-12
    assert np.abs(found.joints.spin).max() < 1e-12 * (1 + np.abs(tau).max())
    force = drive_forces(robot, q[None], tau)
    assert relative(found.drives.total, force) < 1e-12
    assert np.abs(found.drives.spin).max() < 1e-11 * (1 + np.abs(force).max())


@pytest.mark.parametrize("name", ["epaas", "kr300"])
def test_five_times_the_speed_is_25_times_the_speed_and_inertia_terms(name, robots, rng):
    robot = robots[name]
    q = np.array(robot.description.wrist.home) if robot.description.wrist else rng.normal(size=6)
    v, a = rng.normal(size=(2, robot.n))
    slow = at.analyse(robot, "torques", q, v=v, a=a)
    fast = at.analyse(robot, "torques", q, v=v, a=a, faster=5.0)
    for shares in ("joints", "drives"):
        one, other = getattr(slow, shares), getattr(fast, shares)
        for share in SPEED_AND_INERTIA:
            reference = 25 * getattr(one, share)
            assert relative(getattr(other, share), reference) < 1e-12
        assert np.array_equal(one.gravity, other.gravity)


def test_section_8_3_gravity_rules_at_the_nominal_speed_and_speed_terms_at_five_times(robots):
    """Claims of 8.2.4 and 9, on the joints that carry weight."""
    from tests.analysis.test_tables import STATE

    q, v, a = STATE
    slow = at.analyse(robots["epaas"], "torques", q, v=v, a=a, faster=0.2).joints
    fast = at.analyse(robots["epaas"], "torques", q, v=v, a=a).joints
    carrying = [1, 2]
    speeds = {}
    for which, shares in (("slow", slow), ("fast", fast)):
        speeds[which] = np.abs(shares.centripetal + shares.coriolis)[0, carrying].sum()
    gravity = np.abs(slow.gravity)[0, carrying].sum()
    accelerations = np.abs(slow.inertial + slow.coupling)[0, carrying].sum()
    assert gravity > 5 * accelerations
    assert gravity > 5 * speeds["slow"]
    assert speeds["fast"] > gravity
    assert speeds["fast"] > np.abs(fast.inertial + fast.coupling)[0, carrying].sum()


def test_gyroscopic_coupling_of_rotors_is_told_apart(robots, rng):
    """Only the spin share changes where a robot file models it."""
    from dataclasses import replace

    robot = robots["lwa4p"]
    gear = replace(robot.description.gear, gyroscopic=True)
    spinning = at.Robot(replace(robot.description, gear=gear))
    q, v, a = rng.normal(size=(3, 6))
    plain = at.analyse(robot, "torques", q, v=v, a=a).joints
    found = at.analyse(spinning, "torques", q, v=v, a=a).joints
    assert np.abs(found.spin).max() > 1e-3
    assert np.allclose(found.coriolis, plain.coriolis, rtol=0, atol=1e-13)
    assert relative(found.total, spinning.inverse_dynamics(q, v, a)[None]) < 1e-13


def test_a_log_without_speeds_is_analysed_by_splines(robots):
    """Cubic splines through a sine every 10 ms err by some 1e-4 of its acceleration inside."""
    robot = robots["epaas"]
    home = np.array(robot.description.wrist.home)
    t = np.arange(0, 1.0, 0.01)
    w = 2 * np.pi
    q = home + 0.1 * np.outer(np.sin(w * t), np.ones(5))
    v = 0.1 * w * np.outer(np.cos(w * t), np.ones(5))
    a = -0.1 * w * w * np.outer(np.sin(w * t), np.ones(5))
    bare = at.analyse(robot, "torques", at.Log.of(t, q=q)).joints.total[10:-10]
    whole = at.analyse(robot, "torques", at.Log.of(t, q=q, v=v, a=a)).joints.total[10:-10]
    assert relative(bare, whole) < 1e-3


def test_bad_input_is_refused_by_a_sentence(robots):
    rx90b = robots["rx90b"]
    with pytest.raises(at.ArmtwinError, match="has no home in its file; give a posture"):
        at.analyse(rx90b, "torques")
    with pytest.raises(at.ArmtwinError, match=r"analysis 'torque' is not known\. Did you mean"):
        at.analyse(rx90b, "torque")
    with pytest.raises(at.ArmtwinError, match="load must be a mass greater than 0 kg, got -1"):
        at.analyse(rx90b, "inertia", load=-1.0)
    still = at.Trajectory.sampled(10, *np.zeros((3, 5, 4)))
    with pytest.raises(at.ArmtwinError, match="must move the 6 joints of 'rx90b', got 4 joints"):
        at.analyse(rx90b, "torques", still)
