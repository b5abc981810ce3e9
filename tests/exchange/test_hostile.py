"""Hostile units: a sentence or numbers within the time limit, and nothing of them is left.

A dozen of those that need a process are run here; HOSTILE=all runs all of them
(studies/hostile_units.py does too).
"""

import os
import re
import subprocess
import sys
import tempfile

import pytest

import armtwin as at
from armtwin.exchange import external_fmu
from armtwin.files.opening import Kind
from tests.exchange import hostile
from tests.exchange.units import needs_compiler

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="wishes are those of Linux")
LATE = 1.0  # time beyond its limit within which a unit must be ended [s]
ARRIVED = 20.0  # within which what a unit starts is there, however busy the machine [s]
CHOSEN = (
    "sleep",
    "fault",
    "stop its parent",
    "child, then sleep",
    "daemon, then exit",
    "relay, then sleep",
    "answer by words",
    "answer by a deep list",
    "answer without end",
    "write elsewhere",
    "take memory",
)


@pytest.fixture(scope="module")
def robot():
    robot = at.Robot.load("rx90b")
    robot.forward_kinematics([0.0] * robot.n)
    return robot


@pytest.mark.parametrize("name", hostile.ARCHIVES)
def test_an_archive_that_lies_is_refused_by_a_sentence(name, robot, tmp_path, monkeypatch):
    write, sentence = hostile.ARCHIVES[name]
    if name == "bomb":
        monkeypatch.setattr(external_fmu, "UNIT", Kind("a unit", hostile.BOMB_SIZE))
    write(tmp_path / "unit.fmu")
    outcome = hostile.run_unit(tmp_path / "unit.fmu", robot)
    assert re.search(sentence, outcome.sentence)
    assert [path.name for path in tmp_path.iterdir()] == ["unit.fmu"]


@needs_compiler
def test_code_that_wishes_no_good_is_ended_in_time_and_leaves_nothing(robot, tmp_path, monkeypatch):
    monkeypatch.setattr(external_fmu, "STARTING", hostile.START)
    monkeypatch.setenv("ELSEWHERE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv(hostile.MARK, str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    every = os.environ.get("HOSTILE") == "all"
    code = hostile.library(tmp_path)
    units = {}
    for wish in hostile.WISHES if every else CHOSEN:
        units[wish] = hostile.wishing(tmp_path, code, wish)
    outcomes = hostile.run_all(units, robot, at_once=6)
    for wish, outcome in outcomes.items():
        assert re.search(hostile.WISHES[wish], outcome.sentence), wish
        assert outcome.late < LATE, wish
    left = (tmp_path / "temporary").iterdir  # its removal goes on after the end of a unit
    assert hostile.wait_until(lambda: not list(left()), hostile.REMOVAL)
    assert hostile.processes_marked(str(tmp_path)) == []
    assert outcomes["take memory"].value <= 4.0  # GB
    if hostile.can_confine_writes():
        assert not (tmp_path / "elsewhere").exists()


@needs_compiler
def test_a_unit_ends_with_the_program_that_runs_it_even_if_that_is_killed(tmp_path):
    unit = hostile.wishing(tmp_path, hostile.library(tmp_path), "daemon")
    script = f"""
import armtwin as at
import numpy as np
still = np.zeros(1)
unit = at.ForeignUnit({str(unit)!r}, None, inputs={{}}, outputs={{"torque": "joint"}})
with unit:
    unit(0.0, still, still), unit(0.1, still, still)
    print("runs", flush=True)
    input()
"""

    def alive():
        return len(hostile.processes_marked(str(tmp_path)))

    environment = {**os.environ, "TMPDIR": str(tmp_path), hostile.MARK: str(tmp_path)}
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], env=environment, **piped) as program:
        try:
            assert program.stdout.readline() == b"runs\n"
            # it, supervisor, unit, and the daemon, which may be on its way
            assert hostile.wait_until(lambda: alive() >= 4, ARRIVED)
        finally:
            program.kill()
    assert hostile.wait_until(lambda: alive() == 0, LATE)
