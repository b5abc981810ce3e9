"""A file of another kind than wanted is named in one line, not read as what it is not."""

import numpy as np
import pytest

import armtwin as at
from tests.jobs.examples import JOB


@pytest.fixture
def files(tmp_path):
    """A robot, a job, a log and a columns file."""
    at.Robot.load("rx90b").save(tmp_path / "robot.toml")
    at.Robot.load("rx90b").to_urdf(tmp_path / "robot.urdf")
    (tmp_path / "job.toml").write_text(JOB)
    at.Log.of(np.arange(3.0), q=np.zeros((3, 6))).write(tmp_path / "run.csv")
    (tmp_path / "arm.toml").write_text('format = 1\nunit = { q = "deg" }\n')
    return tmp_path


@pytest.mark.parametrize(
    ("load", "name", "sentence"),
    [
        (
            at.Robot.load,
            "job.toml",
            "is a job, where a robot (.toml, .urdf, or a shipped one) is wanted",
        ),
        (at.Robot.load, "run.csv", "is a log, where a robot"),
        (at.Robot.load, "arm.toml", "is a columns file, where a robot"),
        (at.Job.load, "robot.toml", "is a robot, where a job (.toml, or a shipped one) is wanted"),
        (at.Job.load, "robot.urdf", "is a robot, where a job"),
        (at.Job.load, "run.csv", "is a log, where a job"),
        (
            at.Log.read,
            "robot.urdf",
            "is a robot, where a log (.csv, .csv.gz, .npz, a bag, or as docs/log_file.md lists) is",
        ),
        (at.Log.read, "job.toml", "is no log, but a robot, job or columns file"),
    ],
)
def test_a_file_of_another_kind_is_named_in_one_line(files, load, name, sentence):
    with pytest.raises(at.FileError) as error:
        load(files / name)
    said = str(error.value)
    assert said.startswith(f"{files / name}: {sentence}")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("load", "name", "kind"),
    [(at.Robot.load, "rx90b_line", "job"), (at.Job.load, "rx90b", "robot")],
)
def test_a_shipped_name_of_another_kind_is_named(load, name, kind):
    with pytest.raises(at.FileError, match=f"{name}: is a {kind}, where"):
        load(name)


def test_a_job_given_as_columns_file_is_named(files):
    with pytest.raises(at.FileError, match=r"is a job, where a columns file \(.toml\) is wanted"):
        at.Log.read(files / "run.csv", files / "job.toml")
