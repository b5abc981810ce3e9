"""Forces of a job: where they act, in whose axes, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.forces import acting
from armtwin.jobs.groups import Force


def with_force(*forces, name="kr300_frame", origin=None):
    job = at.Job.load(name)
    return at.Job(replace(job.description, force=forces), origin or job.origin)


def forces_at(job, time):
    return acting(job, job.robot(), time)


@pytest.fixture(scope="module")
def time():
    return np.arange(0.0, at.Job.load("kr300_frame").seam.duration, 0.004)


def test_a_force_in_the_seams_axes_turns_with_the_seam(time):
    """Against the feed: on the near side along -y of the base, on the far side along +y."""
    job = with_force(Force(value=(-60.0, 0.0, 0.0), frame="seam"))
    wrench = forces_at(job, time).wrench
    s = job.seam.command(time).s
    near, far = np.searchsorted(s, [0.15, 0.55 * job.seam.length])
    tangent = job.seam.path.at(s).t
    assert wrench[:, :3] == pytest.approx(-60.0 * tangent, abs=1e-9)
    assert wrench[near, 1] == pytest.approx(-60.0)
    assert np.linalg.norm(wrench[far, :3]) == pytest.approx(60.0)


def test_a_process_force_comes_and_goes_with_the_process_over_its_ramp(time):
    job = with_force(Force(value=(0.0, 0.0, 40.0), process=True, ramp=0.02))
    wrench = forces_at(job, time).wrench[:, 2]
    s = job.seam.command(time).s
    ((start, stop),) = job.process_on()
    assert np.abs(wrench[(s < start) | (s > stop)]).max() == 0
    assert wrench[(s > start + 0.02) & (s < stop - 0.02)] == pytest.approx(40.0)
    rising = (s > start) & (s < start + 0.02)
    assert wrench[rising] == pytest.approx(40.0 * (s[rising] - start) / 0.02)


def test_forces_add_up_and_torques_act_on_their_joint(time):
    job = with_force(
        Force(value=(10.0, 0.0, 0.0)),
        Force(value=(5.0, 0.0, 0.0), torque=(0.0, 0.0, 2.0)),
        Force(at="joint_2", joint_torque=30.0),
    )
    found = forces_at(job, time)
    assert found.wrench[7] == pytest.approx([15.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    assert found.torque[7] == pytest.approx([0.0, 30.0, 0.0, 0.0, 0.0, 0.0])


def written(folder, text):
    (folder / "force.csv").write_text(text)
    return with_force(Force(file="force.csv"), origin=str(folder / "job.toml"))


def test_a_file_gives_forces_over_time_or_along_the_seam(tmp_path, time):
    seam = at.Job.load("kr300_frame").seam
    over_time = f"time,fx,fy,fz\n0,0,0,0\n{seam.duration},100,0,0\n"
    wrench = forces_at(written(tmp_path, over_time), time).wrench
    assert wrench[:, 0] == pytest.approx(100.0 * time / seam.duration)
    along = f"place [mm],fx,fy,fz\n0,0,0,0\n{1e3 * seam.length:.6f},0,50,0\n"
    wrench = forces_at(written(tmp_path, along), time).wrench
    assert wrench[:, 1] == pytest.approx(50.0 * seam.command(time).s / seam.length, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "time,fx,fy,fz\n0,0,0,0\n3,1,0,0\n",
            r"to the end of the motion at [\d.]+ s, got 0 to 3 s",
        ),
        ("place [mm],fx,fy,fz\n0,0,0,0\n300,1,0,0\n", r"the seam at [\d.]+ mm, got 0 to 300 mm"),
        ("time,fx,fy\n0,0,0\n3,1,0\n", "column fz is missing"),
        ("time,fx,fy,fz\n0,0,0,0\n2,0,0,0\n1,1,0,0\n", "line 4: time must rise"),
        ("time,fx,fy,fz\n0,0,0,0\n2,x,0,0\n", "fx must be a number, got 'x'"),
    ],
)
def test_a_force_file_that_does_not_fit_the_motion_is_refused(tmp_path, time, text, sentence):
    with pytest.raises(at.FileError, match=sentence):
        forces_at(written(tmp_path, text), time)


@pytest.mark.parametrize(
    ("force", "sentence"),
    [
        (Force(), "must have exactly one of value or torque, along, file, got none"),
        (
            Force(value=(1.0, 0.0, 0.0), file="f.csv"),
            "must have exactly one of .* got value or torque and file",
        ),
        (Force(at="joint_2"), "must have exactly one of joint_torque, file, got none"),
        (Force(joint_torque=3.0), "joint_torque belongs to a joint"),
        (Force(along=((0.0, 1.0, 0.0, 0.0),)), "along must have at least two points, got 1"),
        (Force(value=(1.0, 0.0, 0.0), ramp=0.1), "ramp belongs to a force"),
    ],
)
def test_a_force_that_says_too_little_or_too_much_is_refused(force, sentence):
    with pytest.raises(at.FileError, match=sentence):
        with_force(force)


def test_a_force_at_an_unknown_joint_is_refused(time):
    job = with_force(Force(at="joint_9", joint_torque=3.0))
    with pytest.raises(at.FileError, match=r"force.1.at: 'joint_9' is no joint of the robot"):
        forces_at(job, time)
