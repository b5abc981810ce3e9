"""Files written again keep the units of the one they came from."""

import tomllib
from dataclasses import replace

import pytest

import armtwin as at
from armtwin.jobs.files import as_written, in_unit, list_shipped
from armtwin.prediction import changes
from tests.jobs.examples import JOB, changed


def job_of(tmp_path, text=JOB):
    path = tmp_path / "job.toml"
    path.write_text(text, encoding="utf-8")
    return at.Job.load(path)


@pytest.mark.parametrize("name", list_shipped())
def test_a_job_that_did_not_change_is_read_again_as_it_was(name, tmp_path):
    job = at.Job.load(name)
    path = tmp_path / "again.toml"
    path.write_text(job.to_toml_as_written(), encoding="utf-8")
    assert at.Job.load(path) == job
    assert 'speed = "' in path.read_text(encoding="utf-8")


def test_a_number_that_changed_is_written_in_the_unit_used_there(tmp_path):
    moved = changes.shift_workpiece(job_of(tmp_path).with_speed(0.123), -0.0351, 0.0)
    tables = tomllib.loads(moved.to_toml_as_written())
    assert tables["speed"] == "123 mm/s"
    assert tables["workpiece"]["position"] == ["414.9 mm", "0 mm", "100 mm"]


def test_a_bare_number_stays_one(tmp_path):
    job = job_of(tmp_path, changed('"100 mm/s"', "0.1"))
    assert tomllib.loads(job.with_speed(0.2).to_toml_as_written())["speed"] == 0.2


def test_a_new_key_has_the_unit_of_its_like_elsewhere(tmp_path):
    """A stretch that gets a speed of its own has none in the file."""
    job = job_of(tmp_path)
    divided, slow = changes.divide_lines(job, [(0.08, 0.12)])
    slower = changes.slow_stretches(divided, slow, 0.573)
    segments = tomllib.loads(slower.to_toml_as_written())["segment"]
    assert [x.get("speed") for x in segments] == [None, "57.3 mm/s", None]
    assert [x["lin"][1] for x in segments] == ["-30 mm", "30 mm", "100 mm"]


def test_items_of_a_list_go_by_their_names():
    old = {"segment": [{"name": "a", "speed": "10 cm/s"}, {"name": "b", "speed": "10 mm/s"}]}
    new = {"segment": [{"name": "b", "speed": 0.02}, {"name": "a", "speed": 0.3}]}
    found = as_written(new, old)["segment"]
    assert [x["speed"] for x in found] == ["20 mm/s", "30 cm/s"]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.1, "mm/s", "100 mm/s"),
        (303.15, "degC", "30 degC"),
        (0.3, "%", "30 %"),
        (-1.5707963267948966, "deg", "-90 deg"),
        (1 / 3, "mm", "333.333333333 mm"),
    ],
)
def test_a_number_has_as_few_digits_as_tell_it(value, unit, text):
    assert in_unit(value, unit) == text


def test_without_the_file_numbers_are_in_si(tmp_path):
    job = job_of(tmp_path)
    (tmp_path / "job.toml").unlink()
    assert job.to_toml_as_written() == job.to_toml()


def test_words_are_left_alone(tmp_path):
    job = job_of(tmp_path)
    named = at.Job(replace(job.description, title="100 mm/s"), job.origin)
    assert tomllib.loads(named.to_toml_as_written())["title"] == "100 mm/s"
