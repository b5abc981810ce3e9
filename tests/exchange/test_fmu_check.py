"""The check of a unit: in fmpy it is the twin, and another robot is not."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.exchange import check as checks
from tests.app.test_job_commands import call

MOVING = slice(200, 450)  # set-points of the line from which the robot starts and moves for 0.8 s


@pytest.fixture(scope="module")
def motion(line):
    robot, model, setpoints = line
    usual = checks.usual_motion(robot, model)
    return replace(usual, setpoints=setpoints.rows(MOVING))


def test_a_unit_has_torques_and_closed_loop_of_the_twin(line, line_unit, motion):
    """A rounding apart; at rest on 20 postures to what a solver of equilibria leaves."""
    check = checks.check_fmu(line[0], motion, line_unit.read_bytes(), has_binary=True)
    assert check.how.startswith("fmpy ")
    assert max(torque.along for torque in check.torques) < 1e-9
    assert max(torque.range for torque in check.torques) < 1e-6
    assert check.loops[1].largest_m < 1e-9


def test_a_unit_of_another_robot_is_seen(line, line_unit, motion):
    """The one without the tool."""
    bare = at.Robot.load("rx90b")
    check = checks.check_fmu(bare, motion, line_unit.read_bytes(), has_binary=True)
    assert max(torque.range for torque in check.torques) > 0.05


def test_forces_on_the_tool_cost_what_the_twin_finds(line, line_unit, motion):
    """As torques on the joints of the set-points; the unit shows the same."""
    wrench = np.zeros((len(motion.setpoints.q), 6))
    wrench[:, 1] = np.linspace(0.0, 30.0, len(wrench))
    pushed = replace(motion, outside=replace(motion.outside, wrench=wrench))
    check = checks.check_fmu(line[0], pushed, line_unit.read_bytes(), has_binary=True)
    assert "torques on the joints" in check.costs[0].of
    assert check.loops[1].peak_m == pytest.approx(check.costs[0].peak_m, abs=1e-6)


def test_a_unit_that_stops_is_a_sentence(line, line_unit, motion):
    """Its following error is too large when it is hit."""
    torque = np.zeros_like(motion.setpoints.q)
    torque[100:, 0] = 1e5
    hit = replace(motion, outside=replace(motion.outside, torque=torque))
    check = checks.check_fmu(line[0], hit, line_unit.read_bytes(), has_binary=True)
    assert re.search(r"fmpy \S+, stops at 0\.4\d s of 1\.00 s\.", check.sentence)


def test_without_fmpy_the_check_is_estimated(line, line_unit, motion, monkeypatch):
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    check = checks.check_fmu(line[0], motion, line_unit.read_bytes(), has_binary=True)
    assert "estimated, not run" in check.sentence


def test_the_command_writes_the_check_beside_the_unit(tmp_path):
    """A unit of sources runs nowhere yet."""
    shown = call(tmp_path, "export", "fmu", "rx90b", "--sources-only", "--json")
    assert shown.code == 0, shown.err
    assert json.loads(shown.out)["files"] == ["rx90b.fmu", "rx90b.fmu.check.json"]
    check = json.loads((tmp_path / "rx90b.fmu.check.json").read_text())["check"]
    assert check["how"] == "estimated, not run"
