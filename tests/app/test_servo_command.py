"""armtwin servo: files, exit codes, and one sentence for what cannot be."""

import json

import numpy as np

import armtwin as at
from tests.app.test_job_commands import call
from tests.identification.test_servo import followed


def test_a_servo_is_written_into_a_robot_file_that_says_what_it_rests_on(tmp_path):
    robot = at.Robot.load("kr300")
    for name, seed in (("a", 1), ("b", 2)):
        followed(robot, seed).write(tmp_path / f"{name}.csv")
    words = ("kr300", "a.csv", "--validate", "b.csv", "--out", "found.toml", "--json")
    done = call(tmp_path, "servo", *words)
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert min(result["validation"]["share_explained"]) > 0.99
    servo = at.Robot.load(tmp_path / "found.toml").description.servo["fitted"]
    assert servo.fit.logs == ("a.csv",)
    assert servo.fit.judged_on == ("b.csv",)


def test_a_log_without_a_reference_ends_with_one_sentence_and_writes_nothing(tmp_path):
    log = followed(at.Robot.load("kr300"), 1)
    at.Log.of(log.time, q=log.q).write(tmp_path / "a.csv")
    done = call(tmp_path, "servo", "kr300", "a.csv", "--out", "found.toml")
    assert done.code == 2
    assert "must have q_ref" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_what_a_controller_feeds_forward_is_learnt_whatever_friction_the_file_has(tmp_path):
    """The friction of the file is a hundred times what the controller feeds forward."""
    robot = at.Robot.load("kr300")
    for name, seed in (("a", 1), ("b", 2)):
        followed(robot, seed).write(tmp_path / f"{name}.csv")
    steep = [name.endswith((".first", ".second")) for name in robot.parameter_names]
    wrong = robot.with_parameters(np.where(steep, 100.0, 1.0) * robot.parameters)
    wrong.save(tmp_path / "wrong.toml")
    words = ("wrong.toml", "a.csv", "--validate", "b.csv", "--out", "found.toml", "--json")
    done = call(tmp_path, "servo", *words)
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert min(result["validation_logged"]["share_explained"]) > 0.95
    assert min(result["validation"]["share_explained"]) > 0.95


def test_exchanged_columns_end_with_the_mistake_and_write_nothing(tmp_path):
    log = followed(at.Robot.load("kr300"), 1)
    noisy = log.q + 1e-5 * np.random.default_rng(1).normal(size=log.q.shape)
    at.Log.of(log.time, q=log.q_ref, q_ref=noisy).write(tmp_path / "a.csv")
    done = call(tmp_path, "servo", "kr300", "a.csv", "--out", "found.toml")
    assert done.code == 2
    assert "Are q and q_ref exchanged?" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
