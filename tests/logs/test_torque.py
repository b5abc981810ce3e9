"""Joint torques of a log, from joint torques, motor torques or currents."""

import numpy as np
import pytest

import armtwin as at
from armtwin.logs.joints import joint_torque
from tests.simulation.bench import from_rest

TIME = np.arange(4) / 250


def test_motors_and_joints_have_the_same_power(robots, rng):
    """Motor speeds are N v; also of the coupled wrist τ·v = τ_m·(N v), whatever the speeds."""
    for name in ("rx90b", "tx40", "kr300"):
        robot = robots[name]
        tau_m, v = rng.normal(size=(2, 4, 6))
        tau, _ = joint_torque(robot, at.Log.of(TIME, tau_m=tau_m))
        motor_speed = v @ robot.assembly.gear.T
        assert (tau * v).sum(axis=1) == pytest.approx((tau_m * motor_speed).sum(axis=1), rel=1e-12)


def test_motor_6_of_the_rx90b_turns_joints_5_and_6(robots):
    """The coupled wrist [Waiboer 2007, eq. 2.3], here with a gear of 32:
    one newton metre is 32 on both joints.
    """
    tau_m = np.zeros((4, 6))
    tau_m[:, 5] = 1.0
    tau, _ = joint_torque(robots["rx90b"], at.Log.of(TIME, tau_m=tau_m))
    assert tau[0] == pytest.approx([0, 0, 0, 0, 32, 32])


def test_a_current_is_its_torque_over_the_torque_constant(robots, rng):
    robot = robots["rx90b"]
    constants = np.array([m.torque_constant for m in robot.description.motor])
    tau_m = rng.normal(size=(4, 6))
    from_torque, _ = joint_torque(robot, at.Log.of(TIME, tau_m=tau_m))
    from_current, _ = joint_torque(robot, at.Log.of(TIME, current=tau_m / constants))
    assert from_current == pytest.approx(from_torque, rel=1e-13)


def test_the_current_limit_gives_the_largest_motor_torque(robots):
    """The limits of a robot and its logs know the same motors: N' times the largest torques."""
    robot = robots["rx90b"]
    current = np.array([[m.current_limit for m in robot.description.motor]])
    tau, _ = joint_torque(robot, at.Log.of([0.0], current=current))
    assert tau[0] == pytest.approx(robot.assembly.gear.T @ robot.limits.motor_torque, rel=1e-13)


def test_every_channel_of_a_simulated_log_tells_the_same_torque(robots):
    robot = robots["rx90b"]
    log = at.simulate(robot, from_rest(robot, 0.2)).log
    tau, by_motors, by_currents = (
        joint_torque(robot, log, x)[0] for x in ("tau", "tau_m", "current")
    )
    assert np.abs(by_motors - tau).max() < 1e-12 * np.abs(tau).max()
    assert np.abs(by_currents - tau).max() < 1e-12 * np.abs(tau).max()


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (("current", "tau_m", "tau"), "tau"),
        (("current", "tau_m"), "tau_m"),
        (("current", "q"), "current"),
    ],
)
def test_the_channel_nearest_to_the_joint_is_taken(robots, there, taken):
    log = at.Log.of(TIME, **{name: np.ones((4, 6)) for name in there})
    assert joint_torque(robots["rx90b"], log)[1] == taken


@pytest.mark.parametrize(
    ("robot", "channels", "asked", "sentence"),
    [
        ("rx90b", {"q": 6}, None, r"the log has no torque \(tau, tau_m, current\). It has: q."),
        ("rx90b", {"q": 6, "tau": 6}, "q", "torque must be taken from one of tau, got 'q'"),
        ("rx90b", {"tau": 6}, "tau_m", "the log has no channel 'tau_m'. It has: tau."),
        (
            "rx90b",
            {"tau_m": 5},
            None,
            "channel 'tau_m' must have 6 columns, one for each motor, got 5",
        ),
        (
            "tx40",
            {"current": 6},
            None,
            "robot 'tx40': currents need motor.torque_constant of every motor",
        ),
    ],
)
def test_a_log_without_the_torque_asked_for_is_refused(robots, robot, channels, asked, sentence):
    log = at.Log.of(TIME, **{name: np.ones((4, n)) for name, n in channels.items()})
    with pytest.raises(at.ArmtwinError, match=sentence):
        joint_torque(robots[robot], log, asked)
