"""One list of what a prediction lacks, whole and the same wherever it is asked for."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.schema.provenance import Wants, missing
from tests.app.test_job_commands import call, save
from tests.jobs.examples import JOB

WITHOUT_TOOL = JOB.replace('tool = "laser_head"\n', "")


@pytest.fixture(scope="module")
def bare():
    """An RX90B as it comes back from an identification:
    drives without torque constants, limits, bristles, servo.
    """
    d = at.Robot.load("rx90b").description
    motors = tuple(
        replace(m, torque_constant=None, current_limit=None, source="assumed: x") for m in d.motor
    )
    friction = tuple(replace(f, presliding=None, source="assumed: x") for f in d.friction)
    return at.Robot(replace(d, motor=motors, friction=friction, servo={}, tool={}))


def lacking(call):
    with pytest.raises(at.FileError) as error:
        call()
    return [problem.partition(": ")[2] for problem in error.value.problems]


def test_check_predict_and_simulate_name_the_same_at_once(bare, tmp_path):
    bare.save(tmp_path / "bare.toml")
    save(tmp_path, WITHOUT_TOOL.replace('robot = "rx90b"', 'robot = "bare.toml"'))
    job = at.Job.load(tmp_path / "job.toml")
    whole = missing(bare.description, Wants("cascade"))
    assert [x.partition(":")[0] for x in whole] == [
        "servo.cascade",
        "friction.presliding",
        "motor.torque_constant",
        "motor.current_limit",
    ]
    still = at.Trajectory.sampled(250, *np.zeros((3, 4, 6)))
    assert lacking(lambda: at.predict(job)) == whole
    assert lacking(lambda: at.simulate(bare, still)) == whole
    for words in (["check", "bare.toml"], ["check", "job.toml"]):
        shown = " ".join(call(tmp_path, *words).out.split())
        assert all(" ".join(x.split()) in shown for x in whole)


def test_a_tool_that_is_not_there_does_not_hide_what_else_is_missing(bare, tmp_path):
    bare.save(tmp_path / "bare.toml")
    save(tmp_path, JOB.replace('robot = "rx90b"', 'robot = "bare.toml"'))
    told = [call(tmp_path, *words) for words in (["predict", "job.toml"], ["check", "job.toml"])]
    assert [done.code for done in told] == [2, 2]
    assert told[0].err == told[1].err
    assert "tool 'laser_head' is not known" in told[0].err
    for x in missing(bare.description, Wants("cascade")):
        assert x in told[0].err


def test_check_refuses_a_servo_that_the_robot_does_not_have(tmp_path):
    save(tmp_path, JOB + '[model]\nservo = "pid"\n')
    checked, predicted = (call(tmp_path, word, "job.toml") for word in ("check", "predict"))
    assert (checked.code, checked.out) == (2, "")
    assert "servo.pid: a servo controller is missing (it has cascade, cs7b)" in checked.err
    assert checked.err == predicted.err
