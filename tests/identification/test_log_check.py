"""A log beside a robot: units, zeros and signs are proposed by the robot's limits and weight."""

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.plausibility.log_check import LogCheck
from tests.app.test_job_commands import call

TIME = np.arange(500) / 250


@pytest.fixture(scope="module")
def rx90b():
    return at.Robot.load("rx90b")


def beside(robot, middle, *, unit=1.0, **channels):
    """A log of joints that move by 0.3 rad about a posture, beside a robot."""
    q = middle + 0.3 * np.sin(3 * TIME[:, None] + np.arange(robot.n))
    return LogCheck(at.Log.of(TIME, q=unit * q, **channels), robot)


def proposals(check):
    (table,) = [x for x in check.sections().sections[-1].content if hasattr(x, "records")]
    return [record["proposal"] for record in table.records]


def test_units_signs_and_zeros_are_proposed_where_they_put_joints_within_their_limits(rx90b):
    low, high = rx90b.position_limits
    middle = 0.5 * (low + high) + 0.4
    assert proposals(beside(rx90b, middle)) == ["as it is"] * 6
    in_degrees = beside(rx90b, middle, unit=180 / np.pi)
    assert proposals(in_degrees) == ['unit.q = "deg"'] * 6
    assert "look like degrees" in in_degrees.cautions[0]
    middle[4] = np.radians(-140)  # of -105 to 120 deg, by 17 deg to both sides
    assert proposals(beside(rx90b, middle))[4] == 'offset "90 deg" or offset "180 deg"'
    middle[4] = np.radians(130)
    assert proposals(beside(rx90b, middle))[4].startswith('offset "-90 deg"')
    narrow = at.Robot.load("kr300")  # joint 2: -50 to 85 deg
    middle = 0.5 * narrow.position_limits.sum(axis=0)
    middle[1] = np.radians(-60)
    assert proposals(beside(narrow, middle))[1] == 'sign -1 or offset "90 deg"'


def test_a_wrong_sign_of_a_torque_and_another_number_of_joints_are_named(rx90b, tmp_path):
    excited = 0.3 * np.sin(np.outer(TIME, [3, 4, 5, 6, 7, 8]) + np.arange(6)) + rx90b.home
    v = np.gradient(excited, TIME, axis=0)
    a = np.gradient(v, TIME, axis=0)
    tau = rx90b.inverse_dynamics(excited, v, a) + rx90b.friction_torque(v)
    right = LogCheck(at.Log.of(TIME, q=excited, tau=tau), rx90b)
    assert right.cautions == ()
    wrong = at.Log.of(TIME, q=excited, tau=tau * [1, 1, -1, 1, 1, 1])
    wrong.write(tmp_path / "wrong.csv")
    done = call(tmp_path, "check", "wrong.csv", "--robot", "rx90b")
    assert done.code == 1
    assert "sign" in done.out
    five = LogCheck(at.Log.of(TIME, q=excited[:, :5]), rx90b)
    assert five.cautions[0].startswith(
        "The log has 5 joints, 'rx90b' has 6: another robot, or an arm"
    )


def test_a_file_that_is_no_log_is_a_log_that_cannot_be_read(tmp_path):
    (tmp_path / "run.txt").write_text("what happened on Tuesday\n")
    done = call(tmp_path, "check", "run.txt")
    assert done.code == 2
    assert "is a log that cannot be read" in done.err
    assert "shipped" not in done.err
    done = call(tmp_path, "check", "rx90b", "--robot", "rx90b")
    assert done.code == 2
    assert "--robot is for a log, but 'rx90b' is none" in done.err
