"""The noun Log: what it answers to, what it refuses to write, and whose joints its columns are."""

import numpy as np
import pytest

import armtwin as at
from tests.identification.test_identify import excitation

LOG = at.Log.of([0.0, 0.1], q=[[1.0], [2.0]], current_des=[[3.0], [4.0]])


def test_completion_finds_the_channels_of_a_log():
    assert {"q", "current_des", "time", "write"} <= set(dir(LOG))
    assert "tau" not in dir(LOG)


def test_an_attribute_that_is_no_channel_names_those_there_are():
    with pytest.raises(AttributeError, match=r"no attribute 'foo'. Its channels: q, current_des"):
        LOG.foo  # noqa: B018


@pytest.mark.parametrize("name", ["run.bag", "run.mcap", "run.gz", "run.txt", "run"])
def test_a_log_is_not_written_under_a_name_that_says_another_format(name, tmp_path):
    with pytest.raises(
        at.ArmtwinError, match=rf"{name}' must end in one of .csv.gz, .csv, .parquet, .npz"
    ):
        LOG.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "line", ["elbow", "[1, 2]", '{"a": 1}', "[" * 5000], ids=["word", "numbers", "table", "deep"]
)
def test_names_of_joints_that_are_no_list_of_texts_are_refused_with_the_line(line, tmp_path):
    (tmp_path / "a.csv").write_text(f"time,q1\n0,1\n# joints {line}\n")
    with pytest.raises(at.FileError, match="line 3: joints must be a list of their names"):
        at.Log.read(tmp_path / "a.csv")


def test_a_name_of_a_joint_that_is_there_twice_is_refused():
    with pytest.raises(at.ArmtwinError, match="joint names of a log must differ, got 'a' twice"):
        at.Log.of([0.0, 1.0], joint_names=("a", "b", "a"), q=np.zeros((2, 3)))


@pytest.fixture(scope="module")
def tx40_logs():
    """Two exact runs of the tx40, and the same with joints in the order of a driver."""
    robot = at.Robot.load("tx40")
    order = [3, 1, 5, 0, 2, 4]
    names = [robot.joint_names[j] for j in order]
    plain, named = [], []
    for seed in (1, 2):
        t, q, v, a = excitation(robot, 16.0, seed=seed)
        tau = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
        plain.append(at.Log.of(t, q=q, tau=tau))
        named.append(at.Log.of(t, joint_names=names, q=q[:, order], tau=tau[:, order]))
    return robot, plain, named


def test_a_robot_is_identified_and_judged_alike_whatever_order_the_named_joints_have(tx40_logs):
    """Every border puts the columns in order before anything is computed, so nothing differs."""
    robot, plain, named = tx40_logs
    found, again = (at.identify(robot, logs[:1], cutoff=10.0) for logs in (plain, named))
    assert (again.robot.parameters == found.robot.parameters).all()
    assert (again.validate(named[1]).nrmse == found.validate(plain[1]).nrmse).all()
    judged = at.judge(robot, again, named[1])
    assert (judged.log.q == plain[1].q).all()


def test_a_run_is_compared_by_the_names_of_its_joints():
    job = at.Job.load("rx90b_line")
    run = at.predict(job, method="perturbation").log
    order = [5, 4, 3, 2, 1, 0]
    names = [job.robot().joint_names[j] for j in order]
    turned = at.Log.of(run.time, joint_names=names, q=run.q[:, order], q_ref=run.q_ref[:, order])
    found = at.compare(job, turned, method="perturbation")
    assert (found.log.q == run.q).all()
    assert min(row.share_explained for row in found.rows) > 0.999  # interpolated at 250 Hz
