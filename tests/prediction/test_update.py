"""A changed job predicted from the run before is what it is predicted alone."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.groups import Tolerance
from armtwin.prediction.update import update
from armtwin.robot.schema.groups import Pose

BANDWIDTH = "servo.cascade.rule.bandwidth"


def go_on(what, share):
    """Nothing newer is wanted."""


@pytest.fixture(scope="module")
def job():
    """A short seam, so that a run takes little."""
    found = at.Job.load("rx90b_line")
    segment = replace(found.description.segment[0], lin=(0.0, -0.25, 0.0))
    return at.Job(replace(found.description, segment=(segment,)), found.origin)


@pytest.fixture(scope="module")
def before(job):
    return update(None, job, say=go_on)


def changed(job, **keys):
    return at.Job(replace(job.description, **keys), job.origin)


def is_same(one, other):
    return np.array_equal(one.path_error.lateral, other.path_error.lateral) and (
        one.verdict == other.verdict and one.feasibility.violations == other.feasibility.violations
    )


def test_without_a_run_before_it_is_a_prediction(job, before):
    assert is_same(before, at.predict(job))


def test_a_tolerance_keeps_the_run_and_is_judged_as_alone(job, before):
    other = changed(job, tolerance=Tolerance(1e-5, 3e-5))
    found = update(before, other, say=go_on)
    assert found.run is before.run
    assert found.verdict.within != before.verdict.within
    assert is_same(found, at.predict(other))


def test_a_servo_keeps_the_motion_and_runs_as_alone(job, before):
    other = changed(job, override={BANDWIDTH: (9.0, 9.0, 9.0, 10.0, 10.0, 11.0)})
    found = update(before, other, say=go_on)
    assert found.motion is before.motion
    assert found.feasibility is before.feasibility
    assert is_same(found, at.predict(other))


def test_friction_keeps_the_motion_and_is_checked_against_torque_limits(job, before):
    element = before.robot.description.friction[0]
    other = changed(job, override={f"friction.{element.name}.viscous": 30.0})
    found = update(before, other, say=go_on)
    alone = at.predict(other)
    assert found.motion is before.motion
    assert is_same(found, alone)
    shares = found.feasibility.shares["torque"]
    assert np.array_equal(shares, alone.feasibility.shares["torque"], equal_nan=True)
    assert not np.array_equal(shares, before.feasibility.shares["torque"], equal_nan=True)


def test_a_placement_a_speed_and_a_tool_plan_anew(job, before):
    d = job.description
    x, y, z = d.workpiece.position
    for other in (
        changed(job, workpiece=Pose((x + 0.02, y, z), d.workpiece.orientation)),
        job.with_speed("80 mm/s"),
    ):
        found = update(before, other, say=go_on)
        assert found.motion is not before.motion
        assert is_same(found, at.predict(other))


def test_work_that_is_not_wanted_any_more_ends_before_its_next_stage(job, before):
    stages = []

    class Newer(Exception):
        pass

    def stop(what, share):
        stages.append(what)
        if what == "simulation":
            raise Newer

    with pytest.raises(Newer):
        update(before, job.with_speed("70 mm/s"), say=stop)
    assert stages[-1] == "simulation"
    assert "path error" not in stages
