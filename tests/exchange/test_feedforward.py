"""The C sources: strict C99, the torques of the robot, and the check of an export without any."""

import subprocess

import numpy as np
import pytest

import armtwin as at
from armtwin.exchange import check as checks, formats
from armtwin.exchange.export import c_compiler
from armtwin.exchange.feedforward import evaluate_torques, run_compiled, write_feedforward
from tests.exchange.test_mjcf import LOADED, equipped, states

STRICT = ("-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-c")
needs_compiler = pytest.mark.skipif(c_compiler() is None, reason="no C compiler is found")


def torques(robot, state):
    q, v, _ = state
    return robot.inverse_dynamics(*state), robot.friction_torque(v, q)


@needs_compiler
@pytest.mark.parametrize(("name", "tool", "payload"), [*LOADED, ("epaas", "", "")])
def test_compiled_torques_are_those_of_the_robot(name, tool, payload):
    robot = equipped(name, tool, payload)
    state = states(robot)
    found = run_compiled(c_compiler(), write_feedforward(robot, "arm"), "arm", state)
    for own, wanted in zip((found.tau, found.friction), torques(robot, state), strict=True):
        assert np.abs(own - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert found.call < 1e-4


@needs_compiler
def test_sources_are_strict_c99(tmp_path):
    for name, text in write_feedforward(at.Robot.load("rx90b"), "arm").items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [*c_compiler(), *STRICT, "arm.c"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_compiler_the_check_says_so(tmp_path, monkeypatch):
    """The tape is run in Python then."""
    robot = at.Robot.load("tx40")
    state = states(robot, 3)
    wanted = np.array(torques(robot, state))
    assert evaluate_torques(robot, state) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    monkeypatch.setattr(formats, "c_compiler", lambda: None)
    monkeypatch.setattr(checks, "POSTURES", 3)
    exported = at.export_robot(robot, tmp_path / "tx40.c", "c")
    assert exported.check.how == "estimated, not run"
    assert sorted(x.name for x in tmp_path.iterdir()) == ["tx40.c", "tx40.c.check.json", "tx40.h"]


def test_a_robot_without_a_servo_is_exported_too(tmp_path):
    exported = at.export_robot(at.Robot.load("epaas"), tmp_path / "epaas.c", "c")
    assert max(torque.range for torque in exported.check.torques) < 1e-12


def test_a_name_that_is_none_in_c_is_refused(tmp_path):
    with pytest.raises(at.ArmtwinError, match=r"as 'my_arm\.c'"):
        at.export_robot(at.Robot.load("tx40"), tmp_path / "my-arm.c", "c")


def test_the_check_of_a_urdf_has_the_rotors_that_it_lacks(tmp_path):
    """Torque that a rotor takes is missing; with gravity alone nothing is."""
    exported = at.export_robot(at.Robot.load("ur10e"), tmp_path / "ur10e.urdf", "urdf")
    assert 0.2 < max(torque.along for torque in exported.check.torques) < 2
    assert any("rotor inertias" in phrase for phrase in exported.check.lost)
