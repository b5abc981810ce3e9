"""armtwin servo: files, exit codes, and one sentence for what cannot be."""

import json

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
