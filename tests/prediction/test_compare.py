"""A logged run over the predicted one: a virtual robot that differs, noise, other jobs."""

from itertools import pairwise

import numpy as np
import pytest

import armtwin as at
from tests.jobs.placements import line_that_holds


@pytest.fixture(scope="module")
def job():
    return line_that_holds()


def logged(job, friction=0.0, inertia=0.0, start=3.2, noise=True, drop=()):
    """What a robot whose friction and inertia differ by shares would log,
    with encoder and current noise.
    """
    robot = job.robot()
    groups = np.array([p.group for p in robot.parameter_table])
    phi = robot.parameters * (1 + friction * (groups == "friction") + inertia * (groups == "rotor"))
    run = at.predict(job, robot.with_parameters(phi)).log
    chance = np.random.default_rng(7)
    q = run.q + noise * chance.normal(scale=2e-6, size=run.q.shape)
    tau = run.tau + noise * 0.0065 * robot.limits.torque * chance.normal(size=run.tau.shape)
    channels = {"q": q, "tau": tau, "q_ref": run.q_ref}
    return at.Log.of(
        run.time + start, run.events, **{k: x for k, x in channels.items() if k not in drop}
    )


def shares(comparison):
    return {row.name: row.share_explained for row in comparison.rows}


def test_the_share_explained_falls_as_the_robot_differs_more(job):
    found = [
        shares(at.compare(job, logged(job, friction=x, inertia=-x))) for x in (0.0, 0.1, 0.3, 0.6)
    ]
    for name in ("lateral", "vertical", "joint_2 error", "joint_4 error", "joint_6 torque"):
        series = [row[name] for row in found]
        assert all(b < a for a, b in pairwise(series)), (name, series)
    assert found[0]["lateral"] > 0.9


def test_without_noise_and_differences_everything_is_explained(job):
    """What is left is the interpolation between samples of 250 Hz."""
    found = shares(at.compare(job, logged(job, noise=False)))
    assert min(found.values()) > 0.999


@pytest.mark.parametrize(
    "drop", [(), ("q_ref",)], ids=["by the logged reference", "by the positions"]
)
@pytest.mark.parametrize("start", [0.0, 3.217, -8.5])
def test_the_log_is_aligned_in_time_to_a_share_of_a_sample(job, start, drop):
    comparison = at.compare(job, logged(job, start=start, drop=drop))
    assert comparison.shift == pytest.approx(start, abs=5e-6)


def test_a_log_cut_at_both_ends_is_aligned_and_compared_where_it_is(job):
    log = logged(job)
    part = slice(800, 2400)
    cut = at.Log.of(log.time[part], (), q=log.q[part], tau=log.tau[part])
    comparison = at.compare(job, cut)
    assert comparison.shift == pytest.approx(3.2, abs=1e-5)
    assert len(comparison.time) == 1600


@pytest.mark.parametrize("name", ["rx90b_corner_follow", "rx90b_corner_fixed"])
def test_a_log_of_another_job_is_refused(job, name):
    other = at.predict(at.Job.load(name)).log
    with pytest.raises(
        at.ArmtwinError, match=r"the log is not of job 'rx90b_line'|too short for a motion"
    ):
        at.compare(job, other)


def test_a_log_of_the_same_seam_at_another_speed_is_refused(job):
    other = at.predict(job.with_speed(0.12)).log
    with pytest.raises(at.ArmtwinError, match="the log is not of job 'rx90b_line'"):
        at.compare(job, other)


def test_a_log_of_too_few_joints_or_without_positions_is_refused(job):
    log = logged(job)
    with pytest.raises(at.ArmtwinError, match="6 columns of q for robot 'rx90b', got 5"):
        at.compare(job, at.Log.of(log.time, q=log.q[:, :5]))
    with pytest.raises(at.ArmtwinError, match="no positions"):
        at.compare(job, at.Log.of(log.time, tau=log.tau))


def test_motor_positions_and_currents_are_taken_to_the_joints(job):
    """A log of motor angles and currents alone gives the same comparison as one of joints."""
    run = at.predict(job).log
    motors = at.compare(job, at.Log.of(run.time, q_m=run.q_m, current=run.current))
    assert (motors.side, motors.torque_source) == ("q_m", "current")
    assert min(shares(motors).values()) > 0.999


def test_link_side_positions_are_preferred(job):
    run = at.predict(job).log
    comparison = at.compare(job, at.Log.of(run.time, q=run.q + 1e-3, q_link=run.q))
    assert comparison.side == "q_link"
    assert shares(comparison)["lateral"] > 0.999


def test_the_logged_run_gets_its_own_verdict(job):
    """A robot with twice the friction leaves the tolerance where the predicted one keeps it."""
    comparison = at.compare(job, logged(job, friction=1.0))
    assert comparison.prediction.verdict.within
    assert not comparison.verdict.within


def test_a_log_with_a_hole_or_few_samples_is_no_proof(job):
    """The peak lies in the hole: what a log does not hold is not judged as kept."""
    log = logged(job, noise=False)
    hole = np.r_[0:900, 1500 : len(log.time)]
    thin = np.arange(0, len(log.time), 125)
    for rows in (hole, thin):
        comparison = at.compare(job, at.Log.of(log.time[rows], q=log.q[rows]))
        assert comparison.covered < 0.9
        assert not comparison.verdict.within
        assert "covers only" in comparison.verdict_text.text


def test_a_whole_log_is_judged_whole_where_the_prediction_stops_early():
    """A machine that follows its command exactly, on a seam where the twin stops:
    all of it is judged, and kept.
    """
    from dataclasses import replace

    corner = at.Job.load("rx90b_corner_follow")
    first, second = corner.description.segment
    tight = at.Job(replace(corner.description, segment=(replace(first, blend=0.05), second)))
    run = at.predict(tight)
    assert run.verdict.stopped is not None
    motion = run.motion.trajectory
    comparison = at.compare(tight, at.Log.of(motion.time, q=motion.q, q_ref=motion.q))
    assert comparison.covered > 0.999
    assert comparison.verdict.within


@pytest.mark.parametrize(("factor", "words"), [(1e3, "milliseconds"), (1e9, "nanoseconds")])
def test_a_log_in_another_unit_of_time_is_named(job, factor, words):
    log = logged(job, noise=False)
    with pytest.raises(at.ArmtwinError, match=f"time looks like {words}"):
        at.compare(job, at.Log.of(factor * log.time, q=log.q))


@pytest.mark.parametrize(("factor", "words"), [(2.0, "stretched by 2"), (0.5, "compressed by 2")])
def test_a_run_of_the_job_in_stretched_time_is_told(job, factor, words):
    log = logged(job, noise=False, start=0.0)
    with pytest.raises(
        at.ArmtwinError, match=f"the log is not of job .* time looks {words}, or the run was made"
    ):
        at.compare(job, at.Log.of(factor * log.time, q=log.q))


@pytest.mark.parametrize(
    ("spoil", "asked"),
    [
        (lambda x: {"q": x.q_ref, "q_ref": x.q}, "Are the columns of q and q_ref exchanged?"),
        (lambda x: {"q": x.q_ref}, "Is q the reference in place of the measurement?"),
    ],
    ids=["exchanged", "reference logged as q"],
)
def test_a_command_in_place_of_the_measurement_keeps_no_tolerance(job, spoil, asked):
    run = logged(job)
    with pytest.raises(at.ArmtwinError) as error:
        at.compare(job, at.Log.of(run.time, **spoil(run)))
    assert asked in str(error.value)
